"""Activation functions, of which each is one node, and the modules that apply them."""

from __future__ import annotations

import numpy as np

from clumsygrad.core import Array, GradientTuple, Tensor, TensorLike, as_tensor, create_node
from clumsygrad.core import math as _math

from .module import Module


def relu(x: TensorLike) -> Tensor:
    """Return ``max(x, 0)``, elementwise, with a gradient of 0 at 0.

    Example:
        >>> from clumsygrad.nn.functional import relu
        >>> relu([-1.0, 2.0]).tolist()
        [0.0, 2.0]
    """
    x = as_tensor(x)
    return create_node(np.maximum(x.data, 0), relu_backward, (x,))


def relu_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient where the result is above 0."""
    return (np.where(tensor.data <= 0, 0, grad),)


def tanh(x: TensorLike) -> Tensor:
    """Return the hyperbolic tangent, elementwise.

    Example:
        >>> from clumsygrad.nn.functional import tanh
        >>> tanh([0.0, 1e4]).tolist()
        [0.0, 1.0]
    """
    return _math.tanh(x)


def sigmoid(x: TensorLike) -> Tensor:
    r"""Return :math:`1 / (1 + e^{-x})`, elementwise.

    Example:
        >>> from clumsygrad.nn.functional import sigmoid
        >>> sigmoid([-1e4, 0.0, 1e4]).tolist()
        [0.0, 0.5, 1.0]
    """
    x = as_tensor(x)
    # An exponential that overflows gives the quotient's limit, 0.
    with np.errstate(over="ignore", under="ignore"):
        return create_node(1 / (1 + np.exp(-x.data)), sigmoid_backward, (x,))


def sigmoid_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * y * (1 - y)``."""
    y = tensor.data
    return (grad * (y * (1 - y)),)


def softmax(x: TensorLike, dim: int = -1) -> Tensor:
    r"""Return :math:`e^{x_i} / \sum_j e^{x_j}` along the axis ``dim``.

    Example:
        >>> from clumsygrad.nn.functional import softmax
        >>> softmax([1e4, 1e4]).tolist()
        [0.5, 0.5]
    """
    x = as_tensor(x)
    return create_node(softmax_values(x.data, dim), softmax_backward, (x,), {"axis": dim})


def softmax_values(x: Array, axis: int) -> Array:
    """Return the softmax of an array."""
    with np.errstate(under="ignore", invalid="ignore"):
        result: Array = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
        result /= np.add.reduce(result, axis=axis, keepdims=True)
    return result


def softmax_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``y * (grad - sum(grad * y))``."""
    y = tensor.data
    return (y * (grad - np.add.reduce(grad * y, axis=tensor.extra["axis"], keepdims=True)),)


def log_softmax(x: TensorLike, dim: int = -1) -> Tensor:
    r"""Return :math:`x_i - \ln \sum_j e^{x_j}` along the axis ``dim``.

    Example:
        >>> from clumsygrad.nn.functional import log_softmax
        >>> log_softmax([1e4, 0.0]).tolist()
        [0.0, -10000.0]
    """
    x = as_tensor(x)
    with np.errstate(under="ignore", invalid="ignore", divide="ignore"):
        shifted = x.data - np.maximum.reduce(x.data, axis=dim, keepdims=True)
        shifted -= np.log(np.add.reduce(np.exp(shifted), axis=dim, keepdims=True))
    return create_node(shifted, log_softmax_backward, (x,), {"axis": dim})


def log_softmax_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad - exp(y) * sum(grad)``."""
    return (grad - np.exp(tensor.data) * np.add.reduce(grad, axis=tensor.extra["axis"], keepdims=True),)


class ReLU(Module):
    """``max(x, 0)``, elementwise."""

    def forward(self, x: TensorLike) -> Tensor:
        """Return ``relu(x)``."""
        return relu(x)


class Tanh(Module):
    """The hyperbolic tangent, elementwise."""

    def forward(self, x: TensorLike) -> Tensor:
        """Return ``tanh(x)``."""
        return tanh(x)


class Sigmoid(Module):
    """The logistic function, elementwise."""

    def forward(self, x: TensorLike) -> Tensor:
        """Return ``sigmoid(x)``."""
        return sigmoid(x)


class Softmax(Module):
    """The softmax along an axis."""

    dim: int

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: TensorLike) -> Tensor:
        """Return ``softmax(x, dim)``."""
        return softmax(x, self.dim)

    def extra_repr(self) -> str:
        """Return the axis."""
        return f"dim={self.dim}"


class LogSoftmax(Module):
    """The logarithm of the softmax along an axis."""

    dim: int

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: TensorLike) -> Tensor:
        """Return ``log_softmax(x, dim)``."""
        return log_softmax(x, self.dim)

    def extra_repr(self) -> str:
        """Return the axis."""
        return f"dim={self.dim}"

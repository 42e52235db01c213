"""Activation functions, and the modules that apply them.

None overflows or warns, however large the input. A function that gates its input, such as gelu, is two nodes: the gate,
whose value the backward pass needs again, and the product.
"""

from __future__ import annotations

import math
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from clumsygrad.core import (
    Array,
    GradientTuple,
    Tensor,
    TensorLike,
    TensorType,
    as_tensor,
    create_node,
    full,
    unbroadcast,
)
from clumsygrad.core import math as _math

from .module import Module

_SELU_ALPHA = 1.6732632423543772
_SELU_SCALE = 1.0507009873554805
_CUBIC = 0.044715
_ROOT_2_OVER_PI = math.sqrt(2 / math.pi)

Approximation = Literal["none", "tanh"]


def gated(grad: Array, mask: npt.NDArray[np.bool_]) -> Array:
    """Return the gradient where the mask holds, else 0, even in place of an infinite or undefined gradient.

    A product takes a tenth of the time of where() with a mask that changes from element to element.
    """
    if not isinstance(cast("object", grad), Tensor):
        result = grad * mask
        if np.isfinite(np.add.reduce(result, axis=None)):
            return result
    return np.where(mask, grad, 0)


def _negative_part(x: Array) -> Array:
    """Return ``min(x, 0)``, with a gradient of 1 at 0."""
    return np.where(x > 0, 0, x) if isinstance(cast("object", x), Tensor) else np.minimum(x, 0)


def relu(input: TensorLike) -> Tensor:
    r"""Return :math:`\max(x, 0)`, elementwise, with a gradient of 0 at 0.

    Example:
        >>> from clumsygrad.nn.functional import relu
        >>> relu([-1.0, 2.0]).tolist()
        [0.0, 2.0]
    """
    x = as_tensor(input)
    return create_node(np.maximum(x.data, 0), relu_backward, (x,))


def relu_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient where the result is above 0."""
    return (gated(grad, np.logical_not(tensor.data <= 0)),)


def leaky_relu(input: TensorLike, negative_slope: float = 0.01) -> Tensor:
    r"""Return x where it is above 0, else ``negative_slope * x``.

    Example:
        >>> from clumsygrad.nn.functional import leaky_relu
        >>> leaky_relu([-2.0, 2.0], 0.5).tolist()
        [-1.0, 2.0]
    """
    x = as_tensor(input)
    values = x.data
    # The larger of the two, but for slopes with which it would be the smaller.
    if 0 <= negative_slope <= 1:
        result = np.maximum(values, values * negative_slope)
    else:
        result = np.where(values > 0, values, values * negative_slope)
    return create_node(result, leaky_relu_backward, (x,), {"negative_slope": negative_slope})


def leaky_relu_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient where x is above 0, else the slope times it."""
    above, slope = tensor.parents[0].data > 0, tensor.extra["negative_slope"]
    if 0 < slope <= 1:
        return (grad * np.maximum(above.astype(grad.dtype), slope),)
    return (np.where(above, grad, grad * slope),)


def prelu(input: TensorLike, weight: TensorLike) -> Tensor:
    r"""Return x where it is above 0, else ``weight * x``, with a learned weight.

    Args:
        input: shape (N, C, …), or any shape for a single weight.
        weight: shape (1,) or (C,).

    Raises:
        ValueError: when the weight's length is neither 1 nor the number of channels.

    Example:
        >>> from clumsygrad.nn.functional import prelu
        >>> prelu([-2.0, 2.0], [0.25]).tolist()
        [-0.5, 2.0]
    """
    x, slope = as_tensor(input), as_tensor(weight)
    channels = x.shape[1] if x.ndim > 1 else 1
    if slope.ndim > 1 or slope.size not in {1, channels}:
        raise ValueError(
            f"prelu's weight has one entry, or one for each of the {channels} channels of an input of shape {x.shape}; "
            f"received shape {slope.shape}"
        )
    shape: tuple[int, ...]
    shape = (slope.size, *(1 for _ in x.shape[2:])) if slope.size > 1 else (1,) * min(x.ndim, 1)
    factor = slope.reshape(shape)
    result = np.maximum(x.data, 0) + factor.data * np.minimum(x.data, 0)
    return create_node(result, prelu_backward, (x, factor))


def prelu_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient, times the weight where x is not above 0; and there, times x, for the weight."""
    x, weight = tensor.parents
    above = x.data > 0
    return (
        gated(grad, above) + gated(grad, ~above) * weight.data if x.requires_grad else None,
        unbroadcast(grad * _negative_part(x.data), weight.shape) if weight.requires_grad else None,
    )


def elu(input: TensorLike, alpha: float = 1.0) -> Tensor:
    r"""Return x where it is above 0, else :math:`\alpha (e^x - 1)`.

    References:
        Clevert et al. (2016), "Fast and accurate deep network learning by exponential linear units".

    Example:
        >>> from clumsygrad.nn.functional import elu
        >>> elu([-1e4, 2.0]).tolist()
        [-1.0, 2.0]
    """
    return _exponential(input, 1.0, alpha, 1.0)


def selu(input: TensorLike) -> Tensor:
    r"""Return the exponential linear unit that keeps mean 0 and variance 1 from layer to layer.

    References:
        Klambauer et al. (2017), "Self-normalizing neural networks".

    Example:
        >>> from clumsygrad.nn.functional import selu
        >>> round(selu(1.0).item(), 4)
        1.0507
    """
    return _exponential(input, _SELU_SCALE, _SELU_SCALE * _SELU_ALPHA, 1.0)


def celu(input: TensorLike, alpha: float = 1.0) -> Tensor:
    r"""Return x where it is above 0, else :math:`\alpha (e^{x / \alpha} - 1)`, whose slope at 0 is 1 for every alpha.

    References:
        Barron (2017), "Continuously differentiable exponential linear units".

    Raises:
        ValueError: for an alpha of 0.

    Example:
        >>> from clumsygrad.nn.functional import celu
        >>> celu([-1e4, 2.0], 0.5).tolist()
        [-0.5, 2.0]
    """
    if alpha == 0:
        raise ValueError("celu divides by alpha, which can't be 0; use relu")
    return _exponential(input, 1.0, alpha, 1 / alpha)


def _exponential(input: TensorLike, slope: float, alpha: float, rate: float) -> Tensor:
    """Return ``slope * x`` above 0, and ``alpha * (exp(rate * x) - 1)`` below."""
    x = as_tensor(input)
    values = x.data
    with np.errstate(under="ignore", over="ignore"):
        # One of the two is 0.
        result = slope * np.maximum(values, 0) + alpha * np.expm1(rate * np.minimum(values, 0))
    return create_node(result, exponential_backward, (x,), {"slope": slope, "alpha": alpha, "rate": rate})


def exponential_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``slope`` above 0, ``alpha * rate * exp(rate * x)`` below; from x, since the result loses what is far below."""
    x, extra = tensor.parents[0].data, tensor.extra
    slope: float = extra["slope"]
    rate: float = extra["rate"]
    above = x > 0
    # The positive inputs are left out before the exponential, which would make them infinite, and is 1 instead.
    alpha: float = extra["alpha"] * rate
    return (grad * (alpha * np.exp(rate * _negative_part(x)) + (slope - alpha) * above.astype(grad.dtype)),)


def gelu(input: TensorLike, approximate: Approximation = "none") -> Tensor:
    r"""Return :math:`x \Phi(x)`, with the distribution function of the standard normal distribution.

    Args:
        input: any shape.
        approximate: ``"none"``, or ``"tanh"`` for
            :math:`\frac{x}{2} (1 + \tanh(\sqrt{2 / \pi} (x + 0.044715 x^3)))`.

    References:
        Hendrycks and Gimpel (2016), "Gaussian error linear units".

    Raises:
        ValueError: for another approximation.

    Example:
        >>> from clumsygrad.nn.functional import gelu
        >>> gelu([-1e4, 0.0, 1e4]).tolist()
        [-0.0, 0.0, 10000.0]
    """
    x = as_tensor(input)
    values = x.data
    if approximate == "none":
        cdf = _math.erf(values * math.sqrt(0.5)).data * 0.5 + 0.5
        return x * create_node(cdf, normal_cdf_backward, (x,))
    if approximate != "tanh":
        raise ValueError(f"approximate is 'none' or 'tanh'; received {approximate!r}")
    with np.errstate(over="ignore", under="ignore"):
        inner = values * (_ROOT_2_OVER_PI + (_ROOT_2_OVER_PI * _CUBIC) * (values * values))
    return x * create_node(np.tanh(inner) * 0.5 + 0.5, cubic_gate_backward, (x,))


def normal_cdf_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * exp(-x**2 / 2) / sqrt(2 pi)``."""
    x = tensor.parents[0].data
    return (grad * (np.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))),)


def cubic_gate_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``2 g (1 - g)``, for the gate g, times the slope of the cubic inside of it."""
    x, gate = tensor.parents[0].data, tensor.data
    # Where the square overflows, the gate is closed or open for good.
    square = np.minimum(x * x, 1e30)
    slope = 2 * _ROOT_2_OVER_PI + (6 * _ROOT_2_OVER_PI * _CUBIC) * square
    return (grad * (gate * (1 - gate) * slope),)


def silu(input: TensorLike) -> Tensor:
    r"""Return :math:`x \sigma(x)`, also known as swish.

    References:
        Elfwing et al. (2018), "Sigmoid-weighted linear units"; Ramachandran et al. (2017), "Searching for activation
        functions".

    Example:
        >>> from clumsygrad.nn.functional import silu
        >>> silu([-1e4, 0.0, 1e4]).tolist()
        [-0.0, 0.0, 10000.0]
    """
    x = as_tensor(input)
    return x * sigmoid(x)


def mish(input: TensorLike) -> Tensor:
    r"""Return :math:`x \tanh(\ln(1 + e^x))`.

    References:
        Misra (2019), "Mish: a self regularized non-monotonic activation function".

    Example:
        >>> from clumsygrad.nn.functional import mish
        >>> mish([-1e4, 0.0, 1e4]).tolist()
        [-0.0, 0.0, 10000.0]
    """
    x = as_tensor(input)
    return x * create_node(np.tanh(_softplus_values(x.data)), mish_gate_backward, (x,))


def mish_gate_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * (1 - gate**2) * sigmoid(x)``."""
    gate = tensor.data
    return (grad * ((1 - gate * gate) / (1 + np.exp(-tensor.parents[0].data))),)


def softplus(input: TensorLike, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    r"""Return :math:`\ln(1 + e^{\beta x}) / \beta`, and x where :math:`\beta x` is above the threshold.

    Raises:
        ValueError: for a beta of 0.

    Example:
        >>> from clumsygrad.nn.functional import softplus
        >>> softplus([-1e4, 1e4]).tolist()
        [0.0, 10000.0]
    """
    if beta == 0:
        raise ValueError("softplus divides by beta, which can't be 0")
    x = as_tensor(input)
    scaled = x.data * beta
    linear = scaled > threshold
    with np.errstate(under="ignore"):
        result = np.log1p(np.exp(np.minimum(scaled, threshold))) / beta
    if linear.any():
        result = np.where(linear, x.data, result)
    return create_node(result, softplus_backward, (x,), {"beta": beta, "linear": linear})


def softplus_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * sigmoid(beta x)``, which is ``1 - exp(-beta y)`` of the result."""
    slope = -np.expm1(tensor.data * -tensor.extra["beta"])
    linear = tensor.extra["linear"]
    return (np.where(linear, grad, grad * slope) if linear.any() else grad * slope,)


def _softplus_values(x: Array) -> Array:
    with np.errstate(under="ignore"):
        result: Array = np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
    return result


def softsign(input: TensorLike) -> Tensor:
    r"""Return :math:`x / (1 + |x|)`.

    Example:
        >>> from clumsygrad.nn.functional import softsign
        >>> softsign([-1.0, 3.0]).tolist()
        [-0.5, 0.75]
    """
    x = as_tensor(input)
    return create_node(x.data / (1 + np.abs(x.data)), softsign_backward, (x,))


def softsign_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / (1 + |x|)**2``."""
    width = 1 + np.abs(tensor.parents[0].data)
    return (grad / (width * width),)


def sigmoid(input: TensorLike) -> Tensor:
    r"""Return :math:`\sigma(x) = 1 / (1 + e^{-x})`, elementwise.

    Example:
        >>> from clumsygrad.nn.functional import sigmoid
        >>> sigmoid([-1e4, 0.0, 1e4]).tolist()
        [0.0, 0.5, 1.0]
    """
    x = as_tensor(input)
    # An exponential that overflows gives the quotient's limit, 0.
    with np.errstate(over="ignore", under="ignore"):
        return create_node(1 / (1 + np.exp(-x.data)), sigmoid_backward, (x,))


def sigmoid_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * y * (1 - y)``."""
    y = tensor.data
    return (grad * (y * (1 - y)),)


def logsigmoid(input: TensorLike) -> Tensor:
    r"""Return :math:`\ln \sigma(x)`.

    Example:
        >>> from clumsygrad.nn.functional import logsigmoid
        >>> logsigmoid([-1e4, 1e4]).tolist()
        [-10000.0, 0.0]
    """
    x = as_tensor(input)
    with np.errstate(under="ignore"):
        result = np.minimum(x.data, 0) - np.log1p(np.exp(-np.abs(x.data)))
    return create_node(result, logsigmoid_backward, (x,))


def logsigmoid_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * sigmoid(-x)``, which is ``1 - exp(y)`` of the result."""
    return (grad * -np.expm1(tensor.data),)


def tanh(input: TensorLike) -> Tensor:
    """Return the hyperbolic tangent, elementwise.

    Example:
        >>> from clumsygrad.nn.functional import tanh
        >>> tanh([0.0, 1e4]).tolist()
        [0.0, 1.0]
    """
    return _math.tanh(input)


def hardtanh(input: TensorLike, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Return x limited to the range from ``min_val`` to ``max_val``, with a gradient of 0 on the bounds.

    Raises:
        ValueError: when ``min_val`` is above ``max_val``.

    Example:
        >>> from clumsygrad.nn.functional import hardtanh
        >>> hardtanh([-3.0, 0.5, 3.0]).tolist()
        [-1.0, 0.5, 1.0]
    """
    if min_val > max_val:
        raise ValueError(f"hardtanh needs min_val <= max_val; received {min_val} and {max_val}")
    x = as_tensor(input)
    extra = {"min_val": min_val, "max_val": max_val}
    return create_node(np.clip(x.data, min_val, max_val), hardtanh_backward, (x,), extra)


def hardtanh_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient where x is between the bounds."""
    x = tensor.parents[0].data
    outside = np.logical_or(x <= tensor.extra["min_val"], x >= tensor.extra["max_val"])
    return (gated(grad, np.logical_not(outside)),)


def relu6(input: TensorLike) -> Tensor:
    """Return x limited to the range from 0 to 6.

    Example:
        >>> from clumsygrad.nn.functional import relu6
        >>> relu6([-1.0, 3.0, 9.0]).tolist()
        [0.0, 3.0, 6.0]
    """
    return hardtanh(input, 0.0, 6.0)


def hardsigmoid(input: TensorLike) -> Tensor:
    """Return ``x / 6 + 1/2`` limited to the range from 0 to 1.

    Example:
        >>> from clumsygrad.nn.functional import hardsigmoid
        >>> hardsigmoid([-4.0, 0.0, 4.0]).tolist()
        [0.0, 0.5, 1.0]
    """
    x = as_tensor(input)
    return create_node(np.clip(x.data + 3, 0, 6) / 6, hardsigmoid_backward, (x,))


def hardsigmoid_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """A sixth of the gradient where x is between -3 and 3."""
    return (gated(grad / 6, np.abs(tensor.parents[0].data) < 3),)


def hardswish(input: TensorLike) -> Tensor:
    """Return x times its :func:`hardsigmoid`.

    References:
        Howard et al. (2019), "Searching for MobileNetV3".

    Example:
        >>> from clumsygrad.nn.functional import hardswish
        >>> hardswish([-4.0, 3.0]).tolist()
        [-0.0, 3.0]
    """
    x = as_tensor(input)
    return create_node(x.data * (np.clip(x.data + 3, 0, 6) / 6), hardswish_backward, (x,))


def hardswish_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``x / 3 + 1/2`` between -3 and 3, 1 above."""
    x = tensor.parents[0].data
    return (np.where(x >= 3, grad, np.where(x <= -3, 0, grad * (x / 3 + 0.5))),)


def softmax(input: TensorLike, dim: int = -1) -> Tensor:
    r"""Return :math:`e^{x_i} / \sum_j e^{x_j}` along the axis ``dim``.

    Example:
        >>> from clumsygrad.nn.functional import softmax
        >>> softmax([1e4, 1e4]).tolist()
        [0.5, 0.5]
    """
    x = as_tensor(input)
    values = x.data
    with np.errstate(under="ignore", invalid="ignore"):
        result = np.exp(values - _largest(values, dim))
        result /= np.add.reduce(result, axis=dim, keepdims=True)
    return create_node(result, softmax_backward, (x,), {"axis": dim})


def softmax_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``y * (grad - sum(grad * y))``."""
    y = tensor.data
    return (y * (grad - np.add.reduce(grad * y, axis=tensor.extra["axis"], keepdims=True)),)


def _largest(x: Array, axis: int) -> Array:
    """Return the largest value along the axis, which is kept; of no values, what subtracts from none."""
    if x.ndim and not x.shape[axis]:
        return x
    largest: Array = np.maximum.reduce(x, axis=axis, keepdims=True)
    return largest


def softmin(input: TensorLike, dim: int = -1) -> Tensor:
    r"""Return the softmax of -x: :math:`e^{-x_i} / \sum_j e^{-x_j}` along the axis ``dim``.

    Example:
        >>> from clumsygrad.nn.functional import softmin
        >>> softmin([1.0, 1e4]).tolist()
        [1.0, 0.0]
    """
    return softmax(-as_tensor(input), dim)


def log_softmax(input: TensorLike, dim: int = -1) -> Tensor:
    r"""Return :math:`x_i - \ln \sum_j e^{x_j}` along the axis ``dim``.

    Example:
        >>> from clumsygrad.nn.functional import log_softmax
        >>> log_softmax([1e4, 0.0]).tolist()
        [0.0, -10000.0]
    """
    x = as_tensor(input)
    with np.errstate(under="ignore", invalid="ignore", divide="ignore"):
        shifted = x.data - _largest(x.data, dim)
        shifted -= np.log(np.add.reduce(np.exp(shifted), axis=dim, keepdims=True))
    return create_node(shifted, log_softmax_backward, (x,), {"axis": dim})


def log_softmax_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad - exp(y) * sum(grad)``."""
    return (grad - np.exp(tensor.data) * np.add.reduce(grad, axis=tensor.extra["axis"], keepdims=True),)


def glu(input: TensorLike, dim: int = -1) -> Tensor:
    r"""Return :math:`a \sigma(b)`, where a and b are the first and second half of x along the axis ``dim``.

    References:
        Dauphin et al. (2017), "Language modeling with gated convolutional networks".

    Raises:
        ValueError: for an axis of odd length.

    Example:
        >>> from clumsygrad.nn.functional import glu
        >>> glu([2.0, 0.0]).tolist()
        [1.0]
    """
    x = as_tensor(input)
    if not -x.ndim <= dim < x.ndim or x.shape[dim] % 2:
        raise ValueError(f"glu halves the axis {dim}, which needs an even length; received shape {x.shape}")
    before, half = (slice(None),) * (dim % x.ndim), x.shape[dim] // 2
    return x[(*before, slice(half))] * sigmoid(x[(*before, slice(half, None))])


class _Elementwise(Module):
    """What the activations without settings share."""

    @staticmethod
    def _function(input: TensorLike) -> Tensor:
        raise NotImplementedError

    def forward(self, input: TensorLike) -> Tensor:
        """Apply the function."""
        return self._function(input)


class ReLU(_Elementwise):
    """The module of :func:`relu`."""

    _function = staticmethod(relu)


class LeakyReLU(Module):
    """The module of :func:`leaky_relu`."""

    negative_slope: float

    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, input: TensorLike) -> Tensor:
        """Apply the function."""
        return leaky_relu(input, self.negative_slope)

    def extra_repr(self) -> str:
        """Return the slope."""
        return f"negative_slope={self.negative_slope}"


class PReLU(Module):
    """The module of :func:`prelu`, with ``weight`` of shape (num_parameters,).

    Args:
        num_parameters: 1, or the number of channels.
        init: the initial slope.
    """

    num_parameters: int
    weight: Tensor

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = full((num_parameters,), init, tensor_type=TensorType.PARAMETER)

    def forward(self, input: TensorLike) -> Tensor:
        """Apply the function."""
        return prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Return the number of slopes."""
        return f"num_parameters={self.num_parameters}"


class ELU(Module):
    """The module of :func:`elu`."""

    alpha: float

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, input: TensorLike) -> Tensor:
        """Apply the function."""
        return elu(input, self.alpha)

    def extra_repr(self) -> str:
        """Return alpha."""
        return f"alpha={self.alpha}"


class SELU(_Elementwise):
    """The module of :func:`selu`."""

    _function = staticmethod(selu)


class CELU(Module):
    """The module of :func:`celu`."""

    alpha: float

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, input: TensorLike) -> Tensor:
        """Apply the function."""
        return celu(input, self.alpha)

    def extra_repr(self) -> str:
        """Return alpha."""
        return f"alpha={self.alpha}"


class GELU(Module):
    """The module of :func:`gelu`."""

    approximate: Approximation

    def __init__(self, approximate: Approximation = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: TensorLike) -> Tensor:
        """Apply the function."""
        return gelu(input, self.approximate)

    def extra_repr(self) -> str:
        """Return the approximation."""
        return f"approximate={self.approximate!r}"


class SiLU(_Elementwise):
    """The module of :func:`silu`."""

    _function = staticmethod(silu)


class Mish(_Elementwise):
    """The module of :func:`mish`."""

    _function = staticmethod(mish)


class Softplus(Module):
    """The module of :func:`softplus`."""

    beta: float
    threshold: float

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: TensorLike) -> Tensor:
        """Apply the function."""
        return softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Return beta and the threshold."""
        return f"beta={self.beta}, threshold={self.threshold}"


class Softsign(_Elementwise):
    """The module of :func:`softsign`."""

    _function = staticmethod(softsign)


class Sigmoid(_Elementwise):
    """The module of :func:`sigmoid`."""

    _function = staticmethod(sigmoid)


class LogSigmoid(_Elementwise):
    """The module of :func:`logsigmoid`."""

    _function = staticmethod(logsigmoid)


class Tanh(_Elementwise):
    """The module of :func:`tanh`."""

    _function = staticmethod(tanh)


class Hardtanh(Module):
    """The module of :func:`hardtanh`."""

    min_val: float
    max_val: float

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        self.min_val = min_val
        self.max_val = max_val

    def forward(self, input: TensorLike) -> Tensor:
        """Apply the function."""
        return hardtanh(input, self.min_val, self.max_val)

    def extra_repr(self) -> str:
        """Return the bounds."""
        return f"min_val={self.min_val}, max_val={self.max_val}"


class ReLU6(_Elementwise):
    """The module of :func:`relu6`."""

    _function = staticmethod(relu6)


class Hardsigmoid(_Elementwise):
    """The module of :func:`hardsigmoid`."""

    _function = staticmethod(hardsigmoid)


class Hardswish(_Elementwise):
    """The module of :func:`hardswish`."""

    _function = staticmethod(hardswish)


class _AlongAxis(Module):
    """What the activations along an axis share."""

    dim: int

    @staticmethod
    def _function(input: TensorLike, dim: int = -1) -> Tensor:
        raise NotImplementedError

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: TensorLike) -> Tensor:
        """Apply the function."""
        return self._function(input, self.dim)

    def extra_repr(self) -> str:
        """Return the axis."""
        return f"dim={self.dim}"


class Softmax(_AlongAxis):
    """The module of :func:`softmax`."""

    _function = staticmethod(softmax)


class LogSoftmax(_AlongAxis):
    """The module of :func:`log_softmax`."""

    _function = staticmethod(log_softmax)


class Softmin(_AlongAxis):
    """The module of :func:`softmin`."""

    _function = staticmethod(softmin)


class GLU(_AlongAxis):
    """The module of :func:`glu`."""

    _function = staticmethod(glu)

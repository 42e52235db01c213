"""Layers that multiply by a matrix, and those that change nothing but the shape."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from clumsygrad.core import Array, GradientTuple, Tensor, TensorLike, as_tensor, create_node

from .. import init
from ..module import Module, Parameter


def linear(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Tensor:
    r"""Return :math:`x W^T + b`, as one node of the graph.

    Args:
        x: shape (..., in_features).
        weight: shape (out_features, in_features).
        bias: shape (out_features,), or None.

    Returns:
        Shape (..., out_features).

    Raises:
        ValueError: when the shapes don't match.

    Example:
        >>> from clumsygrad.nn.functional import linear
        >>> linear([1.0, 2.0], [[3.0, 4.0]], [0.5]).tolist()
        [11.5]
    """
    x, weight = as_tensor(x), as_tensor(weight)
    values, matrix = x.data, weight.data
    if matrix.ndim != 2 or not values.ndim or values.shape[-1] != matrix.shape[1]:
        raise ValueError(
            "linear needs x of shape (..., in_features) and weight of shape (out_features, in_features); received "
            f"{values.shape} and {matrix.shape}"
        )
    # All rows of a stack in a single product: BLAS is far better at that than at many small ones.
    result = _rows(values) @ matrix.T
    if values.ndim != 2:
        result = result.reshape(*values.shape[:-1], matrix.shape[0])
    if bias is None:
        return create_node(result, linear_backward, (x, weight))
    bias = as_tensor(bias)
    offset = bias.data
    if offset.shape != matrix.shape[:1]:
        raise ValueError(f"linear's bias has shape (out_features,), here {matrix.shape[:1]}; received {offset.shape}")
    # In place when that keeps the precision: the product is ours alone.
    result = np.add(result, offset, out=result) if result.dtype == offset.dtype else result + offset
    return create_node(result, linear_backward, (x, weight, bias))


def linear_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad @ W``, ``grad.T @ x`` and the sum of ``grad``, in which a stack counts as the rows of one matrix."""
    parents = tensor.parents
    x, weight = parents[0], parents[1]
    rows = _rows(grad)
    x_grad = weight_grad = None
    if x.requires_grad:
        x_grad = rows @ weight.data
        if grad.ndim != 2:
            x_grad = x_grad.reshape(x.shape)
    if weight.requires_grad:
        weight_grad = rows.T @ _rows(x.data)
    if len(parents) == 2:
        return x_grad, weight_grad
    return x_grad, weight_grad, np.add.reduce(rows, axis=0) if parents[2].requires_grad else None


def _rows(x: Array) -> Array:
    """Return ``x`` as a matrix of its last axis."""
    if x.ndim == 2:
        return x
    shape = x.shape
    return x.reshape(math.prod(shape[:-1]), shape[-1])


class Linear(Module):
    r"""The affine map :math:`y = x W^T + b`.

    Args:
        in_features: the length of the input's last axis.
        out_features: the length of the output's.
        bias: whether there is a b.
        rng: what draws the initial values; the default generator when None.

    Shapes:
        x (..., in_features) to (..., out_features); ``weight`` (out_features, in_features), ``bias`` (out_features,),
        both drawn from the uniform distribution on ±1/sqrt(in_features).

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import Linear
        >>> layer = Linear(3, 2)
        >>> layer(zeros((4, 3))).shape
        (4, 2)
    """

    in_features: int
    out_features: int
    weight: Tensor
    bias: Tensor | None

    def __init__(self, in_features: int, out_features: int, bias: bool = True, *, rng: Generator | None = None) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(np.empty((out_features, in_features)))
        self.register_parameter("bias", Parameter(np.empty(out_features)) if bias else None)
        self.reset_parameters(rng=rng)

    def reset_parameters(self, *, rng: Generator | None = None) -> None:
        """Draw the initial values anew."""
        bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0.0
        init.uniform_(self.weight, -bound, bound, rng=rng)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound, rng=rng)

    def forward(self, x: TensorLike) -> Tensor:
        """Return ``x @ weight.T + bias``."""
        return linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"

"""Layers that multiply by a matrix, and those that change nothing but the shape."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.lib.array_utils import normalize_axis_index
from numpy.random import Generator

from clumsygrad.core import Array, GradientTuple, Tensor, TensorLike, TensorType, as_tensor, create_node, zeros

from .. import init
from ..module import Module


def linear(input: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Tensor:
    r"""Return :math:`x W^T + b`, as one node of the graph.

    Args:
        input: shape (..., in_features).
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
    x, weight = as_tensor(input), as_tensor(weight)
    values, matrix = x.data, weight.data
    if matrix.ndim != 2 or not values.ndim or values.shape[-1] != matrix.shape[1]:
        raise ValueError(
            "linear needs input of shape (..., in_features) and weight of shape (out_features, in_features); received "
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
        self.weight = zeros((out_features, in_features), tensor_type=TensorType.PARAMETER)
        self.register_parameter("bias", zeros(out_features, tensor_type=TensorType.PARAMETER) if bias else None)
        self.reset_parameters(rng=rng)

    def reset_parameters(self, *, rng: Generator | None = None) -> None:
        """Draw the initial values anew."""
        bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0.0
        init.uniform_(self.weight, -bound, bound, rng=rng)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound, rng=rng)

    def forward(self, input: TensorLike) -> Tensor:
        """Return ``input @ weight.T + bias``."""
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def bilinear(input1: TensorLike, input2: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Tensor:
    r"""Return :math:`y_o = x_1^T W_o x_2 + b_o`.

    Args:
        input1: shape (..., in1_features).
        input2: shape (..., in2_features), the same but for the last axis.
        weight: shape (out_features, in1_features, in2_features).
        bias: shape (out_features,), or None.

    Returns:
        Shape (..., out_features).

    Raises:
        ValueError: when the shapes don't match.

    Example:
        >>> from clumsygrad.nn.functional import bilinear
        >>> bilinear([2.0], [3.0], [[[4.0]]], [1.0]).tolist()
        [25.0]
    """
    first, second, weight = as_tensor(input1), as_tensor(input2), as_tensor(weight)
    shape = weight.shape
    if (
        len(shape) != 3
        or not first.ndim
        or first.shape[:-1] != second.shape[:-1]
        or (first.shape[-1], second.shape[-1]) != shape[1:]
    ):
        raise ValueError(
            "bilinear needs inputs of shape (..., in1_features) and (..., in2_features) and weight of shape "
            f"(out_features, in1_features, in2_features); received {first.shape}, {second.shape} and {shape}"
        )
    # The weight as one matrix of all pairs of features, so that there is one product.
    pairs = first.reshape(*first.shape, 1) * second.reshape(*second.shape[:-1], 1, second.shape[-1])
    return linear(
        pairs.reshape(*first.shape[:-1], shape[1] * shape[2]), weight.reshape(shape[0], shape[1] * shape[2]), bias
    )


class Bilinear(Module):
    r"""The bilinear map :math:`y_o = x_1^T W_o x_2 + b_o`.

    Args:
        in1_features: the length of the first input's last axis.
        in2_features: the length of the second input's.
        out_features: the length of the output's.
        bias: whether there is a b.
        rng: what draws the initial values; the default generator when None.

    Shapes:
        x1 (..., in1_features) and x2 (..., in2_features) to (..., out_features); ``weight`` (out_features,
        in1_features, in2_features), ``bias`` (out_features,), both drawn from the uniform distribution on
        ±1/sqrt(in1_features).

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import Bilinear
        >>> Bilinear(3, 4, 2)(zeros((5, 3)), zeros((5, 4))).shape
        (5, 2)
    """

    in1_features: int
    in2_features: int
    out_features: int
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        *,
        rng: Generator | None = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"Bilinear needs in1_features above 0; received {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = zeros((out_features, in1_features, in2_features), tensor_type=TensorType.PARAMETER)
        self.register_parameter("bias", zeros(out_features, tensor_type=TensorType.PARAMETER) if bias else None)
        self.reset_parameters(rng=rng)

    def reset_parameters(self, *, rng: Generator | None = None) -> None:
        """Draw the initial values anew."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound, rng=rng)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound, rng=rng)

    def forward(self, input1: TensorLike, input2: TensorLike) -> Tensor:
        """Return the form of the two inputs."""
        return bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Identity(Module):
    """A layer that returns its input, whatever arguments it was made with: for leaving a layer out.

    Example:
        >>> from clumsygrad.nn import Identity
        >>> Identity()([1.0, 2.0]).tolist()
        [1.0, 2.0]
    """

    def __init__(self, *args: object, **kwargs: object) -> None:  # noqa: ARG002  # taken and ignored, as documented
        super().__init__()

    def forward(self, input: TensorLike) -> Tensor:
        """Return the input."""
        return as_tensor(input)


class Flatten(Module):
    """A layer that makes one axis of those from ``start_dim`` to ``end_dim``.

    Args:
        start_dim: the first of them.
        end_dim: the last of them.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import Flatten
        >>> Flatten()(zeros((2, 3, 4))).shape
        (2, 12)
    """

    start_dim: int
    end_dim: int

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: TensorLike) -> Tensor:
        """Return the input with the axes joined."""
        x = as_tensor(input)
        if not x.ndim:
            return x.reshape(1)
        start, end = normalize_axis_index(self.start_dim, x.ndim), normalize_axis_index(self.end_dim, x.ndim)
        if start > end:
            raise ValueError(
                f"Flatten joins the axes from start_dim={self.start_dim} to end_dim={self.end_dim}, which come in "
                f"the other order in an input of shape {x.shape}"
            )
        return x.reshape(*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :])

    def extra_repr(self) -> str:
        """Return the axes."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """A layer that splits one axis into several.

    Args:
        dim: the axis.
        unflattened_size: the lengths that it is split into, of which one may be -1.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import Unflatten
        >>> Unflatten(1, (3, 4))(zeros((2, 12))).shape
        (2, 3, 4)
    """

    dim: int
    unflattened_size: tuple[int, ...]

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.dim = dim
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, input: TensorLike) -> Tensor:
        """Return the input with the axis split."""
        x = as_tensor(input)
        axis = normalize_axis_index(self.dim, x.ndim)
        sizes, length = self.unflattened_size, x.shape[axis]
        known = math.prod(size for size in sizes if size != -1)
        if sizes.count(-1) > 1 or (length != known if -1 not in sizes else not known or length % known):
            raise ValueError(
                f"Unflatten splits the axis {self.dim}, of length {length} in an input of shape {x.shape}; "
                f"{sizes} doesn't make that length"
            )
        split = (length // known if size == -1 else size for size in sizes)
        return x.reshape(*x.shape[:axis], *split, *x.shape[axis + 1 :])

    def extra_repr(self) -> str:
        """Return the axis and the lengths."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"

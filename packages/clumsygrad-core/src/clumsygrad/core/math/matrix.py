"""Products of matrices; backward functions in ``grad/matrix.py`` in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex, cast

import numpy as np

from ..broadcasting import normalize_axes
from ..grad.matrix import matmul_backward, stacked_product, tensordot_backward
from ..operand import operand
from ..registry import register
from ..tensor import Tensor, as_tensor, create_node
from ..types import TensorLike
from .arithmetic import multiply
from .einsum import einsum
from .shaping import moveaxis, reshape


def matmul(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the matrix product ``x @ y``, with NumPy's rules for every rank.

    Args:
        x: shape (..., n, k), or (k,).
        y: shape (..., k, m), or (k,).

    Returns:
        Shape (..., n, m), in which a vector operand's axis is missing.

    Raises:
        ValueError: for scalars, and when the inner lengths or the stacks don't match.

    Example:
        >>> from clumsygrad.core import math
        >>> math.matmul([[1.0, 2.0]], [3.0, 4.0]).tolist()
        [11.0]
    """
    left, right = operand(x), operand(y)
    if left is NotImplemented or right is NotImplemented:
        return cast("Tensor", NotImplemented)
    if not isinstance(left, Tensor) or not isinstance(right, Tensor):
        raise ValueError("a matrix product needs operands of at least one axis; received a scalar. Use * to scale")
    return create_node(stacked_product(left._data, right._data), matmul_backward, (left, right))


def rmatmul(x: TensorLike, y: TensorLike) -> Tensor:
    """Return ``y @ x``: the operator with the Tensor on the right."""
    return matmul(y, x)


def tensordot(
    x: TensorLike,
    y: TensorLike,
    axes: SupportsIndex | tuple[SupportsIndex | Sequence[SupportsIndex], SupportsIndex | Sequence[SupportsIndex]] = 2,
) -> Tensor:
    """Return the sum of products over the given axes of ``x`` and ``y``.

    Args:
        x: any shape.
        y: any shape.
        axes: the axes of ``x`` and the axes of ``y`` to sum over, in pairs; a number n stands for the last n of ``x``
            and the first n of ``y``.

    Returns:
        The other axes of ``x``, then those of ``y``.

    Raises:
        ValueError: when the axes are not in pairs of the same length, or one is named twice.
        numpy.exceptions.AxisError: for an axis that an operand doesn't have.

    Example:
        >>> from clumsygrad.core import math
        >>> math.tensordot([[1.0, 2.0], [3.0, 4.0]], [1.0, -1.0], axes=1).tolist()
        [-1.0, -1.0]
        >>> math.tensordot([[1.0, 2.0]], [[3.0, 4.0]], axes=([-1], [1])).tolist()
        [[11.0]]
    """
    left, right = as_tensor(x), as_tensor(y)
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise ValueError(f"axes are a number, or one list of axes for each operand; received {axes!r}")
        x_given, y_given = (
            tuple(int(axis) for axis in part) if isinstance(part, Sequence) else (int(part),) for part in axes
        )
    else:
        number = int(axes)
        x_given, y_given = tuple(range(-number, 0)), tuple(range(number))
    x_axes = normalize_axes(x_given, left._data.ndim)
    y_axes = normalize_axes(y_given, right._data.ndim)
    lengths = [left._data.shape[axis] for axis in x_axes], [right._data.shape[axis] for axis in y_axes]
    if lengths[0] != lengths[1]:
        raise ValueError(
            f"the axes that are summed over have the same lengths; axes {x_axes} of shape {left._data.shape} and axes "
            f"{y_axes} of shape {right._data.shape} don't"
        )
    data = np.tensordot(left._data, right._data, (x_axes, y_axes))
    return create_node(data, tensordot_backward, (left, right), {"axis": (x_axes, y_axes)})


def dot(x: TensorLike, y: TensorLike) -> Tensor:
    """Return NumPy's ``dot``: the product for scalars, the inner product of vectors, the product of matrices.

    For more axes it is the sum over the last axis of ``x`` and the last but one of ``y``, for all pairs of the others.

    Raises:
        ValueError: when the lengths don't match.

    Example:
        >>> from clumsygrad.core import math
        >>> math.dot([1.0, 2.0], [3.0, 4.0]).item()
        11.0
        >>> math.dot(2.0, [3.0, 4.0]).tolist()
        [6.0, 8.0]
    """
    left, right = as_tensor(x), as_tensor(y)
    if not left._data.ndim or not right._data.ndim:
        return multiply(left, right)
    if right._data.ndim <= 2:
        return matmul(left, right)
    return tensordot(left, right, (-1, -2))


def outer(x: TensorLike, y: TensorLike) -> Tensor:
    """Return all products of an element of ``x`` and one of ``y``, each flattened first: shape (x.size, y.size).

    Example:
        >>> from clumsygrad.core import math
        >>> math.outer([1.0, 2.0], [3.0, 4.0]).tolist()
        [[3.0, 4.0], [6.0, 8.0]]
    """
    left, right = as_tensor(x), as_tensor(y)
    return multiply(reshape(left, (left._data.size, 1)), reshape(right, (1, right._data.size)))


def inner(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the sum of products over the last axes, for all pairs of the others; the product for a scalar.

    Raises:
        ValueError: when the last axes have different lengths.

    Example:
        >>> from clumsygrad.core import math
        >>> math.inner([[1.0, 2.0], [3.0, 4.0]], [1.0, -1.0]).tolist()
        [-1.0, -1.0]
    """
    left, right = as_tensor(x), as_tensor(y)
    if not left._data.ndim or not right._data.ndim:
        return multiply(left, right)
    return tensordot(left, right, (-1, -1))


def vdot(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the sum of the products of all elements of two tensors of the same size.

    Raises:
        ValueError: when the sizes differ.

    Example:
        >>> from clumsygrad.core import math
        >>> math.vdot([[1.0, 2.0]], [3.0, 4.0]).item()
        11.0
    """
    left, right = as_tensor(x), as_tensor(y)
    return matmul(reshape(left, (left._data.size,)), reshape(right, (right._data.size,)))


def vecdot(x: TensorLike, y: TensorLike, *, axis: int = -1) -> Tensor:
    """Return the inner products of the vectors along an axis; the other axes are broadcast.

    Raises:
        ValueError: when the vectors have different lengths.

    Example:
        >>> from clumsygrad.core import math
        >>> math.vecdot([[1.0, 2.0], [3.0, 4.0]], [1.0, -1.0]).tolist()
        [-1.0, -1.0]
    """
    left, right = moveaxis(x, axis, -1), moveaxis(y, axis, -1)
    if left._data.shape[-1] != right._data.shape[-1]:
        raise ValueError(
            f"an inner product is of vectors of the same length; received shapes {left._data.shape} and "
            f"{right._data.shape}"
        )
    return einsum("...i,...i->...", left, right)


def kron(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the Kronecker product: every element of ``x`` times all of ``y``, as blocks.

    Example:
        >>> from clumsygrad.core import math
        >>> math.kron([1.0, 10.0], [1.0, 2.0]).tolist()
        [1.0, 2.0, 10.0, 20.0]
    """
    left, right = as_tensor(x), as_tensor(y)
    number = max(left._data.ndim, right._data.ndim)
    outer_shape, inner_shape = ((1,) * (number - part._data.ndim) + part._data.shape for part in (left, right))
    blocks = reshape(left, tuple(length for pair in zip(outer_shape, (1,) * number, strict=True) for length in pair))
    block = reshape(right, tuple(length for pair in zip((1,) * number, inner_shape, strict=True) for length in pair))
    return reshape(multiply(blocks, block), tuple(m * n for m, n in zip(outer_shape, inner_shape, strict=True)))


def cross(
    x: TensorLike,
    y: TensorLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Tensor:
    """Return the vector products of vectors of three elements.

    Args:
        x: any shape with the length 3 along ``axisa``.
        y: any shape with the length 3 along ``axisb``; the other axes are broadcast.
        axisa: the axis of the vectors of ``x``.
        axisb: the axis of the vectors of ``y``.
        axisc: the axis of the vectors of the result.
        axis: all three at once.

    Raises:
        ValueError: for vectors of another length.

    Example:
        >>> from clumsygrad.core import math
        >>> math.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).tolist()
        [0.0, 0.0, 1.0]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    left, right = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    if left._data.shape[-1] != 3 or right._data.shape[-1] != 3:
        raise ValueError(
            f"a vector product is of vectors of three elements; received shapes {left._data.shape} and "
            f"{right._data.shape}, with the vectors along the last axis"
        )
    following, before = [1, 2, 0], [2, 0, 1]
    product = left[..., following] * right[..., before] - left[..., before] * right[..., following]
    return moveaxis(product, -1, axisc)


register(matmul, matmul_backward, numpy=(np.matmul, np.linalg.matmul), methods=("__matmul__", "matmul"))
register(rmatmul, methods=("__rmatmul__",), differentiable=False)
register(tensordot, tensordot_backward, numpy=(np.tensordot, np.linalg.tensordot))
register(dot, numpy=(np.dot,), methods=("dot",))
register(outer, numpy=(np.outer, np.linalg.outer))
register(inner, numpy=(np.inner,))
register(vdot, numpy=(np.vdot,))
register(vecdot, numpy=(np.vecdot, np.linalg.vecdot))
register(kron, numpy=(np.kron,))
register(cross, numpy=(np.cross, np.linalg.cross))

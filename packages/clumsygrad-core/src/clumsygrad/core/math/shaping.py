"""Operations that rearrange elements; backward functions in ``grad/shaping.py`` in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from ..broadcasting import normalize_axes, shape_argument
from ..grad.shaping import (
    broadcast_to_backward,
    concatenate_backward,
    reshape_backward,
    swapaxes_backward,
    transpose_backward,
)
from ..registry import register
from ..tensor import Tensor, as_tensor, create_node
from ..types import Array, TensorLike


def view(data: Array) -> Array:
    """Mark an array that may share its parent's memory as read-only, so that no assignment reaches both."""
    data.setflags(write=False)
    return data


def reshape(x: TensorLike, shape: SupportsIndex | Sequence[SupportsIndex], *more: SupportsIndex) -> Tensor:
    """Return the elements of ``x`` in another shape, in C order; one length may be -1.

    Raises:
        ValueError: when the shapes hold different numbers of elements.

    Example:
        >>> from clumsygrad.core import Tensor
        >>> Tensor([1.0, 2.0, 3.0, 4.0]).reshape(2, -1).shape
        (2, 2)
    """
    x = as_tensor(x)
    return create_node(view(x._data.reshape(shape_argument(shape, more))), reshape_backward, (x,))


def transpose(
    x: TensorLike, axes: SupportsIndex | Sequence[SupportsIndex] | None = None, *more: SupportsIndex
) -> Tensor:
    """Return ``x`` with its axes in the order ``axes``; reversed by default.

    Raises:
        ValueError: when ``axes`` doesn't name every axis once.

    Example:
        >>> from clumsygrad.core import math
        >>> math.transpose([[1.0, 2.0]]).shape
        (2, 1)
    """
    x = as_tensor(x)
    order = None if axes is None else normalize_axes(shape_argument(axes, more), x._data.ndim)
    return create_node(view(x._data.transpose(order)), transpose_backward, (x,), {"axis": order})


def swapaxes(x: TensorLike, axis1: SupportsIndex, axis2: SupportsIndex) -> Tensor:
    """Return ``x`` with two of its axes exchanged.

    Example:
        >>> from clumsygrad.core import math
        >>> math.swapaxes([[1.0, 2.0]], 0, 1).shape
        (2, 1)
    """
    x = as_tensor(x)
    return create_node(
        view(x._data.swapaxes(axis1, axis2)), swapaxes_backward, (x,), {"axis": (int(axis1), int(axis2))}
    )


def broadcast_to(x: TensorLike, shape: SupportsIndex | Sequence[SupportsIndex], *more: SupportsIndex) -> Tensor:
    """Return ``x`` repeated to ``shape`` by NumPy's broadcasting rules.

    Raises:
        ValueError: when ``x`` can't be broadcast to ``shape``.

    Example:
        >>> from clumsygrad.core import math
        >>> math.broadcast_to([1.0, 2.0], (3, 2)).shape
        (3, 2)
    """
    x = as_tensor(x)
    return create_node(np.broadcast_to(x._data, shape_argument(shape, more)), broadcast_to_backward, (x,))


def concatenate(tensors: Sequence[TensorLike], axis: int | None = 0) -> Tensor:
    """Return the tensors joined along an axis that they have; flattened first when ``axis`` is None.

    Raises:
        ValueError: when there is nothing to join, or the other axes differ.

    Example:
        >>> from clumsygrad.core import math
        >>> math.concatenate([[1.0], [2.0, 3.0]]).tolist()
        [1.0, 2.0, 3.0]
    """
    parents = tuple(as_tensor(tensor) for tensor in tensors)
    if axis is None:
        parents, axis = tuple(reshape(parent, -1) for parent in parents), 0
    data = np.concatenate([parent._data for parent in parents], axis)
    return create_node(data, concatenate_backward, parents, {"axis": axis % data.ndim})


register(reshape, reshape_backward, numpy=(np.reshape,), methods=("reshape",))
register(transpose, transpose_backward, numpy=(np.transpose,), methods=("transpose",))
register(swapaxes, swapaxes_backward, numpy=(np.swapaxes,), methods=("swapaxes",))
register(broadcast_to, broadcast_to_backward, numpy=(np.broadcast_to,), methods=("broadcast_to",))
register(concatenate, concatenate_backward, numpy=(np.concatenate,))

"""Operations that rearrange elements; backward functions in ``grad/shaping.py`` in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Literal, SupportsIndex

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import normalize_axis_index

from ..broadcasting import normalize_axes, shape_argument
from ..grad.shaping import (
    broadcast_to_backward,
    concatenate_backward,
    diagonal_backward,
    flip_backward,
    pad_backward,
    repeat_backward,
    reshape_backward,
    roll_backward,
    stack_backward,
    swapaxes_backward,
    tile_backward,
    transpose_backward,
    tril_backward,
    triu_backward,
)
from ..registry import register
from ..tensor import Tensor, as_tensor, create_node
from ..types import Array, Axis, TensorLike


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


def moveaxis(x: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Return ``x`` with the axes ``source`` moved to the places ``destination``; the others keep their order.

    Raises:
        ValueError: when there are not as many sources as destinations, or one is named twice.

    Example:
        >>> from clumsygrad.core import math, zeros
        >>> math.moveaxis(zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    x = as_tensor(x)
    sources = normalize_axes(source, x._data.ndim)
    destinations = normalize_axes(destination, x._data.ndim)
    if len(sources) != len(destinations):
        raise ValueError(f"moveaxis takes as many sources as destinations; received {source} and {destination}")
    order = [axis for axis in range(x._data.ndim) if axis not in sources]
    for place, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(place, axis)
    return transpose(x, order)


def squeeze(x: TensorLike, axis: Axis = None) -> Tensor:
    """Return ``x`` without the axes of length 1, or without those of them that ``axis`` names.

    Raises:
        ValueError: when ``axis`` names one of another length.

    Example:
        >>> from clumsygrad.core import math, zeros
        >>> math.squeeze(zeros((1, 3, 1))).shape
        (3,)
    """
    x = as_tensor(x)
    return reshape(x, x._data.squeeze(axis).shape)


def expand_dims(x: TensorLike, axis: int | tuple[int, ...]) -> Tensor:
    """Return ``x`` with axes of length 1 put in, which stand at the places ``axis`` of the result.

    Example:
        >>> from clumsygrad.core import math
        >>> math.expand_dims([1.0, 2.0], 0).shape
        (1, 2)
    """
    x = as_tensor(x)
    return reshape(x, np.expand_dims(x._data, axis).shape)


def flatten(x: TensorLike) -> Tensor:
    """Return the elements of ``x`` in C order, on one axis.

    Example:
        >>> from clumsygrad.core import math
        >>> math.flatten([[1.0, 2.0], [3.0, 4.0]]).tolist()
        [1.0, 2.0, 3.0, 4.0]
    """
    x = as_tensor(x)
    return reshape(x, x._data.size)


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


def stack(tensors: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Return tensors of one shape joined along a new axis, which stands at the place ``axis`` of the result.

    Raises:
        ValueError: when there is nothing to join, or the shapes differ.

    Example:
        >>> from clumsygrad.core import math
        >>> math.stack([[1.0, 2.0], [3.0, 4.0]], axis=1).tolist()
        [[1.0, 3.0], [2.0, 4.0]]
    """
    parents = tuple(as_tensor(tensor) for tensor in tensors)
    data = np.stack([parent._data for parent in parents], axis)
    return create_node(data, stack_backward, parents, {"axis": axis % data.ndim})


def split(x: TensorLike, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """Return the parts of ``x`` along ``axis``: that many equal ones, or those between the given positions.

    Raises:
        ValueError: when the axis can't be cut into that many equal parts.

    Example:
        >>> from clumsygrad.core import math
        >>> [part.tolist() for part in math.split([1.0, 2.0, 3.0], [1])]
        [[1.0], [2.0, 3.0]]
    """
    x = as_tensor(x)
    axis = normalize_axis_index(axis, x._data.ndim)
    if isinstance(indices_or_sections, (int, np.integer)) and x._data.shape[axis] % indices_or_sections:
        raise ValueError(
            f"split makes equal parts; an axis of length {x._data.shape[axis]} has none of {indices_or_sections}. "
            "Pass the positions to cut at, or use array_split"
        )
    return array_split(x, indices_or_sections, axis)


def array_split(x: TensorLike, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """Return the parts of ``x`` along ``axis``, as :func:`split`, where the first ones may be longer by one.

    Example:
        >>> from clumsygrad.core import math
        >>> [part.shape for part in math.array_split([1.0, 2.0, 3.0], 2)]
        [(2,), (1,)]
    """
    x = as_tensor(x)
    axis = normalize_axis_index(axis, x._data.ndim)
    length = x._data.shape[axis]
    if isinstance(indices_or_sections, (int, np.integer)):
        if indices_or_sections < 1:
            raise ValueError(f"there is at least one part; received {indices_or_sections}")
        size, longer = divmod(length, int(indices_or_sections))
        lengths = [size + 1] * longer + [size] * (int(indices_or_sections) - longer)
        cuts = [0, *accumulate(lengths)]
    else:
        cuts = [0, *(int(position) for position in indices_or_sections), length]
    before = (slice(None),) * axis
    # A last cut, and one before the first, are positions; what runs backwards between two of them is empty.
    return [x[(*before, slice(start, stop))] for start, stop in pairwise(cuts)]


def tile(x: TensorLike, reps: int | Sequence[int]) -> Tensor:
    """Return ``x`` repeated as a whole, ``reps`` times along each axis; more reps than axes add leading ones.

    Example:
        >>> from clumsygrad.core import math
        >>> math.tile([1.0, 2.0], 2).tolist()
        [1.0, 2.0, 1.0, 2.0]
    """
    x = as_tensor(x)
    times = (int(reps),) if isinstance(reps, (int, np.integer)) else tuple(int(number) for number in reps)
    ndim = max(len(times), x._data.ndim)
    times = (1,) * (ndim - len(times)) + times
    shape = (1,) * (ndim - x._data.ndim) + x._data.shape
    return create_node(np.tile(x._data, times), tile_backward, (x,), {"reps": times, "input_shape": shape})


def repeat(x: TensorLike, repeats: int | Sequence[int] | npt.NDArray[np.integer], axis: int | None = None) -> Tensor:
    """Return every element along ``axis`` repeated: each ``repeats`` times, or each its own number of times.

    Args:
        x: any shape.
        repeats: one number, or one for each element of the axis.
        axis: the axis to repeat along; None for the flattened tensor.

    Raises:
        ValueError: when there are not as many numbers as elements.

    Example:
        >>> from clumsygrad.core import math
        >>> math.repeat([1.0, 2.0], 2).tolist()
        [1.0, 1.0, 2.0, 2.0]
    """
    x = as_tensor(x)
    if axis is None:
        x, axis = flatten(x), 0
    axis = normalize_axis_index(axis, x._data.ndim)
    times = np.asarray(repeats)
    data = np.repeat(x._data, times, axis)
    return create_node(data, repeat_backward, (x,), {"repeats": times, "axis": axis})


def pad(
    x: TensorLike,
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    mode: Literal["constant", "edge", "reflect", "symmetric", "wrap"] = "constant",
    *,
    constant_values: float | Sequence[float] | Sequence[Sequence[float]] = 0,
) -> Tensor:
    """Return ``x`` with a border around it.

    Args:
        x: any shape.
        pad_width: how many elements to put in before and after: one number, one pair, or one pair for each axis.
        mode: what to put in: ``constant_values``, the ``edge`` element, the elements mirrored at the edge element
            (``reflect``) or with it (``symmetric``), or those from the other end (``wrap``).
        constant_values: one number, one pair, or one pair for each axis.

    Raises:
        ValueError: for another mode, and a negative width.

    Example:
        >>> from clumsygrad.core import math
        >>> math.pad([1.0, 2.0], 1).tolist()
        [0.0, 1.0, 2.0, 0.0]
    """
    x = as_tensor(x)
    given = np.asarray(pad_width)
    if given.dtype.kind not in "iu":
        raise TypeError(f"pad_width is made of integers; received {pad_width!r}")
    widths = np.broadcast_to(given.astype(np.intp), (x._data.ndim, 2))
    if mode == "constant":
        data = np.pad(x._data, widths if x._data.ndim else 0, mode, constant_values=constant_values)
        return create_node(data, pad_backward, (x,), {"pad_width": widths.tolist()})
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise ValueError(
            f"pad has the modes 'constant', 'edge', 'reflect', 'symmetric' and 'wrap'; received {mode!r}. "
            "Join what you want with concatenate()"
        )
    # Where each element of the result comes from, on each axis.
    sources = [
        np.pad(np.arange(length, dtype=np.intp), width, mode)
        for length, width in zip(x._data.shape, widths, strict=True)
    ]
    return x[np.ix_(*sources)]


def flip(x: TensorLike, axis: Axis = None) -> Tensor:
    """Return ``x`` with the elements in reverse order along ``axis``, along all axes by default.

    Example:
        >>> from clumsygrad.core import math
        >>> math.flip([1.0, 2.0]).tolist()
        [2.0, 1.0]
    """
    x = as_tensor(x)
    axes = normalize_axes(axis, x._data.ndim)
    return create_node(view(np.flip(x._data, axes)), flip_backward, (x,), {"axis": axes})


def roll(x: TensorLike, shift: int | tuple[int, ...], axis: Axis = None) -> Tensor:
    """Return ``x`` with the elements moved on along ``axis``, where those that leave the end come back at the start.

    Args:
        x: any shape.
        shift: how far, for each axis.
        axis: one axis or several; None to roll the flattened tensor.

    Example:
        >>> from clumsygrad.core import math
        >>> math.roll([1.0, 2.0, 3.0], 1).tolist()
        [3.0, 1.0, 2.0]
    """
    x = as_tensor(x)
    steps = shift if isinstance(shift, tuple) else (int(shift),)
    return create_node(np.roll(x._data, steps, axis), roll_backward, (x,), {"shift": steps, "axis": axis})


def tril(x: TensorLike, k: int = 0) -> Tensor:
    """Return the matrices of ``x`` with zeros above their ``k``-th diagonal.

    Example:
        >>> from clumsygrad.core import math
        >>> math.tril([[1.0, 2.0], [3.0, 4.0]]).tolist()
        [[1.0, 0.0], [3.0, 4.0]]
    """
    x = as_tensor(x)
    return create_node(np.tril(x._data, k), tril_backward, (x,), {"k": k})


def triu(x: TensorLike, k: int = 0) -> Tensor:
    """Return the matrices of ``x`` with zeros below their ``k``-th diagonal.

    Example:
        >>> from clumsygrad.core import math
        >>> math.triu([[1.0, 2.0], [3.0, 4.0]]).tolist()
        [[1.0, 2.0], [0.0, 4.0]]
    """
    x = as_tensor(x)
    return create_node(np.triu(x._data, k), triu_backward, (x,), {"k": k})


def diagonal(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the diagonals of the matrices that ``axis1`` and ``axis2`` span, as the last axis of the result.

    Raises:
        ValueError: for less than two axes.

    Example:
        >>> from clumsygrad.core import math
        >>> math.diagonal([[1.0, 2.0], [3.0, 4.0]]).tolist()
        [1.0, 4.0]
    """
    x = as_tensor(x)
    data = view(np.diagonal(x._data, offset, axis1, axis2))
    axes = normalize_axes((axis1, axis2), x._data.ndim)
    return create_node(data, diagonal_backward, (x,), {"offset": offset, "axis": axes})


def trace(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the sum of each diagonal of :func:`diagonal`.

    Example:
        >>> from clumsygrad.core import math
        >>> math.trace([[1.0, 2.0], [3.0, 4.0]]).item()
        5.0
    """
    return diagonal(x, offset, axis1, axis2).sum(axis=-1)


register(reshape, reshape_backward, numpy=(np.reshape,), methods=("reshape",))
register(transpose, transpose_backward, numpy=(np.transpose, np.permute_dims), methods=("transpose",))
register(swapaxes, swapaxes_backward, numpy=(np.swapaxes,), methods=("swapaxes",))
register(moveaxis, numpy=(np.moveaxis,), methods=("moveaxis",))
register(squeeze, numpy=(np.squeeze,), methods=("squeeze",))
register(expand_dims, numpy=(np.expand_dims,), methods=("expand_dims",))
register(flatten, numpy=(np.ravel,), methods=("flatten", "ravel"))
register(broadcast_to, broadcast_to_backward, numpy=(np.broadcast_to,), methods=("broadcast_to",))
register(concatenate, concatenate_backward, numpy=(np.concatenate,))
register(stack, stack_backward, numpy=(np.stack,))
register(split, numpy=(np.split,), methods=("split",))
register(array_split, numpy=(np.array_split,), methods=("array_split",))
register(tile, tile_backward, numpy=(np.tile,), methods=("tile",))
register(repeat, repeat_backward, numpy=(np.repeat,), methods=("repeat",))
register(pad, pad_backward, numpy=(np.pad,), methods=("pad",))
register(flip, flip_backward, numpy=(np.flip,), methods=("flip",))
register(roll, roll_backward, numpy=(np.roll,), methods=("roll",))
register(tril, tril_backward, numpy=(np.tril,), methods=("tril",))
register(triu, triu_backward, numpy=(np.triu,), methods=("triu",))
register(diagonal, diagonal_backward, numpy=(np.diagonal,), methods=("diagonal",))
register(trace, numpy=(np.trace,), methods=("trace",))

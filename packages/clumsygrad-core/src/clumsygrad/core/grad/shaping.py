"""Backward functions of ``math/shaping.py``, in the same order."""

from __future__ import annotations

import numpy as np

from ..broadcasting import unbroadcast
from ..tensor import Tensor
from ..tensor_type import TensorType
from ..types import Array, GradientTuple
from .indexing import scatter

_INPUT = TensorType.INPUT


def reshape_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient in the shape of the operand."""
    return (grad.reshape(tensor._parents[0]._data.shape),)


def transpose_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient with its axes put back."""
    order = tensor._extra["axis"]
    return (grad.transpose(None if order is None else [order.index(axis) for axis in range(len(order))]),)


def swapaxes_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient with the same two axes exchanged."""
    return (grad.swapaxes(*tensor._extra["axis"]),)


def broadcast_to_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient summed over what was repeated."""
    return (unbroadcast(grad, tensor._parents[0]._data.shape),)


def concatenate_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """For each operand its own part of the gradient."""
    axis = tensor._extra["axis"]
    before = (slice(None),) * axis
    grads: list[Array | None] = []
    start = 0
    for parent in tensor._parents:
        stop = start + parent._data.shape[axis]
        grads.append(None if parent._tensor_type is _INPUT else grad[(*before, slice(start, stop))])
        start = stop
    return tuple(grads)


def stack_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """For each operand its own slice of the gradient."""
    before = (slice(None),) * tensor._extra["axis"]
    return tuple(
        None if parent._tensor_type is _INPUT else grad[(*before, position)]
        for position, parent in enumerate(tensor._parents)
    )


def tile_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient summed over the copies."""
    times, shape = tensor._extra["reps"], tensor._extra["input_shape"]
    pairs = [length for pair in zip(times, shape, strict=True) for length in pair]
    total = grad.reshape(pairs).sum(axis=tuple(range(0, len(pairs), 2)))
    return (total.reshape(tensor._parents[0]._data.shape),)


def repeat_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient summed over the copies of each element."""
    times, axis, shape = tensor._extra["repeats"], tensor._extra["axis"], tensor._parents[0]._data.shape
    if times.size == 1:
        copies = (*shape[: axis + 1], int(times.item()), *shape[axis + 1 :])
        return (grad.reshape(copies).sum(axis=axis + 1),)
    key = (*(slice(None),) * axis, np.repeat(np.arange(shape[axis], dtype=np.intp), times))
    return (scatter(grad, key, shape),)


def pad_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient without the border."""
    shape, widths = tensor._parents[0]._data.shape, tensor._extra["pad_width"]
    return (grad[tuple(slice(before, before + length) for (before, _), length in zip(widths, shape, strict=True))],)


def flip_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient reversed in the same way."""
    return (np.flip(grad, tensor._extra["axis"]),)


def roll_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient rolled back."""
    shift: tuple[int, ...] = tensor._extra["shift"]
    return (np.roll(grad, tuple(-step for step in shift), tensor._extra["axis"]),)


def tril_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient with the same part set to zero."""
    return (unbroadcast(np.tril(grad, tensor._extra["k"]), tensor._parents[0]._data.shape),)


def triu_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient with the same part set to zero."""
    return (unbroadcast(np.triu(grad, tensor._extra["k"]), tensor._parents[0]._data.shape),)


def diagonal_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient on the diagonal, 0 beside it."""
    shape, offset = tensor._parents[0]._data.shape, tensor._extra["offset"]
    axis1, axis2 = tensor._extra["axis"]
    length = grad.shape[-1]
    rows = np.arange(max(-offset, 0), max(-offset, 0) + length, dtype=np.intp)
    columns = np.arange(max(offset, 0), max(offset, 0) + length, dtype=np.intp)
    # The axes that the diagonals run over come first here, so that one key of two integer arrays names them.
    rest = [other for other in range(len(shape)) if other not in (axis1, axis2)]
    order = [axis1, axis2, *rest]
    placed = scatter(np.moveaxis(grad, -1, 0), (rows, columns), tuple(shape[axis] for axis in order))
    return (placed.transpose([order.index(axis) for axis in range(len(shape))]),)

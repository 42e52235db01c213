"""Backward functions of ``math/shaping.py``, in the same order."""

from __future__ import annotations

from ..broadcasting import unbroadcast
from ..tensor import Tensor
from ..tensor_type import TensorType
from ..types import Array, GradientTuple

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

"""Backward functions of ``math/reduction.py``, in the same order."""

from __future__ import annotations

import numpy as np

from ..broadcasting import count_reduced, kept_shape
from ..tensor import Tensor
from ..types import Array, GradientTuple


def keep_reduced(value: Array, tensor: Tensor) -> Array:
    """Return ``value``, which has the shape of the reduction ``tensor``, with the reduced axes put back at length 1."""
    extra = tensor._extra
    return value if extra["keepdims"] else value.reshape(kept_shape(extra["input_shape"], extra["axis"]))


def sum_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient, for every element of the sum."""
    return (np.broadcast_to(keep_reduced(grad, tensor), tensor._extra["input_shape"]),)


def mean_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient divided by the number of elements, for each of them."""
    shape = tensor._extra["input_shape"]
    number = count_reduced(shape, tensor._extra["axis"])
    return (np.broadcast_to(keep_reduced(grad, tensor) / (number or 1), shape),)


def _split_winners(tensor: Tensor, grad: Array) -> GradientTuple:
    """An even share of the gradient for each element that equals the result."""
    winners = tensor._parents[0]._data == keep_reduced(tensor._data, tensor)
    number = np.sum(winners, axis=tensor._extra["axis"], keepdims=True).astype(grad.dtype)
    return (np.where(winners, keep_reduced(grad, tensor) / number, 0),)


def max_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """An even share of the gradient for each of the largest elements."""
    return _split_winners(tensor, grad)


def min_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """An even share of the gradient for each of the smallest elements."""
    return _split_winners(tensor, grad)

"""Backward functions of ``math/elementwise.py``, in the same order."""

from __future__ import annotations

import numpy as np

from ..broadcasting import unbroadcast
from ..tensor import Tensor
from ..tensor_type import TensorType
from ..types import Array, GradientTuple
from .scaling import scaled

_INPUT = TensorType.INPUT


def exp_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * exp(x)``, which is the result."""
    return (scaled(grad, tensor._data),)


def log_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / x``."""
    return (scaled(grad, 1 / tensor._parents[0]._data),)


def sqrt_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / (2 sqrt(x))``."""
    return (scaled(grad, 0.5 / tensor._data),)


def abs_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * sign(x)``, 0 at 0."""
    return (grad * np.sign(tensor._parents[0]._data),)


def sin_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * cos(x)``."""
    return (scaled(grad, np.cos(tensor._parents[0]._data)),)


def cos_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``-grad * sin(x)``."""
    return (scaled(grad, -np.sin(tensor._parents[0]._data)),)


def tan_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * (1 + tan(x)**2)``."""
    return (scaled(grad, 1 + tensor._data * tensor._data),)


def tanh_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * (1 - tanh(x)**2)``."""
    return (grad * (1 - tensor._data * tensor._data),)


def _split_ties(tensor: Tensor, grad: Array, sign: int) -> GradientTuple:
    """The gradient to the operand that is ahead; half of it to each where they are equal."""
    parents = tensor._parents
    left = parents[0]._data
    right = parents[1]._data if len(parents) == 2 else tensor._extra["scalar_value"]
    tie = left == right
    ahead = left > right if sign > 0 else left < right
    behind = right > left if sign > 0 else right < left
    halves = np.where(tie, grad * 0.5, 0)
    return tuple(
        None if parent._tensor_type is _INPUT else unbroadcast(np.where(mine, grad, halves), parent._data.shape)
        for parent, mine in zip(parents, (ahead, behind), strict=False)
    )


def maximum_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient to the larger operand; half of it to each where they are equal."""
    return _split_ties(tensor, grad, 1)


def minimum_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient to the smaller operand; half of it to each where they are equal."""
    return _split_ties(tensor, grad, -1)


def clip_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient where x lies within the bounds or on one."""
    x, low, high = tensor._parents[0]._data, tensor._extra["a_min"], tensor._extra["a_max"]
    below = False if low is None else x < low
    above = False if high is None else x > high
    return (np.where(np.logical_or(below, above), 0, grad),)


def where_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient where the branch was taken, else 0."""
    parents, mask = tensor._parents, tensor._extra["mask"]
    if len(parents) == 1:
        return (unbroadcast(np.where(mask, grad, 0), parents[0]._data.shape),)
    left, right = parents
    return (
        None if left._tensor_type is _INPUT else unbroadcast(np.where(mask, grad, 0), left._data.shape),
        None if right._tensor_type is _INPUT else unbroadcast(np.where(mask, 0, grad), right._data.shape),
    )

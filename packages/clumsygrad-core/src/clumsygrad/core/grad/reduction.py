"""Backward functions of ``math/reduction.py``, in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..broadcasting import count_reduced, kept_shape
from ..tensor import Tensor
from ..types import Array, GradientTuple
from .scaling import scaled


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


def prod_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient times the product of the other elements: of those before and of those after each of them."""
    x, axes = tensor._parents[0]._data, tensor._extra["axis"]
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    order = [*kept, *axes]
    lengths = [x.shape[axis] for axis in order]
    number = count_reduced(x.shape, axes)
    if not number:
        return (np.broadcast_to(keep_reduced(grad, tensor), x.shape),)
    rows = x.transpose(order).reshape(*lengths[: len(kept)], number)
    others = product_before(rows) * np.flip(product_before(np.flip(rows, -1)), -1)
    if not np.isfinite(others).all():
        # An overflow among factors of which another is zero.
        zero = rows == 0
        others = np.where(np.sum(zero, axis=-1, keepdims=True) > zero, 0, others)
    others = others.reshape(lengths).transpose([order.index(axis) for axis in range(x.ndim)])
    return (scaled(keep_reduced(grad, tensor), others),)


def product_before(x: Array) -> Array:
    """Return for each element the product of those before it on the last axis."""
    first = np.ones((*x.shape[:-1], 1), x.dtype)
    return np.concatenate([first, np.cumprod(x[..., :-1], axis=-1)], axis=-1)


def _split_winners(tensor: Tensor, grad: Array) -> GradientTuple:
    """An even share of the gradient for each element that equals the result."""
    x, result = tensor._parents[0]._data, keep_reduced(tensor._data, tensor)
    winners = x == result
    if np.isnan(result).any():
        winners |= np.isnan(x)
    number = np.sum(winners, axis=tensor._extra["axis"], keepdims=True).astype(grad.dtype)
    return (np.where(winners, keep_reduced(grad, tensor) / number, 0),)


def max_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """An even share of the gradient for each of the largest elements; NaN is larger than all."""
    return _split_winners(tensor, grad)


def min_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """An even share of the gradient for each of the smallest elements; NaN is smaller than all."""
    return _split_winners(tensor, grad)


def centred(x: Array, axes: tuple[int, ...]) -> Array:
    """Return ``x`` less its mean over ``axes``; exactly 0 where all elements are equal.

    The mean of equal elements may be off by a rounding error, which the mean of what is left makes good.
    """
    number = count_reduced(x.shape, axes) or 1
    mean = np.add.reduce(x, axis=axes, keepdims=True) / number
    return x - (mean + np.add.reduce(x - mean, axis=axes, keepdims=True) / number)


def degrees_of_freedom(extra: dict[str, Any]) -> float:
    """Return what the squared deviations are divided by."""
    ddof: float = extra["ddof"]
    return max(count_reduced(extra["input_shape"], extra["axis"]) - ddof, 0)


def var_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient times twice the deviation from the mean, over the degrees of freedom."""
    deviation = centred(tensor._parents[0]._data, tensor._extra["axis"])
    return (keep_reduced(grad, tensor) * (2 * deviation / degrees_of_freedom(tensor._extra)),)


def std_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient times the deviation from the mean, over the result and the degrees of freedom; 0 where it is 0."""
    deviation = centred(tensor._parents[0]._data, tensor._extra["axis"])
    result = keep_reduced(tensor._data, tensor)
    constant = result == 0
    slope = deviation / degrees_of_freedom(tensor._extra) / np.where(constant, 1, result)
    return (keep_reduced(grad, tensor) * np.where(constant, 0, slope),)


def logsumexp_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient times softmax: ``exp(x - result)`` over its sum; 0 where the result is -inf.

    The sum is 1 but for the rounding of a large result, which would be a relative error of all of them.
    """
    result = keep_reduced(tensor._data, tensor)
    nothing = result == -np.inf
    share = np.exp(tensor._parents[0]._data - np.where(nothing, 0, result))
    total = np.add.reduce(share, axis=tensor._extra["axis"], keepdims=True)
    return (scaled(keep_reduced(grad, tensor), share / np.where(nothing, 1, total)),)


def norm_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient times ``sign(x) * (|x| / norm)**(p - 1)``, 0 where x or the norm is 0."""
    x, order = tensor._parents[0]._data, tensor._extra["ord"]
    result = keep_reduced(tensor._data, tensor)
    still = result == 0
    ratio = x / np.where(still, 1, result)
    if order == 2:
        slope = np.where(still, 0, ratio)
    else:
        still = still | (x == 0)
        slope = np.where(still, 0, np.sign(x) * np.where(still, 1, np.abs(ratio)) ** (order - 1))
    return (scaled(keep_reduced(grad, tensor), slope),)

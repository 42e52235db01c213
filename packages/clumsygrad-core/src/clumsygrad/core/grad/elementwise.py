"""Backward functions of ``math/elementwise.py``, in the same order."""

from __future__ import annotations

import math

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


def expm1_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * exp(x)``, which is the result and 1."""
    return (scaled(grad, tensor._data + 1),)


def log_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / x``."""
    return (scaled(grad, 1 / tensor._parents[0]._data),)


def log1p_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / (1 + x)``."""
    return (scaled(grad, 1 / (1 + tensor._parents[0]._data)),)


def log2_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / (x ln 2)``."""
    return (scaled(grad, 1 / (math.log(2) * tensor._parents[0]._data)),)


def log10_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / (x ln 10)``."""
    return (scaled(grad, 1 / (math.log(10) * tensor._parents[0]._data)),)


def sqrt_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / (2 sqrt(x))``."""
    return (scaled(grad, 0.5 / tensor._data),)


def square_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * 2x``."""
    return (grad * (2 * tensor._parents[0]._data),)


def reciprocal_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``-grad / x**2``, of which ``1 / x`` is the result."""
    return (scaled(grad, -tensor._data * tensor._data),)


def abs_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * sign(x)``, 0 at 0."""
    return (grad * np.sign(tensor._parents[0]._data),)


def sign_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """Zero: the sign is constant but for a step at 0."""
    return (np.zeros_like(grad),)


def sin_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * cos(x)``."""
    return (scaled(grad, np.cos(tensor._parents[0]._data)),)


def cos_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``-grad * sin(x)``."""
    return (scaled(grad, -np.sin(tensor._parents[0]._data)),)


def tan_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * (1 + tan(x)**2)``."""
    return (scaled(grad, 1 + tensor._data * tensor._data),)


def arcsin_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / sqrt(1 - x**2)``."""
    x = tensor._parents[0]._data
    return (scaled(grad, 1 / np.sqrt((1 - x) * (1 + x))),)


def arccos_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``-grad / sqrt(1 - x**2)``."""
    x = tensor._parents[0]._data
    return (scaled(grad, -1 / np.sqrt((1 - x) * (1 + x))),)


def arctan_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / (1 + x**2)``."""
    x = tensor._parents[0]._data
    return (grad / (1 + x * x),)


def _over_radius(value: Array | float, radius: Array) -> Array:
    """``value / radius``, 0 at the origin."""
    origin = radius == 0
    return np.where(origin, 0, value / np.where(origin, 1, radius))


def arctan2_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * x / r**2`` and ``-grad * y / r**2``, where r is the distance to the origin."""
    parents = tensor._parents
    y = parents[0]._data
    x = parents[1]._data if len(parents) == 2 else tensor._extra["scalar_value"]
    radius = np.hypot(y, x)
    y_grad = x_grad = None
    if parents[0]._tensor_type is not _INPUT:
        slope = _over_radius(_over_radius(x, radius), radius)
        y_grad = unbroadcast(scaled(grad, slope), y.shape)
    if len(parents) == 1:
        return (y_grad,)
    if parents[1]._tensor_type is not _INPUT:
        slope = _over_radius(_over_radius(-y, radius), radius)
        x_grad = unbroadcast(scaled(grad, slope), x.shape)
    return y_grad, x_grad


def rarctan2_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``-grad * y / r**2`` for a scalar y."""
    y: float = tensor._extra["scalar_value"]
    radius = np.hypot(tensor._parents[0]._data, y)
    return (scaled(grad, _over_radius(_over_radius(-y, radius), radius)),)


def hypot_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient times each operand over the result, 0 at the origin."""
    return tuple(
        None
        if parent._tensor_type is _INPUT
        else unbroadcast(scaled(grad, _over_radius(parent._data, tensor._data)), parent._data.shape)
        for parent in tensor._parents
    )


def sinh_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * cosh(x)``."""
    return (scaled(grad, np.cosh(tensor._parents[0]._data)),)


def cosh_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * sinh(x)``."""
    return (scaled(grad, np.sinh(tensor._parents[0]._data)),)


def tanh_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * (1 - tanh(x)**2)``."""
    return (grad * (1 - tensor._data * tensor._data),)


def erf_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * 2 exp(-x**2) / sqrt(pi)``."""
    x = tensor._parents[0]._data
    return (grad * (2 / math.sqrt(math.pi) * np.exp(-x * x)),)


def _split_ties(tensor: Tensor, grad: Array, sign: int) -> GradientTuple:
    """The gradient to the operand that is ahead; half of it to each where they are equal."""
    parents = tensor._parents
    left = parents[0]._data
    right = parents[1]._data if len(parents) == 2 else tensor._extra["scalar_value"]
    share = np.where(left == right, grad * 0.5, grad)
    # What is not behind, rather than what is ahead: next to NaN, which is the result then, both get the gradient.
    behind = (left < right, right < left) if sign > 0 else (left > right, right > left)
    return tuple(
        None if parent._tensor_type is _INPUT else unbroadcast(np.where(lost, 0, share), parent._data.shape)
        for parent, lost in zip(parents, behind, strict=False)
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


def positive_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient itself."""
    return (grad,)


def exp2_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * 2**x * ln(2)``."""
    return (scaled(grad, math.log(2) * tensor._data),)


def cbrt_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / (3 cbrt(x)**2)``."""
    return (scaled(grad, 1 / (3 * tensor._data * tensor._data)),)


def arcsinh_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / sqrt(x**2 + 1)``."""
    return (grad / np.hypot(tensor._parents[0]._data, 1),)


def arccosh_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / sqrt(x**2 - 1)``."""
    x = tensor._parents[0]._data
    return (scaled(grad, 1 / np.sqrt((x - 1) * (x + 1))),)


def arctanh_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / (1 - x**2)``."""
    x = tensor._parents[0]._data
    return (scaled(grad, 1 / ((1 - x) * (1 + x))),)


def floor_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """Zero: constant but for steps."""
    return (np.zeros_like(grad),)


def ceil_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """Zero: constant but for steps."""
    return (np.zeros_like(grad),)


def trunc_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """Zero: constant but for steps."""
    return (np.zeros_like(grad),)


def round_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """Zero: constant but for steps."""
    return (np.zeros_like(grad),)


def remainder_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient for x, and minus the whole quotient times it for y."""
    if len(tensor._parents) == 1:
        return (grad,)
    left, right = tensor._parents
    x_grad = y_grad = None
    if left._tensor_type is not _INPUT:
        x_grad = unbroadcast(grad, left._data.shape)
    if right._tensor_type is not _INPUT:
        slope = np.round((tensor._data - left._data) / right._data)
        y_grad = unbroadcast(scaled(grad, slope), right._data.shape)
    return x_grad, y_grad


def rremainder_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """Minus the whole quotient times the gradient: the tensor stands on the right of a scalar."""
    value: float = tensor._extra["scalar_value"]
    slope = np.round((tensor._data - value) / tensor._parents[0]._data)
    return (scaled(grad, slope),)


def logaddexp_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """For each operand the gradient times ``exp(x - result)``, 0 where both are -inf."""
    result = np.where(tensor._data == -np.inf, 0, tensor._data)
    return tuple(
        None
        if parent._tensor_type is _INPUT
        else unbroadcast(scaled(grad, np.exp(parent._data - result)), parent._data.shape)
        for parent in tensor._parents
    )


def nan_to_num_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient where x is finite, else 0."""
    return (np.where(np.isfinite(tensor._parents[0]._data), grad, 0),)

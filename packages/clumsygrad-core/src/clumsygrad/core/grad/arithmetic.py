"""Backward functions of the operators in ``math/arithmetic.py``, in the same order."""

from __future__ import annotations

import numpy as np

from ..broadcasting import unbroadcast
from ..tensor import Tensor
from ..tensor_type import TensorType
from ..types import Array, GradientTuple
from .scaling import scaled

_INPUT = TensorType.INPUT


def add_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient itself, for both."""
    if len(tensor._parents) == 1:
        return (grad,)
    left, right = tensor._parents
    if left._shape == right._shape:
        return grad, grad
    return (
        None if left._tensor_type is _INPUT else unbroadcast(grad, left._shape),
        None if right._tensor_type is _INPUT else unbroadcast(grad, right._shape),
    )


def subtract_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient for the left operand, its negative for the right."""
    if len(tensor._parents) == 1:
        return (grad,)
    left, right = tensor._parents
    return (
        None if left._tensor_type is _INPUT else unbroadcast(grad, left._data.shape),
        None if right._tensor_type is _INPUT else unbroadcast(-grad, right._data.shape),
    )


def rsubtract_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The negative: the tensor stands on the right of a scalar."""
    return (-grad,)


def multiply_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """For each operand the gradient times the other."""
    if len(tensor._parents) == 1:
        return (grad * tensor._extra["scalar_value"],)
    left, right = tensor._parents
    if left._shape == right._shape:
        return (
            None if left._tensor_type is _INPUT else grad * right._data,
            None if right._tensor_type is _INPUT else grad * left._data,
        )
    return (
        None if left._tensor_type is _INPUT else unbroadcast(grad * right._data, left._shape),
        None if right._tensor_type is _INPUT else unbroadcast(grad * left._data, right._shape),
    )


def divide_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad / y`` and ``-grad * (x / y) / y``, of which the quotient is the result itself."""
    if len(tensor._parents) == 1:
        return (grad / tensor._extra["scalar_value"],)
    left, right = tensor._parents
    slope = 1 / right._data
    return (
        None if left._tensor_type is _INPUT else unbroadcast(scaled(grad, slope), left._data.shape),
        None if right._tensor_type is _INPUT else unbroadcast(scaled(grad, -tensor._data * slope), right._data.shape),
    )


def rdivide_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``-grad * (s / x) / x`` for a scalar s."""
    return (scaled(grad, -tensor._data / tensor._parents[0]._data),)


def power_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * y * x**(y - 1)`` and ``grad * x**y * log(x)``."""
    base = tensor._parents[0]
    if len(tensor._parents) == 1:
        exponent: float = tensor._extra["scalar_value"]
        if exponent == 2:
            return (grad * (2 * base._data),)
        if exponent in (0, 1):
            return (grad * exponent,)
        return (scaled(grad, exponent * base._data ** (exponent - 1)),)
    power = tensor._parents[1]
    x, y = base._data, power._data
    base_grad = power_grad = None
    if base._tensor_type is not _INPUT:
        # At y = 0 the power is constant, whatever 0 * x**-1 may be.
        slope = np.where(y == 0, 0, y * x ** np.where(y == 0, 1, y - 1))
        base_grad = unbroadcast(scaled(grad, slope), x.shape)
    if power._tensor_type is not _INPUT:
        still = (x == 0) & (y >= 0)
        slope = np.where(still, 0, tensor._data * np.log(np.where(still, 1, x)))
        power_grad = unbroadcast(scaled(grad, slope), y.shape)
    return base_grad, power_grad


def rpower_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * s**x * log(s)`` for a scalar s; 0 where s = 0 and x ≥ 0."""
    base: float = tensor._extra["scalar_value"]
    if base == 0:
        return (scaled(grad, np.where(tensor._parents[0]._data >= 0, 0, -tensor._data)),)
    return (scaled(grad, tensor._data * float(np.log(base))),)


def negative_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The negative of the gradient."""
    return (-grad,)

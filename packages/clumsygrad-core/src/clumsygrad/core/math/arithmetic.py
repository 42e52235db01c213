"""Python's arithmetic operators, with NumPy's broadcasting; backward functions in ``grad/arithmetic.py``."""

from __future__ import annotations

import numpy as np

from ..grad.arithmetic import (
    add_backward,
    divide_backward,
    multiply_backward,
    negative_backward,
    power_backward,
    rdivide_backward,
    rpower_backward,
    rsubtract_backward,
    subtract_backward,
)
from ..operand import binary
from ..registry import register
from ..tensor import Tensor, as_tensor, create_node
from ..types import TensorLike


def add(x: TensorLike, y: TensorLike) -> Tensor:
    r"""Return :math:`x + y`, elementwise.

    Example:
        >>> from clumsygrad.core import Tensor
        >>> (Tensor([1.0, 2.0]) + 1).tolist()
        [2.0, 3.0]
    """
    if type(y) is Tensor and type(x) is Tensor:
        return create_node(x._data + y._data, add_backward, (x, y))
    return binary(np.add, x, y, add_backward, add_backward)


def radd(x: TensorLike, y: TensorLike) -> Tensor:
    """Return ``y + x``: the operator with the Tensor on the right."""
    return add(y, x)


def subtract(x: TensorLike, y: TensorLike) -> Tensor:
    r"""Return :math:`x - y`, elementwise.

    Example:
        >>> from clumsygrad.core import Tensor
        >>> (Tensor([1.0, 2.0]) - 1).tolist()
        [0.0, 1.0]
    """
    if type(y) is Tensor and type(x) is Tensor:
        return create_node(x._data - y._data, subtract_backward, (x, y))
    return binary(np.subtract, x, y, subtract_backward, rsubtract_backward)


def rsubtract(x: TensorLike, y: TensorLike) -> Tensor:
    """Return ``y - x``: the operator with the Tensor on the right."""
    return subtract(y, x)


def multiply(x: TensorLike, y: TensorLike) -> Tensor:
    r"""Return :math:`x y`, elementwise.

    Example:
        >>> from clumsygrad.core import Tensor
        >>> (Tensor([1.0, 2.0]) * 3).tolist()
        [3.0, 6.0]
    """
    if type(y) is Tensor and type(x) is Tensor:
        return create_node(x._data * y._data, multiply_backward, (x, y))
    return binary(np.multiply, x, y, multiply_backward, multiply_backward)


def rmultiply(x: TensorLike, y: TensorLike) -> Tensor:
    """Return ``y * x``: the operator with the Tensor on the right."""
    return multiply(y, x)


def divide(x: TensorLike, y: TensorLike) -> Tensor:
    r"""Return :math:`x / y`, elementwise. Division by zero gives infinity or NaN, without a warning.

    Example:
        >>> from clumsygrad.core import Tensor
        >>> (1 / Tensor([1.0, 2.0])).tolist()
        [1.0, 0.5]
    """
    with np.errstate(all="ignore"):
        if type(y) is Tensor and type(x) is Tensor:
            return create_node(x._data / y._data, divide_backward, (x, y))
        return binary(np.true_divide, x, y, divide_backward, rdivide_backward)


def rdivide(x: TensorLike, y: TensorLike) -> Tensor:
    """Return ``y / x``: the operator with the Tensor on the right."""
    return divide(y, x)


def power(x: TensorLike, y: TensorLike) -> Tensor:
    r"""Return :math:`x^y`, elementwise.

    The gradient by ``x`` at 0 is 0 for :math:`x^0`, 1 for :math:`x^1` and infinite for exponents below 1. The gradient
    by ``y`` at ``x`` = 0 is 0 where y ≥ 0, and NaN where ``x`` is negative.

    Example:
        >>> from clumsygrad.core import Tensor
        >>> (Tensor([1.0, 3.0]) ** 2).tolist()
        [1.0, 9.0]
    """
    with np.errstate(all="ignore"):
        return binary(np.power, x, y, power_backward, rpower_backward)


def rpower(x: TensorLike, y: TensorLike) -> Tensor:
    """Return ``y ** x``: the operator with the Tensor on the right."""
    return power(y, x)


def negative(x: TensorLike) -> Tensor:
    r"""Return :math:`-x`, elementwise.

    Example:
        >>> from clumsygrad.core import Tensor
        >>> (-Tensor([1.0, -2.0])).tolist()
        [-1.0, 2.0]
    """
    x = as_tensor(x)
    return create_node(-x._data, negative_backward, (x,))


register(add, add_backward, numpy=(np.add,), methods=("__add__",))
register(radd, methods=("__radd__",), differentiable=False)
register(subtract, subtract_backward, numpy=(np.subtract,), methods=("__sub__",))
register(rsubtract, rsubtract_backward, methods=("__rsub__",))
register(multiply, multiply_backward, numpy=(np.multiply,), methods=("__mul__",))
register(rmultiply, methods=("__rmul__",), differentiable=False)
register(divide, divide_backward, numpy=(np.true_divide,), methods=("__truediv__",))
register(rdivide, rdivide_backward, methods=("__rtruediv__",))
register(power, power_backward, numpy=(np.power, np.float_power), methods=("__pow__",))
register(rpower, rpower_backward, methods=("__rpow__",))
register(negative, negative_backward, numpy=(np.negative,), methods=("__neg__",))

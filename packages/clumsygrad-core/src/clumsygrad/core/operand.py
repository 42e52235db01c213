"""What the operations of two operands share: how a Python number, an array or a list becomes an operand."""

from __future__ import annotations

from typing import cast

import numpy as np

from .tensor import Tensor, as_tensor, create_node
from .types import GradFn, TensorLike

_SCALARS = (float, int, np.bool_, np.integer, np.floating)
_ARRAYS = (np.ndarray, list, tuple)


def operand(value: TensorLike) -> Tensor | float:
    """Return ``value`` as an operand: a Tensor, or a Python float, which never changes a result's precision.

    Anything that NumPy would not make a number or an array of gives ``NotImplemented``, so that the other operand's
    class may answer.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, _SCALARS):
        return float(cast("float", value))
    if isinstance(value, _ARRAYS) or hasattr(value, "__array__"):
        return as_tensor(cast("TensorLike", value))
    return cast("float", NotImplemented)


def binary(compute: np.ufunc, x: TensorLike, y: TensorLike, backward: GradFn, reflected_backward: GradFn) -> Tensor:
    """Record an elementwise operation of two operands, of which one may be a scalar.

    A scalar makes no Tensor: the node has one parent, and ``extra["scalar_value"]``. ``reflected_backward`` is for a
    scalar on the left.
    """
    left = operand(x)
    right = operand(y)
    if left is NotImplemented or right is NotImplemented:
        return cast("Tensor", NotImplemented)
    if isinstance(right, Tensor):
        if isinstance(left, Tensor):
            return create_node(compute(left._data, right._data), backward, (left, right))
        return create_node(compute(left, right._data), reflected_backward, (right,), {"scalar_value": left})
    left = as_tensor(left)
    return create_node(compute(left._data, right), backward, (left,), {"scalar_value": right})

"""Backward functions of ``math/sorting.py``, in the same order."""

from __future__ import annotations

import numpy as np

from ..tensor import Tensor
from ..types import Array, GradientTuple


def sort_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient put back in the order of the operand."""
    axis = tensor._extra["axis"]
    return (np.take_along_axis(grad, np.argsort(tensor._extra["order"], axis=axis), axis=axis),)

"""Backward functions of ``math/matrix.py``, in the same order."""

from __future__ import annotations

from ..broadcasting import unbroadcast
from ..tensor import Tensor
from ..tensor_type import TensorType
from ..types import Array, GradientTuple

_INPUT = TensorType.INPUT


def matmul_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad @ y.mT`` and ``x.mT @ grad``, where a vector counts as a matrix of one row or column."""
    left, right = tensor._parents
    x, y = left._data, right._data
    rows = x if x.ndim > 1 else x.reshape(1, -1)
    columns = y if y.ndim > 1 else y.reshape(-1, 1)
    if x.ndim == 1 or y.ndim == 1:
        stack = grad.shape[: grad.ndim - (x.ndim > 1) - (y.ndim > 1)]
        grad = grad.reshape(*stack, rows.shape[-2], columns.shape[-1])
    left_grad = right_grad = None
    if left._tensor_type is not _INPUT:
        left_grad = unbroadcast(grad @ columns.swapaxes(-1, -2), rows.shape).reshape(x.shape)
    if right._tensor_type is not _INPUT:
        if columns.ndim == 2 and rows.ndim > 2:
            # One product over the whole stack, instead of one for each matrix of it and their sum.
            right_grad = rows.reshape(-1, rows.shape[-1]).swapaxes(0, 1) @ grad.reshape(-1, grad.shape[-1])
        else:
            right_grad = unbroadcast(rows.swapaxes(-1, -2) @ grad, columns.shape)
        right_grad = right_grad.reshape(y.shape)
    return left_grad, right_grad

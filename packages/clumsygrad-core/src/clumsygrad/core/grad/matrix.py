"""Backward functions of ``math/matrix.py``, in the same order."""

from __future__ import annotations

import math

import numpy as np

from ..broadcasting import unbroadcast
from ..tensor import Tensor
from ..tensor_type import TensorType
from ..types import Array, GradientTuple

_INPUT = TensorType.INPUT


def stacked_product(x: Array, y: Array) -> Array:
    """Return ``x @ y``; for a stack of matrices times one matrix as a single product over all rows of the stack."""
    if x.__class__ is np.ndarray and x.ndim > 2 and y.ndim == 2 and x.flags.c_contiguous:
        *stack, inner = x.shape
        product = np.empty((*stack, y.shape[1]), x.dtype)
        rows = math.prod(stack)
        np.matmul(x.reshape(rows, inner), y, out=product.reshape(rows, y.shape[1]))
        return product
    return x @ y


def matmul_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad @ y.mT`` and ``x.mT @ grad``, where a vector counts as a matrix of one row or column."""
    left, right = tensor._parents
    x, y = left._data, right._data
    rows = x if x.ndim > 1 else x.reshape(1, x.shape[0])
    columns = y if y.ndim > 1 else y.reshape(y.shape[0], 1)
    if x.ndim == 1 or y.ndim == 1:
        stack = grad.shape[: grad.ndim - (x.ndim > 1) - (y.ndim > 1)]
        grad = grad.reshape(*stack, rows.shape[-2], columns.shape[-1])
    left_grad = right_grad = None
    if left._tensor_type is not _INPUT:
        left_grad = unbroadcast(stacked_product(grad, columns.swapaxes(-1, -2)), rows.shape).reshape(x.shape)
    if right._tensor_type is not _INPUT:
        if columns.ndim == 2 and rows.ndim > 2:
            # One product over the whole stack, instead of one for each matrix of it and their sum.
            number = math.prod(rows.shape[:-1])
            flat = rows.reshape(number, rows.shape[-1])
            right_grad = flat.swapaxes(0, 1) @ grad.reshape(number, grad.shape[-1])
        else:
            right_grad = unbroadcast(rows.swapaxes(-1, -2) @ grad, columns.shape)
        right_grad = right_grad.reshape(y.shape)
    return left_grad, right_grad


def tensordot_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """For each operand the gradient contracted with the other over the axes that the other brought into the result."""
    left, right = tensor._parents
    x, y = left._data, right._data
    x_axes, y_axes = tensor._extra["axis"]
    x_free = [axis for axis in range(x.ndim) if axis not in x_axes]
    y_free = [axis for axis in range(y.ndim) if axis not in y_axes]
    left_grad = right_grad = None
    if left._tensor_type is not _INPUT:
        # The axes of the product: x's free ones, then those of y that x was contracted with, in y's order.
        product = np.tensordot(grad, y, (list(range(len(x_free), grad.ndim)), y_free))
        there = x_free + [x_axes[y_axes.index(axis)] for axis in range(y.ndim) if axis in y_axes]
        left_grad = product.transpose([there.index(axis) for axis in range(x.ndim)])
    if right._tensor_type is not _INPUT:
        product = np.tensordot(x, grad, (x_free, list(range(len(x_free)))))
        there = [y_axes[x_axes.index(axis)] for axis in range(x.ndim) if axis in x_axes] + y_free
        right_grad = product.transpose([there.index(axis) for axis in range(y.ndim)])
    return left_grad, right_grad

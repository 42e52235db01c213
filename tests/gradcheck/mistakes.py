"""A product of two tensors whose backward function has one mistake or another."""

from __future__ import annotations

from typing import Any

import numpy as np

from clumsygrad.core import Array, GradFn, GradientTuple, Tensor, create_node, unbroadcast


def right_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    x, y = tensor.parents
    return unbroadcast(grad * y.data, x.shape), unbroadcast(grad * x.data, y.shape)


def sign_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    x, y = tensor.parents
    return unbroadcast(grad * y.data, x.shape), unbroadcast(-grad * x.data, y.shape)


def factor_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    x, y = tensor.parents
    return unbroadcast(grad * y.data, x.shape), unbroadcast(2 * grad * x.data, y.shape)


def slight_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    x, y = tensor.parents
    return unbroadcast(grad * y.data, x.shape), unbroadcast(grad * x.data * (1 + 1e-6), y.shape)


def swapped_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    x, y = tensor.parents
    return unbroadcast(grad * x.data, x.shape), unbroadcast(grad * y.data, y.shape)


def unreduced_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    x, y = tensor.parents
    return grad * y.data, grad * x.data


def zero_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    x, y = tensor.parents
    return unbroadcast(grad * y.data, x.shape), np.zeros(y.shape)


def writing_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    grad *= tensor.parents[0].data
    return grad, grad


def product(backward: GradFn) -> Any:
    """Return the function ``x * y`` with a backward function of its own."""

    def multiply(x: Tensor, y: Tensor) -> Tensor:
        return create_node(x.data * y.data, backward, (x, y))

    return multiply

"""Backward functions of ``math/cumulative.py``, in the same order."""

from __future__ import annotations

import numpy as np

from ..tensor import Tensor
from ..types import Array, GradientTuple
from .reduction import product_before
from .scaling import scaled


def cumsum_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The sum of the gradient from each element on: a cumulative sum from the other end."""
    axis = tensor._extra["axis"]
    return (np.flip(np.cumsum(np.flip(grad, axis), axis=axis), axis),)


def cumprod_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    r"""The product before each element, times what follows it, :math:`s_i = g_i + x_{i+1} s_{i+1}`.

    The recurrence is unrolled by doubling: each round joins every element to the one ``step`` further on, so that n
    elements take about :math:`\log_2 n` rounds, and no division.
    """
    axis = tensor._extra["axis"]
    x = tensor._parents[0]._data.swapaxes(axis, -1)
    total = grad.swapaxes(axis, -1)
    number = x.shape[-1]
    if not number:
        return (grad,)
    before = product_before(x)
    if not np.isfinite(before).all():
        # A zero after factors that overflow.
        seen = np.cumsum(x == 0, axis=-1) - (x == 0)
        before = np.where(seen > 0, 0, before)
    factor = x[..., 1:]
    step = 1
    while step < number:
        joined = total[..., :-step] + scaled(total[..., step:], factor[..., : number - step])
        total = np.concatenate([joined, total[..., -step:]], axis=-1)
        if 2 * step < number:
            factor = np.concatenate([factor[..., :-step] * factor[..., step:], factor[..., -step:]], axis=-1)
        step *= 2
    return (scaled(total, before).swapaxes(axis, -1),)

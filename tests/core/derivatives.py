"""What the tests of operations share: derivatives against central differences in double precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from clumsygrad.core import Array, Tensor, double_precision, gradients, math, parameter


def difference(function: Callable[..., float], arrays: Sequence[Array], place: int, eps: float) -> Array:
    """The gradient of a scalar function of arrays by one of them, by central differences."""
    result = np.empty(arrays[place].shape)
    for index in np.ndindex(result.shape):
        values: list[float] = []
        for step in (eps, -eps):
            moved = [array.copy() for array in arrays]
            moved[place][index] += step
            values.append(function(*moved))
        result[index] = (values[0] - values[1]) / (2 * eps)
    return result


def check_derivatives(
    function: Callable[..., Any],
    *operands: tuple[int, ...] | Array,
    plain: Callable[..., Any] | None = None,
    second: bool = True,
    rtol: float = 1e-6,
) -> None:
    """Check value, gradient and second derivative of ``function``, written for NumPy, at random or given operands.

    Args:
        function: called on Tensors, and on arrays unless ``plain`` is given.
        *operands: arrays, or shapes for random ones.
        plain: the same function for arrays.
        second: whether second derivatives are checked, too.
        rtol: the relative difference that passes.
    """
    rng = np.random.default_rng(7)
    arrays = [operand if isinstance(operand, np.ndarray) else rng.normal(size=operand) for operand in operands]
    plain = plain or function
    expected = np.asarray(plain(*arrays))
    weights = rng.normal(size=expected.shape)
    directions = [rng.normal(size=array.shape) for array in arrays]

    def objective(*values: Array) -> float:
        return float(np.sum(np.asarray(plain(*values)) * weights))

    def slope(*values: Array) -> float:
        """The directional derivative, by the gradient that was checked already."""
        inputs = [parameter(value) for value in values]
        grads = gradients(math.sum(function(*inputs) * weights), inputs)
        return float(sum(np.sum(grad.data * way) for grad, way in zip(grads, directions, strict=True)))

    with double_precision():
        inputs = [parameter(array) for array in arrays]
        result = function(*inputs)
        assert isinstance(result, Tensor)
        assert result.shape == expected.shape
        assert np.allclose(result.data, expected, rtol=1e-10, atol=1e-12)
        grads = gradients(math.sum(result * weights), inputs, create_graph=True)
        for place, grad in enumerate(grads):
            assert grad.dtype == np.float64
            assert np.allclose(grad.data, difference(objective, arrays, place, 1e-5), rtol=rtol, atol=rtol)
        if not second:
            return
        along = math.sum(grads[0] * directions[0])
        for grad, way in zip(grads[1:], directions[1:], strict=True):
            along = along + math.sum(grad * way)
        seconds = gradients(along, inputs, allow_unused=True) if along.requires_grad else [None] * len(inputs)
        for place, found in enumerate(seconds):
            numerical = difference(slope, arrays, place, 1e-5)
            value = np.zeros(numerical.shape) if found is None else found.data
            assert np.allclose(value, numerical, rtol=rtol, atol=rtol)

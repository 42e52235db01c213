"""Derivatives by differences, for tests of layers: independent of the engine's own rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Tensor, TensorType, double_precision, gradients, parameter

Function = Callable[..., Tensor]


def numerical(fn: Function, arrays: Sequence[npt.NDArray[Any]], index: int, step: float) -> npt.NDArray[Any]:
    """Return the central differences of a scalar function with respect to one of its arrays."""
    base = [np.array(array, np.float64) for array in arrays]
    result = np.zeros_like(base[index])
    for position in np.ndindex(result.shape):
        values: list[float] = []
        for sign in (1, -1):
            moved = [array.copy() for array in base]
            moved[index][position] += sign * step
            values.append(fn(*(Tensor(array) for array in moved)).item())
        result[position] = (values[0] - values[1]) / (2 * step)
    return result


def check_derivatives(
    fn: Function,
    *arrays: npt.ArrayLike,
    step: float = 1e-5,
    rtol: float = 1e-6,
    atol: float = 1e-7,
    second: bool = True,
) -> None:
    """Compare the first (and second) derivatives of a function of arrays with differences, in double precision.

    The function's result is made a scalar by fixed weights; so, for the second derivatives, are its first ones.
    """
    values = [np.asarray(array, np.float64) for array in arrays]
    with double_precision():
        rng = np.random.default_rng(7)
        weights = rng.uniform(0.5, 1.5, fn(*(Tensor(value) for value in values)).shape)
        directions = [rng.uniform(-1, 1, value.shape) for value in values]

        def scalar(*tensors: Tensor) -> Tensor:
            return (fn(*tensors) * weights).sum()

        def slope(*tensors: Tensor) -> Tensor:
            leaves = [tensor if tensor.requires_grad else parameter(tensor) for tensor in tensors]
            firsts = gradients(scalar(*leaves), leaves, create_graph=True)
            total = (firsts[0] * directions[0]).sum()
            for first, direction in zip(firsts[1:], directions[1:], strict=True):
                total = total + (first * direction).sum()
            return total

        for function in (scalar, slope) if second else (scalar,):
            leaves = [Tensor(value, TensorType.PARAMETER) for value in values]
            result = function(*leaves)
            # The slope of what is piecewise linear is a constant.
            if result.requires_grad:
                result.backward()
            for index, leaf in enumerate(leaves):
                expected = numerical(function, values, index, step)
                actual = np.zeros(leaf.shape) if leaf.grad is None else leaf.grad
                np.testing.assert_allclose(
                    actual, expected, rtol=rtol, atol=atol, err_msg=f"{function.__name__}, argument {index}"
                )


def grad_of(tensor: Tensor) -> npt.NDArray[Any]:
    """Return the gradient of a tensor that has one."""
    assert tensor.grad is not None
    return tensor.grad

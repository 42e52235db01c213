"""Gradients in double precision against central differences: of the value, and of the gradient itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Tensor, TensorType, double_precision, from_numpy, gradients

Array = npt.NDArray[np.float64]
Function = Callable[..., Tensor]

STEP = 1e-5


def weights(shape: tuple[int, ...], seed: int) -> Array:
    """Return fixed numbers of which no two are equal, to weigh the elements of a result by."""
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape)


def parameters(arrays: Sequence[Array]) -> list[Tensor]:
    """Return parameters over the arrays as they are: strides, read-only flags and all."""
    return [from_numpy(array, tensor_type=TensorType.PARAMETER) for array in arrays]


def weighted(function: Function, tensors: Sequence[Tensor]) -> Tensor:
    """Return a scalar in which every element of the result counts with a weight of its own."""
    result = function(*tensors)
    return (result * weights(result.shape, 1)).sum()


def central(function: Callable[[Sequence[Array]], float], arrays: Sequence[Array], step: float = STEP) -> list[Array]:
    """Return the slopes of a function of arrays by each of their elements."""
    slopes: list[Array] = []
    copies = [np.array(array, order="C") for array in arrays]
    for copy in copies:
        slope = np.zeros(copy.shape)
        for index in np.ndindex(copy.shape):
            value = copy[index]
            copy[index] = value + step
            above = function(copies)
            copy[index] = value - step
            slope[index] = (above - function(copies)) / (2 * step)
            copy[index] = value
        slopes.append(slope)
    return slopes


def value_of(function: Function) -> Callable[[Sequence[Array]], float]:
    return lambda arrays: weighted(function, parameters(arrays)).item()


def gradient_of(function: Function, arrays: Sequence[Array]) -> list[Array]:
    """Return the gradients of the weighted result, computed on arrays."""
    tensors = parameters(arrays)
    grads = gradients(weighted(function, tensors), tensors, allow_unused=True)
    return [np.zeros(array.shape) if grad is None else grad.data for array, grad in zip(arrays, grads, strict=True)]


def probe(grads: Sequence[Array]) -> float:
    return float(sum((grad * weights(grad.shape, 2)).sum() for grad in grads))


def second_gradient_of(function: Function, arrays: Sequence[Array]) -> list[Array]:
    """Return the gradients of the weighted sum of the gradients, computed on Tensors."""
    tensors = parameters(arrays)
    grads = gradients(weighted(function, tensors), tensors, create_graph=True, allow_unused=True)
    total: Tensor | None = None
    for grad in grads:
        if grad is not None and grad.requires_grad:
            part = (grad * weights(grad.shape, 2)).sum()
            total = part if total is None else total + part
    if total is None:
        return [np.zeros(array.shape) for array in arrays]
    second = gradients(total, tensors, allow_unused=True)
    return [np.zeros(array.shape) if grad is None else grad.data for array, grad in zip(arrays, second, strict=True)]


def assert_first(function: Function, arrays: Sequence[Array], rtol: float = 1e-6, atol: float = 1e-7) -> None:
    """Check the gradient against differences of the value."""
    with double_precision():
        found = gradient_of(function, arrays)
        expected = central(value_of(function), arrays)
    compare(found, expected, rtol, atol)


def assert_second(function: Function, arrays: Sequence[Array], rtol: float = 1e-6, atol: float = 1e-7) -> None:
    """Check the gradient's gradient against differences of the gradient."""
    with double_precision():
        found = second_gradient_of(function, arrays)
        expected = central(lambda copies: probe(gradient_of(function, copies)), arrays)
    compare(found, expected, rtol, atol)


def compare(found: Sequence[Array], expected: Sequence[Array], rtol: float, atol: float) -> None:
    for place, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert one.dtype == np.float64
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol, err_msg=f"input {place}")

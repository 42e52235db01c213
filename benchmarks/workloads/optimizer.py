"""A step of Adam alone, on few large parameters and on many small ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from harness import Step, Workload

from .steps import Array, seeded


def _arrays(number: int, size: int) -> tuple[list[Array], list[Array]]:
    values = seeded([(number, size), (number, size)])
    return [row.copy() for row in values[0]], [row.copy() for row in values[1]]


def clumsygrad(number: int, size: int) -> Step:
    from clumsygrad.core import parameter
    from clumsygrad.optim import Adam

    values, grads = _arrays(number, size)
    parameters = [parameter(value) for value in values]
    for param, grad in zip(parameters, grads, strict=True):
        param.grad = grad
    optimizer = Adam(parameters, lr=1e-3)
    return _step(optimizer, lambda: parameters[0].data)


def torch(number: int, size: int) -> Step:
    import torch

    values, grads = _arrays(number, size)
    parameters = [torch.from_numpy(value).requires_grad_() for value in values]
    for param, grad in zip(parameters, grads, strict=True):
        param.grad = torch.from_numpy(grad)
    return _step(torch.optim.Adam(parameters, lr=1e-3), lambda: parameters[0])


def _step(optimizer: Any, result: Callable[[], Any]) -> Step:
    def step() -> Any:
        optimizer.step()
        return result()

    return step


def by_hand(number: int, size: int) -> Step:
    """In blocks that fit a cache, with every intermediate result in scratch memory."""
    values, grads = _arrays(number, size)
    first, second = ([np.zeros_like(value) for value in values] for _ in range(2))
    block = 16384
    scratch = np.empty(min(block, size), np.float32)
    time = 0

    def step() -> Array:
        nonlocal time
        time += 1
        rate = 1e-3 / (1 - 0.9**time)
        correction = float(1 / np.sqrt(1 - 0.999**time))
        for arrays in zip(values, grads, first, second, strict=True):
            for start in range(0, size, block):
                value, grad, mean, square = (array[start : start + block] for array in arrays)
                part = scratch[: len(value)]
                mean *= 0.9
                np.multiply(grad, 0.1, out=part)
                mean += part
                square *= 0.999
                np.multiply(grad, grad, out=part)
                part *= 0.001
                square += part
                np.sqrt(square, out=part)
                part *= correction
                part += 1e-8
                np.divide(mean, part, out=part)
                part *= rate
                value -= part
        return values[0]

    return step


_BUILDERS = {"clumsygrad": clumsygrad, "numpy": by_hand, "torch": torch}

WORKLOADS = tuple(
    Workload(name, {system: partial(builder, number, size) for system, builder in _BUILDERS.items()}, target)
    for name, number, size, target in (
        ("Adam on 50 × 200,000", 50, 200_000, 1.0),
        ("Adam on 500 × 64", 500, 64, 0.05),
    )
)

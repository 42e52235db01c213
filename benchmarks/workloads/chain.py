"""Chains of a product and a sum in turn: nothing but the cost of a node, and for large arrays of memory."""

from __future__ import annotations

from functools import partial

import numpy as np
from harness import Step, Workload

Shape = tuple[int, ...]


def _start(shape: Shape) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return tuple(np.full(shape, value, np.float32) for value in (1.0, 1.0001, 1e-6))


def clumsygrad(shape: Shape, length: int) -> Step:
    from clumsygrad.core import parameter

    x, w, b = (parameter(array) for array in _start(shape))
    seed = np.ones(shape, np.float32)

    def step() -> np.ndarray:
        x.grad = w.grad = b.grad = None
        y = x
        for _ in range(length // 2):
            y = y * w
            y = y + b
        y.backward(seed)
        return w.grad

    return step


def by_hand(shape: Shape, length: int) -> Step:
    x, w, b = _start(shape)
    seed = np.ones(shape, np.float32)

    def step() -> np.ndarray:
        kept = []
        y = x
        for _ in range(length // 2):
            kept.append(y)
            y = y * w
            y = y + b
        grad = seed
        w_grad, b_grad = np.zeros_like(w), np.zeros_like(b)
        while kept:
            b_grad += grad
            w_grad += grad * kept.pop()
            grad = grad * w
        return w_grad

    return step


def torch(shape: Shape, length: int) -> Step:
    import torch

    x, w, b = (torch.from_numpy(array).requires_grad_() for array in _start(shape))
    seed = torch.ones(shape)

    def step() -> torch.Tensor:
        x.grad = w.grad = b.grad = None
        y = x
        for _ in range(length // 2):
            y = y * w
            y = y + b
        y.backward(seed)
        return w.grad

    return step


def autograd(shape: Shape, length: int) -> Step:
    from autograd import make_vjp
    from autograd.builtins import tuple as tuple_

    start = tuple_(_start(shape))
    seed = np.ones(shape, np.float32)

    def chain(arrays: tuple[np.ndarray, ...]) -> np.ndarray:
        y, w, b = arrays
        for _ in range(length // 2):
            y = y * w
            y = y + b
        return y

    def step() -> np.ndarray:
        vjp, _ = make_vjp(chain)(start)
        return vjp(seed)[1]

    return step


def mygrad(shape: Shape, length: int) -> Step:
    import mygrad

    x, w, b = (mygrad.tensor(array) for array in _start(shape))
    seed = np.ones(shape, np.float32)

    def step() -> np.ndarray:
        y = x
        for _ in range(length // 2):
            y = y * w
            y = y + b
        y.backward(seed)
        return w.grad

    return step


_BUILDERS = {"clumsygrad": clumsygrad, "numpy": by_hand, "torch": torch, "autograd": autograd, "mygrad": mygrad}


def _workload(name: str, shape: Shape, length: int, target: float) -> Workload:
    systems = {system: partial(builder, shape, length) for system, builder in _BUILDERS.items()}
    return Workload(name, systems, target)


_MILLION = (4,), 1_000_000

WORKLOADS = (
    _workload("chain of 1,000, (4,)", (4,), 1000, 0.45),
    _workload("chain of 100, 64×64", (64, 64), 100, 0.80),
    _workload("chain of 20, 512×512", (512, 512), 20, 1.0),
    Workload(
        "chain of 1,000,000, (4,)",
        # The others recurse once for each node, or take minutes.
        {
            "clumsygrad": partial(clumsygrad, *_MILLION),
            "numpy": partial(by_hand, *_MILLION),
            "torch": partial(torch, *_MILLION),
        },
        # A million sums of numbers that grow: in float32 they differ by how they are rounded.
        tolerance=0.05,
        rounds=3,
    ),
)

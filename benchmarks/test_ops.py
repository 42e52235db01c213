"""Single operations, forward and backward, measured by pytest-benchmark: ``hatch run bench:ops``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from clumsygrad.core import Tensor, math, no_grad, parameter
from clumsygrad.nn import functional

Shape = tuple[int, ...]

# By name: the operation, and the shapes of what it is differentiated by.
OPERATIONS: dict[str, tuple[Callable[..., Tensor], list[Shape]]] = {
    "add": (lambda x, y: x + y, [(64, 64)] * 2),
    "add a row": (lambda x, y: x + y, [(64, 64), (64,)]),
    "multiply": (lambda x, y: x * y, [(64, 64)] * 2),
    "multiply by a number": (lambda x: x * 2.5, [(64, 64)]),
    "divide": (lambda x, y: x / y, [(64, 64)] * 2),
    "square": (lambda x: x**2, [(64, 64)]),
    "exp": (math.exp, [(64, 64)]),
    "tanh": (math.tanh, [(64, 64)]),
    "maximum": (math.maximum, [(64, 64)] * 2),
    "matmul": (lambda x, y: x @ y, [(64, 64)] * 2),
    "matmul of a stack": (lambda x, y: x @ y, [(32, 64, 64)] * 2),
    "sum": (lambda x: x.sum(), [(64, 64)]),
    "sum of rows": (lambda x: x.sum(axis=1), [(64, 64)]),
    "max of columns": (lambda x: x.max(axis=0), [(64, 64)]),
    "softmax": (lambda x: functional.softmax(x, dim=-1), [(64, 64)]),
    "slice": (lambda x: x[8:40], [(64, 64)]),
    "rows by number": (lambda x: x[np.arange(64) % 16], [(64, 64)]),
    "transpose": (lambda x: x.T, [(64, 64)]),
    "concatenate": (lambda x, y: math.concatenate((x, y)), [(64, 64)] * 2),
    "linear": (functional.linear, [(64, 64), (64, 64), (64,)]),
    "layer norm": (lambda x: functional.layer_norm(x, (64,)), [(64, 64)]),
    "conv2d": (functional.conv2d, [(8, 6, 14, 14), (16, 6, 5, 5)]),
    "max_pool2d": (lambda x: functional.max_pool2d(x, 2), [(8, 16, 10, 10)]),
}


@pytest.fixture(params=OPERATIONS)
def operation(request: pytest.FixtureRequest) -> tuple[Callable[..., Tensor], list[Tensor]]:
    function, shapes = OPERATIONS[request.param]
    rng = np.random.default_rng(0)
    return function, [parameter(rng.standard_normal(shape) + 3) for shape in shapes]


def test_forward(benchmark: Any, operation: tuple[Callable[..., Tensor], list[Tensor]]) -> None:
    function, leaves = operation
    with no_grad():
        result = benchmark(function, *leaves)
    assert np.isfinite(result.data).all()


def test_forward_and_backward(benchmark: Any, operation: tuple[Callable[..., Tensor], list[Tensor]]) -> None:
    function, leaves = operation
    seed = np.ones(function(*leaves).shape, np.float32)

    def step() -> None:
        for leaf in leaves:
            leaf.grad = None
        function(*leaves).backward(seed)

    benchmark(step)
    assert all(leaf.grad is not None and leaf.grad.shape == leaf.shape for leaf in leaves)

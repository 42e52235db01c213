"""A table of 20,000 vectors of 64, 8192 of them looked up: forward and backward."""

from __future__ import annotations

import numpy as np
from harness import Step, Workload

from .steps import Array, seeded


def _data() -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(1)
    (table,) = seeded([(20_000, 64)])
    return table, rng.integers(0, 20_000, 8192), rng.standard_normal((8192, 64)).astype(np.float32)


def clumsygrad() -> Step:
    from clumsygrad.core import parameter
    from clumsygrad.nn.functional import embedding

    values, ids, seed = _data()
    table = parameter(values)

    def step() -> Array:
        table.grad = None
        embedding(ids, table).backward(seed)
        return table.grad

    return step


def torch() -> Step:
    import torch

    values, ids, seed = (torch.from_numpy(array) for array in _data())
    table = values.requires_grad_()

    def step() -> torch.Tensor:
        table.grad = None
        torch.nn.functional.embedding(ids, table).backward(seed)
        return table.grad

    return step


def by_hand() -> Step:
    table, ids, seed = _data()

    def step() -> Array:
        _ = table[ids]
        grad = np.zeros_like(table)
        np.add.at(grad, ids, seed)
        return grad

    return step


def autograd() -> Step:
    from autograd import make_vjp

    table, ids, seed = _data()

    def step() -> Array:
        return make_vjp(lambda values: values[ids])(table)[0](seed)

    return step


def mygrad() -> Step:
    import mygrad

    values, ids, seed = _data()
    table = mygrad.tensor(values)

    def step() -> Array:
        table[ids].backward(seed)
        return table.grad

    return step


WORKLOADS = (
    Workload(
        "embedding",
        {"clumsygrad": clumsygrad, "numpy": by_hand, "torch": torch, "autograd": autograd, "mygrad": mygrad},
        1.0,
    ),
)

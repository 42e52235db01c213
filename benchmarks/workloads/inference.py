"""The perceptrons' forward pass alone, without recording."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from harness import Step, Workload

from .mlp import NETWORKS, Sizes, clumsygrad_model, data, torch_model, weights
from .steps import Array


def clumsygrad(sizes: Sizes, batch: int) -> Step:
    from clumsygrad.core import Tensor, no_grad

    model, x = clumsygrad_model(sizes), Tensor(data(sizes, batch)[0])

    def step() -> Any:
        with no_grad():
            return model(x)

    return step


def torch(sizes: Sizes, batch: int) -> Step:
    import torch

    model, x = torch_model(sizes), torch.from_numpy(data(sizes, batch)[0])

    def step() -> Any:
        with torch.no_grad():
            return model(x)

    return step


def by_hand(sizes: Sizes, batch: int) -> Step:
    x = data(sizes, batch)[0]
    *hidden, last = zip(*[iter(weights(sizes))] * 2, strict=True)

    def step() -> Array:
        y = x
        for weight, bias in hidden:
            y = y @ weight.T
            y += bias
            np.maximum(y, 0, out=y)
        y = y @ last[0].T
        y += last[1]
        return y

    return step


_BUILDERS = {"clumsygrad": clumsygrad, "numpy": by_hand, "torch": torch}

WORKLOADS = tuple(
    Workload(
        f"inference {name}",
        {system: partial(builder, sizes, batch) for system, builder in _BUILDERS.items()},
        0.75 if name == "digits" else None,
    )
    for name, (sizes, batch) in NETWORKS.items()
)

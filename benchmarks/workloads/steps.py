"""What several workloads share: data, starting values, and the training step around a model of each system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from harness import Step

Array = np.ndarray


def seeded(shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """Return the same starting values for every system: matrices scaled by their number of inputs, vectors of zeros."""
    rng = np.random.default_rng(0)
    return [
        (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        if len(shape) > 1
        else np.zeros(shape, np.float32)
        for shape in shapes
    ]


def fill(parameters: Mapping[str, Any], assign: Callable[[Any, Array], object]) -> None:
    """Give the same starting values to a model of any system whose parameters have PyTorch's names and shapes.

    Biases become zero; the weights of a normalisation, vectors too, stay one.
    """
    names = sorted(parameters)
    for name, value in zip(names, seeded([tuple(parameters[name].shape) for name in names]), strict=True):
        if value.ndim > 1 or "bias" in name:
            assign(parameters[name], value)


class Adam:
    """Adam as one writes it in NumPy, in place; for the systems that have no optimizer of their own."""

    def __init__(self, values: Sequence[Array], lr: float = 1e-3) -> None:
        self.values = values
        self.lr = lr
        self.first = [np.zeros_like(value) for value in values]
        self.second = [np.zeros_like(value) for value in values]
        self.time = 0

    def step(self, grads: Sequence[Array]) -> None:
        self.time += 1
        rate = self.lr / (1 - 0.9**self.time)
        correction = float(1 / np.sqrt(1 - 0.999**self.time))
        for value, grad, first, second in zip(self.values, grads, self.first, self.second, strict=True):
            np.multiply(first, 0.9, out=first)
            np.add(first, 0.1 * grad, out=first)
            np.multiply(second, 0.999, out=second)
            np.add(second, 0.001 * (grad * grad), out=second)
            np.subtract(value, rate * first / (np.sqrt(second) * correction + 1e-8), out=value)


def clumsygrad_training(model: Any, loss: Callable[[], Any]) -> Step:
    from clumsygrad.optim import Adam as ClumsyAdam

    optimizer = ClumsyAdam(model.parameters(), lr=1e-3)

    def step() -> Any:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value

    return step


def torch_training(model: Any, loss: Callable[[], Any]) -> Step:
    import torch

    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step() -> Any:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value

    return step


def autograd_training(parameters: list[Array], loss: Callable[[list[Array]], Any]) -> Step:
    from autograd import value_and_grad

    optimizer = Adam(parameters)
    differentiated = value_and_grad(loss)

    def step() -> Any:
        value, grads = differentiated(parameters)
        optimizer.step(grads)
        return value

    return step


def mygrad_training(parameters: list[Any], loss: Callable[[], Any]) -> Step:
    optimizer = Adam([parameter.data for parameter in parameters])

    def step() -> Any:
        value = loss()
        value.backward()
        optimizer.step([parameter.grad for parameter in parameters])
        return value

    return step

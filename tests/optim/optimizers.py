"""Every optimizer with its option sets, and a small problem to train: what the tests are swept over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from clumsygrad import optim
from clumsygrad.core import Tensor, parameter
from clumsygrad.optim import Optimizer

Make = Callable[[Iterable[Any]], Optimizer]

# Those that treat every element alike, with the options that take another path through the update.
ELEMENTWISE: dict[str, Make] = {
    "SGD": lambda p: optim.SGD(p, lr=0.05),
    "SGD-decay": lambda p: optim.SGD(p, lr=0.05, weight_decay=0.1),
    "SGD-maximize": lambda p: optim.SGD(p, lr=0.05, maximize=True),
    "SGD-momentum": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, dampening=0.1, weight_decay=0.1),
    "SGD-nesterov": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "Adam": lambda p: optim.Adam(p, lr=0.05),
    "Adam-amsgrad": lambda p: optim.Adam(p, lr=0.05, weight_decay=0.1, amsgrad=True, maximize=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.05, weight_decay=0.1),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01),
    "RMSprop-centered": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.9, centered=True, weight_decay=0.1),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.1, initial_accumulator_value=0.1),
    "Adadelta": lambda p: optim.Adadelta(p, lr=1.0),
    "Adamax": lambda p: optim.Adamax(p, lr=0.05),
    "NAdam": lambda p: optim.NAdam(p, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True),
    "RAdam": lambda p: optim.RAdam(p, lr=0.05, weight_decay=0.1),
    "ASGD": lambda p: optim.ASGD(p, lr=0.05, t0=3.0),
    "Rprop": lambda p: optim.Rprop(p, lr=0.05),
    "Lion": lambda p: optim.Lion(p, lr=0.01, weight_decay=0.1),
}
# Those that are called without a closure.
STEPPED: dict[str, Make] = {**ELEMENTWISE, "Muon": lambda p: optim.Muon(p, lr=0.05)}
ALL: dict[str, Make] = {
    **STEPPED,
    "LBFGS": lambda p: optim.LBFGS(p, lr=0.5, max_iter=3, history_size=2),
    "LBFGS-wolfe": lambda p: optim.LBFGS(p, max_iter=3, line_search_fn="strong_wolfe"),
}

# All are matrices, which is what Muon takes.
SHAPES = [(3, 4), (1, 4), (4, 2), (1, 2)]


def make_parameters(seed: int = 0) -> list[Tensor]:
    rng = np.random.default_rng(seed)
    return [parameter(rng.standard_normal(shape)) for shape in SHAPES]


def make_closure(
    optimizer: Optimizer, parameters: list[Tensor], used: Iterable[int] = range(4)
) -> Callable[[], Tensor]:
    """Return a function that computes the loss of a small network; parameters that aren't used have no gradient."""
    rng = np.random.default_rng(1)
    inputs, targets = Tensor(rng.standard_normal((8, 3))), Tensor(rng.standard_normal((8, 2)))
    taken = set(used)

    def closure() -> Tensor:
        optimizer.zero_grad()
        first, bias, second, last = (
            tensor if index in taken else tensor.detach() for index, tensor in enumerate(parameters)
        )
        error = (inputs @ first + bias).tanh() @ second + last - targets
        loss = (error * error).mean()
        loss.backward()
        return loss

    return closure


def train(optimizer: Optimizer, closure: Callable[[], Tensor], steps: int) -> None:
    for _ in range(steps):
        optimizer.step(closure)


def get_grad(tensor: Tensor) -> npt.NDArray[Any]:
    grad = tensor.grad
    assert grad is not None
    return grad


def copy_values(parameters: Iterable[Tensor]) -> list[npt.NDArray[Any]]:
    return [tensor.data.copy() for tensor in parameters]


def assert_same(first: Iterable[npt.NDArray[Any]], second: Iterable[npt.NDArray[Any]]) -> None:
    """Fail unless all arrays are the same to the last bit."""
    for one, other in zip(first, second, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes(), f"largest difference {np.abs(one - other).max()}"

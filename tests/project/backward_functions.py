"""All backward functions of the packages, found by walking their modules, and mutants of them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

import clumsygrad.core
import clumsygrad.nn
from clumsygrad.core import GradFn, Tensor

Gradients = list[Any]
Change = Callable[[Gradients, Tensor, npt.NDArray[Any]], Gradients]


def backward_functions() -> dict[str, GradFn]:
    """Return every backward function that is defined anywhere in core and nn, by its full name."""
    found: dict[str, GradFn] = {}
    for package in (clumsygrad.core, clumsygrad.nn):
        names = [info.name for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
        for module in map(importlib.import_module, names):
            for name, member in inspect.getmembers(module, inspect.isfunction):
                # backward() itself has another signature.
                if name.endswith("_backward") and member.__module__ == module.__name__:
                    found[full_name(member)] = cast("GradFn", member)
    return found


def full_name(function: GradFn) -> str:
    """Name a backward function so that no two have the same name."""
    module = str(getattr(function, "__module__", "?")).removeprefix("clumsygrad.")
    return f"{module}.{function.__name__}"


@dataclass(frozen=True)
class Mutant:
    """One mistake, planted into what a backward function returns."""

    label: str
    change: Change

    def of(self, original: GradFn) -> Planted:
        return Planted(original, self.change)


class Planted:
    """A backward function with a mistake."""

    def __init__(self, original: GradFn, change: Change) -> None:
        self.__name__ = original.__name__
        self.original = original
        self.change = change
        # Whether it ever made a difference: a mutant that doesn't is the same function.
        self.differs = False

    def __call__(self, tensor: Tensor, grad: npt.NDArray[Any], /) -> tuple[Any, ...]:
        right = self.original(tensor, grad)
        wrong = tuple(self.change(list(right), tensor, grad))
        for a, b in zip(right, wrong, strict=True):
            self.differs = self.differs or not _equal(a, b)
        return wrong


def _equal(a: npt.NDArray[Any] | None, b: npt.NDArray[Any] | None) -> bool:
    if a is None or b is None:
        # No gradient is a gradient of zero.
        return not np.any(a if b is None else b)
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=True)


def _each(change: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Change:
    return lambda grads, tensor, grad: [None if part is None else change(np.asarray(part)) for part in grads]


def _only(position: int, change: Callable[[npt.NDArray[Any]], Any]) -> Change:
    return lambda grads, tensor, grad: [
        change(np.asarray(part)) if index == position and part is not None else part for index, part in enumerate(grads)
    ]


def _swap(first: int, second: int) -> Change:
    def change(grads: Gradients, tensor: Tensor, grad: npt.NDArray[Any]) -> Gradients:
        if grads[first] is not None and grads[second] is not None:
            grads[first], grads[second] = grads[second], grads[first]
        return grads

    return change


def _unreduced(grads: Gradients, tensor: Tensor, grad: npt.NDArray[Any]) -> Gradients:
    """Leave out the last step of a reduction: the gradient keeps the shape in which it was broadcast."""
    return [
        None
        if part is None
        else np.broadcast_to(part, np.broadcast_shapes(np.shape(part), grad.shape))
        if _broadcasts(np.shape(part), grad.shape) and np.shape(part) != grad.shape
        else np.asarray(part)[None]
        for part in grads
    ]


def _broadcasts(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(small, large) == large
    except ValueError:
        return False


def _without_last(part: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Forget one element."""
    changed = np.array(part)
    if changed.size:
        changed[np.unravel_index(changed.size - 1, changed.shape)] = 0
    return changed


def mutants(parents: int) -> Iterator[Mutant]:
    """Yield the mutants of a backward function of that many parents."""
    yield Mutant("sign", _each(lambda part: -part))
    yield Mutant("x(1+1e-6)", _each(lambda part: part * (1 + 1e-6)))
    yield Mutant("x2", _each(lambda part: part * 2))
    yield Mutant("offset", _each(lambda part: part + 1e-6))
    yield Mutant("transposed", _each(lambda part: part.swapaxes(-1, -2) if part.ndim > 1 else part))
    yield Mutant("reversed", _each(lambda part: part[..., ::-1] if part.ndim else part))
    yield Mutant("unreduced", _unreduced)
    yield Mutant("one element lost", _each(_without_last))
    for position in range(min(parents, 4)):
        yield Mutant(f"parent {position} zero", _only(position, np.zeros_like))
        yield Mutant(f"parent {position} dropped", _only(position, lambda part: None))
        if parents > 1:
            yield Mutant(f"parent {position} x(1+1e-6)", _only(position, lambda part: part * (1 + 1e-6)))
    for position in range(min(parents, 4) - 1):
        yield Mutant(f"parents {position}, {position + 1} swapped", _swap(position, position + 1))


def graph_of(outputs: Iterable[Tensor]) -> Iterator[Tensor]:
    """Yield every node behind ``outputs``, once."""
    seen: set[int] = set()
    waiting = list(outputs)
    while waiting:
        node = waiting.pop()
        if node.id not in seen:
            seen.add(node.id)
            waiting.extend(node.parents)
            yield node

"""The one table of operations, from which methods, NumPy dispatch, tests and the API page follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .types import GradFn


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: what computes it, what differentiates it, and where users find it."""

    name: str
    """Its name in the public namespace, or the operator's name in Python's ``operator`` module."""

    forward: Callable[..., Any]
    backward: GradFn | None
    """None for an operation that is composed of others, or has no derivative."""

    numpy: tuple[Callable[..., Any], ...]
    """The NumPy functions, ufuncs and bound ufunc methods (``np.add.reduce``) that it stands in for."""

    methods: tuple[str, ...]
    """The names under which Tensor has it."""

    differentiable: bool


OPERATIONS: dict[str, Operation] = {}


def register(
    forward: Callable[..., Any],
    backward: GradFn | None = None,
    *,
    numpy: tuple[Callable[..., Any], ...] = (),
    methods: tuple[str, ...] = (),
    differentiable: bool = True,
) -> None:
    """Enter an operation into the table: the only step between writing it and everything that follows from it."""
    name = forward.__name__
    if name in OPERATIONS:
        raise ValueError(f"an operation is registered once; {name!r} is in the table already")
    OPERATIONS[name] = Operation(name, forward, backward, numpy, methods, differentiable)

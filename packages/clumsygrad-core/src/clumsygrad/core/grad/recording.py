"""What a backward function that is not plain NumPy needs to know."""

from __future__ import annotations

from ..tensor import Tensor
from ..types import Array


def as_recorded(value: Array) -> Tensor | None:
    """Return ``value`` when it is a Tensor, as while a graph of the gradient is made, and None when it is an array."""
    given: object = value
    return given if isinstance(given, Tensor) else None

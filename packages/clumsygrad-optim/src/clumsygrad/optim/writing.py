"""Writing values into parameters and walking arrays in blocks, for what is not done by an elementwise optimizer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, cast

import numpy as np

from clumsygrad.core import Array, Tensor

BLOCK: Final = 65536
"""How many elements are worked on at a time: a value, its gradient, its buffers and scratch stay in the cache, and the
calls cost little beside the arithmetic."""


def get_gradient(tensor: Tensor) -> Array | None:
    """Return the gradient to step by: None for a parameter that was frozen, whatever gradient was left on it."""
    return tensor.grad if tensor.requires_grad else None


def overwrite(tensor: Tensor, values: Array) -> None:
    """Copy ``values`` into a tensor's array, or into a new one when that is read-only. Call ``mark_updated`` after."""
    if tensor.data.flags.writeable:
        np.copyto(tensor.data, values, casting="same_kind")
    else:
        tensor.data = values.copy()


def make_writeable(tensor: Tensor) -> Array:
    """Return a tensor's array, after replacing it by a copy when it is read-only."""
    if not tensor.data.flags.writeable:
        tensor.data = tensor.data.copy()
    return tensor.data


def get_blocks(array: Array) -> Iterator[Array]:
    """Yield the elements of an array, in the order of its memory, as views of at most ``BLOCK`` each."""
    flat = array.ravel(order="K")
    for start in range(0, flat.size, BLOCK):
        yield flat[start : start + BLOCK]


def list_tensors(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """Return the Tensors of an iterable, or the one that was given, each once."""
    if isinstance(parameters, Tensor):
        return [parameters]
    tensors: dict[int, Tensor] = {}
    for index, tensor in enumerate(cast("Iterable[object]", parameters)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"parameters are Tensors; entry {index} is a {type(tensor).__name__}")
        tensors[id(tensor)] = tensor
    return list(tensors.values())

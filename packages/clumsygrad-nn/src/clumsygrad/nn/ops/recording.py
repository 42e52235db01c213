"""What lets a fast computation on arrays be differentiated when its operands are Tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from clumsygrad.core import Array, GradFn, Tensor, as_tensor, create_node


def is_recorded(*operands: Array | Tensor) -> bool:
    """Tell whether an operand is a Tensor, as while a graph of the gradient is made."""
    return any(isinstance(operand, Tensor) for operand in operands)


def value_of(operand: Array | Tensor) -> Array:
    """Return the numbers of an operand, which a backward function meets as an array or as a Tensor."""
    return operand.data if isinstance(operand, Tensor) else operand


def record(
    compute: Callable[..., Array], backward: GradFn, operands: tuple[Array | Tensor, ...], extra: dict[str, Any]
) -> Array:
    """Return ``compute(*arrays, **extra)`` as a node whose parents are ``operands``."""
    parents = tuple(as_tensor(operand) for operand in operands)
    node = create_node(compute(*(parent.data for parent in parents), **extra), backward, parents, extra)
    # A backward function goes on to compute with it as if it were an array: that is what records the graph.
    return cast("Array", node)

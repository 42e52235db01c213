"""Looking at the graph of one call, through what every Tensor shows of itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from clumsygrad.core import Tensor

from .subject import Call


def graph_nodes(outputs: Iterable[Tensor]) -> list[Tensor]:
    """Return the tensors that ``outputs`` were computed from, themselves included, the oldest first."""
    found: dict[int, Tensor] = {}
    waiting = list(outputs)
    while waiting:
        node = waiting.pop()
        if node.id not in found:
            found[node.id] = node
            waiting.extend(node.parents)
    return [found[key] for key in sorted(found)]


def depending_on(nodes: Sequence[Tensor], leaves: Iterable[Tensor]) -> set[int]:
    """Return the ids of those ``nodes`` (the oldest first) that are leaves or computed from them."""
    reached = {leaf.id for leaf in leaves}
    for node in nodes:
        if any(parent.id in reached for parent in node.parents):
            reached.add(node.id)
    return reached


def rounded_nodes(call: Call) -> list[Tensor]:
    """Return the nodes computed from the leaves whose value is of less than double precision."""
    nodes = graph_nodes(call.outputs)
    reached = depending_on(nodes, call.leaves)
    return [node for node in nodes if node.id in reached and node.dtype != np.float64]


def foreign_parameters(call: Call) -> list[Tensor]:
    """Return the parameters in the graph that are not among the call's own leaves."""
    own = {leaf.id for leaf in call.leaves}
    return [node for node in graph_nodes(call.outputs) if node.requires_grad and node.is_leaf and node.id not in own]


def operation_of(node: Tensor) -> str:
    """Name the operation that made a node, by its backward function."""
    return node.grad_fn.__name__ if node.grad_fn is not None else "no operation"

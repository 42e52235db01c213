"""Which operation's backward function is wrong: each node of the graph is checked against its own parents.

Moving the inputs along a direction moves the value of every node; finite differences give each node's rate, the
tangent. For a right backward function, any gradient g of a node and the gradients g_i that it returns satisfy

    sum(g * tangent of the node) = sum over parents of sum(g_i * tangent of the parent)

whatever the rest of the graph does, so a node where this fails is at fault itself. The values of nodes are compared
between calls by their position in the order of creation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from clumsygrad.core import Tensor

from .differences import Finding, differentiate
from .graph import depending_on, graph_nodes, operation_of
from .options import step_for
from .subject import Subject, Values

# Larger graphs are not looked into.
_NODES: Final = 2000
_ELEMENTS: Final = 300_000
_SINGLE: Final = 6
_JOINT: Final = 3
_COTANGENTS: Final = 3
_ALLOWED: Final = 2e-8


class _Changed(Exception):  # noqa: N818  # ends the search; it is no error
    """The graph has another form at other values."""


@dataclass(slots=True)
class _Fault:
    """What is wrong with the nodes of one operation."""

    node: Tensor
    count: int = 1
    parents: set[int] = field(default_factory=set[int])
    """The parents whose gradient is wrong for certain."""
    error: str = ""
    constant: int | None = None
    """A parent that is treated as a constant, and isn't one."""

    def describe(self) -> str:
        node = self.node
        shapes = ", ".join(str(parent.shape) for parent in node.parents)
        text = f"{operation_of(node)} (parents of shape {shapes}; result of shape {node.shape})"
        if self.error:
            return f"{text}: {self.error}"
        if self.constant is not None:
            return f"{text}: its parent {self.constant} is a constant to it, and yet changes with the inputs"
        if self.parents and len(node.parents) > 1:
            text += f", the gradient of parent {' and '.join(map(str, sorted(self.parents)))}"
        return text if self.count == 1 else f"{text}, and {self.count - 1} more of its results"


def find_blame(subject: Subject, rng: np.random.Generator) -> tuple[str, ...]:
    """Return a line for each operation of the graph that is wrong by itself; none when nothing could be found out."""
    call = subject(subject.values)
    nodes = graph_nodes(call.outputs)
    if len(nodes) > _NODES or sum(node.size for node in nodes) > _ELEMENTS:
        return ()
    try:
        tangents = [_Tangents(subject, nodes, direction) for direction in _directions(subject, rng)]
    except _Changed:
        return ()
    # A backward function reads its parents' values when it is called, and the calls above may have moved parameters.
    call = subject(subject.values)
    nodes = graph_nodes(call.outputs)
    for tangent in tangents:
        tangent.name(nodes)
    moving = depending_on(nodes, call.leaves)
    faults: dict[str, _Fault] = {}
    for node in nodes:
        if node.id not in moving or node.grad_fn is None or not node.parents:
            continue
        fault = _examine(node, tangents, rng)
        if fault is None:
            continue
        known = faults.setdefault(operation_of(node), fault)
        if known is not fault:
            known.count += 1
            known.parents |= fault.parents
    found = list(faults.values())
    # What takes a moving value for a constant may well be right by itself.
    certain = [fault for fault in found if fault.constant is None]
    return tuple(fault.describe() for fault in certain or found)


def _directions(subject: Subject, rng: np.random.Generator) -> list[tuple[Values, ...]]:
    """Draw directions through single inputs, which tell parents apart, and through all of them."""

    def draw(position: int) -> Values:
        value = subject.values[position]
        return rng.standard_normal(value.shape) * np.maximum(1.0, np.abs(value))

    inputs = range(len(subject.values))
    single = [
        tuple(draw(other) if other == position else np.zeros(subject.values[other].shape) for other in inputs)
        for position in inputs
        if len(inputs) > 1
    ]
    return single[:_SINGLE] + [tuple(draw(position) for position in inputs) for _ in range(_JOINT)]


class _Tangents:
    """How fast the value of each node changes along one direction, by node id."""

    slope: dict[int, Values]
    error: dict[int, Values]

    def __init__(self, subject: Subject, nodes: Sequence[Tensor], direction: Sequence[Values]) -> None:
        def form(items: Sequence[Tensor]) -> list[tuple[str, tuple[int, ...]]]:
            return [(operation_of(item), item.shape) for item in items]

        def flat(items: Sequence[Tensor]) -> Values:
            return np.concatenate([np.asarray(item.data, np.float64).ravel() for item in items])

        expected = form(nodes)
        # Values that are infinite and stay so, as those of a mask, don't move.
        fixed = ~np.isfinite(flat(nodes))

        def evaluate(distance: float) -> Values:
            values = [value + distance * part for value, part in zip(subject.values, direction, strict=True)]
            found = graph_nodes(subject(values).outputs)
            if form(found) != expected:
                raise _Changed
            result = flat(found)
            result[fixed & ~np.isfinite(result)] = 0.0
            return result

        # The nodes' own arrays may be those of parameters that the calls overwrite.
        base = evaluate(0.0)
        size = max((float(np.max(np.abs(value), initial=0.0)) for value in subject.values), default=0.0)
        column = differentiate(evaluate, base, step_for(1.0, 1e-4), 1e-7, size=size, tries=1)
        self._slopes: list[Values] = []
        self._errors: list[Values] = []
        start = 0
        for node in nodes:
            part = slice(start, start + node.size)
            start += node.size
            smooth = column.finding[part] == Finding.SMOOTH
            self._slopes.append(np.where(smooth, column.slope[part], np.nan).reshape(node.shape))
            self._errors.append(column.error[part].reshape(node.shape))

    def name(self, nodes: Sequence[Tensor]) -> None:
        """Apply to another call's nodes, in the same order."""
        self.slope = {node.id: slope for node, slope in zip(nodes, self._slopes, strict=True)}
        self.error = {node.id: error for node, error in zip(nodes, self._errors, strict=True)}


def _examine(node: Tensor, tangents: Sequence[_Tangents], rng: np.random.Generator) -> _Fault | None:
    """Check one node against its parents."""
    assert node.grad_fn is not None  # for the type checker: nodes without one are not examined
    fault: _Fault | None = None
    # Nothing is asked of elements of the result that lie at a kink.
    smooth = np.logical_and.reduce([np.isfinite(tangent.slope[node.id]) for tangent in tangents])
    for _ in range(_COTANGENTS):
        grad = np.where(smooth, rng.standard_normal(node.shape), 0.0)
        with np.errstate(all="ignore"):
            try:
                parts = node.grad_fn(node, grad)
            except Exception as error:  # noqa: BLE001  # whatever a backward function raises is a finding about it
                return _Fault(node, error=f"it raised {type(error).__name__}: {error}")
        if len(parts) != len(node.parents):
            return _Fault(node, error=f"it returned {len(parts)} gradients for {len(node.parents)} parents")
        for parent, part in zip(node.parents, parts, strict=True):
            if parent.requires_grad and part is not None and np.shape(part) != parent.shape:
                return _Fault(
                    node, error=f"it returned a gradient of shape {np.shape(part)} for a parent of shape {parent.shape}"
                )
        for tangent in tangents:
            found = _test(node, grad, parts, tangent)
            if found is None:
                continue
            if fault is None:
                fault = found
            elif found.constant is None:
                found.parents |= fault.parents
                fault = found
    return fault


def _test(node: Tensor, grad: Values, parts: Sequence[object], tangent: _Tangents) -> _Fault | None:
    """Test the identity for one gradient and one direction."""
    slope = np.where(grad == 0, 0.0, tangent.slope[node.id])
    terms: list[Values] = [(grad * slope).ravel()]
    doubts: list[Values] = [(grad * tangent.error[node.id]).ravel()]
    moving: set[int] = set()
    for position, (parent, part) in enumerate(zip(node.parents, parts, strict=True)):
        rate = tangent.slope[parent.id]
        if not (np.abs(rate) > 10 * tangent.error[parent.id]).any():
            continue
        if not parent.requires_grad:
            return _Fault(node, constant=position)
        moving.add(position)
        if part is not None:
            weights = np.asarray(part)
            terms.append(-(weights * rate).ravel())
            doubts.append((weights * tangent.error[parent.id]).ravel())
    products, doubt = np.concatenate(terms), np.concatenate(doubts)
    difference = abs(float(products.sum()))
    allowed = _ALLOWED * float(np.sqrt(np.square(products).sum())) + 5 * float(np.sqrt(np.square(doubt).sum()))
    # NaN, when a parent lies at a kink, tells nothing.
    if not difference > allowed:
        return None
    return _Fault(node, parents=moving if len(moving) == 1 else set())

"""Whether what is to be checked is a function at all: of its inputs, finite, and in double precision."""

from __future__ import annotations

import numpy as np

from .graph import operation_of, rounded_nodes
from .report import Problem
from .subject import Call, Subject


def examine(subject: Subject) -> tuple[Call, Problem | None]:
    """Call the function twice, and return the second call with what speaks against checking it."""
    first = subject(subject.values)
    changed = [
        name
        for name, leaf, value in zip(subject.names, first.leaves, subject.values, strict=True)
        if not np.array_equal(leaf.data, value, equal_nan=True)
    ]
    if changed:
        return first, Problem(
            "changed inputs",
            f"{', '.join(changed)} had another value after the call than before. Compute on a copy, or with operations "
            "that return new tensors",
        )
    values = first.flat()
    call = subject(subject.values)
    problem = _random(first, values, call)
    if problem is None and any(value.size for value in subject.values):
        problem = _infinite(call) or _rounded(call)
    return call, problem


def _random(first: Call, before: np.ndarray[tuple[int, ...], np.dtype[np.float64]], second: Call) -> Problem | None:
    if [output.shape for output in first.outputs] != [output.shape for output in second.outputs]:
        return Problem("random", "a second call with the same inputs returned outputs of other shapes")
    after = second.flat()
    different = np.flatnonzero((before != after) & ~(np.isnan(before) & np.isnan(after)))
    if not different.size:
        return None
    position = int(different[0])
    return Problem(
        "random",
        f"{second.locate(position)} was {before[position]:.12g}, then {after[position]:.12g}. Draw with a generator "
        "that is seeded inside the function, and put dropout layers into eval mode",
    )


def _infinite(call: Call) -> Problem | None:
    values = call.flat()
    infinite = np.flatnonzero(~np.isfinite(values))
    if not infinite.size:
        return None
    position = int(infinite[0])
    return Problem(
        "non-finite",
        f"{call.locate(position)} is {values[position]} at the given inputs ({infinite.size} of {values.size} "
        "outputs). Check at inputs inside the function's domain",
    )


def _rounded(call: Call) -> Problem | None:
    rounded = rounded_nodes(call)
    if not rounded:
        return None
    node = rounded[0]
    name = "fn" if node.grad_fn is None else operation_of(node).removesuffix("_backward")
    return Problem(
        "float32",
        f"the result of {name}, of shape {node.shape}, is {node.dtype} although it is computed from float64. A float32 "
        "constant or buffer, dtype= or .astype(np.float32) does this; write the formula so that it keeps the precision "
        "of its operands",
    )

"""What the backward functions say: rows of the Jacobian, asked for in several ways that have to agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from clumsygrad.core import Tensor, gradients

from .graph import foreign_parameters
from .report import Problem
from .subject import Call, Subject, Values

# Up to this many outputs each row of the Jacobian is compared; above, this many random combinations of the rows.
_FULL: Final = 64
_PROJECTIONS: Final = 4


class Analytic:
    """The combinations of outputs that are differentiated, and their gradients."""

    rows: Values
    """The combinations, of shape (rows, outputs)."""
    full: bool
    """Whether each row is one output."""
    jacobians: list[Values]
    """For each input the derivatives of the rows, of shape (rows, input's size)."""
    reached: list[bool]
    """For each input whether any gradient arrived."""
    problem: Problem | None
    error: Exception | None
    """What the backward pass raised."""

    def __init__(self, subject: Subject, call: Call, rng: np.random.Generator) -> None:
        number = sum(output.size for output in call.outputs)
        self.full = number <= _FULL
        self.rows = np.eye(number) if self.full else rng.standard_normal((_PROJECTIONS, number))
        self.jacobians = [np.zeros((len(self.rows), leaf.size)) for leaf in call.leaves]
        self.reached = [False] * len(call.leaves)
        self.problem = self.error = None
        try:
            for row, weights in enumerate(self.rows):
                for position, grad in enumerate(pull(call, weights, call.leaves)):
                    if grad is not None:
                        self.reached[position] = True
                        self.jacobians[position][row] = grad.data.ravel()
            self.problem = _compare_ways(subject, call, rng.standard_normal(number))
        except Exception as error:  # noqa: BLE001  # whatever a backward function raises is a finding about it
            notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
            self.problem = Problem("backward", f"{type(error).__name__}: {error}{notes}")
            self.error = error
            return
        for name, leaf, value in zip(subject.names, call.leaves, subject.values, strict=True):
            if not np.array_equal(leaf.data, value):
                self.problem = Problem("changed inputs", f"the backward pass wrote into the value of {name}")


def pull(call: Call, weights: Values, leaves: Sequence[Tensor]) -> tuple[Tensor | None, ...]:
    """Return the gradients of a weighted sum of the outputs, None where no output depends on the leaf."""
    outputs: list[Tensor] = []
    seeds: list[Values] = []
    start = 0
    for output in call.outputs:
        part = weights[start : start + output.size]
        start += output.size
        if output.requires_grad and (part.any() or not part.size):
            seed = part.reshape(output.shape).copy()
            # A backward function that writes into the gradient it was given is found out.
            seed.flags.writeable = False
            outputs.append(output)
            seeds.append(seed)
    if not outputs or not leaves:
        return (None,) * len(leaves)
    return gradients(outputs, leaves, seeds, keep_graph=True, allow_unused=True)


def _compare_ways(subject: Subject, call: Call, weights: Values) -> Problem | None:
    """Make sure that a gradient depends neither on which others are asked for, nor on the way of asking."""
    together = pull(call, weights, call.leaves)
    for name, leaf, grad in zip(subject.names, call.leaves, together, strict=True):
        (alone,) = pull(call, weights, (leaf,))
        if not _same(alone, grad):
            return Problem(
                "backward",
                f"the gradient of {name} is another one when no other gradient is asked for. A backward function "
                "returns the same for a parent whether or not the others need theirs",
            )
    # backward() adds to the grad of everything that it reaches, which must not be the caller's.
    if not subject.owns_leaves or foreign_parameters(call):
        return None
    start = 0
    for output in call.outputs:
        seed = weights[start : start + output.size].reshape(output.shape)
        start += output.size
        if output.requires_grad:
            output.backward(seed, keep_graph=True)
    for name, leaf, grad in zip(subject.names, call.leaves, together, strict=True):
        if not _same(leaf.grad, grad):
            return Problem(
                "backward",
                f"backward() and gradients() disagree about the gradient of {name}. A backward function writes neither "
                "into its gradient nor into the values of its node, and doesn't depend on which parents need theirs",
            )
    return None


def _same(left: Tensor | Values | None, right: Tensor | None) -> bool:
    if left is None or right is None:
        return (left is None) == (right is None)
    a, b = np.asarray(left), right.data
    size = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
    return bool(np.allclose(a, b, rtol=1e-12, atol=1e-12 * size, equal_nan=True))

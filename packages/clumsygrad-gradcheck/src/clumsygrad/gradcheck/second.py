"""The gradient as a function of its own, so that its gradient can be checked in turn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clumsygrad.core import gradients

from .subject import Call, Subject, Values, fresh_leaf


class SecondSubject:
    """The gradients of a weighted sum of another subject's outputs, by its values and by the weights.

    The weights are inputs too, so that a backward function has to be right in the gradient it is given as well.
    """

    __slots__ = ("_subject", "names", "owns_leaves", "values")

    names: tuple[str, ...]
    values: tuple[Values, ...]
    owns_leaves: bool

    def __init__(self, subject: Subject, rng: np.random.Generator) -> None:
        call = subject(subject.values)
        kept = [(output, label) for output, label in zip(call.outputs, call.labels, strict=True) if _flows(output)]
        self._subject = subject
        self.names = (*subject.names, *(f"the gradient of {label}" for _, label in kept))
        self.values = (*subject.values, *(rng.standard_normal(output.shape) for output, _ in kept))
        self.owns_leaves = subject.owns_leaves

    def __call__(self, values: Sequence[Values]) -> Call:
        """Compute the gradients, recorded."""
        number = len(self._subject.values)
        call = self._subject(values[:number])
        weights = tuple(fresh_leaf(value) for value in values[number:])
        outputs = [output for output in call.outputs if _flows(output)]
        found = (
            gradients(outputs, call.leaves, weights, create_graph=True, allow_unused=True)
            if outputs and call.leaves
            else (None,) * len(call.leaves)
        )
        labelled = [
            (grad, f"the derivative by {name}")
            for grad, name in zip(found, self._subject.names, strict=True)
            if grad is not None
        ]
        return Call(
            (*call.leaves, *weights), tuple(grad for grad, _ in labelled), tuple(label for _, label in labelled)
        )


def _flows(output: object) -> bool:
    return bool(getattr(output, "requires_grad", False))

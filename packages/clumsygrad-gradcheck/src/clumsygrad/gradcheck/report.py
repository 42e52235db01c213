"""The result of a check, which is true when everything agreed and reads well when it did not."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import Final

import numpy as np

from .plot import draw
from .subject import Values


@dataclass(frozen=True, slots=True)
class InputReport:
    """How the gradient by one input compares with its finite difference; the numbers are those of its worst element."""

    name: str
    shape: tuple[int, ...]
    passed: bool
    reached: bool
    """Whether any gradient arrived at this input."""
    checked: int
    """How many of its elements were compared."""
    failed: int
    """How many of those disagree."""
    index: tuple[int, ...] | None = None
    """The element that is furthest from its tolerance; None when there is nothing to compare."""
    output: str = ""
    """The output element, or the combination of outputs, whose derivative it is."""
    analytic: float = 0.0
    numeric: float = 0.0
    absolute_error: float = 0.0
    relative_error: float = 0.0
    tolerance: float = 0.0
    """The absolute error that is allowed for this element."""
    analytic_values: Values = field(default_factory=lambda: np.zeros((0, 0)), repr=False, compare=False)
    """All compared derivatives by the backward functions: a row for each output, a column for each element."""
    numeric_values: Values = field(default_factory=lambda: np.zeros((0, 0)), repr=False, compare=False)
    """The same by finite differences."""

    def describe(self) -> str:
        """Say it in a line or two."""
        head = f"{self.name} {self.shape}"
        if self.index is None:
            return f"{head}: empty, nothing to compare"
        verdict = "ok" if self.passed else f"{self.failed} of {self.checked} elements disagree"
        where = f"at {list(self.index)}" if self.index else "its value"
        by = f", derivative of {self.output}" if self.output else ""
        return (
            f"{head}: {verdict}; worst {where}{by}:\n"
            f"    analytic {self.analytic:.12g}   numeric {self.numeric:.12g}\n"
            f"    error {self.absolute_error:.3g} (relative {self.relative_error:.3g}), allowed {self.tolerance:.3g}"
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a check could not be passed, apart from numbers that disagree."""

    kind: str
    """One of the keys of ``PROBLEMS``."""
    message: str


PROBLEMS: Final[dict[str, str]] = {
    "backward": "the backward pass raised an error",
    "changed inputs": "the function writes into its inputs",
    "detached": "the output depends on an input, but no gradient flows to it",
    "float32": "a value was rounded to float32 on the way",
    "inaccurate": "rounding hides the slope from the finite difference",
    "jump": "the function jumps here",
    "kink": "the function has a kink here",
    "non-finite": "an output or a derivative is infinite or NaN",
    "random": "two calls with the same inputs differ",
    "unreached": "no output depends on any input",
}
"""The kinds of problems, and what each means."""


@dataclass(frozen=True, slots=True, repr=False)
class GradientReport:
    """What a gradient check found; true when it passed.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.gradcheck import check_gradient
        >>> report = check_gradient(lambda x: x * x, np.array([1.0, 2.0]))
        >>> bool(report), report.inputs[0].passed
        (True, True)
        >>> print(report)
        Gradient check passed: 2 elements of 1 input against 2 outputs.
    """

    passed: bool
    inputs: tuple[InputReport, ...] = ()
    outputs: int = 0
    """The number of output elements."""
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    """What is worth knowing, and no reason to fail."""
    blame: tuple[str, ...] = ()
    """The operations whose backward functions are wrong, as far as that could be narrowed down."""
    hints: tuple[str, ...] = ()
    """What kind of mistake the numbers look like."""

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return str(self)

    def save_plot(self, path: str | PathLike[str]) -> None:
        """Draw the analytic against the numeric derivatives of each input, and save the picture.

        Right derivatives lie on the diagonal; those that disagree are marked by their distance from it.

        Args:
            path: the picture's file; the suffix chooses the format.

        Raises:
            ImportError: without Matplotlib, which the extra ``clumsygrad-gradcheck[plot]`` installs.
        """
        draw(self.inputs, path)

    def __str__(self) -> str:
        lines: list[str] = []
        if self.passed:
            checked = sum(item.checked for item in self.inputs)
            lines.append(
                f"Gradient check passed: {_count(checked, 'element')} of {_count(len(self.inputs), 'input')} "
                f"against {_count(self.outputs, 'output')}."
            )
        else:
            lines.append("Gradient check failed.")
            lines += [f"  {PROBLEMS[problem.kind]}: {problem.message}" for problem in self.problems]
            lines += [f"  {line}" for item in self.inputs if not item.passed for line in item.describe().splitlines()]
            lines += [f"  to blame: {operation}" for operation in self.blame]
            lines += [f"  hint: {hint}" for hint in self.hints]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


class GradientError(AssertionError):
    """A gradient check that failed; its text is that of the report."""

    report: GradientReport

    def __init__(self, report: GradientReport) -> None:
        super().__init__(str(report))
        self.report = report


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"

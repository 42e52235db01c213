"""The check itself: what the backward functions say against what the function does."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clumsygrad.core import double_precision, enable_grad

from .analytic import Analytic
from .blame import find_blame
from .compare import DIRECTIONS, Comparison, Task
from .examine import examine
from .hints import find_hints
from .options import Counter, Options
from .report import GradientError, GradientReport, InputReport, Problem
from .subject import Subject


def conclude(subject: Subject, options: Options, raise_exception: bool) -> GradientReport:
    """Run a check, and raise its failure if asked to."""
    __tracebackhide__ = True
    report, error = run_check(subject, options)
    if raise_exception and not report:
        raise GradientError(report) from error
    return report


def run_check(subject: Subject, options: Options) -> tuple[GradientReport, Exception | None]:
    """Check the gradients of ``subject``; an error of the backward pass comes back beside the report."""
    with double_precision(), enable_grad():
        call, problem = examine(subject)
        number = sum(output.size for output in call.outputs)
        if problem is not None:
            return GradientReport(False, outputs=number, problems=(problem,)), None
        analytic = Analytic(subject, call, options.rng)
        if analytic.problem is not None:
            blame = find_blame(subject, options.rng)
            report = GradientReport(False, outputs=number, problems=(analytic.problem,), blame=blame)
            return report, analytic.error
        elements = [_choose(value.size, options) for value in subject.values]
        total = sum(
            len(chosen) + DIRECTIONS * (len(chosen) < value.size)
            for chosen, value in zip(elements, subject.values, strict=True)
        )
        counter = Counter(total, options.progress)
        base = call.flat()
        comparisons = [
            Comparison(
                Task(
                    subject,
                    call,
                    base,
                    position,
                    chosen,
                    analytic.rows,
                    analytic.full,
                    analytic.jacobians[position],
                    analytic.reached[position],
                    options,
                    counter,
                )
            )
            for position, chosen in enumerate(elements)
        ]
        counter.close()
        inputs = tuple(comparison.report for comparison in comparisons)
        problems = [problem for comparison in comparisons for problem in comparison.problems]
        notes = [note for comparison in comparisons for note in comparison.notes]
        agreed = all(item.passed for item in inputs)
        if agreed and not problems:
            problems, more = _unreached(inputs, number)
            notes += more
        # Numbers that nobody knows well accuse no one.
        accused = not agreed and all(problem.kind != "inaccurate" for problem in problems)
        blame = find_blame(subject, options.rng) if accused else ()
        hints = find_hints(inputs) if accused else ()
        return (
            GradientReport(agreed and not problems, inputs, number, tuple(problems), tuple(notes), blame, hints),
            None,
        )


def _choose(size: int, options: Options) -> npt.NDArray[np.intp]:
    limit = options.max_elements
    if limit is None or size <= limit:
        return np.arange(size)
    return np.sort(options.rng.choice(size, limit, replace=False))


def _unreached(inputs: tuple[InputReport, ...], outputs: int) -> tuple[list[Problem], list[str]]:
    """Say which inputs no output depends on: a mistake when it is all of them, else worth a note."""
    sized = [item for item in inputs if item.checked]
    missing = [item.name for item in sized if not item.reached]
    if not missing or not outputs:
        return [], []
    if len(missing) < len(sized):
        return [], [f"no output depends on {', '.join(missing)}"]
    return [
        Problem(
            "unreached",
            "every derivative is zero, and no path leads from an input to an output. The function has to compute with "
            "its arguments, not with other tensors",
        )
    ], []

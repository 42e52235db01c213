"""One input's gradient against its finite differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from .differences import Column, Evaluate, Finding, differentiate
from .options import Counter, Options, step_for
from .report import InputReport, Problem
from .subject import Call, Subject, Values, format_index

# Random directions through an input of which only some elements are checked.
DIRECTIONS: Final = 4
# The finite difference's own estimate of its error is trusted within this factor.
_SAFETY: Final = 3.0
# What rounding may do to small entries of a gradient, relative to the largest entry of its row, and of all.
_FLOOR: Final = 1e-11
_DEEP_FLOOR: Final = 1e-15
# The accuracy, relative to the largest derivative, below which there is a note, and below which there is no passing.
_KNOWN: Final = 1e-6
_UNKNOWN: Final = 1e-5
# How many disagreements are confirmed with all step sizes before the rest is believed.
_CONFIRMED: Final = 2
_TINY: Final = 1e-300
_ROUNDING: Final = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Task:
    """What the comparison of one input needs to know."""

    subject: Subject
    call: Call
    base: Values
    position: int
    elements: npt.NDArray[np.intp]
    """The elements to check, as flat positions."""
    rows: Values
    full: bool
    jacobian: Values
    reached: bool
    options: Options
    counter: Counter

    @property
    def name(self) -> str:
        """What the report calls the input."""
        return self.subject.names[self.position]

    @property
    def value(self) -> Values:
        """The input itself."""
        return self.subject.values[self.position]

    @property
    def magnitude(self) -> float:
        """The size of the numbers that the outputs are made of, as far as rounding is concerned."""
        sizes = [float(np.max(np.abs(values), initial=0.0)) for values in (*self.subject.values, self.base)]
        return min(max(sizes), 1e3)

    def place(self, index: int) -> str:
        """Name what a column of the comparison is about."""
        if index >= len(self.elements):
            return f"a random direction of {self.name}"
        return self.name + format_index(int(self.elements[index]), self.value.shape)


class Comparison:
    """The report of one input, with what else there is to say."""

    report: InputReport
    problems: list[Problem]
    notes: list[str]

    def __init__(self, task: Task) -> None:
        self.problems = []
        self.notes = []
        if not task.value.size or not task.base.size:
            self.report = InputReport(task.name, task.value.shape, True, task.reached, 0, 0)
            return
        directions = _directions(task)
        columns = [_column(task, direction) for direction in directions]
        excluded = self._report_findings(task, columns)
        with np.errstate(all="ignore"):
            self.report = self._compare(task, directions, columns, excluded)

    def _compare(
        self,
        task: Task,
        directions: list[int | Values],
        columns: list[Column],
        excluded: npt.NDArray[np.bool_],
    ) -> InputReport:
        expected = np.stack([_along(task.jacobian, direction) for direction in directions], 1)
        numeric, doubt = (np.stack(parts, 1) for parts in zip(*(_project(task.rows, c) for c in columns), strict=True))
        scale = np.max(np.abs(numeric), axis=1, keepdims=True)
        tolerance = _tolerance(task, numeric, doubt, scale)
        difference = np.abs(expected - numeric)
        wrong = ~(difference <= tolerance) & ~excluded
        # Rounding may have agreed with itself by chance: what disagrees is looked at with all steps.
        excess = np.max(np.where(wrong, difference / np.maximum(tolerance, _TINY), 0), axis=0)
        confirmed = 0
        for index in map(int, np.argsort(-excess)):
            if not wrong[:, index].any() or confirmed >= _CONFIRMED:
                break
            numeric[:, index], doubt[:, index] = _project(task.rows, _column(task, directions[index], thorough=True))
            tolerance[:, index] = _tolerance(task, numeric, doubt, scale)[:, index]
            difference[:, index] = np.abs(expected[:, index] - numeric[:, index])
            wrong[:, index] = ~(difference[:, index] <= tolerance[:, index]) & ~excluded[:, index]
            confirmed += bool(wrong[:, index].any())
        kinked = np.array([bool(column.finding.any()) for column in columns])
        self._report_roughness(task, directions, wrong)
        slopes = np.stack([np.maximum(np.abs(column.below), np.abs(column.above)) for column in columns], 1)
        moved = np.abs(task.rows) @ np.where(np.isfinite(slopes), slopes, 0.0)
        self._report_doubt(task, numeric, doubt, np.maximum(scale, moved), wrong, kinked)
        if not task.reached and wrong.any():
            self.problems.append(
                Problem(
                    "detached",
                    f"{task.name} changes the output, with a derivative of up to {np.max(np.abs(numeric)):.6g}. The "
                    "function computes on .data, .detach() or .numpy(), or inside no_grad(), somewhere on the way",
                )
            )
        return _record(task, expected, numeric, difference, tolerance, wrong, excluded)

    def _report_findings(self, task: Task, columns: list[Column]) -> npt.NDArray[np.bool_]:
        """Report the points where a finite difference means nothing, and return what to leave out for them."""
        excluded = np.zeros((len(task.rows), len(columns)), np.bool_)
        for finding, kind in ((Finding.KINK, "kink"), (Finding.JUMP, "jump"), (Finding.NON_FINITE, "non-finite")):
            places = [index for index, column in enumerate(columns) if (column.finding == finding).any()]
            if not places:
                continue
            column = columns[places[0]]
            output = int(np.argmax(column.finding == finding))
            where = f"{task.call.locate(output)} by {task.place(places[0])}"
            count = f" ({len(places)} such elements)" if len(places) > 1 else ""
            slopes = f"slopes {column.below[output]:.6g} below and {column.above[output]:.6g} above"
            if finding is Finding.KINK and self._accept(task, f"{where}, {slopes}{count}"):
                continue
            self.problems.append(
                Problem(
                    kind,
                    {
                        Finding.KINK: f"{where}, {slopes}{count}. Check at other inputs, or pass allow_kinks=True to "
                        "accept any value between the two slopes",
                        Finding.JUMP: f"{where} has no derivative{count}. Check at inputs away from the jump",
                    }.get(
                        finding,
                        f"{where} can't be computed on both sides of the input{count}. Check at inputs inside the "
                        "function's domain",
                    ),
                )
            )
            for index in places:
                excluded[:, index] |= task.rows[:, columns[index].finding == finding].any(axis=1)
        return excluded

    def _accept(self, task: Task, kink: str) -> bool:
        if task.options.allow_kinks:
            self.notes.append(f"kink in {kink}: any value between them was accepted")
        return task.options.allow_kinks

    def _report_roughness(self, task: Task, directions: list[int | Values], wrong: npt.NDArray[np.bool_]) -> None:
        """Report values that don't lie on a smooth curve, from which no slope can be had."""
        if not wrong.any():
            return
        row, index = (int(part) for part in np.argwhere(wrong)[0])
        evaluate, size = _evaluation(task, directions[index])
        step = step_for(size, task.options.eps)
        places = np.linspace(-1.0, 1.0, 11)
        values = np.stack([task.rows[row] @ evaluate(place * step) for place in places])
        if not np.isfinite(values).all():
            return
        curve = np.polynomial.Polynomial.fit(places, values, 4)
        rough = float(np.max(np.abs(values - curve(places))))
        if rough > 1e-11 * float(np.max(np.abs(values))):
            self.problems.append(
                Problem(
                    "inaccurate",
                    f"by {task.place(index)} the outputs scatter by {rough:.2g} around a smooth curve. The function "
                    "computes with less than double precision, or cancels large numbers",
                )
            )

    def _report_doubt(
        self,
        task: Task,
        numeric: Values,
        doubt: Values,
        scale: Values,
        wrong: npt.NDArray[np.bool_],
        kinked: npt.NDArray[np.bool_],
    ) -> None:
        """Report a derivative that passes only because nobody knows it well."""
        flat = np.abs(task.value).ravel()[task.elements]
        sizes = np.maximum(1.0, np.append(flat, [np.max(flat)] * (numeric.shape[1] - len(flat))))
        natural = np.abs(task.rows) @ np.abs(task.base)[:, None] / sizes
        known = np.maximum(np.maximum(scale, natural), 1e-6 * task.magnitude)
        unclear = np.where(wrong | kinked, 0.0, _SAFETY * doubt / np.maximum(known, _TINY))
        row, index = (int(part) for part in np.unravel_index(int(np.argmax(unclear)), unclear.shape))
        if wrong.any() or unclear[row, index] <= _KNOWN:
            return
        text = (
            f"the derivative by {task.place(index)} is {numeric[row, index]:.6g} with an error of about "
            f"{doubt[row, index]:.2g}. The function computes with less than double precision, cancels large numbers "
            "or bends sharply"
        )
        if unclear[row, index] <= _UNKNOWN:
            self.notes.append(f"only roughly known: {text}")
        else:
            self.problems.append(Problem("inaccurate", f"{text}; check it at other values"))


def _directions(task: Task) -> list[int | Values]:
    directions: list[int | Values] = list(map(int, task.elements))
    if len(task.elements) < task.value.size:
        draw, shape = task.options.rng.standard_normal, task.value.shape
        directions.extend(draw(shape) / np.sqrt(task.value.size) for _ in range(DIRECTIONS))
    return directions


def _column(task: Task, direction: int | Values, *, thorough: bool = False) -> Column:
    """Return the finite differences of all outputs by one element, or along a direction."""
    evaluate, size = _evaluation(task, direction)
    step = step_for(size, task.options.eps)
    noise = 64 * _ROUNDING * task.magnitude
    column = differentiate(evaluate, task.base, step, task.options.rtol, size=size, thorough=thorough, noise=noise)
    if not thorough:
        task.counter.step()
    return column


def _evaluation(task: Task, direction: int | Values) -> tuple[Evaluate, float]:
    """Return the outputs as a function of the distance along a direction, and the size of what moves."""
    value, values = task.value, task.subject.values
    index = np.unravel_index(direction, value.shape) if isinstance(direction, int) else ()
    weight = 1.0 if isinstance(direction, int) else direction

    def evaluate(distance: float) -> Values:
        moved = np.array(value, order="K")
        moved[index] += distance * weight
        return task.subject((*values[: task.position], moved, *values[task.position + 1 :])).flat()

    return evaluate, float(np.max(np.abs(value[index])))


def _along(jacobian: Values, direction: int | Values) -> Values:
    """Return what a Jacobian says about one element, or about a direction."""
    product: Values = jacobian[:, direction] if isinstance(direction, int) else jacobian @ direction.ravel()
    return product


def _project(rows: Values, column: Column) -> tuple[Values, Values]:
    """Combine the derivatives of single outputs, and their errors: independent ones, but for the gaps of kinks."""
    kinks = column.finding == Finding.KINK
    independent = np.sqrt(np.square(rows) @ np.square(np.where(kinks, 0.0, column.error)))
    return rows @ column.slope, independent + np.abs(rows) @ np.where(kinks, column.error / _SAFETY, 0.0)


def _tolerance(task: Task, numeric: Values, doubt: Values, scale: Values) -> Values:
    largest = float(np.max(scale))
    floor = _FLOOR * scale + _DEEP_FLOOR * largest
    if largest <= float(np.max(doubt)):
        # The derivative is zero as far as can be seen, and what is left in the gradient is rounding.
        floor = floor + 1e-13 * task.magnitude
    tolerance: Values = task.options.atol + task.options.rtol * np.abs(numeric) + _SAFETY * doubt + floor
    return tolerance


def _record(
    task: Task,
    expected: Values,
    numeric: Values,
    difference: Values,
    tolerance: Values,
    wrong: npt.NDArray[np.bool_],
    excluded: npt.NDArray[np.bool_],
) -> InputReport:
    """Report the element that is furthest from its tolerance."""
    excess = difference / np.maximum(tolerance, _TINY)
    excess[~np.isfinite(excess)] = np.inf
    excess[excluded] = -1
    row, index = (int(part) for part in np.unravel_index(int(np.argmax(excess)), excess.shape))
    output = task.call.locate(row) if task.full else "a random combination of the outputs"
    place: tuple[int, ...] = ()
    chosen = len(task.elements)
    if index < chosen:
        place = tuple(int(part) for part in np.unravel_index(int(task.elements[index]), task.value.shape))
    else:
        output += " along a random direction"
    error = float(difference[row, index])
    size = max(abs(float(numeric[row, index])), abs(float(expected[row, index])))
    return InputReport(
        task.name,
        task.value.shape,
        passed=not wrong.any(),
        reached=task.reached,
        checked=chosen,
        failed=int(wrong[:, :chosen].any(axis=0).sum()),
        index=place,
        output=output,
        analytic=float(expected[row, index]),
        numeric=float(numeric[row, index]),
        absolute_error=error,
        relative_error=error / size if size else 0.0,
        tolerance=float(tolerance[row, index]),
        analytic_values=expected[:, :chosen],
        numeric_values=numeric[:, :chosen],
    )

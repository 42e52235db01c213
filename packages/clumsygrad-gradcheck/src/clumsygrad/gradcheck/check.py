"""The check itself: what the backward functions say against what the function does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Tensor, double_precision, enable_grad, gradients

from .differences import Column, Finding, differentiate
from .graph import foreign_parameters, rounded_nodes
from .report import GradientReport, InputReport, Problem
from .subject import Call, Subject, Values, format_index

# Up to this many outputs each row of the Jacobian is compared; above, this many random combinations of the rows.
_FULL_JACOBIAN: Final = 64
_PROJECTIONS: Final = 4
# Random directions through an input of which only some elements are checked.
_DIRECTIONS: Final = 4
# What rounding may do to small entries of a gradient, relative to its largest entry.
_FLOOR: Final = 1e-11
# How many disagreements are confirmed with all step sizes before the rest is believed.
_CONFIRMED: Final = 8


def fixed_generator() -> np.random.Generator:
    """Return the generator of checks that are given none: every call draws the same."""
    return np.random.default_rng(0)


@dataclass(frozen=True, slots=True)
class Options:
    """How to check."""

    eps: float = 1e-4
    rtol: float = 1e-7
    atol: float = 0.0
    max_elements: int | None = None
    rng: np.random.Generator = field(default_factory=fixed_generator)
    allow_kinks: bool = False
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        for name, value in (("eps", self.eps), ("rtol", self.rtol)):
            if not 0 < value < 1:
                raise ValueError(f"{name} is relative, between 0 and 1; received {value}")
        if self.atol < 0:
            raise ValueError(f"atol is at least 0; received {self.atol}")
        if self.max_elements is not None and self.max_elements < 1:
            raise ValueError(f"max_elements is at least 1, or None for all; received {self.max_elements}")


def step_for(value: float, eps: float) -> float:
    """Return the first step to try at ``value``: a power of two near ``eps`` times its size, or ``eps`` when small."""
    size = max(abs(value), 1.0) * eps
    return 2.0 ** round(math.log2(size))


def run_check(subject: Subject, options: Options) -> tuple[GradientReport, Exception | None]:
    """Check the gradients of ``subject``; an error of the backward pass comes back beside the report."""
    with double_precision(), enable_grad():
        return _Check(subject, options).run()


class _Stop(Exception):  # noqa: N818  # leaves the check early; it is no error
    """Nothing further can be found out."""


class _Check:
    """The state of one check."""

    def __init__(self, subject: Subject, options: Options) -> None:
        self.subject = subject
        self.options = options
        self.values = subject.values
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.inputs: list[InputReport] = []
        self.base = np.zeros(0)
        self.error: Exception | None = None
        self.elements = [self._choose(value.size) for value in self.values]
        self.done = 0

    def run(self) -> tuple[GradientReport, Exception | None]:
        try:
            call = self._first_call()
            rows = self._rows()
            analytic, reached = self._analytic(call, rows)
            self._compare(call, rows, analytic, reached)
        except _Stop:
            pass
        passed = not self.problems and all(item.passed for item in self.inputs)
        report = GradientReport(
            passed, tuple(self.inputs), self.base.size, tuple(self.problems), tuple(dict.fromkeys(self.notes))
        )
        return report, self.error

    def _choose(self, size: int) -> npt.NDArray[np.intp]:
        limit = self.options.max_elements
        if limit is None or size <= limit:
            return np.arange(size)
        return np.sort(self.options.rng.choice(size, limit, replace=False))

    def _problem(self, kind: str, message: str) -> None:
        self.problems.append(Problem(kind, message))

    # What the function is

    def _first_call(self) -> Call:
        """Call the function twice, and make sure that it is a function."""
        call = self.subject(self.values)
        self.base = call.flat()
        changed = [
            name
            for name, leaf, value in zip(self.subject.names, call.leaves, self.values, strict=True)
            if not np.array_equal(leaf.data, value, equal_nan=True)
        ]
        if changed:
            self._problem(
                "changed inputs",
                f"{', '.join(changed)} had another value after the call than before. Compute on a copy, or with "
                "operations that return new tensors",
            )
            raise _Stop
        again = self.subject(self.values)
        if [output.shape for output in call.outputs] != [output.shape for output in again.outputs]:
            self._problem("random", "a second call with the same inputs returned outputs of other shapes")
            raise _Stop
        second = again.flat()
        if not np.array_equal(self.base, second, equal_nan=True):
            position = int(np.argmax(~((self.base == second) | (np.isnan(self.base) & np.isnan(second)))))
            self._problem(
                "random",
                f"{call.locate(position)} was {self.base[position]:.12g}, then {second[position]:.12g}. Draw with a "
                "generator that is seeded inside the function, and put dropout layers into eval mode",
            )
            raise _Stop
        infinite = np.flatnonzero(~np.isfinite(self.base))
        if infinite.size:
            self._problem(
                "non-finite",
                f"{call.locate(int(infinite[0]))} is {self.base[infinite[0]]} at the given inputs "
                f"({infinite.size} of {self.base.size} outputs). Check at inputs inside the function's domain",
            )
            raise _Stop
        rounded = rounded_nodes(call)
        if rounded:
            node = rounded[0]
            name = "the inputs" if node.grad_fn is None else node.grad_fn.__name__.removesuffix("_backward")
            self._problem(
                "float32",
                f"the result of {name}, of shape {node.shape}, is {node.dtype} although its parents are float64. A "
                "float32 constant with dtype=, an .astype(np.float32) or a float32 buffer does this; write the "
                "formula so that it keeps the precision of its operands",
            )
            raise _Stop
        return call

    # What the backward functions say

    def _rows(self) -> Values:
        """Return the combinations of outputs to differentiate, each a row."""
        number = self.base.size
        if number <= _FULL_JACOBIAN:
            return np.eye(number)
        return self.options.rng.standard_normal((_PROJECTIONS, number))

    def _analytic(self, call: Call, rows: Values) -> tuple[list[Values], list[bool]]:
        """Return the rows of each input's Jacobian, and whether any gradient arrived there."""
        jacobians = [np.zeros((len(rows), value.size)) for value in self.values]
        reached = [False] * len(self.values)
        seeds = self.options.rng.standard_normal((1 + len(self.values), self.base.size))
        try:
            for row, weights in enumerate(rows):
                for position, grad in enumerate(self._pull(call, weights, call.leaves)):
                    if grad is not None:
                        reached[position] = True
                        jacobians[position][row] = grad.data.ravel()
            self._compare_ways(call, seeds)
        except Exception as error:  # whatever a backward function raises is a finding about it
            notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
            self._problem("backward", f"{type(error).__name__}: {error}{notes}")
            self.error = error
            raise _Stop from error
        for name, leaf, value in zip(self.subject.names, call.leaves, self.values, strict=True):
            if not np.array_equal(leaf.data, value):
                self._problem("changed inputs", f"the backward pass wrote into the value of {name}")
                raise _Stop
        return jacobians, reached

    @staticmethod
    def _pull(call: Call, weights: Values, leaves: Sequence[Tensor]) -> tuple[Tensor | None, ...]:
        """Return the gradients of a weighted sum of the outputs."""
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
        if not outputs:
            return (None,) * len(leaves)
        return gradients(outputs, leaves, seeds, keep_graph=True, allow_unused=True)

    def _compare_ways(self, call: Call, seeds: Values) -> None:
        """Make sure that a gradient doesn't depend on which gradients are asked for, or on the way of asking."""
        together = self._pull(call, seeds[0], call.leaves)
        for position, leaf in enumerate(call.leaves):
            (alone,) = self._pull(call, seeds[0], (leaf,))
            if not _same(alone, together[position]):
                self._problem(
                    "backward",
                    f"the gradient of {self.subject.names[position]} is another one when no other gradient is asked "
                    "for. A backward function returns the same for a parent whether or not others need theirs",
                )
        if foreign_parameters(call):
            return
        start = 0
        for output in call.outputs:
            weights = seeds[0][start : start + output.size].reshape(output.shape)
            start += output.size
            if output.requires_grad:
                output.backward(weights, keep_graph=True)
        for position, leaf in enumerate(call.leaves):
            if not _same(leaf.grad, together[position]):
                self._problem(
                    "backward",
                    f"backward() and gradients() disagree about the gradient of {self.subject.names[position]}. A "
                    "backward function writes neither into its gradient nor into the values of its node",
                )
            leaf.zero_grad()

    # What the function does

    def _compare(self, call: Call, rows: Values, analytic: Sequence[Values], reached: Sequence[bool]) -> None:
        magnitude = _magnitude(call)
        for position, name in enumerate(self.subject.names):
            self._compare_input(call, position, name, rows, analytic[position], reached[position], magnitude)
        sized = [flag for flag, value in zip(reached, self.values, strict=True) if value.size]
        if sized and not any(sized) and self.base.size and not self.problems:
            self._problem(
                "unreached",
                "every derivative is zero, and there is no path from an input to an output. If that is not meant, "
                "the function computes on .data, .detach() or inside no_grad(), or uses other tensors than its "
                "arguments",
            )
        elif not all(sized) and not self.problems:
            names = [
                name
                for name, flag, value in zip(self.subject.names, reached, self.values, strict=True)
                if value.size and not flag
            ]
            self.notes.append(f"no output depends on {', '.join(names)}")

    def _compare_input(
        self,
        call: Call,
        position: int,
        name: str,
        rows: Values,
        jacobian: Values,
        reached: bool,
        magnitude: float,
    ) -> None:
        value = self.values[position]
        chosen = self.elements[position]
        if not value.size or not self.base.size:
            self.inputs.append(InputReport(name, value.shape, True, reached, 0, 0))
            return
        directions: list[int | Values] = list(map(int, chosen))
        if len(chosen) < value.size:
            directions += [
                self.options.rng.standard_normal(value.shape) / np.sqrt(value.size) for _ in range(_DIRECTIONS)
            ]
        expected = np.stack([_along(jacobian, direction) for direction in directions], 1)
        columns = [self._column(position, direction) for direction in directions]
        numeric, doubt = np.zeros_like(expected), np.zeros_like(expected)
        for index, column in enumerate(columns):
            numeric[:, index], doubt[:, index] = _project(rows, column)
        suspects = self._suspects(call, name, value.shape, chosen, columns)
        scale = np.max(np.abs(numeric), axis=1, keepdims=True, initial=0.0)
        natural = np.abs(rows) @ np.abs(self.base)[:, None] / max(1.0, float(np.max(np.abs(value))))
        tolerance = self._tolerance(numeric, doubt, scale, magnitude)
        difference = np.abs(expected - numeric)
        wrong = ~(difference <= tolerance)
        wrong[:, suspects] = False
        # Rounding may have agreed with itself by chance: what disagrees is looked at with all steps.
        order = np.argsort(np.max(np.where(wrong, difference / np.maximum(tolerance, 1e-300), 0), axis=0))[::-1]
        confirmed = 0
        for index in order:
            if not wrong[:, index].any() or confirmed >= _CONFIRMED:
                break
            column = self._column(position, directions[index], thorough=True)
            numeric[:, index], doubt[:, index] = _project(rows, column)
            tolerance[:, index] = self._tolerance(numeric, doubt, scale, magnitude)[:, index]
            difference[:, index] = np.abs(expected[:, index] - numeric[:, index])
            wrong[:, index] = ~(difference[:, index] <= tolerance[:, index])
            confirmed += bool(wrong[:, index].any())
        unclear = ~wrong & (doubt > 1e-6 * np.maximum(scale, natural)) & (doubt > 1e-3 * np.abs(numeric))
        unclear[:, [index for index, column in enumerate(columns) if column.finding.any()]] = False
        if unclear.any() and not wrong.any():
            row, index = np.argwhere(unclear)[0]
            self._problem(
                "inaccurate",
                f"the derivative by {_place(name, value.shape, chosen, int(index))} is {numeric[row, index]:.6g} with "
                f"an error of about {doubt[row, index]:.2g}. The function computes with less than double precision, "
                "or cancels large numbers; check it at smaller values",
            )
        if not reached and wrong.any():
            self._problem(
                "detached",
                f"{name} changes the output, with a derivative of up to {np.max(np.abs(numeric)):.6g}. The function "
                "computes on .data, .detach() or .numpy(), or inside no_grad(), somewhere on the way",
            )
        self._record(
            call, name, value.shape, chosen, reached, rows, expected, numeric, difference, tolerance, wrong, suspects
        )

    def _column(self, position: int, direction: int | Values, *, thorough: bool = False) -> Column:
        value = self.values[position]
        index = np.unravel_index(direction, value.shape) if isinstance(direction, int) else ()

        def evaluate(distance: float) -> Values:
            moved = np.array(value, order="K")
            moved[index] += distance * (1.0 if isinstance(direction, int) else direction)
            return self.subject((*self.values[:position], moved, *self.values[position + 1 :])).flat()

        size = float(np.max(np.abs(value[index]), initial=0.0))
        step = step_for(size, self.options.eps)
        column = differentiate(evaluate, self.base, step, self.options.rtol, size=size, thorough=thorough)
        if not thorough and self.options.progress is not None:
            self.done += 1
            self.options.progress(self.done, sum(len(elements) for elements in self.elements))
        return column

    def _tolerance(self, numeric: Values, doubt: Values, scale: Values, magnitude: float) -> Values:
        floor = _FLOOR * scale + 1e-15 * np.max(scale, initial=0.0)
        if np.max(scale, initial=0.0) <= np.max(doubt, initial=0.0):
            # The derivative is zero as far as can be seen: what is left in the gradient is rounding.
            floor = floor + 1e-13 * magnitude
        tolerance: Values = self.options.atol + self.options.rtol * np.abs(numeric) + 3 * doubt + floor
        return tolerance

    def _suspects(
        self,
        call: Call,
        name: str,
        shape: tuple[int, ...],
        chosen: npt.NDArray[np.intp],
        columns: Sequence[Column],
    ) -> npt.NDArray[np.intp]:
        """Report the points where a finite difference means nothing, and return the columns to leave out."""
        kinds = {
            Finding.KINK: "kink",
            Finding.JUMP: "jump",
            Finding.NON_FINITE: "non-finite",
        }
        left_out: set[int] = set()
        for finding, kind in kinds.items():
            places = [(index, np.flatnonzero(column.finding == finding)) for index, column in enumerate(columns)]
            places = [(index, outputs) for index, outputs in places if outputs.size]
            if not places:
                continue
            index, outputs = places[0]
            column, output = columns[index], int(outputs[0])
            where = f"{call.locate(output)} by {_place(name, shape, chosen, index)}"
            count = f" ({len(places)} such elements)" if len(places) > 1 else ""
            slopes = f"slopes {column.below[output]:.6g} below and {column.above[output]:.6g} above"
            if finding is Finding.KINK:
                if self.options.allow_kinks:
                    self.notes.append(f"a kink of {where}, {slopes}{count}: any value between them is accepted")
                    continue
                message = (
                    f"the derivative of {where} has {slopes}{count}. Check at other inputs, or pass allow_kinks=True "
                    "to accept any value between the two slopes"
                )
            elif finding is Finding.JUMP:
                message = f"{where} has no derivative{count}. Check at inputs away from the jump"
            else:
                message = (
                    f"{where}: the function is infinite or NaN on one side{count}. Check at inputs inside its domain"
                )
            self._problem(kind, message)
            left_out.update(index for index, _ in places)
        return np.array(sorted(left_out), np.intp)

    def _record(
        self,
        call: Call,
        name: str,
        shape: tuple[int, ...],
        chosen: npt.NDArray[np.intp],
        reached: bool,
        rows: Values,
        expected: Values,
        numeric: Values,
        difference: Values,
        tolerance: Values,
        wrong: npt.NDArray[np.bool_],
        suspects: npt.NDArray[np.intp],
    ) -> None:
        excess = difference / np.maximum(tolerance, 1e-300)
        excess[~np.isfinite(excess)] = np.inf
        if suspects.size < excess.shape[1]:
            excess[:, suspects] = -1
        row, index = np.unravel_index(int(np.argmax(excess)), excess.shape)
        full = len(rows) == self.base.size and self.base.size <= _FULL_JACOBIAN
        where = call.locate(int(row)) if full else "a random combination of the outputs"
        if index < len(chosen):
            place = tuple(int(part) for part in np.unravel_index(int(chosen[index]), shape)) if shape else ()
        else:
            place = ()
            where += " along a random direction"
        size = max(abs(float(numeric[row, index])), abs(float(expected[row, index])))
        error = float(difference[row, index])
        columns = wrong.any(0)
        self.inputs.append(
            InputReport(
                name,
                shape,
                not columns.any(),
                reached,
                len(chosen),
                int(columns.sum()),
                place,
                where,
                float(expected[row, index]),
                float(numeric[row, index]),
                error,
                error / size if size else 0.0,
                float(tolerance[row, index]),
                expected[:, : len(chosen)],
                numeric[:, : len(chosen)],
            )
        )


def _same(left: Tensor | npt.NDArray[np.float64] | None, right: Tensor | None) -> bool:
    if left is None or right is None:
        return (left is None) == (right is None)
    a, b = np.asarray(left), right.data
    with np.errstate(all="ignore"):
        size = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
    return bool(np.allclose(a, b, rtol=1e-12, atol=1e-12 * size, equal_nan=True))


def _magnitude(call: Call) -> float:
    """Return the size of the numbers that the outputs are made of, as far as rounding is concerned."""
    sizes = [float(np.max(np.abs(leaf.data), initial=0.0)) for leaf in (*call.leaves, *call.outputs)]
    return min(max(sizes, default=1.0), 1e3)


def _along(jacobian: Values, direction: int | Values) -> Values:
    """Return what a Jacobian says about one element, or about a direction."""
    product: Values = jacobian[:, direction] if isinstance(direction, int) else jacobian @ direction.ravel()
    return product


def _project(rows: Values, column: Column) -> tuple[Values, Values]:
    """Combine the derivatives of single outputs, and their errors, which are independent."""
    return rows @ column.slope, np.sqrt(np.square(rows) @ np.square(column.error))


def _place(name: str, shape: tuple[int, ...], chosen: npt.NDArray[np.intp], index: int) -> str:
    return name + format_index(int(chosen[index]), shape) if index < len(chosen) else f"a random direction of {name}"

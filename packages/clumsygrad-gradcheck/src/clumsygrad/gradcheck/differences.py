"""Finite differences in double precision, with an estimate of their own error, that know when they mean nothing.

For one input element the outputs are computed at distances h and h/2 on both sides. The two central differences are
extrapolated to h = 0 (Richardson); what the extrapolation changed, and the rounding of the outputs divided by the
step, is the estimate of the error. The one-sided slopes tell smooth points from kinks: their difference shrinks
with h on a smooth function and stays at a kink. Where a step doesn't do, others are tried, smaller and larger.

References:
    W. H. Press et al., Numerical Recipes, section 5.7; L. F. Richardson (1911). Steps are shared by all outputs, and
    the best one is chosen for each output separately.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from .subject import Values

_ROUNDING: Final = float(np.finfo(np.float64).eps)

# Multiples of the first step that are tried in turn. Smaller ones come first: they help near kinks and the edges of a
# domain, and for functions that bend fast; larger ones help where rounding hides a small slope.
_SMALLER: Final = tuple(16.0**-power for power in range(1, 7))
_LARGER: Final = (16.0, 256.0)


class Finding(IntEnum):
    """What a finite difference found out about one derivative."""

    SMOOTH = 0
    KINK = 1
    JUMP = 2
    NON_FINITE = 3


@dataclass(frozen=True, slots=True)
class Column:
    """The derivatives of all outputs by one input element (or along one direction)."""

    slope: Values
    error: Values
    """An estimate of the absolute error of ``slope``."""
    finding: npt.NDArray[np.int8]
    """A :class:`Finding` for each output."""
    below: Values
    """The slope on the lower side, with ``above`` for telling kinks."""
    above: Values


Evaluate: TypeAlias = Callable[[float], Values]
"""The outputs at a distance from the base point."""


@dataclass(frozen=True, slots=True)
class _Level:
    """The differences of one step size."""

    step: float
    slope: Values
    error: Values
    rounding: Values
    coarse: Values
    fine: Values
    below: Values
    above: Values
    # What the difference of the one-sided slopes tends to as h shrinks: 0 unless there is a kink.
    gap: Values
    finite: npt.NDArray[np.bool_]
    usable: npt.NDArray[np.bool_]
    """Finite, and no kink."""
    still: npt.NDArray[np.bool_]

    def settles(self, rtol: float) -> npt.NDArray[np.bool_]:
        """Tell for which outputs the slope is known well enough to need no other step."""
        largest = np.max(np.abs(self.slope), initial=0.0, where=self.finite)
        enough = self.error <= 0.2 * rtol * np.maximum(np.abs(self.slope), 1e-2 * largest)
        settled: npt.NDArray[np.bool_] = self.usable & (enough | self.still)
        return settled


def differentiate(
    evaluate: Evaluate,
    base: Values,
    step: float,
    rtol: float,
    *,
    size: float = 0.0,
    thorough: bool = False,
    tries: int | None = None,
    noise: float = 0.0,
) -> Column:
    """Return the derivative of ``evaluate`` at distance 0.

    Args:
        evaluate: computes the outputs, of shape (n,), at a distance.
        base: the outputs at distance 0.
        step: the first distance to try; powers of two add no rounding of their own.
        rtol: the relative accuracy that is good enough.
        size: the magnitude of what the distance is added to, which limits how well a step is resolved.
        thorough: try all steps, and let neighbouring ones vouch for each other.
        tries: how many other steps to try at most, where the first one doesn't do; None for all.
        noise: how much of a change of the outputs may be rounding on the way to them, and is no kink or jump.
    """
    with np.errstate(all="ignore"):
        first = _level(evaluate, base, step, size)
        levels = [first]
        steady = first.finite & (np.abs(first.gap) < 0.25 * np.abs(first.fine))
        steady &= np.abs(first.fine) > 16 * first.rounding
        missing = ~first.settles(rtol)
        # Where rounding is what limits the accuracy, a smaller step makes it worse.
        limit = first.usable & (first.rounding >= 0.5 * first.error)
        rounded = bool(limit[missing].all())
        factors = _LARGER if rounded and not thorough else (*_SMALLER, *_LARGER)
        for factor in factors[:tries]:
            if not thorough and not missing.any():
                break
            if step * factor <= 64 * _ROUNDING * size:
                continue
            level = _level(evaluate, base, step * factor, size)
            # What moves steadily at one step and not at all at a smaller one climbs the stairs of a coarse rounding.
            level = replace(level, usable=level.usable & ~(level.still & steady))
            levels.append(level)
            missing &= ~level.settles(rtol)
        slope, error = _vouched(levels) if thorough else _best(levels)
        finding = _classify(levels, slope, error, noise)
        lost = ~np.isfinite(error)
        for level in sorted(levels, key=lambda level: level.rounding.max(initial=0.0)):
            rescued = lost & level.finite & ((level.error < error) | ~np.isfinite(error))
            slope[rescued], error[rescued] = level.slope[rescued], level.error[rescued]
        # Kinks show best at a step that is small, and yet well above the rounding.
        shown = sorted(levels, key=lambda level: level.step)[len(levels) // 2]
        kinks = finding == Finding.KINK
        slope[kinks] = shown.fine[kinks]
        error[kinks] = np.abs(shown.gap[kinks]) / 2
        nothing = finding >= Finding.JUMP
        slope[nothing] = error[nothing] = 0.0
        below = np.where(kinks, shown.below, first.below)
        above = np.where(kinks, shown.above, first.above)
        return Column(slope, error, finding, below, above)


def _level(evaluate: Evaluate, base: Values, step: float, size: float) -> _Level:
    up, down, up_half, down_half = (evaluate(distance) for distance in (step, -step, step / 2, -step / 2))
    coarse = (up - down) / (2 * step)
    fine = (up_half - down_half) / step
    slope = fine + (fine - coarse) / 3
    largest = np.maximum(np.maximum(np.abs(up), np.abs(down)), np.abs(base))
    # An output that did not change in any bit does not depend on this input, as far as rounding lets see.
    still = (up == base) & (down == base) & (up_half == base) & (down_half == base)
    rounding = 4 * _ROUNDING * (largest + np.abs(slope) * size) / step
    below, above = (base - down_half) / (step / 2), (up_half - base) / (step / 2)
    gap = 2 * (above - below) - (up - 2 * base + down) / step
    error = np.abs(slope - fine) + rounding
    finite = np.isfinite(up) & np.isfinite(down) & np.isfinite(up_half) & np.isfinite(down_half)
    kinked = np.abs(gap) > 16 * rounding + 1e-8 * (np.abs(above) + np.abs(below))
    return _Level(step, slope, error, rounding, coarse, fine, below, above, gap, finite, finite & ~kinked, still)


def _best(levels: Sequence[_Level]) -> tuple[Values, Values]:
    """Choose for each output the step with the smallest estimate of its error."""
    slope = levels[0].slope.copy()
    error = np.where(levels[0].usable, levels[0].error, np.inf)
    for level in levels[1:]:
        better = level.usable & (level.error < error)
        slope[better], error[better] = level.slope[better], level.error[better]
    return slope, error


def _vouched(levels: Sequence[_Level]) -> tuple[Values, Values]:
    """Choose for each output the step that agrees best with a neighbouring one."""
    ordered = sorted(levels, key=lambda level: level.step)
    slope = ordered[0].slope.copy()
    error = np.full(slope.shape, np.inf)
    neighbours = list(pairwise(ordered))
    for level, neighbour in neighbours + [(wide, narrow) for narrow, wide in neighbours]:
        doubt = np.maximum(level.error, np.abs(level.slope - neighbour.slope))
        better = level.usable & neighbour.usable & (doubt < error)
        slope[better], error[better] = level.slope[better], doubt[better]
    return slope, error


def _classify(levels: Sequence[_Level], slope: Values, error: Values, noise: float) -> npt.NDArray[np.int8]:
    finding = np.full(error.shape, Finding.SMOOTH, np.int8)
    if len(levels) == 1 and np.isfinite(error).all():
        return finding
    finite = np.stack([level.finite for level in levels])
    lost = ~np.isfinite(error)
    unsure = lost | (error > 0.05 * np.abs(slope))
    finding[lost & ~finite.any(0)] = Finding.NON_FINITE
    ordered = sorted(levels, key=lambda level: -level.step)
    for wide, narrow in ((a, b) for a in ordered for b in ordered if a.step >= 256 * b.step):
        both = wide.finite & narrow.finite
        # The difference of the one-sided slopes stays at a kink, or grows slowly at a cusp; that of a smooth
        # function shrinks with the step, and that of rounding grows against it.
        ratio = np.abs(narrow.gap) / np.abs(wide.gap)
        steady = (ratio > 0.2) & (ratio < 5 * (wide.step / narrow.step) ** 0.5)
        finding[lost & both & steady & (np.abs(wide.gap) > 16 * wide.rounding + noise / wide.step)] = Finding.KINK
        # At a jump the slopes grow in proportion as the step shrinks.
        growth = np.abs(narrow.fine) / np.abs(wide.fine) * narrow.step / wide.step
        jump = unsure & both & (growth > 0.5) & (growth < 2) & (np.abs(narrow.fine) > 1.5 * np.abs(narrow.coarse))
        finding[jump & (np.abs(wide.fine) > 64 * wide.rounding + noise / wide.step)] = Finding.JUMP
    return finding

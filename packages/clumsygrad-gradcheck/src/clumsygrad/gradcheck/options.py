"""How to check, and what a check draws at random."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the number of finite differences done and the number there are."""

_PATIENCE: Final = 3.0


def fixed_generator() -> np.random.Generator:
    """Return the generator of checks that are given none: every call draws the same."""
    return np.random.default_rng(0)


@dataclass(frozen=True, slots=True)
class Options:
    """How to check; :func:`~clumsygrad.gradcheck.check_gradient` explains each."""

    eps: float = 1e-4
    rtol: float = 1e-7
    atol: float = 0.0
    max_elements: int | None = None
    rng: np.random.Generator = field(default_factory=fixed_generator)
    allow_kinks: bool = False
    progress: Progress | None = None

    def __post_init__(self) -> None:
        for name, value in (("eps", self.eps), ("rtol", self.rtol)):
            if not 0 < value < 1:
                raise ValueError(f"{name} is relative, between 0 and 1; received {value}")
        if not self.atol >= 0:
            raise ValueError(f"atol is at least 0; received {self.atol}")
        if self.max_elements is not None and self.max_elements < 1:
            raise ValueError(f"max_elements is at least 1, or None for all; received {self.max_elements}")


def make_options(
    eps: float,
    rtol: float,
    atol: float,
    max_elements: int | None,
    rng: np.random.Generator | None,
    allow_kinks: bool,
    progress: Progress | None,
) -> Options:
    """Return the options of a public function's arguments."""
    generator = fixed_generator() if rng is None else rng
    return Options(eps, rtol, atol, max_elements, generator, allow_kinks, progress)


def step_for(size: float, eps: float) -> float:
    """Return the first step to try at a value: a power of two near ``eps`` times its size, or ``eps`` below 1."""
    return 2.0 ** round(math.log2(max(abs(size), 1.0) * eps))


class Counter:
    """Counts finite differences, and shows on a terminal how far a check has come when it takes long."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._done = 0
        self._progress = progress
        self._next = time.monotonic() + _PATIENCE if progress is None and sys.stderr.isatty() else math.inf
        self._shown = False

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)
        elif time.monotonic() > self._next:
            sys.stderr.write(f"\rchecking gradients: {self._done} of {self._total} elements")
            sys.stderr.flush()
            self._shown = True
            self._next += 0.5

    def close(self) -> None:
        """End the line that was shown."""
        if self._shown:
            sys.stderr.write("\n")

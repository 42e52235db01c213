"""The generator that layers draw from when they are given none."""

from __future__ import annotations

from numpy.random import Generator

from clumsygrad.core import random


def generator(rng: Generator | None) -> Generator:
    """Return ``rng``, or the default generator for None."""
    return random.default_generator() if rng is None else rng

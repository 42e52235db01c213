"""The generator that layers draw from when they are given none."""

from __future__ import annotations

from numpy.random import Generator, default_rng

_DEFAULT = default_rng()


def generator(rng: Generator | None) -> Generator:
    """Return ``rng``, or the default generator for None."""
    return _DEFAULT if rng is None else rng

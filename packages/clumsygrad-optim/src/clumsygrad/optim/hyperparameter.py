"""What a hyper-parameter may be: each optimizer lists its own with one of these rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import TypeAlias, cast

import numpy as np

Rule: TypeAlias = Callable[[str, object], object]
"""Takes a hyper-parameter's name and value; returns the value as plain Python, or raises an error that names it."""


def number(name: str, value: object) -> float:
    """Return ``value`` as a float: any finite real number will do."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} is a number; received {_show(value)}")
    result = float(value)
    if not math.isfinite(result):
        raise ValueError(f"{name} is a finite number; received {result}")
    return result


def non_negative(name: str, value: object) -> float:
    """Return ``value`` as a float of at least 0."""
    result = number(name, value)
    if result < 0:
        raise ValueError(f"{name} is at least 0; received {result}")
    return result


def positive(name: str, value: object) -> float:
    """Return ``value`` as a float above 0."""
    result = number(name, value)
    if result <= 0:
        raise ValueError(f"{name} is greater than 0; received {result}")
    return result


def fraction(name: str, value: object) -> float:
    """Return ``value`` as a float from 0 up to, not including, 1."""
    result = number(name, value)
    if not 0 <= result < 1:
        raise ValueError(f"{name} is at least 0 and less than 1; received {result}")
    return result


def proportion(name: str, value: object) -> float:
    """Return ``value`` as a float from 0 to 1."""
    result = number(name, value)
    if not 0 <= result <= 1:
        raise ValueError(f"{name} is from 0 to 1; received {result}")
    return result


def flag(name: str, value: object) -> bool:
    """Return ``value`` as a bool, which it has to be."""
    if isinstance(value, bool) or type(value) is np.bool_:
        return bool(value)
    raise TypeError(f"{name} is True or False; received {_show(value)}")


def whole(name: str, value: object) -> int:
    """Return ``value`` as a whole number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} is a whole number; received {_show(value)}")
    result = int(value)
    if result < 0:
        raise ValueError(f"{name} is at least 0; received {result}")
    return result


def count(name: str, value: object) -> int:
    """Return ``value`` as a whole number of at least 1."""
    result = whole(name, value)
    if result < 1:
        raise ValueError(f"{name} is at least 1; received {result}")
    return result


def pair(name: str, value: object) -> tuple[float, float]:
    """Return ``value`` as two finite floats."""
    first, second = values(name, value, 2)
    return first, second


def triple(name: str, value: object) -> tuple[float, float, float]:
    """Return ``value`` as three finite floats."""
    first, second, third = values(name, value, 3)
    return first, second, third


def fractions(name: str, value: object) -> tuple[float, float]:
    """Return ``value`` as two floats from 0 up to, not including, 1."""
    first, second = (fraction(f"{name}[{index}]", entry) for index, entry in enumerate(values(name, value, 2)))
    return first, second


def values(name: str, value: object, length: int) -> tuple[float, ...]:
    """Return ``value`` as a tuple of ``length`` finite floats."""
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{name} is a tuple of {length} numbers; received {_show(value)}")
    entries = cast("tuple[object, ...] | list[object]", value)
    if len(entries) != length:
        raise ValueError(f"{name} is a tuple of {length} numbers; received {len(entries)}")
    return tuple(number(f"{name}[{index}]", entry) for index, entry in enumerate(entries))


def choice(*allowed: str | None) -> Rule:
    """Make the rule for a value that is one of a few words."""

    def one_of(name: str, value: object) -> object:
        if value not in allowed:
            raise ValueError(f"{name} is one of {', '.join(map(repr, allowed))}; received {_show(value)}")
        return value

    return one_of


def optional(rule: Rule) -> Rule:
    """Make the rule for a value that may also be None."""

    def or_none(name: str, value: object) -> object:
        return None if value is None else rule(name, value)

    return or_none


def _show(value: object) -> str:
    shown = repr(value)
    return f"{shown if len(shown) <= 60 else shown[:57] + '...'} ({type(value).__name__})"

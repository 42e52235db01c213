"""What kind of mistake the numbers look like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from .report import InputReport
from .subject import Values

_CLOSE: Final = 1e-6
_FLOAT32: Final = 1e-7


def find_hints(inputs: Sequence[InputReport]) -> tuple[str, ...]:
    """Return a line for each input whose wrong gradient has the form of a common mistake."""
    hints = [hint for item in inputs if not item.passed for hint in (_hint(item, inputs),) if hint]
    return tuple(dict.fromkeys(hints))


def _hint(item: InputReport, inputs: Sequence[InputReport]) -> str:
    analytic, numeric = item.analytic_values, item.numeric_values
    if not np.isfinite(analytic).all():
        return f"the gradient of {item.name} is not finite where the function is smooth"
    if not analytic.any():
        return f"the gradient of {item.name} is zero everywhere: its term is missing, or not returned"
    if _close(analytic, -numeric):
        return f"the gradient of {item.name} has the opposite sign"
    for other in inputs:
        if other is not item and other.numeric_values.shape == analytic.shape and other.numeric_values.any():
            if _close(analytic, other.numeric_values):
                return f"the gradient of {item.name} is that of {other.name}: they are swapped"
            if _close(analytic, -other.numeric_values):
                return f"the gradient of {item.name} is that of {other.name} with the opposite sign: they are swapped"
    if len(item.shape) >= 2 and item.shape[-1] == item.shape[-2] and analytic.shape[1] == np.prod(item.shape):
        turned = analytic.reshape(-1, *item.shape).swapaxes(-1, -2).reshape(analytic.shape)
        if _close(turned, numeric):
            return f"the gradient of {item.name} is transposed"
    wrong = np.abs(analytic - numeric) > _CLOSE * np.abs(numeric)
    if not wrong.any():
        return _factor(item, analytic, numeric, "")
    part = "" if wrong[numeric != 0].all() else " where they disagree"
    return _factor(item, analytic[wrong], numeric[wrong], part)


def _factor(item: InputReport, analytic: Values, numeric: Values, part: str) -> str:
    square = float(np.square(numeric).sum())
    ratio = float((analytic * numeric).sum()) / square if square else 0.0
    if not square or not _close(analytic, ratio * numeric):
        return ""
    if abs(ratio - 1) <= 2 * _FLOAT32:
        return f"the gradient of {item.name} is off by float32 rounding: a constant or a cast in the formula is float32"
    if abs(ratio + 1) <= _CLOSE:
        return f"the gradient of {item.name} has the opposite sign{part}"
    if abs(ratio) <= _CLOSE:
        return f"the gradient of {item.name} is zero{part}: a term is missing"
    return f"the gradient of {item.name} is {ratio:.9g} times the right one{part}: a factor is missing or extra"


def _close(left: Values, right: Values) -> bool:
    return bool(np.sqrt(np.square(left - right).sum()) <= _CLOSE * np.sqrt(np.square(right).sum()))

"""Nonlinear least squares: steps of Adam, then Gauss and Newton's, with the Jacobian from the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Tensor, functional, math, parameter, tensor
from clumsygrad.optim import Adam

Values: TypeAlias = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Fit:
    """What was found: the values, their standard errors, and the spread of the measurements about the curve."""

    values: Values
    errors: Values
    spread: float


def fit(
    curve: Callable[..., Tensor],
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    start: Sequence[float],
    *,
    steps: int = 300,
    lr: float = 0.05,
    progress: Callable[[range], Iterable[int]] = iter,
) -> Fit:
    """Fit ``curve(x, *coefficients)`` to ``y``.

    Args:
        curve: computes the curve with operators and NumPy functions.
        x: where it was measured, of shape (n,).
        y: what was measured, of shape (n,).
        start: a guess of each coefficient.
        steps: how many steps of Adam come first.
        lr: their length.
        progress: wraps the range of the steps; ``tqdm`` for one.

    Returns:
        The coefficients and their standard errors, from the curvature at the minimum.

    Raises:
        ValueError: when there are not more measurements than coefficients.

    Example:
        >>> found = fit(lambda x, a, b: a * x + b, [0, 1, 2, 3], [1, 3, 5, 7], start=(1.0, 0.0))
        >>> found.values.round(3).tolist()
        [2.0, 1.0]
    """
    where, measured = tensor(x), tensor(y)
    if measured.size <= len(start):
        raise ValueError(f"a fit of {len(start)} coefficients needs more measurements; received {measured.size}")
    coefficients = parameter(list(start))

    def misses(values: Tensor) -> Tensor:
        return curve(where, *values) - measured

    optimizer = Adam([coefficients], lr=lr)
    for _ in progress(range(steps)):
        loss = math.mean(misses(coefficients) ** 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    found = coefficients.data.astype(np.float64)
    jacobian = functional.jacobian(misses)
    for _ in range(5):
        slopes = jacobian(tensor(found)).data.astype(np.float64)
        rest = misses(tensor(found)).data.astype(np.float64)
        found = found - np.linalg.lstsq(slopes, rest, rcond=None)[0]
    slopes, rest = jacobian(tensor(found)).data.astype(np.float64), misses(tensor(found)).data
    variance = float(np.sum(rest**2)) / (len(rest) - len(found))
    covariance = variance * np.linalg.inv(slopes.T @ slopes)
    return Fit(found, np.sqrt(np.diag(covariance)), float(np.sqrt(variance)))

"""A line search for a step length that satisfies the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from clumsygrad.core import Array

SUFFICIENT_DECREASE: Final = 1e-4
CURVATURE: Final = 0.9


class Point(NamedTuple):
    """What is known of one step length along the direction of a search."""

    step: float
    loss: float
    slope: float
    """The directional derivative of the loss."""
    grad: Array
    """The gradient of the loss with respect to the parameters."""


def search(
    evaluate: Callable[[float, list[Point]], Point],
    start: Point,
    step: float,
    length: float,
    tolerance: float,
    limit: int,
) -> tuple[Point, int]:
    """Find a step length for which the loss falls enough and its slope is much flatter.

    Steps grow until an interval is known to hold such a length; then the interval shrinks by cubic interpolation.

    Args:
        evaluate: returns the point at a step length; it may reuse the gradients of all points but those listed.
        start: the point at step length 0, whose slope is negative.
        step: the first step length to try.
        length: the largest element of the direction.
        tolerance: how far the parameters have to move for the search to go on.
        limit: the number of evaluations after the first.

    Returns:
        The best point found, and the number of evaluations.

    References:
        Nocedal and Wright, "Numerical Optimization", 2006, Algorithms 3.5 and 3.6, with the safeguards of PyTorch.
    """
    previous, current = start, evaluate(step, [start])
    trials = 0
    bracket = [start, current]
    while trials < limit:
        if _is_too_high(current, start) or (trials > 1 and current.loss >= previous.loss):
            bracket = [previous, current]
            break
        if _is_flat(current, start):
            return current, trials + 1
        if current.slope >= 0:
            bracket = [previous, current]
            break
        shortest = current.step + 0.01 * (current.step - previous.step)
        step = _interpolate(previous, current, shortest, current.step * 10)
        previous, current = current, evaluate(step, [start, current])
        trials += 1
        bracket = [start, current]
    return _zoom(evaluate, start, bracket, length, tolerance, limit, trials)


def _zoom(
    evaluate: Callable[[float, list[Point]], Point],
    start: Point,
    bracket: list[Point],
    length: float,
    tolerance: float,
    limit: int,
    trials: int,
) -> tuple[Point, int]:
    """Shrink an interval that holds a good step length."""
    stuck = False
    low = 0 if bracket[0].loss <= bracket[1].loss else 1
    while trials < limit:
        near, far = sorted((bracket[0].step, bracket[1].step))
        if (far - near) * length < tolerance:
            break
        step = _interpolate(bracket[0], bracket[1], near, far)
        # Too close to an end, a trial brings nothing new: a second time, or at the end itself, it is moved inwards.
        margin = 0.1 * (far - near)
        if min(far - step, step - near) >= margin:
            stuck = False
        elif stuck or step >= far or step <= near:
            step = far - margin if abs(step - far) < abs(step - near) else near + margin
            stuck = False
        else:
            stuck = True
        current = evaluate(step, [start, *bracket])
        trials += 1
        if _is_too_high(current, start) or current.loss >= bracket[low].loss:
            bracket[1 - low] = current
            low = 0 if bracket[0].loss <= bracket[1].loss else 1
            continue
        done = _is_flat(current, start)
        if not done and current.slope * (bracket[1 - low].step - bracket[low].step) >= 0:
            bracket[1 - low] = bracket[low]
        bracket[low] = current
        if done:
            break
    return bracket[low], trials + 1


def _is_too_high(point: Point, start: Point) -> bool:
    """Tell whether the loss fell less than the first Wolfe condition asks for."""
    return point.loss > start.loss + SUFFICIENT_DECREASE * point.step * start.slope


def _is_flat(point: Point, start: Point) -> bool:
    """Tell whether the second Wolfe condition holds."""
    return abs(point.slope) <= -CURVATURE * start.slope


def _interpolate(one: Point, other: Point, lowest: float, highest: float) -> float:
    """Return where the cubic through two points and their slopes is smallest, kept between two bounds."""
    left, right = (one, other) if one.step <= other.step else (other, one)
    width = right.step - left.step
    middle = (lowest + highest) / 2
    if not width:
        return middle
    mixed = left.slope + right.slope - 3 * (right.loss - left.loss) / width
    discriminant = mixed * mixed - left.slope * right.slope
    if not 0 <= discriminant < math.inf:
        return middle
    root = math.sqrt(discriminant)
    denominator = right.slope - left.slope + 2 * root
    if not denominator:
        return middle
    return min(max(right.step - width * ((right.slope + root - mixed) / denominator), lowest), highest)

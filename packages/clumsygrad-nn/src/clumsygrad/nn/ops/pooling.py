"""Maxima, sums and choices over windows, by one strided view for each element of the window.

Sums are linear: a sum over windows and the spreading of a value over a window are each other's gradients. So are the
picking of one element of each window and the putting back of a value in its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Array, GradientTuple, Tensor, create_node

from .recording import is_recorded, record, value_of
from .window import Window, inner, padded, taps


def window_sum(x: Array, window: Window) -> Array:
    """Return the sum over each window of ``x``, of shape (N, C, *window.size), with zeros for padding."""
    if is_recorded(x):
        return record(window_sum, window_sum_backward, (x,), {"window": window})
    source = padded(x, window)
    result = np.zeros((*x.shape[:2], *window.output), x.dtype)
    for key in taps(window):
        result += source[key]
    return result


def window_spread(values: Array, window: Window) -> Array:
    """Return zeros of shape (N, C, *window.size) to which each value was added all over its window."""
    if is_recorded(values):
        return record(window_spread, window_spread_backward, (values,), {"window": window})
    result = np.zeros((*values.shape[:2], *window.padded), values.dtype)
    for key in taps(window):
        result[key] += values
    return result[inner(window)]


def window_pick(x: Array, which: npt.NDArray[Any], window: Window) -> Array:
    """Return from each window of ``x`` the element that ``which`` names by its number in the window."""
    if is_recorded(x):
        return record(window_pick, window_pick_backward, (x,), {"which": which, "window": window})
    source = padded(x, window)
    result = np.zeros(which.shape, x.dtype)
    for number, key in enumerate(taps(window)):
        np.copyto(result, source[key], where=which == number)
    return result


def window_place(values: Array, which: npt.NDArray[Any], window: Window) -> Array:
    """Return zeros of shape (N, C, *window.size) to which each value was added at the element ``which`` names."""
    if is_recorded(values):
        return record(window_place, window_place_backward, (values,), {"which": which, "window": window})
    result = np.zeros((*values.shape[:2], *window.padded), values.dtype)
    apart = all(step >= length for step, length in zip(window.stride, window.kernel, strict=True))
    for number, key in enumerate(taps(window)):
        if apart and window.dilation == (1,) * len(window.dilation):
            # No element is in two windows.
            np.multiply(values, which == number, out=result[key], dtype=values.dtype)
        else:
            result[key] += np.multiply(values, which == number, dtype=values.dtype)
    return result[inner(window)]


def window_max(x: Tensor, window: Window) -> Tensor:
    """Return the maximum of each window; padding counts as lower than anything, NaN as higher."""
    source = padded(x.data, window, -np.inf)
    keys = taps(window)
    result = source[next(keys)].copy()
    for key in keys:
        np.maximum(result, source[key], out=result)
    return create_node(result, window_max_backward, (x,), {"window": window})


def first_maximum(x: Array, maxima: Array, window: Window) -> npt.NDArray[Any]:
    """Return the number, within its window, of the first element that is the maximum."""
    source = padded(x, window, -np.inf)
    keys = list(taps(window))
    # It is how many elements come before the maximum was found.
    which = np.zeros(maxima.shape, np.uint8 if len(keys) <= 256 else np.intp)
    found = np.zeros(maxima.shape, np.bool_)
    unknown = np.isnan(maxima)
    any_unknown = bool(unknown.any())
    for key in keys[:-1]:
        found |= source[key] == maxima
        if any_unknown:
            found |= unknown & np.isnan(source[key])
        which += ~found
    return which


def window_sum_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient of each window for every element of it."""
    return (window_spread(grad, tensor.extra["window"]),)


def window_spread_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The sum over each window."""
    return (window_sum(grad, tensor.extra["window"]),)


def window_pick_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient of each window at the element that was picked."""
    return (window_place(grad, tensor.extra["which"], tensor.extra["window"]),)


def window_place_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """What stands at the elements that were added to."""
    return (window_pick(grad, tensor.extra["which"], tensor.extra["window"]),)


def window_max_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient of each window at its first maximum."""
    window: Window = tensor.extra["window"]
    which = first_maximum(value_of(tensor.parents[0].data), value_of(tensor.data), window)
    return (window_place(grad, which, window),)


def window_average(x: Tensor, window: Window, divisor: npt.NDArray[np.float64] | float) -> Tensor:
    """Return the sum over each window divided by ``divisor``, a number or one for each window."""
    scale: Array | float = (1 / divisor).astype(x.data.dtype) if isinstance(divisor, np.ndarray) else 1 / divisor
    return create_node(
        window_sum(x.data, window) * scale, window_average_backward, (x,), {"window": window, "scale": scale}
    )


def window_average_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient of each window, divided, for every element of it."""
    return (window_spread(grad * tensor.extra["scale"], tensor.extra["window"]),)

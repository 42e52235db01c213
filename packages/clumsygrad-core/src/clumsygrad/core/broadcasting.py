"""The shape arithmetic that operations share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from .types import Array, Axis, Shape


def unbroadcast(grad: Array, shape: Shape) -> Array:
    """Sum a gradient back to the shape that its operand had before NumPy broadcast it.

    Args:
        grad: the gradient, of the broadcast shape.
        shape: the operand's own shape.

    Returns:
        ``grad`` itself when the shapes agree, else a sum of it over the axes that broadcasting added or stretched.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.core import unbroadcast
        >>> unbroadcast(np.ones((2, 3), np.float32), (3,))
        array([2., 2., 2.], dtype=float32)
    """
    if grad.shape == shape:
        return grad
    added = grad.ndim - len(shape)
    stretched = [added + axis for axis, length in enumerate(shape) if length == 1 and grad.shape[added + axis] != 1]
    total: Array = grad.sum(axis=(*range(added), *stretched))
    return total.reshape(shape)


def normalize_axes(axis: Axis | Sequence[int], ndim: int) -> tuple[int, ...]:
    """Return the axes that ``axis`` names as numbers from 0; AxisError or ValueError as NumPy's for a wrong one."""
    return tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim)


def kept_shape(shape: Shape, axes: tuple[int, ...]) -> Shape:
    """Return ``shape`` with the reduced axes at length 1."""
    return tuple(1 if axis in axes else length for axis, length in enumerate(shape))


def count_reduced(shape: Shape, axes: tuple[int, ...]) -> int:
    """Return how many elements are reduced to one."""
    return math.prod(shape[axis] for axis in axes)


def shape_argument(shape: SupportsIndex | Sequence[SupportsIndex], more: tuple[SupportsIndex, ...]) -> Shape:
    """Return the shape that a call spells as ``f(2, 3)`` or ``f((2, 3))``."""
    if isinstance(shape, (Sequence, np.ndarray)):
        if more:
            raise TypeError(f"a shape is one tuple or separate integers; received {shape!r} and {more!r}")
        return tuple(int(length) for length in shape)
    return (int(shape), *(int(length) for length in more))

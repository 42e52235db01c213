"""Reductions over one axis, several or all; backward functions in ``grad/reduction.py`` in the same order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..broadcasting import count_reduced, normalize_axes
from ..grad.reduction import max_backward, mean_backward, min_backward, sum_backward
from ..registry import register
from ..tensor import Tensor, as_tensor, create_node
from ..types import Axis, TensorLike

# The reductions that np.sum and its like end in, without their detour through the arguments of arrays.
_add: Callable[..., Any] = np.add.reduce
_maximum: Callable[..., Any] = np.maximum.reduce
_minimum: Callable[..., Any] = np.minimum.reduce


def _extra(x: Tensor, axis: Axis, keepdims: bool) -> dict[str, Any]:
    shape = x._data.shape
    return {"axis": normalize_axes(axis, len(shape)), "keepdims": keepdims, "input_shape": shape}


def sum(x: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Return the sum over ``axis``.

    Args:
        x: any shape.
        axis: one axis, a tuple of them, or None for all.
        keepdims: keep the reduced axes, at length 1.

    Raises:
        numpy.exceptions.AxisError: for an axis that ``x`` doesn't have.

    Example:
        >>> from clumsygrad.core import math
        >>> math.sum([[1.0, 2.0], [3.0, 4.0]], axis=0).tolist()
        [4.0, 6.0]
    """
    x = as_tensor(x)
    extra = _extra(x, axis, keepdims)
    return create_node(_add(x._data, axis=extra["axis"], keepdims=keepdims), sum_backward, (x,), extra)


def mean(x: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Return the arithmetic mean over ``axis``; NaN, without a warning, where there is nothing to average.

    Args:
        x: any shape.
        axis: one axis, a tuple of them, or None for all.
        keepdims: keep the reduced axes, at length 1.

    Example:
        >>> from clumsygrad.core import math
        >>> math.mean([[1.0, 2.0], [3.0, 4.0]]).item()
        2.5
    """
    x = as_tensor(x)
    extra = _extra(x, axis, keepdims)
    total = _add(x._data, axis=extra["axis"], keepdims=keepdims)
    number = count_reduced(x._data.shape, extra["axis"])
    return create_node(total / number if number else total * np.nan, mean_backward, (x,), extra)


def max(x: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Return the largest element over ``axis``; elements that tie share its gradient evenly.

    Args:
        x: any shape.
        axis: one axis, a tuple of them, or None for all.
        keepdims: keep the reduced axes, at length 1.

    Raises:
        ValueError: when there is no element to choose.

    Example:
        >>> from clumsygrad.core import math
        >>> math.max([[1.0, 4.0], [3.0, 2.0]], axis=1).tolist()
        [4.0, 3.0]
    """
    x = as_tensor(x)
    extra = _extra(x, axis, keepdims)
    return create_node(_maximum(x._data, axis=extra["axis"], keepdims=keepdims), max_backward, (x,), extra)


def min(x: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Return the smallest element over ``axis``; elements that tie share its gradient evenly.

    Args:
        x: any shape.
        axis: one axis, a tuple of them, or None for all.
        keepdims: keep the reduced axes, at length 1.

    Raises:
        ValueError: when there is no element to choose.

    Example:
        >>> from clumsygrad.core import math
        >>> math.min([[1.0, 4.0], [3.0, 2.0]], axis=1).tolist()
        [1.0, 2.0]
    """
    x = as_tensor(x)
    extra = _extra(x, axis, keepdims)
    return create_node(_minimum(x._data, axis=extra["axis"], keepdims=keepdims), min_backward, (x,), extra)


register(sum, sum_backward, numpy=(np.sum, np.add.reduce), methods=("sum",))
register(mean, mean_backward, numpy=(np.mean,), methods=("mean",))
register(max, max_backward, numpy=(np.max, np.maximum.reduce), methods=("max",))
register(min, min_backward, numpy=(np.min, np.minimum.reduce), methods=("min",))

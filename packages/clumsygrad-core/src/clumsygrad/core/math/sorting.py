"""Sorting and searching; backward functions in ``grad/sorting.py`` in the same order."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import normalize_axis_index

from ..grad.sorting import sort_backward
from ..registry import register
from ..tensor import Tensor, as_tensor, create_node
from ..types import TensorLike
from .shaping import flatten


def sort(x: TensorLike, axis: int | None = -1, *, kind: str | None = None) -> Tensor:
    """Return the elements in ascending order along ``axis``, NaN last; equal ones keep their order.

    Args:
        x: at least one axis.
        axis: the axis to sort along; None for the flattened tensor.
        kind: as NumPy's, which has no influence: the order is stable with every one.

    Example:
        >>> from clumsygrad.core import math
        >>> math.sort([3.0, 1.0, 2.0]).tolist()
        [1.0, 2.0, 3.0]
    """
    x = as_tensor(x)
    if kind not in (None, "quicksort", "mergesort", "heapsort", "stable"):
        raise ValueError(f"the kinds of sort are 'quicksort', 'mergesort', 'heapsort' and 'stable'; received {kind!r}")
    if axis is None:
        x, axis = flatten(x), 0
    axis = normalize_axis_index(axis, x._data.ndim)
    order = np.argsort(x._data, axis=axis, kind="stable")
    data = np.take_along_axis(x._data, order, axis)
    return create_node(data, sort_backward, (x,), {"axis": axis, "order": order})


def argmax(x: TensorLike, axis: int | None = None, *, keepdims: bool = False) -> npt.NDArray[np.intp]:
    """Return the positions of the largest elements along ``axis``, the first of equal ones: NumPy integers.

    Args:
        x: any shape.
        axis: the axis to search; None for the position in the flattened tensor.
        keepdims: keep the reduced axes, at length 1.

    Raises:
        ValueError: when there is no element to choose.

    Example:
        >>> from clumsygrad.core import math
        >>> math.argmax([[1.0, 3.0], [4.0, 2.0]], axis=1)
        array([1, 0])
    """
    return cast("npt.NDArray[np.intp]", np.argmax(as_tensor(x)._data, axis=axis, keepdims=keepdims))


def argmin(x: TensorLike, axis: int | None = None, *, keepdims: bool = False) -> npt.NDArray[np.intp]:
    """Return the positions of the smallest elements along ``axis``, the first of equal ones: NumPy integers.

    Args:
        x: any shape.
        axis: the axis to search; None for the position in the flattened tensor.
        keepdims: keep the reduced axes, at length 1.

    Raises:
        ValueError: when there is no element to choose.

    Example:
        >>> from clumsygrad.core import math
        >>> math.argmin([[1.0, 3.0], [4.0, 2.0]], axis=1)
        array([0, 1])
    """
    return cast("npt.NDArray[np.intp]", np.argmin(as_tensor(x)._data, axis=axis, keepdims=keepdims))


register(sort, sort_backward, numpy=(np.sort,), methods=("sort",))
register(argmax, numpy=(np.argmax,), methods=("argmax",), differentiable=False)
register(argmin, numpy=(np.argmin,), methods=("argmin",), differentiable=False)

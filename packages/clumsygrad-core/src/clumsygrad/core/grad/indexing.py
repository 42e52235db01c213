"""Backward functions of ``math/indexing.py``, in the same order, and the scatter they share."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, cast

import numpy as np

from ..tensor import Tensor, create_node
from ..types import Array, GradientTuple, Shape
from .recording import as_recorded

_BASIC = (int, np.integer, slice, EllipsisType, type(None))


def scatter(values: Array, key: Any, shape: Shape) -> Array:
    """Return zeros of ``shape`` with ``values`` added at ``key``: the transpose of indexing.

    An operation itself, with a rule of its own, since it can't be written with plain NumPy functions of ``values``.
    """
    if (recorded := as_recorded(values)) is not None:
        node = create_node(scatter(recorded._data, key, shape), scatter_backward, (recorded,), {"key": key})
        return cast("Array", node)
    total = np.zeros(shape, values.dtype)
    if _reads_once(key):
        total[key] = values
    else:
        np.add.at(total, key, values)
    return total


def _reads_once(key: Any) -> bool:
    """Tell whether a key can't name an element twice: it has no integer arrays."""
    parts: tuple[object, ...] = (key,)
    if isinstance(key, tuple):
        parts = cast("tuple[object, ...]", key)
    return all(isinstance(part, _BASIC) or getattr(part, "dtype", None) == np.bool_ for part in parts)


def getitem_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient added up at the positions that were read, 0 elsewhere."""
    return (scatter(grad, tensor._extra["key"], tensor._parents[0]._data.shape),)


def scatter_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """What stands at the positions that were added to."""
    return (grad[tensor._extra["key"]],)

"""Backward functions of ``math/indexing.py``, in the same order, and the scatter they share."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..tensor import Tensor, create_node
from ..types import Array, GradientTuple, Shape
from .recording import as_recorded

_BASIC = (int, np.integer, slice, EllipsisType, type(None))


def scatter(values: Array, key: Any, shape: Shape) -> Array:
    """Return zeros of ``shape`` with ``values`` added at ``key``: the transpose of indexing.

    An operation itself, with a rule of its own, since it can't be written with plain NumPy functions of ``values``.

    Args:
        values: what to add, of the shape that indexing with ``key`` gives.
        key: any index that NumPy takes; an element named twice gets both values.
        shape: the shape of the result.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.core.grad import scatter
        >>> scatter(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2]), (3,))
        array([1., 0., 6.])
    """
    if (recorded := as_recorded(values)) is not None:
        node = create_node(scatter(recorded._data, key, shape), scatter_backward, (recorded,), {"key": key})
        return cast("Array", node)
    total = np.zeros(shape, values.dtype)
    parts: tuple[object, ...] = (key,)
    if isinstance(key, tuple):
        parts = cast("tuple[object, ...]", key)
    if all(isinstance(part, _BASIC) or getattr(part, "dtype", None) == np.bool_ for part in parts):
        # Without integer arrays a key can't name an element twice.
        total[key] = values
    elif values.size < _SMALL or len(shape) == 1:
        np.add.at(total, cast("Any", key), values)
    else:
        arrays = [np.asarray(part) for part in parts]
        if all(array.dtype.kind in "iu" for array in arrays):
            rows = np.broadcast_arrays(*arrays)
            leading = shape[: len(rows)]
            _add_rows(total, np.ravel_multi_index(tuple(rows), leading, mode="wrap"), values, len(rows))
        else:
            positions = np.arange(total.size, dtype=np.intp).reshape(shape)[key]
            np.add.at(total.reshape(-1), positions.reshape(-1), values.reshape(-1))
    return total


def _add_rows(total: Array, rows: npt.NDArray[np.intp], values: Array, leading: int) -> None:
    """Add ``values`` to the rows of ``total`` that ``rows`` names, where its ``leading`` axes count as one.

    A row named once is a plain assignment, which is several times faster than an addition. So the last value for each
    row is assigned, and the others, in rounds of which each takes one value of every row, are added.
    """
    length = int(np.prod(total.shape[leading:]))
    table = total.reshape(-1, length)
    rows = rows.reshape(-1)
    values = values.reshape(-1, length)
    left = np.arange(rows.size, dtype=np.intp)
    if rows.size <= len(table):
        last = np.empty(len(table), np.intp)
        last[rows] = left
        table[rows] = values
        left = left[last[rows] != left]
        for _ in range(_ROUNDS):
            if not left.size:
                return
            named = rows[left]
            last[named] = left
            chosen = last[named] == left
            table[named[chosen]] += values[left[chosen]]
            left = left[~chosen]
        if not left.size:
            return
        rows, values = rows[left], values[left]
    positions = rows[:, None] * length + np.arange(length, dtype=np.intp)
    np.add.at(total.reshape(-1), positions.reshape(-1), values.reshape(-1))


# Fewer values than these are added soonest one by one.
_SMALL = 2048

# Rounds after which what is left is added one by one: rows that are named this often are few.
_ROUNDS = 4


def getitem_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient added up at the positions that were read, 0 elsewhere."""
    return (scatter(grad, tensor._extra["key"], tensor._parents[0]._data.shape),)


def scatter_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """What stands at the positions that were added to."""
    return (grad[tensor._extra["key"]],)

"""Selecting elements by position; backward functions in ``grad/indexing.py`` in the same order."""

from __future__ import annotations

from typing import Literal, cast

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import normalize_axis_index

from ..grad.indexing import getitem_backward
from ..registry import register
from ..tensor import Tensor, as_tensor, create_node, plain_key
from ..types import TensorLike
from .shaping import flatten, view


def getitem(x: TensorLike, key: object) -> Tensor:
    """Return ``x[key]`` for integers, slices, None, Ellipsis, masks, integer arrays, and Tensors of whole numbers.

    An element that is read twice gets the gradient of both.

    Raises:
        IndexError: as NumPy's, for a key out of range or of the wrong kind.

    Example:
        >>> from clumsygrad.core import Tensor
        >>> Tensor([1.0, 2.0, 3.0])[[2, 0, 2]].tolist()
        [3.0, 1.0, 3.0]
    """
    x = cast("Tensor", x)
    plain = plain_key(key)
    data = x._data[plain]
    if getattr(data, "base", None) is not None:
        view(data)
    return create_node(data, getitem_backward, (x,), {"key": plain})


def take(
    x: TensorLike, indices: TensorLike, axis: int | None = None, *, mode: Literal["raise", "wrap", "clip"] = "raise"
) -> Tensor:
    """Return the elements at ``indices`` along ``axis``.

    Args:
        x: any shape.
        indices: integers, of any shape, which takes the place of the axis.
        axis: the axis to select on; None for the flattened tensor.
        mode: what to do with a position out of range: ``raise``, ``wrap`` around, or ``clip`` to the nearest.

    Raises:
        IndexError: for a position out of range, unless ``mode`` says otherwise, and for indices that aren't integers.

    Example:
        >>> from clumsygrad.core import math
        >>> math.take([[1.0, 2.0], [3.0, 4.0]], [1, 1], axis=1).tolist()
        [[2.0, 2.0], [4.0, 4.0]]
    """
    x = as_tensor(x)
    if axis is None:
        x, axis = flatten(x), 0
    axis = normalize_axis_index(axis, x._data.ndim)
    positions = _integers(indices)
    length = x._data.shape[axis]
    if mode == "wrap":
        positions = positions % length
    elif mode == "clip":
        positions = np.clip(positions, 0, length - 1)
    elif mode != "raise":
        raise ValueError(f"take has the modes 'raise', 'wrap' and 'clip'; received {mode!r}")
    return getitem(x, (*(slice(None),) * axis, positions))


def take_along_axis(x: TensorLike, indices: TensorLike, axis: int | None = -1) -> Tensor:
    """Return the elements at ``indices`` along ``axis``, where each row has positions of its own.

    Args:
        x: any shape.
        indices: integers, with as many axes as ``x``, that broadcast against it on the other axes.
        axis: the axis to select on; None for the flattened tensor.

    Raises:
        IndexError: for a position out of range, and for indices that aren't integers.
        ValueError: when ``indices`` and ``x`` differ in the number of axes.

    Example:
        >>> from clumsygrad.core import math
        >>> math.take_along_axis([[1.0, 2.0], [3.0, 4.0]], [[1], [0]], axis=1).tolist()
        [[2.0], [3.0]]
    """
    x = as_tensor(x)
    positions = _integers(indices)
    if axis is None:
        x, axis = flatten(x), 0
    ndim = x._data.ndim
    axis = normalize_axis_index(axis, ndim)
    if positions.ndim != ndim:
        raise ValueError(
            f"take_along_axis takes indices with as many axes as the tensor; received shapes {positions.shape} and "
            f"{x._data.shape}"
        )
    # The other axes name themselves: position i on axis n stands at index i, with length 1 elsewhere.
    key = tuple(
        positions if place == axis else np.arange(length, dtype=np.intp).reshape(-1, *(1,) * (ndim - 1 - place))
        for place, length in enumerate(x._data.shape)
    )
    return getitem(x, key)


def _integers(indices: TensorLike) -> npt.NDArray[np.integer]:
    positions = np.asarray(plain_key(indices))
    if not positions.size:
        return positions.astype(np.intp)
    if positions.dtype.kind not in "iu":
        raise IndexError(f"indices are integers; received an array of {positions.dtype}")
    return positions


register(getitem, getitem_backward, methods=("__getitem__",))
register(take, numpy=(np.take,), methods=("take",))
register(take_along_axis, numpy=(np.take_along_axis,), methods=("take_along_axis",))

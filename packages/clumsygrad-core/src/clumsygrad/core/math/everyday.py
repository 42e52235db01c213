"""Functions made of other operations, for NumPy code that uses them: they have no backward functions of their own."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np

from ..broadcasting import count_reduced, normalize_axes
from ..registry import register
from ..tensor import Tensor, as_tensor
from ..types import Axis, TensorLike
from .elementwise import maximum, minimum, sin, where
from .reduction import max, mean, min, sum
from .shaping import concatenate, diagonal, expand_dims, flatten, flip, pad, reshape, split, swapaxes
from .sorting import sort


def degrees(x: TensorLike) -> Tensor:
    """Return angles in degrees, of angles in radians.

    Example:
        >>> from clumsygrad.core import math
        >>> math.degrees([0.0]).tolist()
        [0.0]
    """
    return as_tensor(x) * (180 / pi)


def radians(x: TensorLike) -> Tensor:
    """Return angles in radians, of angles in degrees.

    Example:
        >>> from clumsygrad.core import math
        >>> math.radians([0.0]).tolist()
        [0.0]
    """
    return as_tensor(x) * (pi / 180)


def sinc(x: TensorLike) -> Tensor:
    r"""Return :math:`\sin(\pi x) / (\pi x)`, elementwise: 1 at 0.

    Near 0 it is a sum of powers, so that the derivatives there are right, too.

    Example:
        >>> from clumsygrad.core import math
        >>> math.sinc([0.0]).tolist()
        [1.0]
    """
    angle = as_tensor(x) * pi
    near = np.abs(angle._data) < 0.5
    square = where(near, angle, 0.0) ** 2
    series = 1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110))))
    away = where(near, 1.0, angle)
    return where(near, series, sin(away) / away)


def fmax(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the larger of ``x`` and ``y``, elementwise, where a number counts and NaN doesn't.

    Example:
        >>> from clumsygrad.core import math
        >>> math.fmax([float("nan"), 1.0], 0.0).tolist()
        [0.0, 1.0]
    """
    return _number_first(maximum(x, y), x, y)


def fmin(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the smaller of ``x`` and ``y``, elementwise, where a number counts and NaN doesn't.

    Example:
        >>> from clumsygrad.core import math
        >>> math.fmin([float("nan"), 1.0], 0.0).tolist()
        [0.0, 0.0]
    """
    return _number_first(minimum(x, y), x, y)


def _number_first(result: Tensor, x: TensorLike, y: TensorLike) -> Tensor:
    if not np.isnan(result._data).any():
        return result
    x, y = as_tensor(x), as_tensor(y)
    return where(np.isnan(x._data), y, where(np.isnan(y._data), x, result))


def ptp(x: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Return the range of values over ``axis``: the largest less the smallest.

    Example:
        >>> from clumsygrad.core import math
        >>> math.ptp([1.0, 4.0, 2.0]).item()
        3.0
    """
    return max(x, axis, keepdims=keepdims) - min(x, axis, keepdims=keepdims)


def average(x: TensorLike, axis: Axis = None, weights: TensorLike | None = None, *, keepdims: bool = False) -> Tensor:
    """Return the mean over ``axis``, with a weight for each element when ``weights`` are given.

    Args:
        x: any shape.
        axis: one axis, a tuple of them, or None for all.
        weights: of the shape of ``x``, or one number for each place on the one axis.
        keepdims: keep the reduced axes, at length 1.

    Raises:
        ValueError: for weights of another shape.

    Example:
        >>> from clumsygrad.core import math
        >>> math.average([1.0, 2.0], weights=[3.0, 1.0]).item()
        1.25
    """
    x = as_tensor(x)
    if weights is None:
        return mean(x, axis, keepdims=keepdims)
    weights = as_tensor(weights)
    if weights._data.shape != x._data.shape:
        axes = normalize_axes(axis, x._data.ndim)
        if len(axes) != 1 or weights._data.shape != (x._data.shape[axes[0]],):
            raise ValueError(
                "weights have the shape of the tensor, or one number for each place on one axis; received shapes "
                f"{weights._data.shape} and {x._data.shape}, and axis={axis}"
            )
        weights = reshape(weights, (-1, *(1,) * (x._data.ndim - 1 - axes[0])))
    total = sum(weights * np.ones_like(x._data), axis, keepdims=keepdims)
    return sum(x * weights, axis, keepdims=keepdims) / total


def median(x: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Return the median over ``axis``: the element in the middle, or the mean of the two; NaN where there is a NaN.

    Example:
        >>> from clumsygrad.core import math
        >>> math.median([3.0, 1.0, 2.0]).item()
        2.0
    """
    x = as_tensor(x)
    axes = normalize_axes(axis, x._data.ndim)
    kept = [place for place in range(x._data.ndim) if place not in axes]
    number = count_reduced(x._data.shape, axes)
    rows = reshape(x.transpose([*kept, *axes]), (*(x._data.shape[place] for place in kept), number))
    ordered = sort(rows)
    middle = mean(ordered[..., (number - 1) // 2 : number // 2 + 1], -1)
    if number and np.isnan(ordered._data[..., -1]).any():
        middle = where(np.isnan(ordered._data[..., -1]), ordered[..., -1], middle)
    return expand_dims(middle, axes) if keepdims else middle


def nansum(x: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Return the sum over ``axis`` of the elements that are not NaN.

    Example:
        >>> from clumsygrad.core import math
        >>> math.nansum([1.0, float("nan")]).item()
        1.0
    """
    x = as_tensor(x)
    return sum(where(np.isnan(x._data), 0.0, x), axis, keepdims=keepdims)


def nanmean(x: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Return the mean over ``axis`` of the elements that are not NaN; NaN where there is none.

    Example:
        >>> from clumsygrad.core import math
        >>> math.nanmean([1.0, float("nan")]).item()
        1.0
    """
    x = as_tensor(x)
    number = np.sum(~np.isnan(x._data), axis=axis, keepdims=keepdims)
    return nansum(x, axis, keepdims=keepdims) / number


def diff(x: TensorLike, n: int = 1, axis: int = -1) -> Tensor:
    """Return the differences of neighbours along ``axis``, taken ``n`` times.

    Example:
        >>> from clumsygrad.core import math
        >>> math.diff([1.0, 4.0, 9.0]).tolist()
        [3.0, 5.0]
    """
    x = as_tensor(x)
    if n < 0:
        raise ValueError(f"differences are taken 0 times or more; received n={n}")
    (place,) = normalize_axes(axis, x._data.ndim)
    before = (slice(None),) * place
    for _ in range(n):
        x = x[(*before, slice(1, None))] - x[(*before, slice(None, -1))]
    return x


def trapezoid(y: TensorLike, x: TensorLike | None = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    """Return the integral of ``y`` along ``axis`` by the trapezoidal rule.

    Args:
        y: the values.
        x: the places of the values, of the shape of ``y`` or of one axis; ``dx`` apart when None.
        dx: the distance of the places.
        axis: the axis to integrate along.

    Example:
        >>> from clumsygrad.core import math
        >>> math.trapezoid([1.0, 2.0, 3.0]).item()
        4.0
    """
    y = as_tensor(y)
    (place,) = normalize_axes(axis, y._data.ndim)
    before = (slice(None),) * place
    steps: Tensor | float = dx
    if x is not None:
        x = as_tensor(x)
        steps = diff(x, axis=place if x._data.ndim > 1 else 0)
        if x._data.ndim == 1:
            steps = reshape(steps, (-1, *(1,) * (y._data.ndim - 1 - place)))
    return sum((y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]) * steps, place) / 2


def atleast_1d(x: TensorLike) -> Tensor:
    """Return ``x`` with at least one axis.

    Example:
        >>> from clumsygrad.core import math
        >>> math.atleast_1d(1.0).shape
        (1,)
    """
    x = as_tensor(x)
    return x if x._data.ndim else reshape(x, 1)


def atleast_2d(x: TensorLike) -> Tensor:
    """Return ``x`` with at least two axes: a vector as a row.

    Example:
        >>> from clumsygrad.core import math
        >>> math.atleast_2d([1.0, 2.0]).shape
        (1, 2)
    """
    x = as_tensor(x)
    return x if x._data.ndim > 1 else reshape(x, (1, -1))


def atleast_3d(x: TensorLike) -> Tensor:
    """Return ``x`` with at least three axes: a vector of n numbers as (1, n, 1), a matrix with one axis more.

    Example:
        >>> from clumsygrad.core import math
        >>> math.atleast_3d([1.0, 2.0]).shape
        (1, 2, 1)
    """
    x = as_tensor(x)
    return x if x._data.ndim > 2 else expand_dims(atleast_2d(x), -1)


def hstack(tensors: Sequence[TensorLike]) -> Tensor:
    """Return the tensors joined side by side: along the second axis, or the first of vectors.

    Example:
        >>> from clumsygrad.core import math
        >>> math.hstack([[1.0], [2.0]]).tolist()
        [1.0, 2.0]
    """
    parts = [atleast_1d(tensor) for tensor in tensors]
    return concatenate(parts, 0 if parts and parts[0]._data.ndim == 1 else 1)


def vstack(tensors: Sequence[TensorLike]) -> Tensor:
    """Return the tensors joined on top of each other: along the first axis, vectors as rows.

    Example:
        >>> from clumsygrad.core import math
        >>> math.vstack([[1.0], [2.0]]).tolist()
        [[1.0], [2.0]]
    """
    return concatenate([atleast_2d(tensor) for tensor in tensors], 0)


def dstack(tensors: Sequence[TensorLike]) -> Tensor:
    """Return the tensors joined along the third axis.

    Example:
        >>> from clumsygrad.core import math
        >>> math.dstack([[1.0], [2.0]]).tolist()
        [[[1.0, 2.0]]]
    """
    return concatenate([atleast_3d(tensor) for tensor in tensors], 2)


def column_stack(tensors: Sequence[TensorLike]) -> Tensor:
    """Return the tensors joined along the second axis, vectors as columns.

    Example:
        >>> from clumsygrad.core import math
        >>> math.column_stack([[1.0, 2.0], [3.0, 4.0]]).tolist()
        [[1.0, 3.0], [2.0, 4.0]]
    """
    parts = [as_tensor(tensor) for tensor in tensors]
    return concatenate([part if part._data.ndim > 1 else reshape(part, (-1, 1)) for part in parts], 1)


def append(x: TensorLike, values: TensorLike, axis: int | None = None) -> Tensor:
    """Return ``x`` with ``values`` joined to its end along ``axis``; both flattened when None.

    Example:
        >>> from clumsygrad.core import math
        >>> math.append([1.0], [2.0]).tolist()
        [1.0, 2.0]
    """
    return concatenate([x, values], axis)


def hsplit(x: TensorLike, indices_or_sections: int | Sequence[int]) -> list[Tensor]:
    """Return the parts of ``x`` along the second axis, or the first of a vector, as :func:`split`.

    Example:
        >>> from clumsygrad.core import math
        >>> [part.tolist() for part in math.hsplit([1.0, 2.0], 2)]
        [[1.0], [2.0]]
    """
    x = as_tensor(x)
    return split(x, indices_or_sections, 0 if x._data.ndim == 1 else 1)


def vsplit(x: TensorLike, indices_or_sections: int | Sequence[int]) -> list[Tensor]:
    """Return the parts of ``x`` along the first axis, as :func:`split`.

    Example:
        >>> from clumsygrad.core import math
        >>> [part.tolist() for part in math.vsplit([[1.0], [2.0]], 2)]
        [[[1.0]], [[2.0]]]
    """
    x = as_tensor(x)
    if x._data.ndim < 2:
        raise ValueError(f"vsplit needs at least two axes; received a tensor of shape {x._data.shape}. Use split")
    return split(x, indices_or_sections, 0)


def fliplr(x: TensorLike) -> Tensor:
    """Return ``x`` with the second axis reversed.

    Example:
        >>> from clumsygrad.core import math
        >>> math.fliplr([[1.0, 2.0]]).tolist()
        [[2.0, 1.0]]
    """
    return flip(x, 1)


def flipud(x: TensorLike) -> Tensor:
    """Return ``x`` with the first axis reversed.

    Example:
        >>> from clumsygrad.core import math
        >>> math.flipud([1.0, 2.0]).tolist()
        [2.0, 1.0]
    """
    return flip(x, 0)


def rot90(x: TensorLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Tensor:
    """Return ``x`` turned ``k`` times by 90 degrees, from the first of two axes towards the second.

    Example:
        >>> from clumsygrad.core import math
        >>> math.rot90([[1.0, 2.0]]).tolist()
        [[2.0], [1.0]]
    """
    x = as_tensor(x)
    first, second = normalize_axes(axes, x._data.ndim)
    turns = k % 4
    if turns == 2:
        return flip(x, (first, second))
    if turns == 1:
        return swapaxes(flip(x, second), first, second)
    return flip(swapaxes(x, first, second), second) if turns else x


def diag(x: TensorLike, k: int = 0) -> Tensor:
    """Return the ``k``-th diagonal of a matrix, or the matrix with a vector on it and zeros beside.

    Raises:
        ValueError: for anything but a vector or a matrix.

    Example:
        >>> from clumsygrad.core import math
        >>> math.diag([1.0, 2.0]).tolist()
        [[1.0, 0.0], [0.0, 2.0]]
    """
    x = as_tensor(x)
    if x._data.ndim == 2:
        return diagonal(x, k)
    if x._data.ndim != 1:
        raise ValueError(f"diag takes a vector or a matrix; received a tensor of shape {x._data.shape}")
    length = x._data.size
    size = length + (k if k > 0 else -k)
    first = 0 if k > 0 else -k
    # The element for each row, which stands where the diagonal passes.
    rows = pad(x, (first, size - length - first))
    return where(np.eye(size, k=k, dtype=bool), reshape(rows, (-1, 1)), 0.0)


def meshgrid(*tensors: TensorLike, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Return the coordinates of a grid of points: each vector repeated along the axes of the others.

    Args:
        *tensors: vectors.
        indexing: ``"xy"`` for matrices whose rows follow the second vector, ``"ij"`` for the order of the vectors.

    Example:
        >>> from clumsygrad.core import math
        >>> [grid.tolist() for grid in math.meshgrid([1.0, 2.0], [3.0])]
        [[[1.0, 2.0]], [[3.0, 3.0]]]
    """
    vectors = [flatten(tensor) for tensor in tensors]
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is 'xy' or 'ij'; received {indexing!r}")
    shape = tuple(vector._data.size for vector in vectors)
    grids = [
        reshape(vector, (-1, *(1,) * (len(vectors) - 1 - place))).broadcast_to(shape)
        for place, vector in enumerate(vectors)
    ]
    swapped = indexing == "xy" and len(grids) > 1
    return tuple(swapaxes(grid, 0, 1) if swapped else grid for grid in grids)


register(degrees, numpy=(np.degrees, np.rad2deg))
register(radians, numpy=(np.radians, np.deg2rad))
register(sinc, numpy=(np.sinc,))
register(fmax, numpy=(np.fmax,))
register(fmin, numpy=(np.fmin,))
register(ptp, numpy=(np.ptp,))
register(average, numpy=(np.average,))
register(median, numpy=(np.median,))
register(nansum, numpy=(np.nansum,))
register(nanmean, numpy=(np.nanmean,))
register(diff, numpy=(np.diff,))
register(trapezoid, numpy=(np.trapezoid,))
register(atleast_1d, numpy=(np.atleast_1d,))
register(atleast_2d, numpy=(np.atleast_2d,))
register(atleast_3d, numpy=(np.atleast_3d,))
register(hstack, numpy=(np.hstack,))
register(vstack, numpy=(np.vstack,))
register(dstack, numpy=(np.dstack,))
register(column_stack, numpy=(np.column_stack,))
register(append, numpy=(np.append,))
register(hsplit, numpy=(np.hsplit,))
register(vsplit, numpy=(np.vsplit,))
register(fliplr, numpy=(np.fliplr,))
register(flipud, numpy=(np.flipud,))
register(rot90, numpy=(np.rot90,))
register(diag, numpy=(np.diag,))
register(meshgrid, numpy=(np.meshgrid,))

"""Reductions over one axis, several or all; backward functions in ``grad/reduction.py`` in the same order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, cast

import numpy as np

from ..broadcasting import count_reduced, kept_shape, normalize_axes
from ..grad.reduction import (
    centred,
    degrees_of_freedom,
    logsumexp_backward,
    max_backward,
    mean_backward,
    min_backward,
    norm_backward,
    prod_backward,
    std_backward,
    sum_backward,
    var_backward,
)
from ..registry import register
from ..tensor import Tensor, as_tensor, create_node
from ..types import Array, Axis, TensorLike
from .elementwise import abs, sign
from .shaping import reshape, squeeze

# The reductions that np.sum and its like end in, without their detour through the arguments of arrays.
_add: Callable[..., Any] = np.add.reduce
_multiply: Callable[..., Any] = np.multiply.reduce
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


def prod(x: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Return the product over ``axis``; 1 where there is nothing to multiply.

    The gradient is the product of the other elements, exact also where elements are 0.

    Args:
        x: any shape.
        axis: one axis, a tuple of them, or None for all.
        keepdims: keep the reduced axes, at length 1.

    Example:
        >>> from clumsygrad.core import math
        >>> math.prod([[1.0, 2.0], [3.0, 4.0]], axis=0).tolist()
        [3.0, 8.0]
    """
    x = as_tensor(x)
    extra = _extra(x, axis, keepdims)
    with np.errstate(all="ignore"):
        return create_node(_multiply(x._data, axis=extra["axis"], keepdims=keepdims), prod_backward, (x,), extra)


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


def var(x: TensorLike, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False) -> Tensor:
    r"""Return the variance over ``axis``: :math:`\sum_i (x_i - \bar x)^2 / (n - \mathrm{ddof})`.

    It is NaN, without a warning, where n is 0, and where ``ddof`` leaves no degree of freedom.

    Args:
        x: any shape.
        axis: one axis, a tuple of them, or None for all.
        ddof: 0 for the variance of the values, 1 for the unbiased estimate from a sample.
        keepdims: keep the reduced axes, at length 1.

    Example:
        >>> from clumsygrad.core import math
        >>> math.var([1.0, 2.0, 3.0]).item(), math.var([1.0, 2.0, 3.0], ddof=1).item()
        (0.6666666865348816, 1.0)
    """
    x = as_tensor(x)
    extra = _extra(x, axis, keepdims)
    extra["ddof"] = ddof
    with np.errstate(all="ignore"):
        return create_node(_variance(x._data, extra), var_backward, (x,), extra)


def std(x: TensorLike, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False) -> Tensor:
    r"""Return the standard deviation over ``axis``: the square root of :func:`var`.

    The gradient is 0 where all elements are equal.

    Args:
        x: any shape.
        axis: one axis, a tuple of them, or None for all.
        ddof: 0 for the deviation of the values, 1 for the estimate from a sample.
        keepdims: keep the reduced axes, at length 1.

    Example:
        >>> from clumsygrad.core import math
        >>> math.std([1.0, 2.0, 3.0], ddof=1).item()
        1.0
    """
    x = as_tensor(x)
    extra = _extra(x, axis, keepdims)
    extra["ddof"] = ddof
    with np.errstate(all="ignore"):
        return create_node(np.sqrt(_variance(x._data, extra)), std_backward, (x,), extra)


def _variance(x: Array, extra: dict[str, Any]) -> Array:
    deviation = centred(x, extra["axis"])
    total = _add(deviation * deviation, axis=extra["axis"], keepdims=extra["keepdims"])
    return cast("Array", total / degrees_of_freedom(extra))


def logsumexp(x: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    r"""Return :math:`\ln \sum_i e^{x_i}` over ``axis``, without overflow on the way.

    It is -inf, without a warning and with a gradient of 0, where every element is -inf or there is none.

    Args:
        x: any shape.
        axis: one axis, a tuple of them, or None for all.
        keepdims: keep the reduced axes, at length 1.

    Example:
        >>> from clumsygrad.core import math
        >>> math.logsumexp([1000.0, 1000.0]).item()
        1000.6931762695312
    """
    x = as_tensor(x)
    extra = _extra(x, axis, keepdims)
    largest = _maximum(x._data, axis=extra["axis"], keepdims=True, initial=-np.inf)
    with np.errstate(all="ignore"):
        shift = np.where(np.isfinite(largest), largest, 0)
        total = _add(np.exp(x._data - shift), axis=extra["axis"], keepdims=True)
        data = np.log(total) + shift
    if not keepdims:
        data = data.squeeze(extra["axis"])
    return create_node(data, logsumexp_backward, (x,), extra)


def norm(
    x: TensorLike,
    ord: float | Literal["fro", "f", "nuc"] | None = None,
    axis: Axis = None,
    keepdims: bool = False,
) -> Tensor:
    r"""Return a norm of vectors or matrices, as ``np.linalg.norm``.

    Of a vector, the norm of order p is :math:`(\sum_i |x_i|^p)^{1/p}`. The gradient of every norm is 0 at a vector or
    matrix of zeros; entries that tie for the largest share it evenly.

    Args:
        x: any shape.
        ord: for vectors any number, of which inf and -inf give the largest and the smallest absolute value, and 0 the
            number of elements other than 0; 2 by default. For matrices ``"fro"`` (the default), 1 and -1 (the largest
            and smallest sum of a column's absolute values), inf and -inf (those of a row), ``"nuc"``, 2 and -2 (the
            sum, the largest and the smallest of the singular values).
        axis: the axis of the vectors, or the two of the matrices. By default a vector or matrix as a whole; with no
            ``ord`` either, all elements as one vector.
        keepdims: keep the reduced axes, at length 1.

    Raises:
        ValueError: for an order that the vector or matrix norm doesn't have, and for more than two axes.

    Example:
        >>> from clumsygrad.core import math
        >>> math.norm([3.0, 4.0]).item()
        5.0
        >>> math.norm([[1.0, -2.0], [3.0, 4.0]], ord=1).item()
        6.0
    """
    x = as_tensor(x)
    axes = normalize_axes(axis, x._data.ndim)
    if axis is None and ord is None:
        return _power_norm(x, 2.0, axes, keepdims)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError(
        f"norm takes one axis for vectors or two for matrices; received {len(axes)} axes, of a tensor of shape "
        f"{x._data.shape}. Name them with axis="
    )


def _vector_norm(x: Tensor, ord: float | str | None, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    if isinstance(ord, str):
        raise ValueError(f"the order of a vector norm is a number; received {ord!r}")
    if ord == np.inf:
        return max(abs(x), axes, keepdims=keepdims)
    if ord == -np.inf:
        return min(abs(x), axes, keepdims=keepdims)
    if ord == 0:
        return sum(abs(sign(x)), axes, keepdims=keepdims)
    return _power_norm(x, 2.0 if ord is None else float(ord), axes, keepdims)


def _matrix_norm(x: Tensor, ord: float | str | None, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    if ord is None or ord in ("fro", "f"):
        return _power_norm(x, 2.0, axes, keepdims)
    rows, columns = axes
    if ord in (1, -1):
        summed, compared = rows, columns
    elif ord in (np.inf, -np.inf):
        summed, compared = columns, rows
    elif ord in (2, -2, "nuc"):
        # By NumPy's name: linalg is built on this module.
        matrices = np.moveaxis(cast("Array", x), axes, (-2, -1))
        values = cast("Tensor", np.linalg.svd(matrices, compute_uv=False))
        result = sum(values, -1) if ord == "nuc" else max(values, -1) if ord == 2 else min(values, -1)
        return reshape(result, kept_shape(x._data.shape, axes)) if keepdims else result
    else:
        raise ValueError(f"a matrix norm is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf; received {ord!r}")
    sums = sum(abs(x), summed, keepdims=True)
    result = max(sums, compared, keepdims=True) if ord > 0 else min(sums, compared, keepdims=True)
    return result if keepdims else squeeze(result, axes)


def _power_norm(x: Tensor, order: float, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    data = x._data
    with np.errstate(all="ignore"):
        if order == 2:
            squares: Array = _add(data * data, axis=axes, keepdims=True)
            # Where squares would overflow or vanish, numbers near 1 are squared instead.
            if not ((squares > 1e-30) & (squares < np.inf)).all():
                largest = _maximum(np.abs(data), axis=axes, keepdims=True, initial=0)
                unit = np.where((largest > 0) & (largest < np.inf), largest, 1)
                value = np.sqrt(_add((data / unit) ** 2, axis=axes, keepdims=True)) * unit
            else:
                value = np.sqrt(squares)
        else:
            value = _add(np.abs(data) ** order, axis=axes, keepdims=True) ** (1 / order)
    if not keepdims:
        value = value.squeeze(axes)
    extra = {"axis": axes, "keepdims": keepdims, "input_shape": data.shape, "ord": order}
    return create_node(value, norm_backward, (x,), extra)


register(sum, sum_backward, numpy=(np.sum, np.add.reduce), methods=("sum",))
register(mean, mean_backward, numpy=(np.mean,), methods=("mean",))
register(prod, prod_backward, numpy=(np.prod, np.multiply.reduce), methods=("prod",))
register(max, max_backward, numpy=(np.max, np.amax, np.maximum.reduce), methods=("max",))
register(min, min_backward, numpy=(np.min, np.amin, np.minimum.reduce), methods=("min",))
register(var, var_backward, numpy=(np.var,), methods=("var",))
register(std, std_backward, numpy=(np.std,), methods=("std",))
register(logsumexp, logsumexp_backward, numpy=(np.logaddexp.reduce,), methods=("logsumexp",))
register(norm, norm_backward, numpy=(np.linalg.norm,), methods=("norm",))

"""Elementwise functions; their backward functions stand in ``grad/elementwise.py`` in the same order."""

from __future__ import annotations

import numpy as np

from ..grad.elementwise import (
    abs_backward,
    arccos_backward,
    arccosh_backward,
    arcsin_backward,
    arcsinh_backward,
    arctan2_backward,
    arctan_backward,
    arctanh_backward,
    cbrt_backward,
    ceil_backward,
    clip_backward,
    cos_backward,
    cosh_backward,
    erf_backward,
    exp2_backward,
    exp_backward,
    expm1_backward,
    floor_backward,
    hypot_backward,
    log1p_backward,
    log2_backward,
    log10_backward,
    log_backward,
    logaddexp_backward,
    maximum_backward,
    minimum_backward,
    nan_to_num_backward,
    positive_backward,
    rarctan2_backward,
    reciprocal_backward,
    remainder_backward,
    round_backward,
    rremainder_backward,
    sign_backward,
    sin_backward,
    sinh_backward,
    sqrt_backward,
    square_backward,
    tan_backward,
    tanh_backward,
    trunc_backward,
    where_backward,
)
from ..operand import binary, operand
from ..registry import register
from ..tensor import Tensor, as_tensor, create_node
from ..types import TensorLike
from .special import erf_values


def exp(x: TensorLike) -> Tensor:
    r"""Return :math:`e^x`, elementwise.

    Example:
        >>> from clumsygrad.core import math
        >>> math.exp([0.0]).tolist()
        [1.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.exp(x._data), exp_backward, (x,))


def expm1(x: TensorLike) -> Tensor:
    r"""Return :math:`e^x - 1`, elementwise, without loss of precision for small x.

    Example:
        >>> from clumsygrad.core import math
        >>> math.expm1([0.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.expm1(x._data), expm1_backward, (x,))


def log(x: TensorLike) -> Tensor:
    r"""Return the natural logarithm :math:`\ln x`, elementwise: -inf at 0 and NaN below, without a warning.

    Example:
        >>> from clumsygrad.core import math
        >>> math.log([1.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.log(x._data), log_backward, (x,))


def log1p(x: TensorLike) -> Tensor:
    r"""Return :math:`\ln(1 + x)`, elementwise, without loss of precision for small x.

    Example:
        >>> from clumsygrad.core import math
        >>> math.log1p([0.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.log1p(x._data), log1p_backward, (x,))


def log2(x: TensorLike) -> Tensor:
    r"""Return :math:`\log_2 x`, elementwise: -inf at 0 and NaN below, without a warning.

    Example:
        >>> from clumsygrad.core import math
        >>> math.log2([8.0]).tolist()
        [3.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.log2(x._data), log2_backward, (x,))


def log10(x: TensorLike) -> Tensor:
    r"""Return :math:`\log_{10} x`, elementwise: -inf at 0 and NaN below, without a warning.

    Example:
        >>> from clumsygrad.core import math
        >>> math.log10([1.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.log10(x._data), log10_backward, (x,))


def sqrt(x: TensorLike) -> Tensor:
    r"""Return :math:`\sqrt x`, elementwise: NaN below 0, and a gradient of +inf at 0.

    Example:
        >>> from clumsygrad.core import math
        >>> math.sqrt([4.0]).tolist()
        [2.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.sqrt(x._data), sqrt_backward, (x,))


def square(x: TensorLike) -> Tensor:
    r"""Return :math:`x^2`, elementwise.

    Example:
        >>> from clumsygrad.core import math
        >>> math.square([3.0]).tolist()
        [9.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(x._data * x._data, square_backward, (x,))


def reciprocal(x: TensorLike) -> Tensor:
    r"""Return :math:`1 / x`, elementwise: infinite at 0, without a warning.

    Example:
        >>> from clumsygrad.core import math
        >>> math.reciprocal([4.0]).tolist()
        [0.25]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(1 / x._data, reciprocal_backward, (x,))


def abs(x: TensorLike) -> Tensor:
    r"""Return :math:`|x|`, elementwise, with a gradient of 0 at 0.

    Example:
        >>> from clumsygrad.core import math
        >>> math.abs([-2.0]).tolist()
        [2.0]
    """
    x = as_tensor(x)
    return create_node(np.abs(x._data), abs_backward, (x,))


def sign(x: TensorLike) -> Tensor:
    r"""Return -1, 0 or 1 by the sign of x, elementwise, with a gradient of 0 everywhere.

    Example:
        >>> from clumsygrad.core import math
        >>> math.sign([-2.0, 0.0, 5.0]).tolist()
        [-1.0, 0.0, 1.0]
    """
    x = as_tensor(x)
    return create_node(np.sign(x._data), sign_backward, (x,))


def sin(x: TensorLike) -> Tensor:
    r"""Return :math:`\sin x`, elementwise, for x in radians.

    Example:
        >>> from clumsygrad.core import math
        >>> math.sin([0.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.sin(x._data), sin_backward, (x,))


def cos(x: TensorLike) -> Tensor:
    r"""Return :math:`\cos x`, elementwise, for x in radians.

    Example:
        >>> from clumsygrad.core import math
        >>> math.cos([0.0]).tolist()
        [1.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.cos(x._data), cos_backward, (x,))


def tan(x: TensorLike) -> Tensor:
    r"""Return :math:`\tan x`, elementwise, for x in radians.

    Example:
        >>> from clumsygrad.core import math
        >>> math.tan([0.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.tan(x._data), tan_backward, (x,))


def arcsin(x: TensorLike) -> Tensor:
    r"""Return :math:`\arcsin x` in radians, elementwise: NaN outside of [-1, 1].

    Example:
        >>> from clumsygrad.core import math
        >>> math.arcsin([0.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.arcsin(x._data), arcsin_backward, (x,))


def arccos(x: TensorLike) -> Tensor:
    r"""Return :math:`\arccos x` in radians, elementwise: NaN outside of [-1, 1].

    Example:
        >>> from clumsygrad.core import math
        >>> math.arccos([1.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.arccos(x._data), arccos_backward, (x,))


def arctan(x: TensorLike) -> Tensor:
    r"""Return :math:`\arctan x` in radians, elementwise.

    Example:
        >>> from clumsygrad.core import math
        >>> math.arctan([0.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    return create_node(np.arctan(x._data), arctan_backward, (x,))


def arctan2(y: TensorLike, x: TensorLike) -> Tensor:
    r"""Return the angle in radians of the point (x, y), elementwise: :math:`\arctan(y / x)` in the right quadrant.

    The gradient at the origin, where there is no angle, is 0.

    Example:
        >>> from clumsygrad.core import math
        >>> math.arctan2([0.0], [1.0]).tolist()
        [0.0]
    """
    return binary(np.arctan2, y, x, arctan2_backward, rarctan2_backward)


def hypot(x: TensorLike, y: TensorLike) -> Tensor:
    r"""Return :math:`\sqrt{x^2 + y^2}`, elementwise, without overflow on the way; its gradient at the origin is 0.

    Example:
        >>> from clumsygrad.core import math
        >>> math.hypot([3.0], [4.0]).tolist()
        [5.0]
    """
    with np.errstate(all="ignore"):
        return binary(np.hypot, x, y, hypot_backward, hypot_backward)


def sinh(x: TensorLike) -> Tensor:
    r"""Return :math:`\sinh x`, elementwise.

    Example:
        >>> from clumsygrad.core import math
        >>> math.sinh([0.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.sinh(x._data), sinh_backward, (x,))


def cosh(x: TensorLike) -> Tensor:
    r"""Return :math:`\cosh x`, elementwise.

    Example:
        >>> from clumsygrad.core import math
        >>> math.cosh([0.0]).tolist()
        [1.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.cosh(x._data), cosh_backward, (x,))


def tanh(x: TensorLike) -> Tensor:
    r"""Return :math:`\tanh x`, elementwise.

    Example:
        >>> from clumsygrad.core import math
        >>> math.tanh([0.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    return create_node(np.tanh(x._data), tanh_backward, (x,))


def erf(x: TensorLike) -> Tensor:
    r"""Return the error function :math:`\frac{2}{\sqrt\pi} \int_0^x e^{-t^2} dt`, elementwise.

    Correct to a few units in the last place.

    Example:
        >>> from clumsygrad.core import math
        >>> math.erf([0.0, 10.0]).tolist()
        [0.0, 1.0]
    """
    x = as_tensor(x)
    return create_node(erf_values(x._data), erf_backward, (x,))


def maximum(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the larger of ``x`` and ``y``, elementwise; where they are equal each gets half of the gradient.

    Example:
        >>> from clumsygrad.core import math
        >>> math.maximum([1.0, 5.0], 3.0).tolist()
        [3.0, 5.0]
    """
    return binary(np.maximum, x, y, maximum_backward, maximum_backward)


def minimum(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the smaller of ``x`` and ``y``, elementwise; where they are equal each gets half of the gradient.

    Example:
        >>> from clumsygrad.core import math
        >>> math.minimum([1.0, 5.0], 3.0).tolist()
        [1.0, 3.0]
    """
    return binary(np.minimum, x, y, minimum_backward, minimum_backward)


def clip(
    x: TensorLike,
    a_min: TensorLike | None = None,
    a_max: TensorLike | None = None,
    *,
    min: TensorLike | None = None,
    max: TensorLike | None = None,
) -> Tensor:
    """Return ``x`` limited to the range from ``a_min`` to ``a_max`` (or ``min`` to ``max``), elementwise.

    A value on a bound passes its gradient; one outside passes it to the bound, when that is a Tensor.

    Raises:
        ValueError: when a bound is given under both of its names.

    Example:
        >>> from clumsygrad.core import math
        >>> math.clip([-1.0, 0.5, 2.0], 0, 1).tolist()
        [0.0, 0.5, 1.0]
    """
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise ValueError("clip takes each bound once: as a_min or min, and as a_max or max")
    low = None if (bound := a_min if min is None else min) is None else operand(bound)
    high = None if (bound := a_max if max is None else max) is None else operand(bound)
    x = as_tensor(x)
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        result = x if low is None else where(x < low, low, x)
        return result if high is None else where(result > high, high, result)
    return create_node(np.clip(x._data, low, high), clip_backward, (x,), {"a_min": low, "a_max": high})


def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """Return ``x`` where ``condition`` holds, else ``y``, elementwise.

    The branch not taken gets a gradient of exactly 0, which stays 0 through slopes that are infinite there.

    Example:
        >>> from clumsygrad.core import math
        >>> math.where([True, False], [1.0, 2.0], 0.0).tolist()
        [1.0, 0.0]
    """
    mask = np.asarray(condition._data if isinstance(condition, Tensor) else condition, dtype=bool)
    left, right = operand(x), operand(y)
    if isinstance(right, Tensor):
        if isinstance(left, Tensor):
            return create_node(np.where(mask, left._data, right._data), where_backward, (left, right), {"mask": mask})
        extra = {"mask": ~mask, "scalar_value": left}
        return create_node(np.where(mask, left, right._data), where_backward, (right,), extra)
    left = as_tensor(left)
    extra = {"mask": mask, "scalar_value": right}
    return create_node(np.where(mask, left._data, right), where_backward, (left,), extra)


def positive(x: TensorLike) -> Tensor:
    r"""Return :math:`+x`: the values again, as a result of their own.

    Example:
        >>> from clumsygrad.core import math
        >>> math.positive([1.0]).tolist()
        [1.0]
    """
    x = as_tensor(x)
    return create_node(x._data.copy(), positive_backward, (x,))


def exp2(x: TensorLike) -> Tensor:
    r"""Return :math:`2^x`, elementwise.

    Example:
        >>> from clumsygrad.core import math
        >>> math.exp2([3.0]).tolist()
        [8.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.exp2(x._data), exp2_backward, (x,))


def cbrt(x: TensorLike) -> Tensor:
    r"""Return :math:`\sqrt[3] x`, elementwise, of negative numbers too; its gradient at 0 is +inf.

    Example:
        >>> from clumsygrad.core import math
        >>> math.cbrt([-8.0]).tolist()
        [-2.0]
    """
    x = as_tensor(x)
    return create_node(np.cbrt(x._data), cbrt_backward, (x,))


def arcsinh(x: TensorLike) -> Tensor:
    r"""Return the inverse of :math:`\sinh`, elementwise.

    Example:
        >>> from clumsygrad.core import math
        >>> math.arcsinh([0.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    return create_node(np.arcsinh(x._data), arcsinh_backward, (x,))


def arccosh(x: TensorLike) -> Tensor:
    r"""Return the inverse of :math:`\cosh`, elementwise: NaN below 1.

    Example:
        >>> from clumsygrad.core import math
        >>> math.arccosh([1.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.arccosh(x._data), arccosh_backward, (x,))


def arctanh(x: TensorLike) -> Tensor:
    r"""Return the inverse of :math:`\tanh`, elementwise: NaN outside of [-1, 1].

    Example:
        >>> from clumsygrad.core import math
        >>> math.arctanh([0.0]).tolist()
        [0.0]
    """
    x = as_tensor(x)
    with np.errstate(all="ignore"):
        return create_node(np.arctanh(x._data), arctanh_backward, (x,))


def floor(x: TensorLike) -> Tensor:
    r"""Return the largest whole number that is not above x, elementwise, with a gradient of 0.

    Example:
        >>> from clumsygrad.core import math
        >>> math.floor([-1.5, 1.5]).tolist()
        [-2.0, 1.0]
    """
    x = as_tensor(x)
    return create_node(np.floor(x._data), floor_backward, (x,))


def ceil(x: TensorLike) -> Tensor:
    r"""Return the smallest whole number that is not below x, elementwise, with a gradient of 0.

    Example:
        >>> from clumsygrad.core import math
        >>> math.ceil([-1.5, 1.5]).tolist()
        [-1.0, 2.0]
    """
    x = as_tensor(x)
    return create_node(np.ceil(x._data), ceil_backward, (x,))


def trunc(x: TensorLike) -> Tensor:
    r"""Return x without its fraction, elementwise, with a gradient of 0.

    Example:
        >>> from clumsygrad.core import math
        >>> math.trunc([-1.5, 1.5]).tolist()
        [-1.0, 1.0]
    """
    x = as_tensor(x)
    return create_node(np.trunc(x._data), trunc_backward, (x,))


def round(x: TensorLike, decimals: int = 0) -> Tensor:
    """Return ``x`` rounded to so many decimals, half to even, elementwise, with a gradient of 0.

    Example:
        >>> from clumsygrad.core import math
        >>> math.round([0.5, 1.5]).tolist()
        [0.0, 2.0]
    """
    x = as_tensor(x)
    return create_node(np.round(x._data, decimals), round_backward, (x,))


def remainder(x: TensorLike, y: TensorLike) -> Tensor:
    r"""Return :math:`x - y \lfloor x / y \rfloor`, elementwise: the remainder, with the sign of ``y``.

    Example:
        >>> from clumsygrad.core import Tensor
        >>> (Tensor([-1.0, 7.0]) % 3).tolist()
        [2.0, 1.0]
    """
    with np.errstate(all="ignore"):
        return binary(np.remainder, x, y, remainder_backward, rremainder_backward)


def rremainder(x: TensorLike, y: TensorLike) -> Tensor:
    """Return ``y % x``: the operator with the Tensor on the right."""
    return remainder(y, x)


def logaddexp(x: TensorLike, y: TensorLike) -> Tensor:
    r"""Return :math:`\ln(e^x + e^y)`, elementwise, without overflow on the way.

    Example:
        >>> from clumsygrad.core import math
        >>> math.logaddexp([1000.0], [-1000.0]).tolist()
        [1000.0]
    """
    with np.errstate(all="ignore"):
        return binary(np.logaddexp, x, y, logaddexp_backward, logaddexp_backward)


def nan_to_num(x: TensorLike, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """Return ``x`` with NaN and infinities replaced, elementwise; what was replaced gets a gradient of 0.

    Args:
        x: any shape.
        nan: what stands for NaN.
        posinf: what stands for infinity; the largest finite number by default.
        neginf: what stands for -infinity; the smallest finite number by default.

    Example:
        >>> from clumsygrad.core import math
        >>> math.nan_to_num([float("nan"), 1.0]).tolist()
        [0.0, 1.0]
    """
    x = as_tensor(x)
    data = np.nan_to_num(x._data, nan=nan, posinf=posinf, neginf=neginf)
    return create_node(data, nan_to_num_backward, (x,))


register(exp, exp_backward, numpy=(np.exp,), methods=("exp",))
register(expm1, expm1_backward, numpy=(np.expm1,), methods=("expm1",))
register(log, log_backward, numpy=(np.log,), methods=("log",))
register(log1p, log1p_backward, numpy=(np.log1p,), methods=("log1p",))
register(log2, log2_backward, numpy=(np.log2,), methods=("log2",))
register(log10, log10_backward, numpy=(np.log10,), methods=("log10",))
register(sqrt, sqrt_backward, numpy=(np.sqrt,), methods=("sqrt",))
register(square, square_backward, numpy=(np.square,), methods=("square",))
register(reciprocal, reciprocal_backward, numpy=(np.reciprocal,), methods=("reciprocal",))
register(
    abs,
    abs_backward,
    numpy=(
        np.absolute,
        np.fabs,
    ),
    methods=("abs", "__abs__"),
)
register(sign, sign_backward, numpy=(np.sign,), methods=("sign",))
register(sin, sin_backward, numpy=(np.sin,), methods=("sin",))
register(cos, cos_backward, numpy=(np.cos,), methods=("cos",))
register(tan, tan_backward, numpy=(np.tan,), methods=("tan",))
register(arcsin, arcsin_backward, numpy=(np.arcsin,), methods=("arcsin",))
register(arccos, arccos_backward, numpy=(np.arccos,), methods=("arccos",))
register(arctan, arctan_backward, numpy=(np.arctan,), methods=("arctan",))
register(arctan2, arctan2_backward, numpy=(np.arctan2,), methods=("arctan2",))
register(hypot, hypot_backward, numpy=(np.hypot,), methods=("hypot",))
register(sinh, sinh_backward, numpy=(np.sinh,), methods=("sinh",))
register(cosh, cosh_backward, numpy=(np.cosh,), methods=("cosh",))
register(tanh, tanh_backward, numpy=(np.tanh,), methods=("tanh",))
register(erf, erf_backward, methods=("erf",))
register(maximum, maximum_backward, numpy=(np.maximum,), methods=("maximum",))
register(minimum, minimum_backward, numpy=(np.minimum,), methods=("minimum",))
register(clip, clip_backward, numpy=(np.clip,), methods=("clip",))
register(where, where_backward, numpy=(np.where,))
register(positive, positive_backward, numpy=(np.positive, np.copy), methods=("__pos__",))
register(exp2, exp2_backward, numpy=(np.exp2,), methods=("exp2",))
register(cbrt, cbrt_backward, numpy=(np.cbrt,), methods=("cbrt",))
register(arcsinh, arcsinh_backward, numpy=(np.arcsinh,), methods=("arcsinh",))
register(arccosh, arccosh_backward, numpy=(np.arccosh,), methods=("arccosh",))
register(arctanh, arctanh_backward, numpy=(np.arctanh,), methods=("arctanh",))
register(floor, floor_backward, numpy=(np.floor,), methods=("floor",))
register(ceil, ceil_backward, numpy=(np.ceil,), methods=("ceil",))
register(trunc, trunc_backward, numpy=(np.trunc, np.fix), methods=("trunc",))
register(round, round_backward, numpy=(np.round, np.around, np.rint), methods=("round",))
register(remainder, remainder_backward, numpy=(np.remainder,), methods=("__mod__",))
register(rremainder, rremainder_backward, methods=("__rmod__",))
register(logaddexp, logaddexp_backward, numpy=(np.logaddexp,), methods=("logaddexp",))
register(nan_to_num, nan_to_num_backward, numpy=(np.nan_to_num,), methods=("nan_to_num",))

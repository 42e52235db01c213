"""Running sums and products; backward functions in ``grad/cumulative.py`` in the same order."""

from __future__ import annotations

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..grad.cumulative import cumprod_backward, cumsum_backward
from ..registry import register
from ..tensor import Tensor, as_tensor, create_node
from ..types import TensorLike
from .shaping import flatten


def _along(x: TensorLike, axis: int | None) -> tuple[Tensor, int]:
    """Return the tensor and the axis to run along; a flattened tensor when no axis is given."""
    x = as_tensor(x)
    if axis is None or not x._data.ndim:
        return flatten(x), normalize_axis_index(0 if axis is None else axis, 1)
    return x, normalize_axis_index(axis, x._data.ndim)


def cumsum(x: TensorLike, axis: int | None = None) -> Tensor:
    r"""Return the running sum :math:`y_i = \sum_{j \le i} x_j` along ``axis``.

    Args:
        x: any shape.
        axis: the axis to sum along; None for the flattened tensor.

    Example:
        >>> from clumsygrad.core import math
        >>> math.cumsum([1.0, 2.0, 3.0]).tolist()
        [1.0, 3.0, 6.0]
    """
    x, axis = _along(x, axis)
    return create_node(np.add.accumulate(x._data, axis), cumsum_backward, (x,), {"axis": axis})


def cumprod(x: TensorLike, axis: int | None = None) -> Tensor:
    r"""Return the running product :math:`y_i = \prod_{j \le i} x_j` along ``axis``.

    The gradient is exact also where elements are 0.

    Args:
        x: any shape.
        axis: the axis to multiply along; None for the flattened tensor.

    Example:
        >>> from clumsygrad.core import math
        >>> math.cumprod([1.0, 2.0, 3.0]).tolist()
        [1.0, 2.0, 6.0]
    """
    x, axis = _along(x, axis)
    with np.errstate(all="ignore"):
        return create_node(np.multiply.accumulate(x._data, axis), cumprod_backward, (x,), {"axis": axis})


register(cumsum, cumsum_backward, numpy=(np.cumsum, np.add.accumulate), methods=("cumsum",))
register(cumprod, cumprod_backward, numpy=(np.cumprod, np.multiply.accumulate), methods=("cumprod",))

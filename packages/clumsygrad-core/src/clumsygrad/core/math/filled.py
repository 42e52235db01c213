"""Constants of the shape of another tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from ..mode import precision
from ..registry import register
from ..tensor import Tensor, wrap
from ..types import TensorLike
from .shaping import broadcast_to


def zeros_like(x: TensorLike, *, shape: SupportsIndex | Sequence[SupportsIndex] | None = None) -> Tensor:
    """Return an INPUT tensor of zeros, of the shape of ``x`` unless another is given.

    Example:
        >>> from clumsygrad.core import math
        >>> math.zeros_like([1.0, 2.0]).tolist()
        [0.0, 0.0]
    """
    return full_like(x, 0, shape=shape)


def ones_like(x: TensorLike, *, shape: SupportsIndex | Sequence[SupportsIndex] | None = None) -> Tensor:
    """Return an INPUT tensor of ones, of the shape of ``x`` unless another is given.

    Example:
        >>> from clumsygrad.core import math
        >>> math.ones_like([1.0, 2.0]).tolist()
        [1.0, 1.0]
    """
    return full_like(x, 1, shape=shape)


def full_like(
    x: TensorLike, fill_value: float | Tensor, *, shape: SupportsIndex | Sequence[SupportsIndex] | None = None
) -> Tensor:
    """Return an INPUT tensor with every element ``fill_value``, of the shape of ``x`` unless another is given.

    A fill value that is a Tensor is broadcast, and passes its gradient on.

    Example:
        >>> from clumsygrad.core import math
        >>> math.full_like([1.0, 2.0], 7).tolist()
        [7.0, 7.0]
    """
    if isinstance(fill_value, Tensor):
        return broadcast_to(fill_value, np.shape(x) if shape is None else shape)
    return wrap(np.full(np.shape(x) if shape is None else shape, fill_value, precision.get()))


register(zeros_like, numpy=(np.zeros_like, np.empty_like), differentiable=False)
register(ones_like, numpy=(np.ones_like,), differentiable=False)
register(full_like, numpy=(np.full_like,), differentiable=False)

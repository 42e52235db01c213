"""Making leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from .mode import precision
from .tensor import Tensor as Tensor
from .tensor import as_tensor as as_tensor
from .tensor import check_leaf_type, wrap
from .tensor import create_node as create_node
from .tensor import mark_updated as mark_updated
from .tensor_type import TensorType
from .types import TensorLike

ShapeLike = SupportsIndex | Sequence[SupportsIndex]

_INPUT = TensorType.INPUT


def tensor(data: TensorLike, tensor_type: TensorType = TensorType.INPUT) -> Tensor:
    """Return an INPUT tensor that holds a float32 copy of ``data``.

    Example:
        >>> from clumsygrad.core import tensor
        >>> tensor([[1, 2], [3, 4]]).shape
        (2, 2)
    """
    return Tensor(data, tensor_type)


def parameter(data: TensorLike) -> Tensor:
    """Return a PARAMETER tensor, a leaf to train, that holds a float32 copy of ``data``.

    Example:
        >>> from clumsygrad.core import parameter
        >>> parameter([1.0]).requires_grad
        True
    """
    return Tensor(data, TensorType.PARAMETER)


def zeros(shape: ShapeLike, *, tensor_type: TensorType = _INPUT) -> Tensor:
    """Return a tensor of zeros.

    Example:
        >>> from clumsygrad.core import zeros
        >>> zeros((2, 3)).shape
        (2, 3)
    """
    return _leaf(np.zeros(shape, precision.get()), tensor_type)


def ones(shape: ShapeLike, *, tensor_type: TensorType = _INPUT) -> Tensor:
    """Return a tensor of ones.

    Example:
        >>> from clumsygrad.core import ones
        >>> ones(2).tolist()
        [1.0, 1.0]
    """
    return _leaf(np.ones(shape, precision.get()), tensor_type)


def full(shape: ShapeLike, fill_value: float, *, tensor_type: TensorType = _INPUT) -> Tensor:
    """Return a tensor with every element ``fill_value``.

    Example:
        >>> from clumsygrad.core import full
        >>> full((2,), 0.5).tolist()
        [0.5, 0.5]
    """
    return _leaf(np.full(shape, fill_value, precision.get()), tensor_type)


def eye(n: int, m: int | None = None, *, tensor_type: TensorType = _INPUT) -> Tensor:
    """Return the identity matrix of shape (n, m), square by default.

    Example:
        >>> from clumsygrad.core import eye
        >>> eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return _leaf(np.eye(n, m, dtype=precision.get()), tensor_type)


def arange(start: float, stop: float | None = None, step: float = 1, *, tensor_type: TensorType = _INPUT) -> Tensor:
    """Return evenly spaced values from ``start`` (0 when only one bound is given) up to, not including, ``stop``.

    Example:
        >>> from clumsygrad.core import arange
        >>> arange(3).tolist()
        [0.0, 1.0, 2.0]
    """
    values = np.arange(start, step=step) if stop is None else np.arange(start, stop, step)
    return _leaf(values.astype(precision.get()), tensor_type)


def from_numpy(array: npt.NDArray[Any], *, tensor_type: TensorType = _INPUT) -> Tensor:
    """Return a tensor that shares the memory of a float32 array.

    What is written into the array shows in the tensor, unseen by the graph: see :func:`mark_updated`.

    Raises:
        TypeError: for anything but an array of the precision in force.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.core import from_numpy
        >>> values = np.zeros(2, np.float32)
        >>> t = from_numpy(values)
        >>> values[0] = 7
        >>> t.tolist()
        [7.0, 0.0]
    """
    given = cast("object", array)
    if not isinstance(given, np.ndarray) or array.dtype != precision.get():
        kind = f"an array of {array.dtype}" if isinstance(given, np.ndarray) else f"a {type(given).__name__}"
        raise TypeError(
            f"from_numpy shares memory, which takes a NumPy array of {precision.get()}; received {kind}. "
            "Use tensor(data) for a converted copy"
        )
    return _leaf(array, tensor_type)


def _leaf(data: npt.NDArray[Any], tensor_type: TensorType) -> Tensor:
    check_leaf_type(tensor_type)
    return wrap(data, tensor_type)

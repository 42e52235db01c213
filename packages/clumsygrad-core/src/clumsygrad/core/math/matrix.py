"""Products of matrices; backward functions in ``grad/matrix.py`` in the same order."""

from __future__ import annotations

from typing import cast

import numpy as np

from ..grad.matrix import matmul_backward
from ..operand import operand
from ..registry import register
from ..tensor import Tensor, create_node
from ..types import TensorLike


def matmul(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the matrix product ``x @ y``, with NumPy's rules for every rank.

    Args:
        x: shape (..., n, k), or (k,).
        y: shape (..., k, m), or (k,).

    Returns:
        Shape (..., n, m), in which a vector operand's axis is missing.

    Raises:
        ValueError: for scalars, and when the inner lengths or the stacks don't match.

    Example:
        >>> from clumsygrad.core import math
        >>> math.matmul([[1.0, 2.0]], [3.0, 4.0]).tolist()
        [11.0]
    """
    left, right = operand(x), operand(y)
    if left is NotImplemented or right is NotImplemented:
        return cast("Tensor", NotImplemented)
    if not isinstance(left, Tensor) or not isinstance(right, Tensor):
        raise ValueError("a matrix product needs operands of at least one axis; received a scalar. Use * to scale")
    return create_node(np.matmul(left._data, right._data), matmul_backward, (left, right))


def rmatmul(x: TensorLike, y: TensorLike) -> Tensor:
    """Return ``y @ x``: the operator with the Tensor on the right."""
    return matmul(y, x)


register(matmul, matmul_backward, numpy=(np.matmul,), methods=("__matmul__", "matmul"))
register(rmatmul, methods=("__rmatmul__",), differentiable=False)

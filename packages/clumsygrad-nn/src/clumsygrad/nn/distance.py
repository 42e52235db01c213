"""Distances and similarities of vectors."""

from __future__ import annotations

import numpy as np

from clumsygrad.core import Array, GradientTuple, Tensor, TensorLike, as_tensor, create_node
from clumsygrad.core import math as _math


def p_norm(x: Tensor, p: float, *, keepdim: bool = False) -> Tensor:
    r"""Return :math:`(\sum_i |x_i|^p)^{1/p}` over the last axis, with a gradient of 0 where it is 0.

    Args:
        x: shape (..., D).
        p: the order, above 0; infinity gives the largest magnitude.
        keepdim: keep the last axis, at length 1.

    Raises:
        ValueError: for another order.
    """
    if not p > 0:
        raise ValueError(f"a norm's order p lies above 0; received {p}")
    sizes = _math.abs(x)
    if p == 1:
        return sizes.sum(-1, keepdims=keepdim)
    if p == np.inf:
        return sizes.max(-1, keepdims=keepdim)
    if p != 2:
        # Divided by the largest before the power, which would leave float32's range.
        largest = np.maximum.reduce(sizes.data, axis=-1, keepdims=True)
        largest = np.where(largest == 0, 1, largest)
        total = ((sizes / largest) ** p).sum(-1, keepdims=True)
        result = _root(total, p) * largest
    else:
        result = _length(x)
    return result if keepdim else result.reshape(result.shape[:-1])


def _length(x: Tensor) -> Tensor:
    with np.errstate(under="ignore", over="ignore"):
        result = np.sqrt(np.add.reduce(x.data * x.data, axis=-1, keepdims=True))
    return create_node(result, length_backward, (x,))


def length_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * x / y``, 0 where the length y is 0."""
    y = tensor.data
    zero = y == 0
    return (np.where(zero, 0, grad / np.where(zero, 1, y)) * tensor.parents[0].data,)


def _root(total: Tensor, p: float) -> Tensor:
    """Return the p-th root, with a gradient of 0 at 0."""
    zero = total == 0
    return _math.where(zero, 0.0, _math.where(zero, 1.0, total) ** (1 / p))


def pairwise_distance(
    x1: TensorLike, x2: TensorLike, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    r"""Return :math:`\lVert x_1 - x_2 + \epsilon \rVert_p` over the last axis.

    Args:
        x1: shape (N, D) or (D,).
        x2: the same shape, or one that broadcasts with it.
        p: the order of the norm.
        eps: what is added to every difference, so that the distance is not 0.
        keepdim: keep the last axis, at length 1.

    Example:
        >>> from clumsygrad.nn.functional import pairwise_distance
        >>> round(pairwise_distance([3.0, 0.0], [0.0, 4.0]).item(), 4)
        5.0
    """
    return p_norm(as_tensor(x1) - as_tensor(x2) + eps, p, keepdim=keepdim)


def cosine_similarity(x1: TensorLike, x2: TensorLike, dim: int = 1, eps: float = 1e-8) -> Tensor:
    r"""Return :math:`x_1 \cdot x_2 / (\max(\lVert x_1 \rVert, \epsilon) \max(\lVert x_2 \rVert, \epsilon))`.

    Args:
        x1: any shape.
        x2: the same shape, or one that broadcasts with it.
        dim: the axis of the vectors.
        eps: the smallest length that is divided by.

    Example:
        >>> from clumsygrad.nn.functional import cosine_similarity
        >>> cosine_similarity([[3.0, 0.0]], [[5.0, 0.0]]).tolist()
        [1.0]
    """
    first, second = _math.swapaxes(as_tensor(x1), dim, -1), _math.swapaxes(as_tensor(x2), dim, -1)
    product = _over_length(first, eps) * _over_length(second, eps)
    return product.sum(-1)


def _over_length(x: Tensor, eps: float) -> Tensor:
    return x / _math.clip(_length(x), eps, None)


def normalize(input: TensorLike, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    r"""Return :math:`x / \max(\lVert x \rVert_p, \epsilon)` over the axis ``dim``.

    Example:
        >>> from clumsygrad.nn.functional import normalize
        >>> normalize([[3.0, 4.0]]).data.round(4)
        array([[0.6, 0.8]], dtype=float32)
    """
    x = _math.swapaxes(as_tensor(input), dim, -1)
    return _math.swapaxes(x / _math.clip(p_norm(x, p, keepdim=True), eps, None), dim, -1)

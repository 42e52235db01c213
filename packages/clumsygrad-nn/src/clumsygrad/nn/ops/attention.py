"""The weights of attention: scaled products, masks and softmax, as one node."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Array, GradientTuple, Tensor, create_node, unbroadcast


def attention_weights(
    query: Tensor, key: Tensor, mask: Tensor | None, allowed: npt.NDArray[np.bool_] | None, scale: float
) -> Tensor:
    """Return the softmax of ``scale * query @ key.mT + mask`` over the keys, with 0 where it is not ``allowed``.

    A row in which nothing is allowed is 0 throughout.

    Args:
        query: shape (..., L, E).
        key: shape (..., S, E).
        mask: what is added, broadcast to (..., L, S); or None.
        allowed: booleans, broadcast to (..., L, S); or None for True.
        scale: the factor.

    Returns:
        Shape (..., L, S).
    """
    scores: Array = np.matmul(query.data * scale, key.data.swapaxes(-1, -2))
    parents: tuple[Tensor, ...] = (query, key)
    if mask is not None:
        scores = _spacious(scores, mask.shape)
        scores += mask.data
        parents = (query, key, mask)
    if allowed is not None:
        scores = _spacious(scores, allowed.shape)
        np.copyto(scores, -np.inf, where=~allowed)
    return create_node(_softmax(scores), attention_weights_backward, parents, {"scale": scale})


def _spacious(scores: Array, shape: tuple[int, ...]) -> Array:
    """Return ``scores`` with room for a mask that has more leading axes."""
    whole = np.broadcast_shapes(scores.shape, shape)
    return scores if whole == scores.shape else np.array(np.broadcast_to(scores, whole))


def _softmax(scores: Array) -> Array:
    """Return the softmax over the last axis, in the array's own memory; 0 for a row of -inf."""
    largest: Any = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    scores -= np.where(largest == -np.inf, 0, largest)
    np.exp(scores, out=scores)
    total: Any = scores.sum(axis=-1, keepdims=True)
    scores /= np.where(total == 0, 1, total)
    return scores


def attention_weights_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``w * (g - sum(g * w))`` for the scores, which is the mask's gradient; times the keys, and the queries."""
    query, key, *mask = tensor.parents
    scale: float = tensor.extra["scale"]
    weights = tensor.data
    inner = grad * weights
    slope = inner - weights * inner.sum(axis=-1, keepdims=True)
    mask_grads = tuple(unbroadcast(slope, parent.shape) if parent.requires_grad else None for parent in mask)
    scaled = slope * scale
    return (
        unbroadcast(scaled @ key.data, query.shape) if query.requires_grad else None,
        unbroadcast(scaled.swapaxes(-1, -2) @ query.data, key.shape) if key.requires_grad else None,
        *mask_grads,
    )

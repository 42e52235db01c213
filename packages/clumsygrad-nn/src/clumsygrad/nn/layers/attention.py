"""Attention: weighted means of values, where the weights are how well a query fits each key."""

from __future__ import annotations

import math
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from clumsygrad.core import Shape, Tensor, TensorLike, as_tensor
from clumsygrad.core.math import concatenate

from .. import init
from ..module import Module, Parameter
from ..ops.attention import attention_weights
from .dropout import dropout
from .linear import Linear, linear

Mask: TypeAlias = Tensor | npt.NDArray[Any]
"""Booleans, or numbers that are added to the scores."""


def scaled_dot_product_attention(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    attn_mask: Mask | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    rng: Generator | None = None,
) -> Tensor:
    r"""Return for each query the mean of the values, weighted by how well it fits their keys.

    .. math:: \mathrm{softmax}(s\, Q K^T + M)\, V

    Args:
        query: Q, of shape (..., L, E).
        key: K, of shape (..., S, E).
        value: V, of shape (..., S, Ev).
        attn_mask: booleans, True where a query may look at a key; or M, numbers that are added. It is broadcast to
            (..., L, S). A query that may look at nothing gets 0, and gradients of 0.
        dropout_p: the probability with which each weight is left out.
        is_causal: whether query i looks at keys 0 to i only.
        scale: s; 1/sqrt(E) when None.
        enable_gqa: whether axis -3 of the query, its heads, may be a multiple of that of the key and the value, of
            which each then serves several heads.
        rng: what draws the dropout; the default generator when None.

    Returns:
        Shape (..., L, Ev).

    Raises:
        ValueError: when the shapes don't match, or a mask is given besides is_causal.

    References:
        Vaswani et al. 2017, "Attention Is All You Need".

    Example:
        >>> from clumsygrad.nn.functional import scaled_dot_product_attention
        >>> scaled_dot_product_attention([[1.0, 0.0]], [[9.0, 0.0], [0.0, 0.0]], [[1.0], [0.0]]).data.round(2).tolist()
        [[1.0]]
    """
    q, k, v = as_tensor(query), as_tensor(key), as_tensor(value)
    if enable_gqa:
        k, v = _repeat_heads(q, k), _repeat_heads(q, v)
    weights = _weights(q, k, v, attn_mask, is_causal, scale)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p, rng=rng)
    return weights @ v


def _weights(q: Tensor, k: Tensor, v: Tensor, attn_mask: Mask | None, is_causal: bool, scale: float | None) -> Tensor:
    if min(q.ndim, k.ndim, v.ndim) < 2 or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(
            "attention takes a query (..., L, E), a key (..., S, E) and a value (..., S, Ev); received "
            f"{q.shape}, {k.shape} and {v.shape}"
        )
    if is_causal and attn_mask is not None:
        raise ValueError("is_causal is a mask of its own; received an attn_mask besides. Combine them into attn_mask")
    pairs = (q.shape[-2], k.shape[-2])
    allowed: npt.NDArray[np.bool_] | None = None
    added: Tensor | None = None
    if is_causal:
        allowed = np.tri(*pairs, dtype=np.bool_)
    elif attn_mask is not None:
        try:
            np.broadcast_shapes(attn_mask.shape, (*q.shape[:-2], *pairs))
        except ValueError:
            raise ValueError(
                f"attn_mask is broadcast to (..., L, S), here {(*q.shape[:-2], *pairs)}; received {attn_mask.shape}"
            ) from None
        if isinstance(attn_mask, np.ndarray) and attn_mask.dtype == np.bool_:
            allowed = cast("npt.NDArray[np.bool_]", attn_mask)
        else:
            added = as_tensor(attn_mask)
    return attention_weights(q, k, added, allowed, 1 / math.sqrt(q.shape[-1]) if scale is None else scale)


def _repeat_heads(q: Tensor, x: Tensor) -> Tensor:
    if min(q.ndim, x.ndim) < 3 or not x.shape[-3] or q.shape[-3] % x.shape[-3]:
        raise ValueError(
            "with enable_gqa the query's heads, on axis -3, are a multiple of the key's and the value's; received "
            f"{q.shape} and {x.shape}"
        )
    return x[..., np.repeat(np.arange(x.shape[-3]), q.shape[-3] // x.shape[-3]), :, :]


class MultiheadAttention(Module):
    r"""Attention of several heads, each with its own projections of queries, keys and values.

    Args:
        embed_dim: E, the length of the queries and of the results, a multiple of num_heads.
        num_heads: how many heads share it.
        dropout: the probability with which each attention weight is left out in training.
        bias: whether the projections have a bias.
        add_bias_kv: whether one learned key and value is appended to the others.
        add_zero_attn: whether a key and a value of zeros are appended.
        kdim: the length of the keys; E when None.
        vdim: the length of the values; E when None.
        batch_first: whether the batch is the first axis rather than the second.
        rng: what draws the initial values; the default generator when None.

    Shapes:
        query (L, N, E), key (S, N, kdim), value (S, N, vdim) to (L, N, E); with batch_first N comes first; without a
        batch there is no N.

    Raises:
        ValueError: when embed_dim is no multiple of num_heads.

    References:
        Vaswani et al. 2017, "Attention Is All You Need".

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import MultiheadAttention
        >>> x = zeros((2, 5, 8))
        >>> output, weights = MultiheadAttention(8, 2, batch_first=True)(x, x, x)
        >>> output.shape, weights.shape
        ((2, 5, 8), (2, 5, 5))
    """

    embed_dim: int
    num_heads: int
    head_dim: int
    dropout: float
    batch_first: bool
    add_zero_attn: bool
    kdim: int
    vdim: int
    in_proj_weight: Tensor | None
    q_proj_weight: Tensor | None
    k_proj_weight: Tensor | None
    v_proj_weight: Tensor | None
    in_proj_bias: Tensor | None
    bias_k: Tensor | None
    bias_v: Tensor | None
    out_proj: Linear
    rng: Generator | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        *,
        rng: Generator | None = None,
    ) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim < 1 or embed_dim % num_heads:
            raise ValueError(
                f"embed_dim is a positive multiple of num_heads; received embed_dim={embed_dim} and "
                f"num_heads={num_heads}"
            )
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.add_zero_attn = add_zero_attn
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.rng = rng
        packed = self.kdim == embed_dim and self.vdim == embed_dim
        for name, rows, columns, present in (
            ("in_proj_weight", 3 * embed_dim, embed_dim, packed),
            ("q_proj_weight", embed_dim, embed_dim, not packed),
            ("k_proj_weight", embed_dim, self.kdim, not packed),
            ("v_proj_weight", embed_dim, self.vdim, not packed),
        ):
            self.register_parameter(name, Parameter(np.empty((rows, columns))) if present else None)
        self.register_parameter("in_proj_bias", Parameter(np.zeros(3 * embed_dim)) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, rng=rng)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, Parameter(np.empty((1, 1, embed_dim))) if add_bias_kv else None)
        self.reset_parameters(rng=rng)

    def reset_parameters(self, *, rng: Generator | None = None) -> None:
        """Draw the initial values anew: Xavier's for the projections, 0 for their biases."""
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight, rng=rng)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)
        for row in (self.bias_k, self.bias_v):
            if row is not None:
                init.xavier_normal_(row, rng=rng)

    def forward(  # type: ignore[override]  # it returns the weights, too
        self,
        query: TensorLike,
        key: TensorLike,
        value: TensorLike,
        key_padding_mask: Mask | None = None,
        need_weights: bool = True,
        attn_mask: Mask | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the results, and the attention weights.

        Args:
            query: shape (L, N, E).
            key: shape (S, N, kdim).
            value: shape (S, N, vdim).
            key_padding_mask: shape (N, S); booleans, True for a key that is left out, or numbers that are added.
            need_weights: whether to return the weights; None is returned in their place otherwise.
            attn_mask: shape (L, S) or (N * num_heads, L, S); booleans, True where a query may NOT look at a key (the
                opposite of :func:`~clumsygrad.nn.functional.scaled_dot_product_attention`, as in PyTorch), or numbers
                that are added.
            average_attn_weights: whether the weights are the heads' mean, (N, L, S), or each head's,
                (N, num_heads, L, S).
            is_causal: whether query i looks at keys 0 to i only. It needs no attn_mask; given one, that alone counts.

        Raises:
            ValueError: when the shapes don't match.
        """
        # The same object three times is projected once.
        same_key, same_value = key is query, value is key
        q = as_tensor(query)
        k = q if same_key else as_tensor(key)
        v = k if same_value else as_tensor(value)
        self._check(q, k, v)
        single = q.ndim == 2
        q, k, v = self._project(q, k, v)
        batch_axis = 0 if self.batch_first else 1
        if single:
            q, k, v = (_insert_axis(x, batch_axis) for x in (q, k, v))
        extra_keys = (self.bias_k is not None) + self.add_zero_attn
        if extra_keys:
            k, v = self._append(k, self.bias_k), self._append(v, self.bias_v)
        heads = [self._split_heads(x) for x in (q, k, v)]
        mask = self._mask(heads[0].shape, heads[1].shape[2], extra_keys, key_padding_mask, attn_mask, is_causal)
        weights = _weights(heads[0], heads[1], heads[2], mask, False, None)
        if self.training and self.dropout > 0:
            weights = dropout(weights, self.dropout, rng=self.rng)
        output = self.out_proj(self._merge_heads(weights @ heads[2]))
        if single:
            output = output.reshape(output.shape[1 - batch_axis], self.embed_dim)
        if not need_weights:
            return output, None
        shown = weights.mean(axis=1) if average_attn_weights else weights
        return output, shown.reshape(shown.shape[1:]) if single else shown

    def _check(self, q: Tensor, k: Tensor, v: Tensor) -> None:
        batch = slice(0, 1) if self.batch_first else slice(1, 2)
        steps = -2 if self.batch_first else 0
        lengths = (self.embed_dim, self.kdim, self.vdim)
        if (
            q.ndim not in {2, 3}
            or not q.ndim == k.ndim == v.ndim
            or any(x.shape[-1] != length for x, length in zip((q, k, v), lengths, strict=True))
            or k.shape[steps] != v.shape[steps]
            or (q.ndim == 3 and not q.shape[batch] == k.shape[batch] == v.shape[batch])
        ):
            order = "(N, L, E)" if self.batch_first else "(L, N, E)"
            raise ValueError(
                f"MultiheadAttention takes query, key and value of shape {order}, or without N, with E = "
                f"{lengths} here and as many keys as values; received {q.shape}, {k.shape} and {v.shape}"
            )

    def _project(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        size, bias = self.embed_dim, self.in_proj_bias
        parts = [slice(0, size), slice(size, 2 * size), slice(2 * size, 3 * size)]
        packed = self.in_proj_weight
        if packed is not None and q is k and k is v:
            whole = linear(q, packed, bias)
            return whole[..., parts[0]], whole[..., parts[1]], whole[..., parts[2]]
        own = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        results: list[Tensor] = []
        for x, part, weight in zip((q, k, v), parts, own, strict=True):
            matrix = weight if packed is None else packed[part]
            results.append(linear(x, cast("Tensor", matrix), None if bias is None else bias[part]))
        return results[0], results[1], results[2]

    def _append(self, x: Tensor, row: Tensor | None) -> Tensor:
        axis = 1 if self.batch_first else 0
        shape = (x.shape[0], 1, self.embed_dim) if self.batch_first else (1, x.shape[1], self.embed_dim)
        if row is not None:
            x = concatenate([x, row.broadcast_to(shape)], axis=axis)
        if self.add_zero_attn:
            x = concatenate([x, np.zeros(shape, x.dtype)], axis=axis)
        return x

    def _split_heads(self, x: Tensor) -> Tensor:
        """Return (N, heads, steps, head_dim)."""
        x = x.reshape(x.shape[0], x.shape[1], self.num_heads, self.head_dim)
        return x.transpose(0, 2, 1, 3) if self.batch_first else x.transpose(1, 2, 0, 3)

    def _merge_heads(self, x: Tensor) -> Tensor:
        number, _, steps, _ = x.shape
        if self.batch_first:
            return x.transpose(0, 2, 1, 3).reshape(number, steps, self.embed_dim)
        return x.transpose(2, 0, 1, 3).reshape(steps, number, self.embed_dim)

    def _mask(
        self,
        query_shape: Shape,
        keys: int,
        extra_keys: int,
        key_padding_mask: Mask | None,
        attn_mask: Mask | None,
        is_causal: bool,
    ) -> Mask | None:
        """Return all masks in one, as scaled_dot_product_attention takes it."""
        number, heads, steps, _ = query_shape
        given = keys - extra_keys
        masks: list[Mask] = []
        if attn_mask is not None:
            if attn_mask.shape not in {(steps, given), (number * heads, steps, given)}:
                raise ValueError(
                    f"attn_mask has shape (L, S) or (N * num_heads, L, S), here {(steps, given)} or "
                    f"{(number * heads, steps, given)}; received {attn_mask.shape}"
                )
            masks.append(attn_mask.reshape(number, heads, steps, given) if attn_mask.ndim == 3 else attn_mask)
        elif is_causal:
            masks.append(~np.tri(steps, given, dtype=np.bool_))
        if key_padding_mask is not None:
            shape = (given,) if key_padding_mask.ndim == 1 and number == 1 else (number, given)
            if key_padding_mask.shape != shape:
                raise ValueError(f"key_padding_mask has shape (N, S), here {shape}; received {key_padding_mask.shape}")
            masks.append(key_padding_mask.reshape(number, 1, 1, given))
        if not masks:
            return None
        if extra_keys:
            masks = [_beside(mask, extra_keys) for mask in masks]
        closed = [mask for mask in masks if isinstance(mask, np.ndarray) and mask.dtype == np.bool_]
        if len(closed) == len(masks):
            return cast("Mask", ~np.logical_or.reduce(np.broadcast_arrays(*closed)))
        total: Tensor | None = None
        for mask in masks:
            is_closed = isinstance(mask, np.ndarray) and mask.dtype == np.bool_
            numbers = as_tensor(np.where(mask, -np.inf, 0.0)) if is_closed else as_tensor(mask)
            total = numbers if total is None else total + numbers
        return total

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, batch_first={self.batch_first}"


def _insert_axis(x: Tensor, axis: int) -> Tensor:
    return x.reshape(*x.shape[:axis], 1, *x.shape[axis:])


def _beside(mask: Mask, count: int) -> Mask:
    """Return a mask with ``count`` more keys, which are open to all."""
    more = np.zeros((*mask.shape[:-1], count), np.bool_)
    if isinstance(mask, np.ndarray):
        return np.concatenate([mask, more.astype(mask.dtype)], axis=-1)
    return concatenate([mask, more], axis=-1)

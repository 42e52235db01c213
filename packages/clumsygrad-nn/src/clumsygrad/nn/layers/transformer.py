"""Transformer layers: attention and a small network, each with a shortcut around it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Literal, TypeAlias

from numpy.random import Generator

from clumsygrad.core import Tensor, TensorLike, as_tensor

from ..activation import gelu, relu
from ..containers import ModuleList
from ..module import Module
from .attention import Mask, MultiheadAttention
from .dropout import Dropout
from .linear import Linear
from .normalization import LayerNorm

Activation: TypeAlias = Literal["relu", "gelu"] | Callable[[Tensor], Tensor]
"""The nonlinearity between the two linear maps: a name, or a function of a Tensor."""

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": relu, "gelu": gelu}


def _activation(activation: Activation) -> Callable[[Tensor], Tensor]:
    if callable(activation):
        return activation
    if activation not in _ACTIVATIONS:
        raise ValueError(f"activation is 'relu', 'gelu' or a function; received {activation!r}")
    return _ACTIVATIONS[activation]


class TransformerEncoderLayer(Module):
    """Self-attention and a feed-forward network, each added to its input and normalised.

    Args:
        d_model: E, the length of each step's vector.
        nhead: the number of heads, which divides d_model.
        dim_feedforward: the width of the feed-forward network.
        dropout: the probability of dropout in training: of attention weights, and after each part.
        activation: "relu", "gelu" or a function.
        layer_norm_eps: what keeps the divisors of the normalisations from 0.
        batch_first: whether the batch is the first axis rather than the second.
        norm_first: whether each part's input is normalised, rather than its sum with the shortcut.
        bias: whether linear maps and normalisations have a bias.
        rng: what draws the initial values and the dropout; the default generator when None.

    Shapes:
        src (S, N, E), with batch_first (N, S, E), or (S, E), to the same.

    References:
        Vaswani et al. 2017, "Attention Is All You Need"; Xiong et al. 2020, "On Layer Normalization in the
        Transformer Architecture", for norm_first.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import TransformerEncoderLayer
        >>> TransformerEncoderLayer(8, 2, 16, batch_first=True)(zeros((2, 5, 8))).shape
        (2, 5, 8)
    """

    self_attn: MultiheadAttention
    linear1: Linear
    dropout: Dropout
    linear2: Linear
    norm_first: bool
    norm1: LayerNorm
    norm2: LayerNorm
    dropout1: Dropout
    dropout2: Dropout
    activation: Callable[[Tensor], Tensor]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        *,
        rng: Generator | None = None,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, rng=rng)
        self.linear1 = Linear(d_model, dim_feedforward, bias, rng=rng)
        self.dropout = Dropout(dropout, rng=rng)
        self.linear2 = Linear(dim_feedforward, d_model, bias, rng=rng)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.dropout1 = Dropout(dropout, rng=rng)
        self.dropout2 = Dropout(dropout, rng=rng)
        self.activation = _activation(activation)

    def forward(
        self,
        src: TensorLike,
        src_mask: Mask | None = None,
        src_key_padding_mask: Mask | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the sequence transformed.

        Args:
            src: the sequence.
            src_mask: what a step may not look at: see :class:`MultiheadAttention`'s attn_mask.
            src_key_padding_mask: steps that are left out: see its key_padding_mask.
            is_causal: whether each step looks at itself and the steps before it only.
        """
        x = as_tensor(src)
        if self.norm_first:
            x = x + self._attend(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            return x + self._feed(self.norm2(x))
        x = self.norm1(x + self._attend(x, src_mask, src_key_padding_mask, is_causal))
        return self.norm2(x + self._feed(x))

    def _attend(self, x: Tensor, mask: Mask | None, padding: Mask | None, is_causal: bool) -> Tensor:
        attended, _ = self.self_attn(x, x, x, padding, False, mask, is_causal=is_causal)
        return self.dropout1(attended)

    def _feed(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoder(Module):
    """A stack of encoder layers.

    Args:
        encoder_layer: the layer, of which each of the stack is a copy, initial values included.
        num_layers: how many there are.
        norm: what normalises the last one's output; None for nothing.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import TransformerEncoder, TransformerEncoderLayer
        >>> encoder = TransformerEncoder(TransformerEncoderLayer(8, 2, 16), num_layers=2)
        >>> encoder(zeros((5, 2, 8)), is_causal=True).shape
        (5, 2, 8)
    """

    layers: ModuleList
    num_layers: int
    norm: Module | None

    def __init__(self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"num_layers is at least 1; received {num_layers}")
        self.layers = ModuleList([_copy_of(encoder_layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        src: TensorLike,
        mask: Mask | None = None,
        src_key_padding_mask: Mask | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the sequence passed through all layers; the masks are those of each layer."""
        x = as_tensor(src)
        for layer in self.layers:
            x = layer(x, mask, src_key_padding_mask, is_causal)
        return x if self.norm is None else self.norm(x)


def _copy_of(layer: TransformerEncoderLayer) -> TransformerEncoderLayer:
    """Return a copy that draws from the same generator: from copies of it, all layers would drop the same elements."""
    generators = [module.__dict__.get("rng") for module in layer.modules()]
    return copy.deepcopy(layer, {id(rng): rng for rng in generators if rng is not None})


class TransformerDecoderLayer(Module):
    """Self-attention, attention to an encoder's output, and a feed-forward network, each with a shortcut and a norm.

    Args:
        d_model: E, the length of each step's vector.
        nhead: the number of heads, which divides d_model.
        dim_feedforward: the width of the feed-forward network.
        dropout: the probability of dropout in training: of attention weights, and after each part.
        activation: "relu", "gelu" or a function.
        layer_norm_eps: what keeps the divisors of the normalisations from 0.
        batch_first: whether the batch is the first axis rather than the second.
        norm_first: whether each part's input is normalised, rather than its sum with the shortcut.
        bias: whether linear maps and normalisations have a bias.
        rng: what draws the initial values and the dropout; the default generator when None.

    Shapes:
        tgt (T, N, E) and memory (S, N, E), with batch_first N first, or without N, to tgt's shape.

    References:
        Vaswani et al. 2017, "Attention Is All You Need".

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import TransformerDecoderLayer
        >>> TransformerDecoderLayer(8, 2, 16)(zeros((3, 2, 8)), zeros((5, 2, 8))).shape
        (3, 2, 8)
    """

    self_attn: MultiheadAttention
    multihead_attn: MultiheadAttention
    linear1: Linear
    dropout: Dropout
    linear2: Linear
    norm_first: bool
    norm1: LayerNorm
    norm2: LayerNorm
    norm3: LayerNorm
    dropout1: Dropout
    dropout2: Dropout
    dropout3: Dropout
    activation: Callable[[Tensor], Tensor]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        *,
        rng: Generator | None = None,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, rng=rng)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, rng=rng)
        self.linear1 = Linear(d_model, dim_feedforward, bias, rng=rng)
        self.dropout = Dropout(dropout, rng=rng)
        self.linear2 = Linear(dim_feedforward, d_model, bias, rng=rng)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.dropout1 = Dropout(dropout, rng=rng)
        self.dropout2 = Dropout(dropout, rng=rng)
        self.dropout3 = Dropout(dropout, rng=rng)
        self.activation = _activation(activation)

    def forward(
        self,
        tgt: TensorLike,
        memory: TensorLike,
        tgt_mask: Mask | None = None,
        memory_mask: Mask | None = None,
        tgt_key_padding_mask: Mask | None = None,
        memory_key_padding_mask: Mask | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the target sequence transformed, having looked at ``memory``.

        Args:
            tgt: the target sequence.
            memory: what an encoder made of the source.
            tgt_mask: which steps of the target a step may not look at.
            memory_mask: which steps of the memory a step may not look at.
            tgt_key_padding_mask: steps of the target that are left out.
            memory_key_padding_mask: steps of the memory that are left out.
            tgt_is_causal: whether each step looks at itself and the steps before it only.
            memory_is_causal: the same for the memory.
        """
        x, source = as_tensor(tgt), as_tensor(memory)

        def look_back(x: Tensor) -> Tensor:
            seen, _ = self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal)
            return self.dropout1(seen)

        def look_across(x: Tensor) -> Tensor:
            seen, _ = self.multihead_attn(
                x, source, source, memory_key_padding_mask, False, memory_mask, is_causal=memory_is_causal
            )
            return self.dropout2(seen)

        if self.norm_first:
            x = x + look_back(self.norm1(x))
            x = x + look_across(self.norm2(x))
            return x + self._feed(self.norm3(x))
        x = self.norm1(x + look_back(x))
        x = self.norm2(x + look_across(x))
        return self.norm3(x + self._feed(x))

    def _feed(self, x: Tensor) -> Tensor:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))

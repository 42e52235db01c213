from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nn.finite_difference import check_derivatives, grad_of

from clumsygrad.core import double_precision, gradients, parameter
from clumsygrad.nn import MultiheadAttention
from clumsygrad.nn import functional as F

RNG = np.random.default_rng(0)
Q, K, V = (RNG.standard_normal(shape) for shape in ((2, 3, 4), (2, 5, 4), (2, 5, 2)))
ALLOWED = np.array([[1, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]], np.bool_)
ADDED = RNG.standard_normal((2, 3, 5))


def by_definition(q: Any, k: Any, v: Any, scale: float, added: Any = 0.0) -> Any:
    scores = scale * q @ k.swapaxes(-1, -2) + added
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
    return np.nan_to_num(weights) @ v


MASKS: list[tuple[dict[str, Any], Any]] = [
    ({}, 0.0),
    ({"scale": 0.3}, 0.0),
    ({"attn_mask": ALLOWED}, np.where(ALLOWED, 0, -np.inf)),
    ({"attn_mask": ADDED}, ADDED),
    ({"attn_mask": np.where(ALLOWED, ADDED, -np.inf)}, np.where(ALLOWED, ADDED, -np.inf)),
    ({"is_causal": True}, np.where(np.tri(3, 5, dtype=np.bool_), 0, -np.inf)),
]


@pytest.mark.parametrize(("settings", "added"), MASKS)
def test_attention_is_what_its_formula_says(settings: dict[str, Any], added: Any) -> None:
    expected = by_definition(Q, K, V, settings.get("scale", 0.5), added)
    y = F.scaled_dot_product_attention(Q, K, V, **settings)
    np.testing.assert_allclose(y.data, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("settings", "added"), MASKS)
def test_first_and_second_derivatives(settings: dict[str, Any], added: Any) -> None:
    check_derivatives(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **settings), Q, K, V)


@pytest.mark.parametrize("shape", [(3, 5), (1, 5), (2, 3, 5)])
def test_an_added_mask_has_derivatives_too(shape: tuple[int, ...]) -> None:
    mask = np.random.default_rng(1).standard_normal(shape)
    check_derivatives(lambda q, m: F.scaled_dot_product_attention(q, K, V, m), Q, mask)


@pytest.mark.parametrize("mask", [ALLOWED, np.where(ALLOWED, 0.0, -np.inf)])
def test_a_query_that_may_look_at_nothing_is_zero_and_nowhere_nan(mask: Any) -> None:
    q, k, v = parameter(Q), parameter(K), parameter(V)
    y = F.scaled_dot_product_attention(q, k, v, mask)
    np.testing.assert_array_equal(y.data[:, 1], 0)
    firsts = gradients((y * y).sum(), (q, k, v), create_graph=True)
    np.testing.assert_array_equal(firsts[0].data[:, 1], 0)
    seconds = gradients((firsts[0] * firsts[0]).sum() + (firsts[1] * firsts[1]).sum(), (q, k, v))
    for gradient in (*firsts, *seconds):
        assert np.isfinite(gradient.data).all()


def test_scores_too_large_for_the_exponential() -> None:
    y = F.scaled_dot_product_attention([[1e4, 0.0]], [[1e4, 0.0], [0.0, 1e4]], [[1.0], [2.0]])
    np.testing.assert_allclose(y.data, [[1]])


def test_no_keys_at_all_give_zeros() -> None:
    y = F.scaled_dot_product_attention(Q, np.zeros((2, 0, 4)), np.zeros((2, 0, 2)))
    np.testing.assert_array_equal(y.data, np.zeros((2, 3, 2)))


def test_heads_may_share_keys_and_values() -> None:
    rng = np.random.default_rng(2)
    q, k, v = rng.standard_normal((1, 4, 3, 2)), rng.standard_normal((1, 2, 5, 2)), rng.standard_normal((1, 2, 5, 2))
    y = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    expected = F.scaled_dot_product_attention(q, k.repeat(2, axis=1), v.repeat(2, axis=1))
    np.testing.assert_allclose(y.data, expected.data, rtol=1e-5)


def test_dropout_leaves_out_weights() -> None:
    values = np.ones((1, 50, 1))
    y = F.scaled_dot_product_attention(
        np.zeros((1, 1, 2)), np.zeros((1, 50, 2)), values, dropout_p=0.5, rng=np.random.default_rng(3)
    )
    assert 0.5 < y.item() < 1.5
    assert y.item() != 1


def test_multihead_attention_is_attention_of_its_projections() -> None:
    rng = np.random.default_rng(4)
    layer = MultiheadAttention(4, 2, batch_first=True, rng=rng)
    x = rng.standard_normal((2, 3, 4))
    output, weights = layer(x, x, x)
    assert weights is not None
    np.testing.assert_allclose(weights.data.sum(-1), 1, rtol=1e-5)
    assert layer.in_proj_weight is not None
    projected = (x @ layer.in_proj_weight.data.T).reshape(2, 3, 3, 2, 2).transpose(2, 0, 3, 1, 4)
    attended = by_definition(projected[0], projected[1], projected[2], 0.5**0.5)
    joined = attended.transpose(0, 2, 1, 3).reshape(2, 3, 4)
    np.testing.assert_allclose(output.data, joined @ layer.out_proj.weight.data.T, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("batch_first", [True, False])
def test_one_tensor_three_times_is_as_three_equal_ones(batch_first: bool) -> None:
    rng = np.random.default_rng(5)
    layer = MultiheadAttention(4, 2, batch_first=batch_first, rng=rng)
    x = rng.standard_normal((3, 2, 4))
    same, _ = layer(x, x, x, need_weights=False)
    equal, _ = layer(x, x.copy(), x.copy(), need_weights=False)
    np.testing.assert_allclose(same.data, equal.data, rtol=1e-5, atol=1e-6)


def test_derivatives_of_multihead_attention() -> None:
    rng = np.random.default_rng(6)
    with double_precision():
        layer = MultiheadAttention(4, 2, batch_first=True, add_bias_kv=True, add_zero_attn=True, rng=rng)
    padding = np.array([[False, False, True]])
    check_derivatives(lambda x: layer(x, x, x, key_padding_mask=padding)[0], rng.standard_normal((1, 3, 4)))
    check_derivatives(
        lambda q, k: layer(q, k, k, is_causal=True, need_weights=False)[0],
        rng.standard_normal((1, 2, 4)),
        rng.standard_normal((1, 3, 4)),
    )


def test_masks_close_where_they_are_true() -> None:
    rng = np.random.default_rng(7)
    layer = MultiheadAttention(4, 2, batch_first=True, rng=rng)
    x = rng.standard_normal((2, 3, 4))
    closed = ~np.tri(3, dtype=np.bool_)
    padding = np.array([[False, False, True], [True, True, True]])
    output, weights = layer(x, x, x, key_padding_mask=padding, attn_mask=closed, average_attn_weights=False)
    assert weights is not None
    assert weights.shape == (2, 2, 3, 3)
    np.testing.assert_array_equal(weights.data[:, :, closed], 0)
    np.testing.assert_array_equal(weights.data[0, :, :, 2], 0)
    np.testing.assert_array_equal(weights.data[1], 0)
    assert np.isfinite(output.data).all()
    same, _ = layer(x, x, x, key_padding_mask=np.where(padding, -np.inf, 0.0), is_causal=True)
    np.testing.assert_allclose(same.data, output.data, rtol=1e-5, atol=1e-6)
    by_head, _ = layer(x, x, x, key_padding_mask=padding, attn_mask=np.stack([closed] * 4))
    np.testing.assert_allclose(by_head.data, output.data, rtol=1e-5, atol=1e-6)


def test_a_padded_batch_trains_without_nan() -> None:
    rng = np.random.default_rng(8)
    layer = MultiheadAttention(4, 2, batch_first=True, dropout=0.3, rng=rng)
    x = parameter(rng.standard_normal((2, 3, 4)))
    output, _ = layer(x, x, x, key_padding_mask=np.array([[False] * 3, [True] * 3]))
    output.sum().backward()
    assert np.isfinite(grad_of(x)).all()
    assert all(np.isfinite(grad_of(value)).all() for value in layer.parameters())


X = np.zeros((3, 2, 4))

WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: F.scaled_dot_product_attention(Q, K[..., :3], V), "query"),
    (lambda: F.scaled_dot_product_attention(Q, K[:, :4], V), "query"),
    (lambda: F.scaled_dot_product_attention(Q, K, V, ALLOWED, is_causal=True), "is_causal"),
    (lambda: F.scaled_dot_product_attention(Q, K, V, np.ones((3, 4), np.bool_)), "attn_mask"),
    (lambda: F.scaled_dot_product_attention(Q[:1], K, V, enable_gqa=True), "query"),
    (lambda: MultiheadAttention(5, 2), "multiple"),
    (lambda: MultiheadAttention(4, 2)(Q, K, K), "MultiheadAttention"),
    (lambda: MultiheadAttention(4, 2)(X[..., :3], X, X), "MultiheadAttention"),
    (lambda: MultiheadAttention(4, 2)(X, X, X, attn_mask=np.zeros((2, 3))), "attn_mask"),
    (lambda: MultiheadAttention(4, 2)(X, X, X, key_padding_mask=np.zeros((3, 2))), "key_padding_mask"),
]


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_what_does_not_fit_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from nn.finite_difference import check_derivatives, grad_of

from clumsygrad.core import Tensor, double_precision, parameter
from clumsygrad.nn import Dropout, LayerNorm, TransformerDecoderLayer, TransformerEncoder, TransformerEncoderLayer


@pytest.mark.parametrize("settings", [{}, {"norm_first": True, "activation": "gelu"}, {"bias": False}])
def test_derivatives_of_the_layers(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    x, memory = rng.standard_normal((1, 2, 4)), rng.standard_normal((1, 3, 4))
    with double_precision():
        encoder = TransformerEncoderLayer(4, 2, 5, 0.0, batch_first=True, rng=rng, **settings)
        decoder = TransformerDecoderLayer(4, 2, 5, 0.0, batch_first=True, rng=rng, **settings)
    check_derivatives(encoder, x, rtol=1e-5)
    check_derivatives(lambda t, m: decoder(t, m, tgt_is_causal=True), x, memory, rtol=1e-5)


def test_a_causal_encoder_never_looks_ahead() -> None:
    rng = np.random.default_rng(1)
    encoder = TransformerEncoder(TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True, rng=rng), 2, LayerNorm(8))
    x = rng.standard_normal((1, 5, 8))
    changed = x.copy()
    changed[0, 3:] += 1
    before, after = encoder(x, is_causal=True).data, encoder(changed, is_causal=True).data
    np.testing.assert_allclose(before[:, :3], after[:, :3], rtol=1e-5, atol=1e-6)
    assert np.abs(before[:, 3:] - after[:, 3:]).max() > 0.1
    assert np.abs(encoder(x).data[:, 0] - encoder(changed).data[:, 0]).max() > 1e-3


def test_padded_steps_do_not_matter_to_the_others() -> None:
    rng = np.random.default_rng(2)
    layer = TransformerEncoderLayer(8, 2, 16, 0.0, rng=rng)
    x = rng.standard_normal((4, 1, 8))
    changed = x.copy()
    changed[3] += 1
    padding = np.array([[False, False, False, True]])
    before, after = (layer(value, src_key_padding_mask=padding).data for value in (x, changed))
    np.testing.assert_allclose(before[:3], after[:3], rtol=1e-5, atol=1e-6)


def test_the_layers_of_a_stack_are_copies_that_train_apart() -> None:
    rng = np.random.default_rng(3)
    layer = TransformerEncoderLayer(4, 2, 8, 0.0, rng=rng)
    encoder = TransformerEncoder(layer, 2)
    names = [name for name, _ in encoder.named_parameters()]
    assert names[0] == "layers.0.self_attn.in_proj_weight"
    assert len(names) == 2 * len(list(layer.parameters())) == len({id(value) for value in encoder.parameters()})
    encoder(rng.standard_normal((3, 1, 4))).sum().backward()
    weights = dict(encoder.named_parameters())
    first, second = weights["layers.0.linear1.weight"], weights["layers.1.linear1.weight"]
    np.testing.assert_array_equal(first.data, second.data)
    assert np.abs(grad_of(first) - grad_of(second)).max() > 0
    assert layer.linear1.weight.grad is None


def test_the_layers_of_a_stack_drop_different_elements() -> None:
    rng = np.random.default_rng(4)
    layer = TransformerEncoderLayer(4, 2, 8, 0.5, rng=rng)
    encoder = TransformerEncoder(layer, 2)
    first, second = (encoder.get_submodule(f"layers.{index}.dropout") for index in range(2))
    assert isinstance(first, Dropout)
    assert isinstance(second, Dropout)
    assert first.rng is second.rng is rng
    x = rng.standard_normal((3, 1, 4))
    encoder.train()
    assert np.abs(encoder(x).data - encoder(x).data).max() > 0
    encoder.eval()
    np.testing.assert_array_equal(encoder(x).data, encoder(x).data)


def test_any_function_is_an_activation() -> None:
    layer = TransformerEncoderLayer(4, 2, 8, activation=lambda x: x * 0)
    assert layer.eval()(Tensor(np.ones((2, 1, 4)))).shape == (2, 1, 4)


def test_gradients_reach_both_sequences_of_a_decoder() -> None:
    rng = np.random.default_rng(5)
    x, memory = parameter(rng.standard_normal((2, 1, 4))), parameter(rng.standard_normal((3, 1, 4)))
    y = TransformerDecoderLayer(4, 2, 8, rng=rng)(x, memory, memory_mask=np.zeros((2, 3), np.bool_))
    (y * np.arange(4.0)).sum().backward()
    assert np.abs(grad_of(x)).max() > 0
    assert np.abs(grad_of(memory)).max() > 0


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="activation"):
        TransformerEncoderLayer(4, 2, activation="softplus")  # type: ignore[arg-type]  # a wrong value
    with pytest.raises(ValueError, match="num_layers"):
        TransformerEncoder(TransformerEncoderLayer(4, 2), 0)

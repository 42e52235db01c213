from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nn.finite_difference import check_derivatives, grad_of

from clumsygrad.core import Tensor, parameter, zeros
from clumsygrad.core.math import concatenate, stack
from clumsygrad.nn import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from clumsygrad.nn.ops.recurrent import gru_sequence, lstm_sequence, rnn_sequence

Sequence = Callable[..., Tensor]

SEQUENCES: dict[str, tuple[int, Sequence]] = {
    "tanh": (1, lambda x, h, c, *w: rnn_sequence(x, h, w, nonlinearity="tanh") + 0 * c.sum()),
    "relu": (1, lambda x, h, c, *w: rnn_sequence(x, h, w, nonlinearity="relu") + 0 * c.sum()),
    "lstm": (4, lambda x, h, c, *w: lstm_sequence(x, h, c, w)),
    "gru": (3, lambda x, h, c, *w: gru_sequence(x, h, w) + 0 * c.sum()),
}


@pytest.mark.parametrize("kind", SEQUENCES)
@pytest.mark.parametrize("biased", [True, False])
def test_first_and_second_derivatives_by_input_state_and_weights(kind: str, biased: bool) -> None:
    gates, sequence = SEQUENCES[kind]
    rng = np.random.default_rng(0)
    steps, number, features, size = 3, 2, 2, 2
    shapes = [(steps, number, features), (number, size), (number, size), (gates * size, features), (gates * size, size)]
    shapes += [(gates * size,)] * 2 if biased else []
    check_derivatives(sequence, *(rng.standard_normal(shape) for shape in shapes))


@pytest.mark.parametrize("kind", SEQUENCES)
def test_a_state_that_depends_on_the_weights_gets_each_part_once(kind: str) -> None:
    gates, sequence = SEQUENCES[kind]
    rng = np.random.default_rng(1)

    def entangled(x: Tensor, w: Tensor) -> Tensor:
        state = (w * w).sum(axis=0, keepdims=True)
        return sequence(x, state, state * 0.5, w, w)

    check_derivatives(entangled, rng.standard_normal((2, 1, 2)), rng.standard_normal((gates * 2, 2)))


def test_the_reset_gate_of_a_gru_is_applied_behind_the_product() -> None:
    cell = GRUCell(1, 1)
    cell.load_state_dict({
        "weight_ih": np.array([[0.1], [0.2], [0.3]]), "weight_hh": np.array([[0.4], [0.5], [0.6]]),
        "bias_ih": np.array([0.01, 0.02, 0.03]), "bias_hh": np.array([0.1, 0.2, 0.3]),
    })  # fmt: skip
    assert cell([1.0], [0.5]).item() == pytest.approx(0.533308482, rel=1e-6)


def test_a_layer_is_its_cell_step_by_step() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((4, 2, 3))
    rnn, rnn_cell = RNN(3, 5, nonlinearity="relu", rng=rng), RNNCell(3, 5, nonlinearity="relu")
    gru, gru_cell = GRU(3, 5, rng=rng), GRUCell(3, 5)
    for layer, cell in ((rnn, rnn_cell), (gru, gru_cell)):
        cell.load_state_dict({name[:-3]: value for name, value in layer.state_dict().items()})
        output, last = layer(x)
        state = zeros((2, 5))
        for step in range(4):
            state = cell(x[step], state)
            np.testing.assert_allclose(output.data[step], state.data, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(last.data[0], state.data, rtol=1e-5, atol=1e-6)
    lstm, lstm_cell = LSTM(3, 5, rng=rng), LSTMCell(3, 5)
    lstm_cell.load_state_dict({name[:-3]: value for name, value in lstm.state_dict().items()})
    output, (h_last, c_last) = lstm(x)
    h, c = zeros((2, 5)), zeros((2, 5))
    for step in range(4):
        h, c = lstm_cell(x[step], (h, c))
        np.testing.assert_allclose(output.data[step], h.data, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(h_last.data[0], h.data, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(c_last.data[0], c.data, rtol=1e-5, atol=1e-6)


def test_two_layers_are_one_after_the_other_and_two_directions_side_by_side() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((4, 2, 3))
    deep = GRU(3, 5, num_layers=2, bidirectional=True, rng=rng)
    state = deep.state_dict()

    def part(ending: str, features: int) -> GRU:
        layer = GRU(features, 5)
        layer.load_state_dict(
            {f"{name}_l0": state[name + ending] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
        )
        return layer

    y = Tensor(x)
    finals: list[Tensor] = []
    for level, features in ((0, 3), (1, 10)):
        forwards, last = part(f"_l{level}", features)(y)
        backwards, first = part(f"_l{level}_reverse", features)(y[::-1])
        y = concatenate([forwards, backwards[::-1]], axis=-1)
        finals += [last[0], first[0]]
    output, states = deep(x)
    np.testing.assert_allclose(output.data, y.data, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(states.data, stack(finals).data, rtol=1e-5, atol=1e-6)


def test_batch_first_and_no_batch() -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((4, 2, 3))
    layer = LSTM(3, 5, num_layers=2, rng=rng)
    first = LSTM(3, 5, num_layers=2, batch_first=True)
    first.load_state_dict(layer.state_dict())
    output, (h, c) = layer(x)
    swapped, (h2, c2) = first(x.swapaxes(0, 1))
    np.testing.assert_allclose(swapped.data, output.data.swapaxes(0, 1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(h2.data, h.data, rtol=1e-5, atol=1e-6)
    single, (h3, c3) = layer(x[:, 1], (np.zeros((2, 5)), np.zeros((2, 5))))
    np.testing.assert_allclose(single.data, output.data[:, 1], rtol=1e-5, atol=1e-6)
    assert h3.shape == c3.shape == (2, 5)
    assert c2.shape == c.shape


def test_dropout_lies_between_layers_and_only_in_training() -> None:
    x = np.random.default_rng(5).standard_normal((3, 2, 3))
    layer = RNN(3, 4, num_layers=2, dropout=1.0, rng=np.random.default_rng(6))
    silent = RNN(4, 4)
    silent.load_state_dict(_second_layer(layer))
    np.testing.assert_allclose(layer(x)[0].data, silent(np.zeros((3, 2, 4)))[0].data, rtol=1e-5, atol=1e-6)
    layer.eval()
    before = layer(x)[0].data
    np.testing.assert_array_equal(layer(x)[0].data, before)
    single = RNN(3, 4, dropout=1.0)
    assert np.abs(single(x)[0].data).max() > 0


def _second_layer(layer: RNN) -> dict[str, Any]:
    return {name.replace("_l1", "_l0"): value for name, value in layer.state_dict().items() if name.endswith("_l1")}


def test_gradients_reach_the_initial_state() -> None:
    state = parameter(np.ones((1, 2, 4)))
    output, _ = GRU(3, 4)(np.ones((2, 2, 3)), state)
    output.sum().backward()
    assert np.abs(grad_of(state)).min() > 0


def test_parameters_have_pytorchs_names_and_range() -> None:
    layer = LSTM(3, 16, num_layers=2, bidirectional=True, rng=np.random.default_rng(7))
    shapes = {name: value.shape for name, value in layer.named_parameters()}
    assert shapes["weight_ih_l0"] == (64, 3)
    assert shapes["weight_ih_l1_reverse"] == (64, 32)
    assert shapes["weight_hh_l1"] == (64, 16)
    assert shapes["bias_hh_l0_reverse"] == (64,)
    assert len(shapes) == 16
    assert 0.24 < max(np.abs(value.data).max() for value in layer.parameters()) <= 0.25
    assert list(dict(GRU(2, 3, bias=False).named_parameters())) == ["weight_ih_l0", "weight_hh_l0"]


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: LSTM(3, 4)(np.zeros((5, 2, 2))), "I = 3"),
    (lambda: LSTM(3, 4)(np.zeros(3)), "shape"),
    (lambda: GRU(3, 4)(np.zeros((0, 2, 3))), "at least one step"),
    (lambda: GRU(3, 4)(np.zeros((5, 2, 3)), np.zeros((2, 4))), "initial state"),
    (lambda: RNN(3, 4, nonlinearity="sigmoid"), "nonlinearity"),  # type: ignore[arg-type]  # a wrong value
    (lambda: RNN(3, 4, dropout=2.0), "probability"),
    (lambda: RNN(0, 4), "at least 1"),
    (lambda: RNNCell(3, 4)(np.zeros((2, 4))), "shape"),
    (lambda: LSTMCell(3, 4)(np.zeros((2, 3)), (np.zeros((2, 4)), np.zeros((1, 4)))), "state"),
    (lambda: GRUCell(3, 0), "at least 1"),
]


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_what_does_not_fit_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()

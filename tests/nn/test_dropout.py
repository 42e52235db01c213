"""Dropout: its ends, its expectation, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from nn.finite_difference import check_derivatives, grad_of

from clumsygrad.core import Tensor, parameter, random
from clumsygrad.nn import Dropout, Dropout1d, Dropout2d, Dropout3d, Module, Sequential
from clumsygrad.nn import functional as F


@pytest.mark.parametrize(
    ("p", "training", "value", "gradient"),
    [(1.0, True, [0.0, 0.0], [0.0, 0.0]), (0.0, True, [1.0, 2.0], [1.0, 1.0]), (0.5, False, [1.0, 2.0], [1.0, 1.0])],
)
def test_ends(p: float, training: bool, value: list[float], gradient: list[float]) -> None:
    x = parameter([1.0, 2.0])
    y = Dropout(p).train(training)(x)
    (y * 1.0).sum().backward()
    assert y.tolist() == value
    assert grad_of(x).tolist() == gradient


@pytest.mark.parametrize("p", [-0.1, 1.1, np.nan])
def test_probabilities_that_are_none(p: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        Dropout(p)
    with pytest.raises(ValueError, match="between 0 and 1"):
        F.dropout([1.0], p)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_keeps_the_share_and_the_mean(p: float) -> None:
    y = F.dropout(np.ones(100_000), p, rng=np.random.default_rng(0)).data
    assert abs((y == 0).mean() - p) < 0.01
    assert abs(y.mean() - 1) < 0.05
    np.testing.assert_allclose(y[y != 0], 1 / (1 - p), rtol=1e-6)


def test_gradient_passes_where_the_value_does() -> None:
    x = parameter(np.ones((50, 20)))
    y = F.dropout(x, 0.3, rng=np.random.default_rng(0))
    y.sum().backward()
    np.testing.assert_array_equal(grad_of(x), y.data)
    assert y.dtype == grad_of(x).dtype == np.float32


def test_derivatives() -> None:
    x = np.random.default_rng(1).normal(size=(3, 4))
    check_derivatives(lambda t: F.dropout(t * t, 0.5, rng=np.random.default_rng(0)), x)


@pytest.mark.parametrize(
    ("layer", "shape", "channels"),
    [
        (Dropout1d(rng=np.random.default_rng(0)), (8, 16, 5), 2),
        (Dropout1d(rng=np.random.default_rng(0)), (64, 5), 1),
        (Dropout2d(rng=np.random.default_rng(0)), (8, 16, 3, 2), 2),
        (Dropout2d(rng=np.random.default_rng(0)), (64, 3, 2), 1),
        (Dropout3d(rng=np.random.default_rng(0)), (8, 16, 3, 2, 2), 2),
    ],
)
def test_whole_channels(layer: Module, shape: tuple[int, ...], channels: int) -> None:
    y = layer(np.ones(shape)).data
    flat = y.reshape(*shape[:channels], -1)
    assert (flat == flat[..., :1]).all()
    assert 0 < (flat[..., 0] == 0).mean() < 1


@pytest.mark.parametrize("function", [F.dropout1d, F.dropout2d, F.dropout3d])
def test_channels_need_their_axes(function: Callable[..., Tensor]) -> None:
    with pytest.raises(ValueError, match="axes"):
        function(np.ones(3))


def test_evaluation_draws_nothing() -> None:
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    x = parameter([1.0])
    assert F.dropout(x, 0.5, training=False, rng=rng) is x
    assert F.dropout(x, 0.0, rng=rng) is x
    assert rng.bit_generator.state == before


def test_modes_reach_nested_layers() -> None:
    model = Sequential(Sequential(Dropout(0.5))).eval()
    assert model([1.0] * 100).tolist() == [1.0] * 100


def test_the_default_generator_can_be_seeded() -> None:
    random.seed(3)
    first = F.dropout(np.ones(100))
    random.seed(3)
    assert first.tolist() == F.dropout(np.ones(100)).tolist()

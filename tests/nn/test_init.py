"""Initial values: ranges, moments and structure."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from clumsygrad.core import Tensor, parameter, random, zeros
from clumsygrad.nn import init


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


# Name, function, shape, the standard deviation, and the bound of the absolute values.
MOMENTS: list[tuple[str, Callable[[Tensor], Tensor], tuple[int, ...], float, float]] = [
    ("uniform", lambda t: init.uniform_(t, -2, 2, rng=rng()), (200, 100), 2 / math.sqrt(3), 2),
    ("normal", lambda t: init.normal_(t, 0, 3, rng=rng()), (200, 100), 3, math.inf),
    ("trunc_normal", lambda t: init.trunc_normal_(t, std=0.5, a=-5, b=5, rng=rng()), (200, 100), 0.5, 5),
    (
        "xavier_uniform",
        lambda t: init.xavier_uniform_(t, rng=rng()),
        (300, 100),
        math.sqrt(2 / 400),
        math.sqrt(6 / 400),
    ),
    ("xavier_normal", lambda t: init.xavier_normal_(t, 2, rng=rng()), (300, 100), 2 * math.sqrt(2 / 400), math.inf),
    (
        "kaiming_uniform",
        lambda t: init.kaiming_uniform_(t, rng=rng()),
        (300, 100),
        math.sqrt(2 / 100),
        math.sqrt(6 / 100),
    ),
    (
        "kaiming_normal",
        lambda t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="relu", rng=rng()),
        (300, 100),
        math.sqrt(2 / 300),
        math.inf,
    ),
    ("convolution", lambda t: init.kaiming_normal_(t, rng=rng()), (64, 16, 5, 5), math.sqrt(2 / 400), math.inf),
    ("convolution_xavier", lambda t: init.xavier_normal_(t, rng=rng()), (64, 16, 3), math.sqrt(2 / 240), math.inf),
]


@pytest.mark.parametrize(("name", "function", "shape", "std", "bound"), MOMENTS)
def test_moments(
    name: str, function: Callable[[Tensor], Tensor], shape: tuple[int, ...], std: float, bound: float
) -> None:
    tensor = parameter(np.zeros(shape))
    assert function(tensor) is tensor, name
    assert abs(tensor.data.mean()) < 0.05 * std
    np.testing.assert_allclose(tensor.data.std(), std, rtol=0.03)
    assert np.abs(tensor.data).max() <= bound * (1 + 1e-6)
    assert tensor.dtype == np.float32


@pytest.mark.parametrize(
    ("mean", "std", "low", "high"),
    [
        (0.0, 1.0, -2.0, 2.0),
        (1.0, 2.0, 0.0, 1.5),
        (0.0, 1.0, 4.0, 20.0),
        (0.0, 1.0, -9.0, -6.0),
        (0.0, 1.0, 3.0, 3.1),
        (0.0, 1.0, -1e9, 1.0),
    ],
)
def test_truncated_normal_distribution(mean: float, std: float, low: float, high: float) -> None:
    values = init.trunc_normal_(zeros(20_000), mean, std, low, high, rng=rng()).data.astype(np.float64)
    assert values.min() >= low - 1e-6
    assert values.max() <= high + 1e-6

    # The share below a point, by numerical integration of the density.
    grid = np.linspace(max(low, mean - 12 * std), min(high, mean + 12 * std), 20_001)
    density = np.exp(-(((grid - mean) / std) ** 2 - np.min(np.abs((grid - mean) / std)) ** 2) / 2)
    shares = np.cumsum(density) / density.sum()
    for share in (0.1, 0.5, 0.9):
        point = grid[np.searchsorted(shares, share)]
        assert abs((values <= point).mean() - share) < 0.02


def test_truncated_normal_without_width() -> None:
    assert init.trunc_normal_(zeros(2), 5.0, 0.0).tolist() == [2.0, 2.0]
    with pytest.raises(ValueError, match="a <= b"):
        init.trunc_normal_(zeros(2), a=1.0, b=0.0)


def test_constants() -> None:
    assert init.constant_(zeros(2), 3.0).tolist() == [3.0, 3.0]
    assert init.ones_(zeros(2)).tolist() == [1.0, 1.0]
    assert init.zeros_(parameter([1.0])).tolist() == [0.0]
    assert init.eye_(zeros((2, 3))).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def test_dirac_hands_each_group_its_channels() -> None:
    weight = init.dirac_(zeros((4, 1, 3)), groups=2)
    assert weight.data[:, 0, 1].tolist() == [1.0, 0.0, 1.0, 0.0]
    assert weight.data.sum() == 2
    assert init.dirac_(zeros((2, 3, 3, 3))).data[1, 1, 1, 1] == 1


@pytest.mark.parametrize("shape", [(5, 5), (3, 7), (7, 3), (4, 2, 3)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    matrix = init.orthogonal_(zeros(shape), 2.0, rng=rng()).data.reshape(shape[0], -1)
    short = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    np.testing.assert_allclose(short @ short.T, 4 * np.eye(len(short)), atol=1e-5)


def test_sparse() -> None:
    weight = init.sparse_(zeros((10, 50)), 0.25, std=1.0, rng=rng()).data
    assert ((weight == 0).sum(axis=0) == 3).all()
    assert len({tuple(row) for row in (weight == 0).T}) > 1


@pytest.mark.parametrize(
    ("name", "param", "gain"),
    [
        ("linear", None, 1.0), ("conv2d", None, 1.0), ("sigmoid", None, 1.0), ("tanh", None, 5 / 3),
        ("relu", None, math.sqrt(2)), ("leaky_relu", None, math.sqrt(2 / 1.0001)), ("leaky_relu", 0.5, math.sqrt(1.6)),
        ("selu", None, 0.75),
    ],
)  # fmt: skip
def test_gain(name: init.Nonlinearity, param: float | None, gain: float) -> None:
    assert init.calculate_gain(name, param) == pytest.approx(gain)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: init.xavier_uniform_(zeros(3)), "two axes"),
        (lambda: init.orthogonal_(zeros(3)), "two axes"),
        (lambda: init.eye_(zeros(3)), "matrix"),
        (lambda: init.sparse_(zeros(3), 0.1), "matrix"),
        (lambda: init.dirac_(zeros((2, 2))), "convolution"),
        (lambda: init.dirac_(zeros((3, 2, 1)), groups=2), "multiple"),
        (lambda: init.calculate_gain("gelu"), "nonlinearity"),  # type: ignore[arg-type]  # the error is tested
        (lambda: init.kaiming_normal_(zeros((2, 2)), mode="in"), "mode"),  # type: ignore[arg-type]  # as above
    ],
)
def test_errors(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_computed_tensor_has_no_initial_value() -> None:
    with pytest.raises(RuntimeError, match="leaves"):
        init.zeros_(parameter([1.0]) * 2)


def test_an_old_graph_sees_the_change() -> None:
    w = parameter([1.0])
    y = (w * w).sum()
    init.ones_(w)
    with pytest.raises(RuntimeError, match="in place"):
        y.backward()


def test_the_default_generator_is_that_of_core() -> None:
    random.seed(1)
    first = init.normal_(zeros(5)).tolist()
    random.seed(1)
    assert init.normal_(zeros(5)).tolist() == first

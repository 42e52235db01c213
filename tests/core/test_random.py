"""Random tensors: ranges, types, seeds and generators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from clumsygrad.core import Tensor, TensorType, double_precision, random

DRAWS: dict[str, Callable[..., Tensor]] = {
    "rand": random.rand,
    "randn": random.randn,
    "uniform": lambda shape, **options: random.uniform(-2, 3, shape, **options),
    "normal": lambda shape, **options: random.normal(5, 2, shape, **options),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("shape", [(), 3, (3,), [2, 3], (0, 2)])
def test_shape_type_and_precision(name: str, shape: Any) -> None:
    x = DRAWS[name](shape)
    assert x.shape == np.empty(shape).shape
    assert x.dtype == np.float32
    assert x.tensor_type is TensorType.INPUT
    assert DRAWS[name](shape, tensor_type=TensorType.PARAMETER).requires_grad
    with double_precision():
        assert DRAWS[name](shape).dtype == np.float64
    with pytest.raises(ValueError, match="INTERMEDIATE"):
        DRAWS[name](shape, tensor_type=TensorType.INTERMEDIATE)


@pytest.mark.parametrize("name", DRAWS)
def test_seed_and_generator(name: str) -> None:
    random.seed(3)
    first = DRAWS[name]((5,)).tolist()
    assert DRAWS[name]((5,)).tolist() != first
    random.seed(3)
    assert DRAWS[name]((5,)).tolist() == first
    state = random.default_generator().bit_generator.state
    rng = np.random.default_rng(3)
    assert DRAWS[name]((5,), rng=rng).tolist() == first
    assert random.default_generator().bit_generator.state == state


def test_distributions() -> None:
    random.seed(0)
    flat = random.uniform(-2, 3, (20000,)).data
    assert -2 <= flat.min() < -1.99
    assert 2.99 < flat.max() <= 3
    assert abs(flat.mean() - 0.5) < 0.05
    bell = random.normal(5, 2, (20000,)).data
    assert abs(bell.mean() - 5) < 0.1
    assert abs(bell.std() - 2) < 0.1
    assert random.normal(5, 0, (3,)).tolist() == [5.0, 5.0, 5.0]


def test_integers_and_permutation() -> None:
    drawn = random.integers(2, 5, (1000,), rng=np.random.default_rng(0))
    assert drawn.dtype == np.int64
    assert set(drawn.tolist()) == {2, 3, 4}
    assert set(random.integers(2, shape=(100,)).tolist()) == {0, 1}
    assert random.integers(7, 8).shape == ()
    order = random.permutation(10, rng=np.random.default_rng(0))
    assert sorted(order.tolist()) == list(range(10))
    assert order.tolist() == random.permutation(10, rng=np.random.default_rng(0)).tolist()


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="low and high"):
        random.uniform(1, 0, (2,))
    with pytest.raises(ValueError, match="not negative"):
        random.normal(0, -1, (2,))
    wrong: Any = 0
    with pytest.raises(TypeError, match="default_rng"):
        random.rand((2,), rng=wrong)

"""Broadcasting: every operator folds its gradients back to the shapes of its own operands."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable

import numpy as np
import pytest

from clumsygrad.core import Tensor, double_precision, math, parameter, tensor, unbroadcast

SHAPES = [(), (1,), (3,), (1, 3), (2, 1), (2, 3), (1, 1), (4, 2, 3), (4, 1, 1), (0, 3), (0, 1), (2, 0), (1, 0)]
OPERATORS: list[Callable[[Tensor, Tensor], Tensor]] = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, math.maximum, math.minimum,
    lambda x, y: math.where(np.arange(max(x.size, y.size, 1))[-1:] % 2 == 0, x, y),
]  # fmt: skip


def compatible(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(left, right)
    except ValueError:
        return False
    return True


PAIRS = [pair for pair in itertools.product(SHAPES, SHAPES) if compatible(*pair)]


def numeric(fn: Callable[[], float], values: np.ndarray) -> np.ndarray:
    """Return the central difference of ``fn`` by each element of ``values``, which it reads."""
    result = np.empty(values.shape)
    for index in np.ndindex(values.shape):
        old = values[index]
        values[index] = old + 1e-6
        above = fn()
        values[index] = old - 1e-6
        below = fn()
        values[index] = old
        result[index] = (above - below) / 2e-6
    return result


@pytest.mark.parametrize("compute", OPERATORS)
def test_gradients_have_the_operands_shapes_and_values(compute: Callable[[Tensor, Tensor], Tensor]) -> None:
    rng = np.random.default_rng(1)
    for left, right in PAIRS:
        with double_precision():
            a, b = parameter(rng.uniform(0.5, 2, left)), parameter(rng.uniform(2.5, 4, right))
            out = compute(a, b)
            weights = rng.normal(size=out.shape)
            math.sum(out * weights).backward()

            def value(a: Tensor = a, b: Tensor = b, weights: np.ndarray = weights) -> float:
                return float((compute(a, b).data * weights).sum())

            for operand in (a, b):
                assert operand.grad is not None
                assert operand.grad.shape == operand.shape
                np.testing.assert_allclose(operand.grad, numeric(value, operand.data), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("swap", [False, True])
def test_column_times_row(swap: bool) -> None:
    u, v = parameter([1.0, 2.0, 3.0]), parameter([[0.5], [-1.0]])
    w = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    loss = math.sum((v * u if swap else u * v) * w)
    loss.backward()
    assert loss.item() == -25.0
    assert u.grad is not None
    assert v.grad is not None
    assert u.grad.tolist() == [-3.5, -4.0, -4.5]
    assert v.grad.tolist() == [[14.0], [32.0]]


def test_explicit_broadcast() -> None:
    x = parameter([1.0, 2.0, 3.0])
    loss = math.sum(math.broadcast_to(x, (4, 3)) * np.arange(12).reshape(4, 3))
    loss.backward()
    assert loss.item() == 140.0
    assert x.grad is not None
    assert x.grad.tolist() == [18.0, 22.0, 26.0]


def test_bias_gradients_are_summed_over_the_batch() -> None:
    def sigmoid(z: Tensor) -> Tensor:
        return 1 / (1 + math.exp(-z))

    x, y = tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), tensor([[1.0], [1.0], [0.0]])
    w1, b1 = parameter([[0.1, -0.2], [0.3, 0.4]]), parameter([[0.05, -0.05]])
    w2, b2 = parameter([[0.7], [-0.6]]), parameter([[0.1]])
    loss = math.sum((sigmoid(sigmoid(x @ w1 + b1) @ w2 + b2) - y) ** 2) / 2
    loss.backward()
    assert loss.item() == pytest.approx(0.357656896, rel=1e-6)
    expected = {
        w1: [[0.00347037986, -0.00402464904], [0.00327325985, -0.00369234756]],
        b1: [[-0.0159459319, 0.012617901]],
        w2: [[-0.043205943], [-0.0421857834]],
        b2: [[-0.0884959102]],
    }
    for operand, values in expected.items():
        np.testing.assert_allclose(np.asarray(operand.grad), np.array(values), rtol=1e-5)


@pytest.mark.parametrize(
    ("shape", "target"),
    [
        ((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 3), (1, 3)), ((2, 3), (2, 1)), ((2, 3), ()), ((0, 3), (1, 3)),
        ((0, 3), (3,)), ((2, 0), (2, 1)), ((2, 0), (2, 0)), ((5, 1, 3), (1, 1)), ((4, 0), ()),
    ],
)  # fmt: skip
def test_unbroadcast_is_the_transpose_of_broadcasting(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    grad = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    folded = unbroadcast(grad, target)
    assert folded.shape == target
    probe = np.ones(target, np.float32)
    assert np.sum(np.broadcast_to(probe, shape) * grad) == np.sum(probe * folded)
    assert (folded is grad) == (shape == target)

"""Mistakes that other engines were reported to make: each with its numbers, and its kind swept."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from clumsygrad.core import Array, Tensor, gradients, math, parameter, tensor


def slope(loss: Tensor, *tensors: Tensor) -> list[Array]:
    return [grad.data for grad in gradients(loss, tensors)]


def close(found: Array, expected: Any) -> None:
    assert found.dtype == np.float32
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


CUBE = np.arange(12.0).reshape(2, 3, 2)
TWELFTHS = np.round(np.arange(24).reshape(2, 3, 4) * 0.1, 1)


@pytest.mark.parametrize("swapped", [False, True])
def test_gradient_is_folded_to_each_operand(swapped: bool) -> None:
    u, v = parameter([1.0, 2.0, 3.0]), parameter([[0.5], [-1.0]])
    w = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    loss = ((v * u if swapped else u * v) * w).sum()
    assert loss.item() == -25.0
    u_grad, v_grad = slope(loss, u, v)
    close(u_grad, [-3.5, -4.0, -4.5])
    close(v_grad, [[14.0], [32.0]])


def test_mean_over_axes_that_are_not_neighbours() -> None:
    x = parameter(TWELFTHS)
    loss = (math.mean(x, axis=(0, 2)) * np.array([1.0, -2.0, 3.0])).sum()
    assert loss.item() == pytest.approx(3.1)
    close(slope(loss, x)[0], np.broadcast_to(np.array([[0.125], [-0.25], [0.375]]), (2, 3, 4)))


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min", "var", "std", "logsumexp", "norm"])
def test_every_choice_of_axes_is_the_same_by_any_name(name: str) -> None:
    reduce = getattr(math, name)
    values = np.random.default_rng(0).uniform(0.5, 2, (2, 3, 2))
    for number in (1, 2, 3):
        for axes in combinations(range(3), number):
            if name == "norm" and number == 3:
                continue
            found: list[Array] = []
            for form in (axes, axes[::-1], tuple(axis - 3 for axis in axes)):
                for keepdims in (False, True):
                    x = parameter(values)
                    result = reduce(x, axis=form, keepdims=keepdims)
                    assert result.shape == np.sum(values, axis=axes, keepdims=keepdims).shape
                    found.append(slope((result * result).sum(), x)[0])
            for other in found[1:]:
                np.testing.assert_allclose(other, found[0], rtol=1e-5)
    for wrong in (3, -4, (0, 0), (0, 3), (0, -3)):
        with pytest.raises((ValueError, np.exceptions.AxisError)):
            reduce(parameter(values), axis=wrong)


def test_mean_that_is_subtracted_is_no_constant() -> None:
    x = parameter([1.0, 2.0, 4.0, 9.0])
    close(slope((x - math.mean(x)).sum(), x)[0], [0.0, 0.0, 0.0, 0.0])
    loss = ((x - math.mean(x)) * np.array([1.0, 0.0, 0.0, 2.0])).sum()
    assert loss.item() == 7.0
    close(slope(loss, x)[0], [0.25, -0.75, -0.75, 1.25])


def test_broadcast_to() -> None:
    x = parameter([1.0, 2.0, 3.0])
    loss = (math.broadcast_to(x, (4, 3)) * np.arange(12.0).reshape(4, 3)).sum()
    assert loss.item() == 140.0
    close(slope(loss, x)[0], [18.0, 22.0, 26.0])
    with pytest.raises(ValueError, match="broadcast"):
        math.broadcast_to(x, (3, 4))


def test_where_with_a_scalar_branch() -> None:
    condition, w = [True, False, True], np.array([1.0, 10.0, 100.0])
    b, s = parameter([2.0, 3.0, 4.0]), parameter(-1.0)
    loss = (math.where(condition, b, s) * w).sum()
    assert loss.item() == 392.0
    b_grad, s_grad = slope(loss, b, s)
    close(b_grad, [1.0, 0.0, 100.0])
    close(s_grad, 10.0)
    close(slope((math.where(condition, b, -1.0) * w).sum(), b)[0], [1.0, 0.0, 100.0])
    close(slope((math.where(condition, -1.0, b) * w).sum(), b)[0], [0.0, 10.0, 0.0])


def test_position_read_three_times() -> None:
    x = parameter([1.0, 2.0, 3.0])
    loss = (x[[2, 0, 2, 2]] * np.array([1.0, 2.0, 3.0, 4.0])).sum()
    assert loss.item() == 26.0
    close(slope(loss, x)[0], [2.0, 0.0, 8.0])


def test_slice_with_a_list() -> None:
    x = parameter([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = x[:, [2]]
    assert y.tolist() == [[3.0], [6.0]]
    close(slope((y * np.array([[1.0], [10.0]])).sum(), x)[0], [[0, 0, 1], [0, 0, 10]])


def test_negative_steps() -> None:
    x = parameter(np.arange(8.0).reshape(2, 4))
    y = x[::-1, ::-2]
    assert y.tolist() == [[7.0, 5.0], [3.0, 1.0]]
    close(slope((y * np.array([[1.0, 2.0], [3.0, 4.0]])).sum(), x)[0], [[0, 4, 0, 3], [0, 2, 0, 1]])


def test_ellipsis_none_and_an_integer() -> None:
    x = parameter(TWELFTHS)
    y = x[..., None, 1]
    assert y.shape == (2, 3, 1)
    expected = np.zeros((2, 3, 4))
    expected[..., 1] = np.arange(6).reshape(2, 3)
    close(slope((y * np.arange(6.0).reshape(2, 3, 1)).sum(), x)[0], expected)


def test_take_scatters_like_indexing() -> None:
    x = parameter([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    loss = (math.take(x, [1, 1, 0], axis=1) * np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).sum()
    assert loss.item() == 78.0
    close(slope(loss, x)[0], [[3.0, 3.0, 0.0], [6.0, 9.0, 0.0]])
    close(slope((np.take(x, [1, 1, 0], axis=1)).sum(), x)[0], [[1.0, 2.0, 0.0], [1.0, 2.0, 0.0]])


@pytest.mark.parametrize("rows", [3, 50, 4000])
@pytest.mark.parametrize("key", ["vector", "matrix", "negative", "pairs", "second axis", "with a slice"])
def test_many_positions_read_many_times(rows: int, key: str) -> None:
    # Enough of them for every way that the additions are done.
    rng = np.random.default_rng(rows)
    first, second = rng.integers(0, rows, 600), rng.integers(0, 8, 600)
    keys: dict[str, Any] = {
        "vector": first, "matrix": first.reshape(20, 30), "negative": first - rows, "pairs": (first, second),
        "second axis": (slice(None), second), "with a slice": (first, slice(None, None, 2)),
    }  # fmt: skip
    x = parameter(rng.standard_normal((rows, 8)))
    y = x[keys[key]]
    weights = rng.integers(-3, 4, y.shape).astype(float)
    expected = np.zeros((rows, 8))
    np.add.at(expected, keys[key], weights)
    close(slope((y * weights).sum(), x)[0], expected)


def test_stack_of_a_tensor_and_its_double() -> None:
    x = parameter([[1.0, 2.0], [3.0, 4.0]])
    loss = (math.stack([x, 2 * x], axis=1) * np.arange(8.0).reshape(2, 2, 2)).sum()
    assert loss.item() == 142.0
    close(slope(loss, x)[0], [[4.0, 7.0], [16.0, 19.0]])


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_parts_of_unequal_length(axis: int) -> None:
    x = parameter(CUBE)
    place = axis % 3
    first, rest = x[(slice(None),) * place + (slice(0, 1),)], x[(slice(None),) * place + (slice(1, None),)]
    joined = math.concatenate([rest, first, rest], axis)
    weights = np.random.default_rng(0).uniform(size=joined.shape)
    length = CUBE.shape[place]
    parts = np.split(weights, [length - 1, length], axis)
    close(slope((joined * weights).sum(), x)[0], np.concatenate([parts[1], parts[0] + parts[2]], axis))


def test_tile_and_repeat() -> None:
    x = parameter([[1.0, 2.0]])
    close(slope((math.tile(x, (2, 2)) * np.arange(8.0).reshape(2, 4)).sum(), x)[0], [[12.0, 16.0]])
    close(slope((math.repeat(x, 2, axis=1) * np.arange(4.0).reshape(1, 4)).sum(), x)[0], [[1.0, 5.0]])
    close(slope((math.repeat(x, [1, 3], axis=1) * np.arange(4.0)).sum(), x)[0], [[0.0, 6.0]])
    for wrong in ([1, 2, 3], -1):
        with pytest.raises(ValueError, match=r"broadcast|negative"):
            math.repeat(x, wrong, axis=1)


def test_transposed_view() -> None:
    base = parameter([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    loss = (base.T.reshape(-1) * np.arange(6.0)).sum()
    assert loss.item() == 65.0
    close(slope(loss, base)[0], [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]])


def test_gradients_are_shared_with_nothing() -> None:
    a, b = parameter([1.0, 2.0]), parameter([3.0, 4.0])
    (a + b).sum().backward()
    assert a.grad is not None
    a.grad += 10
    assert np.array_equal(np.asarray(b.grad), [1.0, 1.0])
    a.zero_grad()
    b.zero_grad()
    z = a + b
    loss = z.sum() + (a * 3).sum()
    assert loss.item() == 19.0
    loss.backward()
    assert np.array_equal(np.asarray(a.grad), [4.0, 4.0])
    assert np.array_equal(np.asarray(b.grad), [1.0, 1.0])


SOFTMAX: dict[int, tuple[float, Any]] = {
    -1: (14.3435688, [[[-0.196611941, 0.196611926], [-0.104993515, 0.104993582]],
                      [[-0.25, 0.25], [-0.00664805947, 0.00664761849]]]),
    1: (-33.8573189, [[[-0.238405824, -1.92423439], [0.238405943, 1.92423427]],
                      [[-3.31058598, 4.78416538], [3.31058574, -4.78416538]]]),
}  # fmt: skip


@pytest.mark.parametrize("axis", [-1, 1])
def test_softmax_along_an_axis_of_three(axis: int) -> None:
    x = parameter([[[1.0, 2.0], [3.0, 1.0]], [[0.0, 0.0], [-1.0, 4.0]]])
    logarithms = x - math.logsumexp(x, axis=axis, keepdims=True)
    # The report has the softmax along the last axis, and its logarithm along the middle one.
    result = math.exp(logarithms) if axis == -1 else logarithms
    loss = (result * np.arange(8.0).reshape(2, 2, 2)).sum()
    value, grad = SOFTMAX[axis]
    assert loss.item() == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(slope(loss, x)[0], grad, rtol=1e-4, atol=1e-6)


def test_bias_is_summed_over_the_batch() -> None:
    def sigmoid(x: Tensor) -> Tensor:
        return 1 / (1 + math.exp(-x))

    x, y = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([[1.0], [1.0], [0.0]])
    w1, b1 = parameter([[0.1, -0.2], [0.3, 0.4]]), parameter([[0.05, -0.05]])
    w2, b2 = parameter([[0.7], [-0.6]]), parameter([[0.1]])
    hidden = sigmoid(tensor(x) @ w1 + b1)
    loss = ((sigmoid(hidden @ w2 + b2) - y) ** 2).sum() / 2
    assert loss.item() == pytest.approx(0.357656896)
    grads = slope(loss, w1, b1, w2, b2)
    close(grads[0], [[0.00347037986, -0.00402464904], [0.00327325985, -0.00369234756]])
    close(grads[1], [[-0.0159459319, 0.012617901]])
    close(grads[2], [[-0.043205943], [-0.0421857834]])
    close(grads[3], [[-0.0884956902]])

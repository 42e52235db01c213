"""NumPy's own functions and operators on Tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clumsygrad.core import Tensor, math, parameter, tensor


def test_array_on_the_left() -> None:
    arr = np.array([[1.0, 2.0], [3.0, 4.0]])
    x, w = parameter([10.0, 20.0]), parameter([[1.0, 0.0], [0.0, 2.0]])
    product: object = arr * x
    assert isinstance(product, Tensor)
    assert product.shape == (2, 2)
    math.sum(product).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [4.0, 6.0]
    math.sum(arr @ w).backward()
    assert w.grad is not None
    assert w.grad.tolist() == [[4.0, 4.0], [6.0, 6.0]]
    for result in (arr + x, arr - x, arr / x, arr**x, np.float64(2) * x, np.float32(2) - x, np.int64(2) ** x):
        assert isinstance(result, Tensor)
        assert result.requires_grad
    assert isinstance(arr > x, np.ndarray)


def test_lists_on_either_side() -> None:
    x = parameter([1.0, 2.0])
    assert np.array_equal([1, 2] + x, [2.0, 4.0])
    assert (x - [1, 2]).tolist() == [0.0, 0.0]
    assert np.array_equal([3, 4] * x, [3.0, 8.0])  # type: ignore[operator]  # a list asks the right operand
    assert ([[1, 2]] @ x).tolist() == [5.0]


@pytest.mark.parametrize(
    "function",
    [
        np.exp, np.log, np.sqrt, np.abs, np.sin, np.cos, np.tan, np.tanh, np.negative, np.sum, np.mean, np.max, np.min,
        np.transpose, lambda x: np.reshape(x, (3, 2)), lambda x: np.sum(x, axis=-1, keepdims=True),
        lambda x: np.concatenate([x, x], axis=1), lambda x: np.where(x > 1, x, 0), lambda x: np.clip(x, 0.5, 1.5),
        lambda x: np.maximum(x, 1.0), lambda x: np.minimum(1.0, x), lambda x: np.multiply(x, x),
        lambda x: np.add(2, x), lambda x: np.subtract(2, x), lambda x: np.divide(2, x), lambda x: np.power(x, 3),
        lambda x: np.matmul(x, x.T), lambda x: np.broadcast_to(x, (4, 2, 3)), lambda x: np.swapaxes(x, 0, 1),
        lambda x: np.add.reduce(x), lambda x: np.add.reduce(x, axis=1), lambda x: np.maximum.reduce(x, axis=None),
    ],
)  # fmt: skip
def test_numpy_functions_build_the_graph(function: Any) -> None:
    values = np.array([[0.5, 1.5, 2.5], [1.25, 0.75, 2.0]], np.float32)
    x = parameter(values)
    result = function(x)
    assert isinstance(result, Tensor)
    np.testing.assert_allclose(result.data, function(values), rtol=1e-6)
    result.backward(np.ones(result.shape))
    assert x.grad is not None


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (np.linalg.eigvals, "np.linalg.eigvals"),
        (np.fft.fft, "np.fft"),
        (lambda x: np.percentile(x, 50), "np.percentile"),
        (lambda x: np.gcd(x, x), "np.gcd"),
        (lambda x: np.add.reduceat(x, [0]), "np.add.reduceat"),
        (np.cov, "np.cov"),
    ],
)
def test_no_rule_is_an_error_that_names_the_function(function: Any, name: str) -> None:
    x = parameter([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(TypeError, match=r"t\.data") as caught:
        function(x)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.exp(x, out=np.zeros(2)),
        lambda x: np.add(x, 1, where=[True, False]),
        lambda x: np.sum(x, dtype=np.float64),
        lambda x: np.sum(x, initial=1.0),
        lambda x: np.add.reduce(x, where=[True, False]),
        lambda x: np.mean(x, out=np.zeros(())),
        lambda x: np.multiply(x, x, casting="unsafe", dtype=float),
    ],
)
def test_what_has_no_meaning_for_a_graph_is_refused(call: Any) -> None:
    with pytest.raises(TypeError, match="takes no"):
        call(parameter([1.0, 2.0]))


def test_in_place_numpy_operators_do_not_detach() -> None:
    x, array = parameter([1.0, 2.0]), np.ones(2)
    with pytest.raises(TypeError, match="out="):
        array += x
    assert array.tolist() == [1.0, 1.0]


def test_functions_of_the_values() -> None:
    x = parameter([[1.0, np.nan], [3.0, 2.0]])
    assert np.shape(x) == (2, 2)
    assert np.ndim(x) == 2
    assert np.size(x) == 4
    assert np.isnan(x).tolist() == [[False, True], [False, False]]
    assert np.isfinite(x).sum() == 3
    assert np.argmax(parameter([1.0, 5.0, 2.0])) == 1
    assert np.allclose(tensor([1.0]), [1.0])
    assert np.array_equal(tensor([1.0]), tensor([1.0]))
    assert np.any(x > 2)
    assert np.count_nonzero(tensor([0.0, 1.0])) == 1
    np.testing.assert_allclose(tensor([1.0]), [1.0])
    np.testing.assert_array_equal(np.asarray(parameter([1.0])), [1.0])


def test_asarray_gives_the_value() -> None:
    x = parameter([1.0, 2.0])
    view = np.asarray(x)
    assert view.dtype == np.float32
    assert np.shares_memory(view, x.data)
    assert not view.flags.writeable
    copy = np.array(x)
    assert copy.flags.writeable
    assert not np.shares_memory(copy, x.data)
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, dtype=np.float64, copy=False)


def test_plain_numpy_code_is_differentiable_unchanged() -> None:
    def simulate(theta: Any) -> Any:
        position, velocity = theta[0], theta[1]
        for _ in range(10):
            velocity = velocity - 0.1 * np.sin(position)
            position = position + 0.1 * velocity
        return np.sqrt(position**2 + np.where(velocity > 0, velocity, 0.0) ** 2)

    start = np.array([0.5, 0.2])
    theta = parameter(start)
    simulate(theta).backward()
    numeric = [
        (simulate(start + step) - simulate(start - step)) / 2e-5 for step in (np.array([1e-5, 0]), np.array([0, 1e-5]))
    ]
    assert theta.grad is not None
    np.testing.assert_allclose(theta.grad, numeric, rtol=1e-4)


def test_arguments_by_position_and_by_name() -> None:
    values = np.array([[1.0, 2.0], [3.0, 5.0]], np.float32)
    x = parameter(values)
    calls: tuple[Any, ...] = (
        lambda t: np.sum(t, 0, None, None, True), lambda t: np.var(t, 1, None, None, 1), lambda t: np.sum(a=t, axis=1),
        lambda t: np.sum(t, dtype=np.float32), lambda t: np.reshape(t, (4, 1), order="C"),
        lambda t: np.ravel(t, order="C"),
        lambda t: np.cumsum(t, 1, None, None), lambda t: np.take(t, [1], 0, None, "clip"),
        lambda t: np.add(t, 1, where=True),
        lambda t: np.add.accumulate(t), lambda t: np.multiply.accumulate(t, axis=1), lambda t: np.multiply.reduce(t),
        lambda t: np.minimum.reduce(t, axis=(0, 1)), lambda t: np.logaddexp.reduce(t),
        lambda t: np.sort(t, 0, "stable"),
        lambda t: np.nan_to_num(t, True, 1.0), lambda t: np.linalg.norm(t, 1, 0), lambda t: np.full_like(t, 2.0),
    )  # fmt: skip
    for call in calls:
        result = call(x)
        assert isinstance(result, Tensor)
        np.testing.assert_allclose(result.data, call(values), rtol=1e-6)


def test_arguments_that_are_refused() -> None:
    x: Any = parameter([1.0, 2.0])
    out = np.zeros(2, np.float32)
    calls: tuple[tuple[str, Any], ...] = (
        ("out", lambda: np.exp(x, out)), ("out", lambda: np.add(x, x, out=out)),
        ("out", lambda: np.add(out, out, out=x)),
        ("out", lambda: np.cumsum(x, 0, None, out)), ("out", lambda: np.add.reduce(x, out=out[0:1])),
        ("out", lambda: np.clip(x, 0, 1, out)), ("where", lambda: np.add(x, 1, where=np.array([True, False]))),
        ("where", lambda: np.sum(x, where=[True, False])), ("initial", lambda: np.max(x, initial=0.0)),
        ("dtype", lambda: np.sum(x, dtype=np.float64)), ("order", lambda: np.ravel(x, order="F")),
    )  # fmt: skip
    for name, call in calls:
        with pytest.raises(TypeError, match=rf"takes no {name}=.*t\.data"):
            call()
    assert not out.any()

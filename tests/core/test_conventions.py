"""Values that have no single convention: ties, zeros, constants, infinities and empty arrays."""

from __future__ import annotations

import math as plain_math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from clumsygrad.core import Tensor, double_precision, gradients, math, parameter

INF, NAN = np.inf, np.nan


def grad_of(function: Callable[..., Tensor], *values: Any) -> list[Any]:
    """Return the gradients of the sum of a function's result."""
    tensors = [parameter(value) for value in values]
    function(*tensors).sum().backward()
    return [None if tensor.grad is None else tensor.grad.tolist() for tensor in tensors]


@pytest.mark.parametrize("reduce", [math.max, math.min])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), (-1, 0)])
def test_tied_extremes_share_evenly(reduce: Callable[..., Tensor], axis: Any) -> None:
    values = np.array([[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]])
    shares = np.sum(np.ones_like(values), axis=axis, keepdims=True)
    (grad,) = grad_of(lambda x: reduce(x, axis), values)
    np.testing.assert_allclose(grad, np.broadcast_to(1 / shares, values.shape), rtol=1e-6)


def test_max_over_its_own_source() -> None:
    def grow(x: Tensor) -> Tensor:
        for _ in range(2):
            x = math.concatenate([math.max(x, axis=0, keepdims=True), x])
        return x

    assert grad_of(grow, [[1.0]]) == [[[3.0]]]


@pytest.mark.parametrize("both", [math.maximum, math.minimum, np.maximum, np.minimum])
def test_equal_operands_get_half(both: Callable[..., Tensor]) -> None:
    assert grad_of(both, [1.0, 2.0], [1.0, 2.0]) == [[0.5, 0.5], [0.5, 0.5]]
    assert grad_of(lambda x: both(x, 1.0), [1.0]) == grad_of(lambda x: both(1.0, x), [1.0]) == [[0.5]]
    assert grad_of(lambda x: both(x, x), [1.0]) == [[1.0]]


def test_maximum_of_vectors() -> None:
    assert grad_of(math.maximum, [1.0, 2.0], [1.0, 5.0]) == [[0.5, 0.0], [0.5, 1.0]]
    assert grad_of(math.minimum, [1.0, 2.0], [1.0, 5.0]) == [[0.5, 1.0], [0.5, 0.0]]


def test_extremes_with_nan_pass_the_gradient_to_it() -> None:
    assert np.isnan(math.max(parameter([1.0, NAN])).data)
    assert grad_of(math.max, [1.0, NAN, 3.0]) == grad_of(math.min, [1.0, NAN, 3.0]) == [[0.0, 1.0, 0.0]]
    assert grad_of(lambda x: math.max(x, axis=1), [[1.0, NAN], [4.0, 3.0]]) == [[[0.0, 1.0], [1.0, 0.0]]]
    assert grad_of(math.maximum, [NAN], [1.0]) == [[1.0], [1.0]]


@pytest.mark.parametrize("bounds", [(0, 1), (np.zeros(5), np.ones(5))])
def test_clip_passes_the_gradient_on_the_bounds(bounds: Any) -> None:
    assert grad_of(lambda x: math.clip(x, *bounds), [-0.5, 0.0, 0.5, 1.0, 1.5]) == [[0.0, 1.0, 1.0, 1.0, 0.0]]
    assert grad_of(lambda x: math.clip(x, min=0), [-0.5, 0.0, 0.5]) == [[0.0, 1.0, 1.0]]
    assert grad_of(lambda x: math.clip(x, a_max=0), [-0.5, 0.0, 0.5]) == [[1.0, 1.0, 0.0]]
    assert grad_of(math.clip, [-0.5]) == [[1.0]]


def test_clip_passes_the_rest_to_its_bounds() -> None:
    x, low, high = [-1.0, 0.0, 2.0], 0.0, 1.0
    assert grad_of(math.clip, x, low, high) == [[0.0, 1.0, 0.0], 1.0, 1.0]
    with pytest.raises(ValueError, match="each bound once"):
        math.clip(parameter([1.0]), 0, min=0)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("constant", [0.0, 0.1, -3.7, 1e-6, 1e6])
def test_std_of_a_constant(axis: Any, constant: float) -> None:
    values = np.full((7, 3), constant)
    x = parameter(values)
    deviation = math.std(x, axis)
    assert not deviation.data.any()
    deviation.sum().backward()
    assert x.grad is not None
    assert not x.grad.any()
    (first,) = gradients(math.std(x, axis).sum(), x, create_graph=True)
    (second,) = gradients(first.sum(), x)
    assert not second.data.any()


ORDERS: tuple[Any, ...] = (None, 1, 2, 3, 2.5, 0.5, 0, INF, -INF)


@pytest.mark.parametrize("order", ORDERS)
def test_norm_at_zero(order: Any) -> None:
    assert grad_of(lambda x: math.norm(x, order), [0.0, 0.0, 0.0]) == [[0.0, 0.0, 0.0]]
    ((first, second),) = grad_of(lambda x: math.norm(x, order, axis=1), [[3.0, 4.0], [0.0, 0.0]])
    assert np.isfinite(first).all()
    assert second == [0.0, 0.0]
    x = parameter([0.0, 0.0])
    (grad,) = gradients(math.norm(x, order).sum(), x, create_graph=True)
    if grad.requires_grad:
        assert np.isfinite(gradients(grad.sum(), x)[0].data).all()


@pytest.mark.parametrize("order", [None, "fro", 1, -1, INF, -INF])
def test_matrix_norm_at_zero(order: Any) -> None:
    assert grad_of(lambda x: math.norm(x, order, axis=(0, 1)), np.zeros((2, 2))) == [[[0.0, 0.0], [0.0, 0.0]]]


def test_rows_of_a_norm() -> None:
    ((row, zero),) = grad_of(lambda x: math.norm(x, axis=1), [[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(row, [0.6, 0.8], rtol=1e-6)
    assert zero == [0.0, 0.0]


def test_largest_entries_share_the_norm() -> None:
    (grad,) = grad_of(lambda x: math.norm(x, INF), [-2.0, 1.0, 2.0, 2.0])
    np.testing.assert_allclose(grad, [-1 / 3, 0, 1 / 3, 1 / 3], rtol=1e-6)
    assert grad_of(lambda x: math.norm(x, -INF), [-1.0, 1.0, 2.0]) == [[-0.5, 0.5, 0.0]]


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1.0, 1e20, 1e30])
def test_norm_of_numbers_whose_squares_are_no_numbers(scale: float) -> None:
    x = parameter([3 * scale, 4 * scale])
    length = math.norm(x)
    np.testing.assert_allclose(length.item(), 5 * scale, rtol=1e-6)
    length.backward()
    np.testing.assert_allclose(np.asarray(x.grad), [0.6, 0.8], rtol=1e-6)


def test_norm_refuses() -> None:
    x = parameter(np.ones((2, 2, 2)))
    wrong: Any = "fro"
    with pytest.raises(ValueError, match="is a number"):
        math.norm(x, wrong, axis=0)
    with pytest.raises(ValueError, match="matrix norm"):
        math.norm(x, 3, axis=(0, 1))
    with pytest.raises(ValueError, match="received 3 axes"):
        math.norm(x, 2)


def test_abs_sign_hypot_and_angle_at_zero() -> None:
    assert grad_of(math.abs, [0.0, -2.0]) == [[0.0, -1.0]]
    assert grad_of(math.sign, [0.0, -2.0]) == [[0.0, 0.0]]
    assert grad_of(math.hypot, [0.0], [0.0]) == [[0.0], [0.0]]
    assert grad_of(math.arctan2, [0.0], [0.0]) == [[0.0], [0.0]]
    assert grad_of(lambda x: math.hypot(x, 0.0), [0.0]) == [[0.0]]


def test_angle_of_large_and_small_numbers() -> None:
    for scale in (1e-30, 1e25):
        y, x = grad_of(math.arctan2, [3 * scale], [4 * scale])
        np.testing.assert_allclose([y[0] * scale, x[0] * scale], [4 / 25, -3 / 25], rtol=1e-5)


def test_sqrt_at_zero() -> None:
    assert grad_of(math.sqrt, 0.0) == [INF]
    assert grad_of(lambda x: math.where(x > 0, math.sqrt(x), x), [-4.0, 0.0, 4.0]) == [[1.0, 1.0, 0.25]]


@pytest.mark.parametrize(
    ("function", "bad"),
    [
        (math.sqrt, -4.0), (math.log, 0.0), (math.log, -1.0), (math.log1p, -1.0), (math.log2, 0.0), (math.log10, 0.0),
        (math.reciprocal, 0.0), (math.arcsin, 2.0), (math.arcsin, 1.0), (math.arccos, -1.0), (math.exp, 1000.0),
        (math.expm1, 1000.0), (math.sinh, 1000.0), (math.cosh, 1000.0), (math.tan, INF), (lambda x: x**-1, 0.0),
        (lambda x: x**0.5, -1.0), (lambda x: 1 / x, 0.0), (lambda x: x / x, 0.0), (lambda x: math.power(x, x), -0.5),
    ],
)  # fmt: skip
def test_branch_not_taken_adds_nothing(function: Callable[..., Tensor], bad: float) -> None:
    # Slopes that are infinite or undefined meet a gradient of zero, with no warning either.
    assert grad_of(lambda x: math.where([True, False], 2 * x, function(x)), [bad, 0.5])[0][0] == 2.0
    assert np.isfinite(grad_of(lambda x: math.where([False, True], x, function(x)), [0.5, bad])[0]).all()


def test_safe_where() -> None:
    def safe(x: Tensor) -> Tensor:
        positive = x > 0
        return math.where(positive, math.sqrt(math.where(positive, x, 1)), x)

    assert grad_of(safe, [-4.0, 0.0, 4.0]) == [[1.0, 1.0, 0.25]]


def test_powers_at_zero() -> None:
    for exponent, slope in ((0, 0.0), (1, 1.0), (2, 0.0), (3, 0.0), (0.5, INF), (1.5, 0.0)):
        assert grad_of(lambda x, e=exponent: x**e, [0.0]) == [[slope]]
        assert grad_of(lambda x, e=exponent: x ** np.array([e]), [0.0]) == [[slope]]
    base, exponent = grad_of(math.power, [0.0, 2.0], [1.0, 3.0])
    assert base == [1.0, 12.0]
    np.testing.assert_allclose(exponent, [0.0, 5.54517746], rtol=1e-6)
    base, exponent = grad_of(math.power, -2.0, 3.0)
    assert base == 12.0
    assert np.isnan(exponent)


PRODUCTS: tuple[tuple[list[float], list[float]], ...] = (
    ([2.0, 3.0, 4.0], [12.0, 8.0, 6.0]), ([0.0, 3.0, 4.0], [12.0, 0.0, 0.0]), ([2.0, 0.0, 4.0], [0.0, 8.0, 0.0]),
    ([0.0, 0.0, 4.0], [0.0, 0.0, 0.0]), ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]), ([1e20, 1e20, 0.0, 0.0], [0.0] * 4),
    ([0.0, 1e20, 0.0, 1e20], [0.0] * 4), ([1e-30, 1e-30], [1e-30, 1e-30]), ([5.0], [1.0]),
)  # fmt: skip


@pytest.mark.parametrize(("values", "expected"), PRODUCTS)
def test_product_with_zeros(values: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(grad_of(math.prod, values)[0], expected, rtol=1e-6)
    rows = np.array([values, values])
    columns = np.array([expected, expected]).T
    np.testing.assert_allclose(grad_of(lambda x: math.prod(x, axis=-1), rows)[0], [expected] * 2, rtol=1e-6)
    np.testing.assert_allclose(grad_of(lambda x: math.prod(x, axis=0), rows.T)[0], columns, rtol=1e-6)


def test_product_that_overflows() -> None:
    assert np.isnan(math.prod([1e20, 1e20, 0.0, 0.0]).item())
    (first,) = grad_of(lambda x: math.cumprod(x)[:2], [2.0, 1e20, 1e20, 0.0])
    np.testing.assert_allclose(first, [1e20 + 1, 2, 0, 0], rtol=1e-6)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 8, 9, 17])
def test_running_product_with_zeros(length: int) -> None:
    rng = np.random.default_rng(length)
    values = rng.integers(-2, 3, length).astype(float)
    weights = rng.uniform(1, 2, length)
    # By definition: the result at k contains each element up to k once.
    expected: list[Any] = [
        sum(weights[k] * np.prod(np.delete(values[: k + 1], i)) for k in range(i, length)) for i in range(length)
    ]
    np.testing.assert_allclose(grad_of(lambda x: math.cumprod(x) * weights, values)[0], expected, rtol=1e-5, atol=1e-6)


def test_running_sums() -> None:
    w = np.array([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]])
    x = parameter([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    total = (math.cumsum(x, axis=1) * w).sum()
    assert total.item() == 3819.0
    total.backward()
    assert np.array_equal(np.asarray(x.grad), [[111.0, 110.0, 100.0], [222.0, 220.0, 200.0]])
    for function in (math.cumsum, math.cumprod):
        assert grad_of(function, 3.0) == [1.0]
        assert grad_of(function, []) == [[]]
        with pytest.raises(np.exceptions.AxisError):
            function([1.0], axis=1)


REDUCTIONS: tuple[Callable[..., Tensor], ...] = (
    math.sum, math.mean, math.prod, math.max, math.min, math.var, math.std, math.logsumexp,
)  # fmt: skip


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)])
def test_reducing_nothing(reduce: Callable[..., Tensor], shape: tuple[int, ...]) -> None:
    x = parameter(np.zeros(shape))
    if reduce in (math.max, math.min):
        with pytest.raises(ValueError, match="zero-size"):
            reduce(x)
        return
    expected = {math.sum: 0.0, math.prod: 1.0, math.logsumexp: -INF}.get(reduce, NAN)
    for axis in (None, shape.index(0)):
        result = reduce(x, axis)
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result.data, np.full(result.shape, expected))
        x.zero_grad()
        result.sum().backward()
        assert x.grad is not None
        assert x.grad.shape == shape


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
def test_variance_of_one_element(axis: Any) -> None:
    for function in (math.var, math.std):
        x = parameter([[1.0]])
        result = function(x, axis, ddof=1)
        assert np.isnan(result.data).all()
        result.sum().backward()
        assert x.grad is not None
        assert x.grad.shape == (1, 1)
        assert np.isnan(x.grad).all()


def test_variance_far_from_zero() -> None:
    values = np.array([10000.0, 10001.0, 10002.0], np.float32)
    np.testing.assert_allclose(math.var(values).item(), 2 / 3, rtol=1e-6)


LOGSUMEXPS: tuple[tuple[list[float], float, list[float]], ...] = (
    ([-INF, 1.0], 1.0, [0.0, 1.0]), ([-INF, -INF], -INF, [0.0, 0.0]),
    ([1000.0, 1000.0], 1000 + plain_math.log(2), [0.5, 0.5]),
    ([-1000.0, -1001.0], -1000 + plain_math.log1p(plain_math.exp(-1)), [0.731058579, 0.268941421]), ([3.0], 3.0, [1.0]),
    ([1000.0, 0.0, -1000.0], 1000.0, [1.0, 0.0, 0.0]), ([INF, INF], INF, [NAN, NAN]),
)  # fmt: skip


@pytest.mark.parametrize(("values", "expected", "slope"), LOGSUMEXPS)
def test_logsumexp(values: list[float], expected: float, slope: list[float]) -> None:
    np.testing.assert_allclose(math.logsumexp(values).item(), expected, rtol=1e-6)
    np.testing.assert_allclose(grad_of(math.logsumexp, values)[0], slope, rtol=1e-5)
    np.testing.assert_allclose(np.logaddexp.reduce(parameter(values)).item(), expected, rtol=1e-6)


def test_log_softmax_of_large_numbers() -> None:
    x = parameter([[1000.0, 0.0, -1000.0], [-1000.0, -1000.0, -1001.0]])
    w = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])
    logs = x - math.logsumexp(x, axis=1, keepdims=True)
    expected = np.array([[0, -1000, -2000], [-0.861994803, -0.861994803, -1.86199474]])
    np.testing.assert_allclose(logs.data, expected, rtol=1e-4)
    (logs * w).sum().backward()
    expected = np.array([[-5, 2, 3], [-0.266956449, -0.266956449, 0.533912778]])
    np.testing.assert_allclose(np.asarray(x.grad), expected, rtol=1e-3)
    rows = math.exp(logs).sum(axis=1)
    np.testing.assert_allclose(rows.data, [1.0, 1.0], rtol=1e-3)


def test_softmax_subtracts_the_maximum_of_each_row() -> None:
    x = parameter([[1000.0, 1001.0], [-1000.0, -1001.0]])
    shares = math.exp(x - math.logsumexp(x, axis=1, keepdims=True))
    np.testing.assert_allclose(shares.data, [[0.268941421, 0.731058579], [0.731058579, 0.268941421]], rtol=1e-4)


def test_erf_against_the_standard_library() -> None:
    grid = np.concatenate([np.linspace(-7, 7, 20001), np.logspace(-300, 0, 2001), -np.logspace(-10, 0.9, 2001)])
    expected = np.array([plain_math.erf(value) for value in grid])
    with double_precision():
        found = math.erf(grid).data
    assert found.dtype == np.float64
    assert (np.abs(found - expected) / np.spacing(np.abs(expected))).max() <= 4
    single = grid[np.abs(grid) > 1e-30].astype(np.float32)
    expected = np.array([plain_math.erf(value) for value in single])
    found = math.erf(single).data
    assert found.dtype == np.float32
    assert (np.abs(found - expected) / np.spacing(np.abs(expected.astype(np.float32)))).max() <= 8
    assert np.abs(found).max() <= 1
    ends = math.erf([INF, -INF, NAN, 0.0]).data
    np.testing.assert_array_equal(ends, [1, -1, NAN, 0])
    assert np.signbit(math.erf([-0.0]).data).all()


@pytest.mark.parametrize("function", [math.zeros_like, math.ones_like, math.sign])
def test_constants_have_zero_gradients(function: Callable[..., Tensor]) -> None:
    x = parameter([1.0, 2.0])
    (x * 3 + function(x)).sum().backward()
    assert np.array_equal(np.asarray(x.grad), [3.0, 3.0])


def test_second_derivatives_at_zeros_of_a_product() -> None:
    x = parameter([0.0, 3.0, 4.0])
    (first,) = gradients(math.prod(x), x, create_graph=True)
    hessian: list[npt.NDArray[Any]] = [gradients(first[i], x, keep_graph=True)[0].data for i in range(3)]
    np.testing.assert_array_equal(hessian, [[0, 4, 3], [4, 0, 0], [3, 0, 0]])

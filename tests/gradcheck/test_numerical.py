"""Finite differences by themselves, and their estimates of their own error."""

from __future__ import annotations

import numpy as np
import pytest

from clumsygrad.core import Tensor, math
from clumsygrad.gradcheck import numerical_gradient, numerical_jacobian


@pytest.mark.parametrize("eps", [1e-2, 1e-3, 1e-4, 1e-6])
def test_the_gradient_of_a_mean_does_not_drown_in_rounding(eps: float) -> None:
    x = np.array([2.0, 5.0, 11.0, 4.0, 17.0, 3.0])
    (slope,) = numerical_gradient(math.mean, x, eps=eps)
    np.testing.assert_allclose(slope, np.full(6, 1 / 6), rtol=1e-8)


def test_one_array_of_each_inputs_shape_in_float64() -> None:
    x, y = np.ones((2, 3)), np.array(2.0)
    slopes = numerical_gradient(lambda x, y: math.sum(x * x) * y, [x, y])
    assert [slope.shape for slope in slopes] == [(2, 3), ()]
    assert all(slope.dtype == np.float64 for slope in slopes)
    np.testing.assert_allclose(slopes[0], np.full((2, 3), 4.0))
    np.testing.assert_allclose(slopes[1], 6.0)


@pytest.mark.parametrize(("x", "y"), [(2.0, 3.0), (-1e-3, 1e4)])
def test_a_jacobian_has_the_outputs_shape_and_then_the_inputs(x: float, y: float) -> None:
    jacobians = numerical_jacobian(lambda x, y: math.stack([x * y, -x * y]), [np.full((2, 2), x), np.full(2, y)])
    assert [jacobian.shape for jacobian in jacobians] == [(2, 2, 2, 2, 2), (2, 2, 2, 2)]
    np.testing.assert_allclose(jacobians[0][0, 1, 0, 1, 0], y, rtol=1e-9)
    np.testing.assert_allclose(jacobians[1][1, 1, 0, 0], -x, rtol=1e-9)


def test_opposite_outputs_do_not_cancel() -> None:
    (jacobian,) = numerical_jacobian(lambda x: math.stack([x[0] * x[1], -x[0] * x[1]]), np.array([2.0, 3.0]))
    np.testing.assert_allclose(jacobian, [[3, 2], [-3, -2]], rtol=1e-9)


@pytest.mark.parametrize("x", [-2.0, 0.1, 1.5, 30.0])
def test_the_error_estimate_bounds_the_error(x: float) -> None:
    for fn, derivative in ((math.exp, np.exp), (math.sin, np.cos), (math.tanh, lambda x: 1 - np.tanh(x) ** 2)):
        slopes = numerical_gradient(fn, np.array(x))
        true = float(derivative(x))
        assert abs(float(slopes[0]) - true) <= 3 * float(slopes.errors[0]) + 1e-15
        assert float(slopes.errors[0]) <= 1e-7 * max(abs(true), 1)


def test_at_a_kink_the_error_is_that_of_either_side() -> None:
    slopes = numerical_gradient(math.abs, np.array(0.0))
    assert float(slopes[0]) == pytest.approx(0.0)
    assert float(slopes.errors[0]) == pytest.approx(1.0)


def test_nothing_is_changed() -> None:
    x = Tensor([1.0, 2.0])
    numerical_gradient(lambda x: math.sum(x * x), x)
    assert x.tolist() == [1.0, 2.0]
    assert x.dtype == np.float32


def test_a_gradient_is_that_of_one_number() -> None:
    with pytest.raises(ValueError, match=r"fn returned shape \(2,\). Use numerical_jacobian"):
        numerical_gradient(math.sin, np.ones(2))


def test_several_outputs_are_refused() -> None:
    with pytest.raises(ValueError, match="fn returns one Tensor here; received 2"):
        numerical_jacobian(lambda x: (x, x), np.ones(2))

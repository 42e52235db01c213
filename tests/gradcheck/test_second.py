"""Gradients of gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clumsygrad.core import Array, GradientTuple, Tensor, create_node, gradients, math
from clumsygrad.gradcheck import GradientError, check_gradient, check_second_gradient

from . import mistakes


@pytest.mark.parametrize(
    "fn",
    [math.exp, math.tanh, math.sum, lambda x: x, lambda x: x**3 / (1 + x * x), lambda x: x @ x.T, lambda x: x[[0, 0]]],
)
def test_right_second_gradients_pass(fn: Any) -> None:
    assert check_second_gradient(fn, np.random.default_rng(0).uniform(0.5, 2, (2, 2)))


def test_a_function_of_no_interest_passes() -> None:
    assert check_second_gradient(lambda x, y: math.sin(x), [np.ones(2), np.zeros((0, 2))])


def test_a_wrong_first_gradient_is_reported_as_such() -> None:
    with pytest.raises(GradientError, match="input 1"):
        check_second_gradient(mistakes.product(mistakes.sign_backward), [np.ones(2), np.ones(2) * 2])


def test_a_backward_function_that_leaves_the_graph_is_found() -> None:
    def cut_backward(tensor: Tensor, grad: Array) -> GradientTuple:
        """Right by value, but a constant to the second derivative."""
        x: Any = tensor.parents[0].data
        return (grad * np.exp(np.asarray(x)),)

    def cut(x: Tensor) -> Tensor:
        return create_node(np.exp(x.data), cut_backward, (x,))

    x = np.array([0.5, 1.0])
    assert check_gradient(cut, x)
    report = check_second_gradient(cut, x, raise_exception=False)
    assert [problem.kind for problem in report.problems] == ["detached"]
    assert "the derivative by input 0[0]" in str(report)


def test_the_gradient_that_comes_in_counts_as_an_input() -> None:
    def flat_backward(tensor: Tensor, grad: Array) -> GradientTuple:
        """Right by value, but a constant to the gradient of the output."""
        given: Any = grad
        return (np.asarray(given) * tensor.parents[0].data * 2,)

    report = check_second_gradient(
        lambda x: create_node(x.data**2, flat_backward, (x,)), np.array([0.5, 1.0]), raise_exception=False
    )
    assert not report
    assert "the gradient of output" in str(report)


def test_functions_that_use_gradients_are_checked_like_any_other() -> None:
    def penalty(x: Tensor) -> Tensor:
        (slope,) = gradients(math.sum(math.sin(x) * x), x, create_graph=True)
        return math.sum(slope * slope)

    assert check_second_gradient(penalty, np.array([0.3, 1.0]))

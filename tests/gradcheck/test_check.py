"""check_gradient: what passes, what fails, and with which message."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clumsygrad.core import Array, GradientTuple, Tensor, TensorType, create_node, math, parameter
from clumsygrad.gradcheck import GradientError, GradientReport, assert_gradient, check_gradient

from . import mistakes


def report_of(fn: Any, inputs: Any, **options: Any) -> GradientReport:
    return check_gradient(fn, inputs, raise_exception=False, **options)


def kinds(report: GradientReport) -> list[str]:
    return [problem.kind for problem in report.problems]


def cut_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    return (grad,)


def cosine_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    return (grad * np.cos(tensor.parents[0].data),)


# Inputs and outputs


@pytest.mark.parametrize(
    "given",
    [
        np.array([1.0, 2.0]),
        [np.array([1.0, 2.0])],
        (Tensor([1.0, 2.0]),),
        parameter([1.0, 2.0]),
        np.array([1.0, 2.0], np.float32),
        [[1.0, 2.0]],
        np.array(2.0),
        2.0,
        np.zeros((0, 3)),
        np.arange(12.0).reshape(3, 4)[::2, 1::2],
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.broadcast_to(np.array([1.0, 2.0]), (3, 2)),
    ],
    ids=lambda given: type(given).__name__,
)
def test_inputs_of_every_kind_pass(given: Any) -> None:
    assert check_gradient(lambda x: math.tanh(x) * x, given)


def test_a_list_holds_one_input_for_each_argument() -> None:
    mixed: Any = [np.ones((2, 3)), Tensor(np.ones(3))]
    assert check_gradient(lambda x, y: x @ y, mixed)
    with pytest.raises(TypeError) as error:
        check_gradient(math.sin, [1.0, 2.0])
    assert "one argument for each of its items" in error.value.__notes__[0]


def test_integers_and_masks_are_handed_on_as_they_are() -> None:
    def pick(x: Tensor, index: Any, mask: Any) -> Tensor:
        assert index.dtype == np.int64
        assert mask.dtype == np.bool_
        return math.where(mask, x[index], 0.0)

    report = check_gradient(pick, [np.array([1.0, 2.0, 3.0]), np.array([2, 0]), np.array([True, False])])
    assert [item.name for item in report.inputs] == ["input 0"]


@pytest.mark.parametrize("given", [np.array(["a"]), np.array([1j]), None])
def test_what_is_not_numeric_is_refused(given: Any) -> None:
    inputs: Any = [given]
    with pytest.raises(TypeError, match="Tensors or real arrays"):
        check_gradient(math.sin, inputs)


def test_a_nest_of_outputs_is_watched_in_full() -> None:
    def many(x: Tensor) -> dict[str, Any]:
        return {"a": [math.sin(x), (x * 2, 7)], "b": x, "c": None}

    report = check_gradient(many, np.array([1.0, 2.0]))
    assert report.outputs == 6

    def wrong(x: Tensor) -> dict[str, Any]:
        return {"a": [math.sin(x), create_node(x.data * 2, cut_backward, (x,))]}

    assert "output['a'][1][0]" in str(report_of(wrong, np.array([1.0, 2.0])))


@pytest.mark.parametrize("returned", [np.ones(2), 1.0, None, "x"])
def test_a_function_has_to_return_tensors(returned: Any) -> None:
    with pytest.raises(TypeError, match="fn returns"):
        check_gradient(lambda x: returned, np.ones(2))


def test_an_error_of_the_function_keeps_its_type_and_gains_the_shapes() -> None:
    with pytest.raises(ValueError, match="matmul") as error:
        check_gradient(lambda x, y: x @ y, [np.ones((2, 3)), np.ones(2)])
    assert "(2, 3), (2,)" in error.value.__notes__[-1]


def test_fn_has_to_be_callable() -> None:
    wrong: Any = np.ones(2)
    with pytest.raises(TypeError, match="fn is a function of Tensors; received ndarray"):
        check_gradient(wrong, np.ones(2))


def test_inputs_and_their_gradients_are_left_alone() -> None:
    """The story of a checker that was confused by its own writing into the input."""
    x = parameter([1.0, 2.0])
    x.grad = np.array([9.0, 9.0])
    data, grad = x.data, x.grad
    assert check_gradient(lambda x: x * x, x)
    assert x.data is data
    assert data.dtype == np.float32
    assert data.tolist() == [1.0, 2.0]
    assert x.grad is grad
    assert grad is not None
    assert grad.tolist() == [9.0, 9.0]
    frozen = np.array([1.0, 2.0])
    frozen.flags.writeable = False
    assert check_gradient(lambda x: x * x, frozen)


def test_parameters_that_the_function_captures_keep_their_gradient() -> None:
    w = parameter([3.0, 4.0])
    assert check_gradient(lambda x: x * w, np.array([1.0, 2.0]))
    assert w.grad is None


# Accuracy


def test_a_float32_library_is_checked_in_double_precision() -> None:
    """The mean of six numbers, whose difference in float32 with a small step is lost in rounding."""
    report = check_gradient(math.mean, np.array([2.0, 5.0, 11.0, 4.0, 17.0, 3.0]))
    assert report.inputs[0].relative_error < 1e-9


@pytest.mark.parametrize("eps", [1e-2, 1e-3, 1e-6, 1e-8])
def test_the_step_is_no_matter_of_life_and_death(eps: float) -> None:
    x = np.array([0.3, 2.0, -40.0])
    assert check_gradient(lambda x: math.sin(x) * x, x, eps=eps)


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e12, 1e30])
def test_functions_of_every_scale_pass_and_their_mistakes_fail(scale: float) -> None:
    x, y = np.array([1.5, 2.5]), np.array([0.5, 3.0])
    for backward, passes in ((mistakes.right_backward, True), (mistakes.slight_backward, False)):
        function = mistakes.product(backward)
        assert bool(report_of(lambda x, y, f=function: f(x, y) * scale, [x, y])) is passes


@pytest.mark.parametrize("size", [1e-8, 1e-3, 1e5, 1e12])
def test_inputs_of_every_scale_pass(size: float) -> None:
    assert check_gradient(lambda x: math.log(x) + math.sqrt(x), np.array([size, 3 * size]))


def test_small_slopes_beside_large_values_pass() -> None:
    assert check_gradient(lambda x: x * 1e-3 + 1e6, np.array([1.0, 2.0]))
    # Constant but for rounding.
    assert check_gradient(lambda x: math.sum(math.exp(x) / math.sum(math.exp(x))), np.array([2.0, 3.0, 0.1]))
    assert check_gradient(lambda x: math.sum(x - math.mean(x)), np.array([1.0, 2.0, 3.0]))


def test_errors_that_cancel_in_a_sum_are_found() -> None:
    def opposite_backward(tensor: Tensor, grad: Array) -> GradientTuple:
        """The derivative of the sum of the outputs, which is zero, for any gradient."""
        return (np.zeros(tensor.parents[0].shape),)

    def opposite(x: Tensor) -> Tensor:
        product = x.data[0] * x.data[1]
        return create_node(np.stack([product, -product]), opposite_backward, (x,))

    report = report_of(opposite, np.array([2.0, 3.0]))
    assert not report
    assert report.inputs[0].numeric_values.round(6).tolist() == [[3.0, 2.0], [-3.0, -2.0]]
    right = lambda x: math.stack([x[0] * x[1], -(x[0] * x[1])])  # noqa: E731
    passed = check_gradient(right, np.array([2.0, 3.0]))
    assert passed.inputs[0].analytic_values.tolist() == [[3.0, 2.0], [-3.0, -2.0]]


def test_large_outputs_are_watched_through_random_combinations() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((9, 10)), rng.standard_normal((9, 10))
    assert check_gradient(mistakes.product(mistakes.right_backward), [x, y])
    assert not report_of(mistakes.product(mistakes.slight_backward), [x, y])

    def alternating_backward(tensor: Tensor, grad: Array) -> GradientTuple:
        """Errors of opposite signs, which cancel in the sum of the outputs."""
        return (grad * (1 + 1e-3 * (-1.0) ** np.arange(grad.size).reshape(grad.shape)),)

    assert not report_of(lambda x: create_node(x.data * 1, alternating_backward, (x,)), x)


# What makes a finite difference mean nothing


@pytest.mark.parametrize(
    ("fn", "x", "slopes"),
    [
        (lambda x: math.maximum(x, 0.0), [0.0, 1.0], "0 below and 1 above"),
        (math.abs, [0.0, 2.0], "-1 below and 1 above"),
        (math.max, [1.0, 1.0], "0 below and 1 above"),
        (lambda x: math.clip(x, -1.0, 1.0) * 3 + x * x, [1.0, 0.3], "5 below and 2 above"),
        (math.sort, [2.0, 2.0, 1.0], "1 below and 0 above"),
    ],
)
def test_a_kink_is_told_apart(fn: Any, x: list[float], slopes: str) -> None:
    report = report_of(fn, np.array(x))
    assert kinds(report) == ["kink"]
    assert slopes in report.problems[0].message
    assert "allow_kinks" in str(report)
    accepted = check_gradient(fn, np.array(x), allow_kinks=True)
    assert "any value between them was accepted" in str(accepted)


def test_at_a_kink_only_values_between_the_slopes_are_accepted() -> None:
    def doubled_backward(tensor: Tensor, grad: Array) -> GradientTuple:
        return (grad * np.where(tensor.parents[0].data >= 0, 1.5, -1.0),)

    report = report_of(
        lambda x: create_node(np.abs(x.data), doubled_backward, (x,)), np.array([0.0, -1.0]), allow_kinks=True
    )
    assert not report
    assert report.inputs[0].index == (0,)


@pytest.mark.parametrize("distance", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8])
def test_close_to_a_kink_the_step_gets_smaller(distance: float) -> None:
    assert check_gradient(math.abs, np.array([distance, -distance]))
    assert check_gradient(lambda x: math.maximum(x, 1.0) * x, np.array([1 + distance, 1 - distance]))


@pytest.mark.parametrize(
    ("fn", "x"), [(math.sign, [0.0, 1.0]), (lambda x: create_node(np.floor(x.data), cut_backward, (x,)), [2.0, 0.5])]
)
def test_a_jump_is_told_apart(fn: Any, x: list[float]) -> None:
    report = report_of(fn, np.array(x[:1]))
    assert kinds(report) == ["jump"]
    assert "output[0] by input 0[0]" in str(report)


def test_infinite_outputs_are_told_apart() -> None:
    report = report_of(math.log, np.array([1.0, 0.0]))
    assert kinds(report) == ["non-finite"]
    assert "output[1] is -inf" in str(report)


@pytest.mark.parametrize("fn", [math.sqrt, lambda x: x**0.5, lambda x: math.arcsin(1 - x)])
def test_the_edge_of_a_domain_is_told_apart(fn: Any) -> None:
    report = report_of(fn, np.array([0.0, 1.0]))
    assert kinds(report) == ["non-finite"]
    assert "on both sides" in str(report)


def test_close_to_the_edge_of_a_domain_the_step_gets_smaller() -> None:
    assert check_gradient(math.sqrt, np.array([1e-4, 1e-6]))
    assert "only roughly known" in str(check_gradient(math.sqrt, np.array([1e-9])))


def test_randomness_is_told_apart() -> None:
    rng = np.random.default_rng(0)
    report = report_of(lambda x: x * rng.random(), np.ones(2))
    assert kinds(report) == ["random"]
    assert "eval mode" in str(report)
    shapes = iter((2, 3))
    assert kinds(report_of(lambda x: x * np.ones(next(shapes)), np.ones(1))) == ["random"]


def test_a_function_that_changes_its_inputs_is_told_apart() -> None:
    def normalize(x: Tensor) -> Tensor:
        x.data[...] = x.data / 2
        return x * x

    x = np.array([1.0, 2.0])
    report = report_of(normalize, x)
    assert kinds(report) == ["changed inputs"]
    assert x.tolist() == [1.0, 2.0]


def test_a_backward_function_that_writes_is_found_out() -> None:
    assert kinds(report_of(mistakes.product(mistakes.writing_backward), [np.ones(2), np.ones(2)])) == ["backward"]

    def spoiling_backward(tensor: Tensor, grad: Array) -> GradientTuple:
        tensor.parents[0].data[...] = 0
        return (grad,)

    report = report_of(lambda x: create_node(x.data * 1, spoiling_backward, (x,)), np.ones(2))
    assert kinds(report) == ["changed inputs"]


def test_an_input_that_reaches_no_output_is_noted() -> None:
    report = check_gradient(lambda x, y: x * 2, [np.ones(2), np.ones(3)])
    assert report.notes == ("no output depends on input 1",)
    assert [item.reached for item in report.inputs] == [True, False]


def test_when_no_input_reaches_an_output_there_is_nothing_to_check() -> None:
    w = Tensor([1.0, 2.0])
    report = report_of(lambda x: w * 2, np.ones(2))
    assert kinds(report) == ["unreached"]


def test_a_detached_input_is_told_apart() -> None:
    report = report_of(lambda x, y: x * y.data, [np.ones(2), np.ones(2)])
    assert kinds(report) == ["detached"]
    assert "multiply_backward" in report.blame[0]
    assert "is a constant to it, and yet changes with the inputs" in report.blame[0]


def test_float32_inside_the_function_is_told_apart() -> None:
    scale = np.float32(0.1)

    def rounded(x: Tensor) -> Tensor:
        return create_node((x.data * scale).astype(np.float32), cut_backward, (x,))

    report = report_of(lambda x: rounded(x) * 2, np.ones(2))
    assert kinds(report) == ["float32"]
    assert "the result of cut, of shape (2,), is float32" in str(report)
    # A captured float32 tensor is exact in float64, and lowers nothing.
    constant = Tensor([0.1, 0.2])
    assert check_gradient(lambda x: x * constant, np.ones(2))


def test_hidden_rounding_is_told_apart() -> None:
    def coarse(x: Tensor, decimals: int) -> Tensor:
        return create_node(np.sin(x.data).round(decimals), cosine_backward, (x,))

    x = np.array([0.3, 0.7])
    report = report_of(lambda x: coarse(x, 6) * 3, x)
    assert kinds(report) == ["inaccurate"]
    assert "less than double precision" in str(report)
    assert report.blame == ()


def test_a_float32_constant_in_a_backward_function_is_found() -> None:
    third = np.float32(1 / 3)

    def third_backward(tensor: Tensor, grad: Array) -> GradientTuple:
        return (grad * third,)

    report = report_of(lambda x: create_node(x.data / 3, third_backward, (x,)), np.ones(2), rtol=1e-9)
    assert "off by float32 rounding" in report.hints[0]


# Planted mistakes


@pytest.mark.parametrize(
    ("backward", "hint"),
    [
        (mistakes.sign_backward, "the gradient of input 1 has the opposite sign"),
        (mistakes.factor_backward, "the gradient of input 1 is 2 times the right one"),
        (mistakes.slight_backward, "the gradient of input 1 is 1.000001 times the right one"),
        (mistakes.swapped_backward, "the gradient of input 0 is that of input 1: they are swapped"),
        (mistakes.zero_backward, "the gradient of input 1 is zero everywhere"),
    ],
)
def test_a_planted_mistake_is_found_named_and_blamed(backward: Any, hint: str) -> None:
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal((2, 3)), rng.standard_normal((2, 3))]
    assert check_gradient(mistakes.product(mistakes.right_backward), inputs)
    with pytest.raises(GradientError) as error:
        check_gradient(mistakes.product(backward), inputs)
    report = error.value.report
    assert any(line.startswith(hint) for line in report.hints)
    assert len(report.blame) == 1
    assert report.blame[0].startswith(backward.__name__)
    assert str(report) == str(error.value)


def test_a_forgotten_reduction_is_found() -> None:
    report = report_of(mistakes.product(mistakes.unreduced_backward), [np.ones((2, 3)), np.ones(3)])
    assert kinds(report) == ["backward"]
    assert "unbroadcast(grad, shape)" in str(report)
    assert "unreduced_backward" in report.blame[0]


def test_a_transposed_gradient_is_found() -> None:
    def turned_backward(tensor: Tensor, grad: Array) -> GradientTuple:
        return (grad.T * 2,)

    report = report_of(lambda x: create_node(x.data * 2, turned_backward, (x,)), np.ones((2, 2)))
    assert report.hints == ("the gradient of input 0 is transposed",)


def test_blame_falls_on_the_operation_inside_a_longer_computation() -> None:
    faulty = mistakes.product(mistakes.factor_backward)

    def long(x: Tensor, y: Tensor) -> Tensor:
        hidden = math.tanh(x @ y)
        return math.sum(math.exp(faulty(hidden, math.sin(hidden))) + hidden)

    rng = np.random.default_rng(2)
    report = report_of(long, [rng.standard_normal((2, 3)), rng.standard_normal((3, 2))])
    assert len(report.blame) == 1
    assert report.blame[0].startswith("factor_backward (parents of shape (2, 2), (2, 2)")


def test_blame_tells_which_parent_where_inputs_move_it_alone() -> None:
    report = report_of(mistakes.product(mistakes.sign_backward), [np.ones(2), np.full(2, 3.0)])
    assert report.blame[0].endswith("the gradient of parent 1")


def test_an_error_of_a_backward_function_is_reported_and_chained() -> None:
    def failing_backward(tensor: Tensor, grad: Array) -> GradientTuple:
        raise KeyError("axis")

    with pytest.raises(GradientError, match="KeyError: 'axis'") as error:
        check_gradient(lambda x: create_node(x.data * 2, failing_backward, (x,)), np.ones(2))
    assert isinstance(error.value.__cause__, KeyError)


def test_a_gradient_that_depends_on_the_other_parents_is_found() -> None:
    def dependent_backward(tensor: Tensor, grad: Array) -> GradientTuple:
        x, y = tensor.parents
        factor = 1 if y.requires_grad else 2
        return grad * y.data * factor if x.requires_grad else None, grad * x.data if y.requires_grad else None

    report = report_of(mistakes.product(dependent_backward), [np.ones(2), np.ones(2)])
    assert kinds(report) == ["backward"]
    assert "when no other gradient is asked for" in str(report)


# The rest


def test_assert_gradient_raises_an_assertion_error() -> None:
    assert_gradient(math.exp, np.ones(2))
    with pytest.raises(AssertionError, match="opposite sign"):
        assert_gradient(mistakes.product(mistakes.sign_backward), [np.ones(2), np.ones(2) * 3])


@pytest.mark.parametrize("options", [{"eps": 0.0}, {"eps": 2.0}, {"rtol": 0.0}, {"atol": -1.0}, {"max_elements": 0}])
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        check_gradient(math.exp, np.ones(2), **options)


def test_atol_and_rtol_allow_what_they_say() -> None:
    slight = mistakes.product(mistakes.slight_backward)
    inputs = [np.array([2.0, 3.0]), np.array([4.0, 5.0])]
    assert not report_of(slight, inputs)
    assert report_of(slight, inputs, rtol=1e-5)
    assert report_of(slight, inputs, atol=1e-5)
    assert not report_of(slight, inputs, atol=1e-6)


def test_large_inputs_may_be_sampled() -> None:
    calls: list[tuple[int, int]] = []
    x = np.random.default_rng(0).standard_normal((30, 20))
    report = check_gradient(lambda x: math.sum(math.tanh(x)), x, max_elements=10, progress=lambda *n: calls.append(n))
    assert report.inputs[0].checked == 10
    assert calls[-1] == (14, 14)

    def lossy_backward(tensor: Tensor, grad: Array) -> GradientTuple:
        """One of 600 elements is wrong: only the random directions can see it."""
        spoiled = grad * 2
        changed = spoiled.copy()
        changed[7, 7] = 0
        return (changed,)

    wrong = report_of(
        lambda x: create_node(x.data * 2, lossy_backward, (x,)), x, max_elements=3, rng=np.random.default_rng(5)
    )
    assert not wrong
    assert "random direction" in str(wrong)


def test_the_function_sees_parameters_in_double_precision() -> None:
    def watched(x: Tensor) -> Tensor:
        assert x.dtype == np.float64
        assert x.tensor_type is TensorType.PARAMETER
        return x * 2

    assert check_gradient(watched, np.ones(2, np.float32))
    assert Tensor([1.0]).dtype == np.float32

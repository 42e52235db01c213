"""Activations: their derivatives, and that they stay finite and silent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from nn.finite_difference import check_derivatives, grad_of

from clumsygrad import nn
from clumsygrad.core import Tensor, gradients, parameter
from clumsygrad.nn import functional as F

FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "leaky_relu": F.leaky_relu,
    "elu": lambda x: F.elu(x, 0.7),
    "selu": F.selu,
    "celu": lambda x: F.celu(x, 0.7),
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, "tanh"),
    "silu": F.silu,
    "mish": F.mish,
    "softplus": lambda x: F.softplus(x, 1.5, 3.0),
    "softsign": F.softsign,
    "sigmoid": F.sigmoid,
    "logsigmoid": F.logsigmoid,
    "tanh": F.tanh,
    "hardtanh": F.hardtanh,
    "relu6": F.relu6,
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "softmax": F.softmax,
    "softmax_first_axis": lambda x: F.softmax(x, 0),
    "log_softmax": F.log_softmax,
    "log_softmax_first_axis": lambda x: F.log_softmax(x, 0),
    "softmin": F.softmin,
    "glu": F.glu,
}

by_name = pytest.mark.parametrize("name", FUNCTIONS)


@by_name
@pytest.mark.parametrize("shape", [(2,), (3, 4), (2, 1, 4), (0, 2)])
def test_first_and_second_derivatives(name: str, shape: tuple[int, ...]) -> None:
    if name == "softplus" and shape == (3, 4):
        # On both sides of the threshold.
        check_derivatives(FUNCTIONS[name], np.linspace(-4, 4, 12).reshape(shape))
    else:
        check_derivatives(FUNCTIONS[name], np.random.default_rng(0).normal(scale=2, size=shape))


@pytest.mark.parametrize(("shape", "slopes"), [((3, 2), 2), ((2, 2, 3), 2), ((3, 2), 1), ((3,), 1), ((), 1)])
def test_derivatives_of_prelu(shape: tuple[int, ...], slopes: int) -> None:
    rng = np.random.default_rng(0)
    check_derivatives(F.prelu, rng.normal(size=shape), rng.random(slopes))


@by_name
def test_is_finite_and_silent_for_large_inputs(name: str) -> None:
    x = parameter([[-1e4, -1e3, -88.8, 0.0], [0.0, 88.8, 1e3, 1e4]])
    y = FUNCTIONS[name](x)
    y.sum().backward()
    assert np.isfinite(y.data).all()
    assert np.isfinite(grad_of(x)).all()


@by_name
def test_keeps_nan(name: str) -> None:
    x = parameter([[np.nan, 1.0]])
    assert np.isnan(FUNCTIONS[name](x).data).any()


@by_name
def test_result_is_float32(name: str) -> None:
    x = parameter([[1.0, -2.0]])
    y = FUNCTIONS[name](x)
    y.sum().backward()
    assert y.dtype == np.float32
    assert grad_of(x).dtype == np.float32


@by_name
def test_second_gradient_is_finite_at_the_points_where_the_function_bends(name: str) -> None:
    x = parameter([[0.0, -3.0, 3.0, 6.0, -1.0, 1.0]])
    (first,) = gradients(FUNCTIONS[name](x).sum(), x, create_graph=True)
    if first.requires_grad:
        (second,) = gradients(first.sum(), x, allow_unused=True)
        assert second is None or np.isfinite(second.data).all()


def test_sigmoid_does_not_overflow() -> None:
    x = parameter([-1000.0, -200.0, -88.8, 0.0, 88.8, 1000.0])
    y = F.sigmoid(x)
    y.sum().backward()
    np.testing.assert_allclose(y.data, [0.0, 0.0, 0.0, 0.5, 1.0, 1.0], atol=1e-30)
    np.testing.assert_allclose(grad_of(x), [0.0, 0.0, 0.0, 0.25, 0.0, 0.0], atol=1e-30)


def test_sigmoid_keeps_small_values() -> None:
    np.testing.assert_allclose(F.sigmoid([-40.0]).data, [np.exp(-40.0)], rtol=1e-6)


def test_tanh_and_gelu_do_not_overflow() -> None:
    values = [-1000.0, -1.0, 0.0, 1.0, 1000.0]
    x = parameter(values)
    F.tanh(x).sum().backward()
    np.testing.assert_allclose(grad_of(x), [0.0, 0.419974297, 1.0, 0.419974297, 0.0], rtol=1e-5)
    x = parameter(values)
    y = F.gelu(x)
    y.sum().backward()
    np.testing.assert_allclose(y.data, [-0.0, -0.158655256, 0.0, 0.841344714, 1000.0], rtol=1e-5)
    np.testing.assert_allclose(grad_of(x), [0.0, -0.0833154321, 0.5, 1.08331537, 1.0], rtol=1e-5)


def test_softmax_subtracts_the_largest_of_each_row() -> None:
    y = F.softmax([[1000.0, 1001.0], [-1000.0, -1001.0]], 1)
    np.testing.assert_allclose(y.data, [[0.268941421, 0.731058579], [0.731058579, 0.268941421]], rtol=1e-5)


def test_log_softmax_of_large_differences() -> None:
    x = parameter([[1000.0, 0.0, -1000.0], [-1000.0, -1000.0, -1001.0]])
    y = F.log_softmax(x, 1)
    (y * np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])).sum().backward()
    np.testing.assert_allclose(y.data, [[0.0, -1000.0, -2000.0], [-0.861994803, -0.861994803, -1.86199474]], rtol=1e-5)
    expected = [[-5.0, 2.0, 3.0], [-0.266956449, -0.266956449, 0.533912778]]
    np.testing.assert_allclose(grad_of(x), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("axis", "value", "expected"),
    [
        (
            -1,
            14.3435688,
            [[[-0.196611941, 0.196611926], [-0.104993515, 0.104993582]], [[-0.25, 0.25], [-0.00664806, 0.00664762]]],
        ),
        (
            1,
            -33.8573189,
            [
                [[-0.238405824, -1.92423439], [0.238405943, 1.92423427]],
                [[-3.31058598, 4.78416538], [3.3105857, -4.7841654]],
            ],
        ),
    ],
)
def test_softmax_along_an_axis_of_three(axis: int, value: float, expected: list[list[list[float]]]) -> None:
    x = parameter([[[1.0, 2.0], [3.0, 1.0]], [[0.0, 0.0], [-1.0, 4.0]]])
    w = np.arange(8.0).reshape(2, 2, 2)
    # The case's second value is of log_softmax, whose sums are not those of probabilities.
    total = ((F.softmax if axis == -1 else F.log_softmax)(x, axis) * w).sum()
    total.backward()
    np.testing.assert_allclose(total.item(), value, rtol=1e-5)
    np.testing.assert_allclose(grad_of(x), expected, rtol=1e-3)


def test_softmax_of_no_classes_is_empty() -> None:
    assert F.softmax(np.zeros((2, 0))).shape == (2, 0)
    assert F.log_softmax(np.zeros((2, 0))).shape == (2, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.gelu([1.0], "erf"), "approximate"),  # type: ignore[arg-type]  # the error is tested
        (lambda: F.celu([1.0], 0.0), "relu"),
        (lambda: F.softplus([1.0], 0.0), "beta"),
        (lambda: F.hardtanh([1.0], 1.0, -1.0), "min_val"),
        (lambda: F.glu([1.0, 2.0, 3.0]), "even"),
        (lambda: F.glu(1.0), "even"),
        (lambda: F.prelu(np.zeros((2, 3)), np.zeros(2)), "channels"),
    ],
)
def test_errors(call: Callable[[], Tensor], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


MODULES: list[nn.Module] = [
    nn.ReLU(), nn.LeakyReLU(), nn.ELU(), nn.SELU(), nn.CELU(), nn.GELU(), nn.SiLU(), nn.Mish(), nn.Softplus(),
    nn.Softsign(), nn.Sigmoid(), nn.LogSigmoid(), nn.Tanh(), nn.Hardtanh(), nn.ReLU6(), nn.Hardsigmoid(),
    nn.Hardswish(), nn.Softmax(), nn.LogSoftmax(), nn.Softmin(), nn.GLU(), nn.PReLU(),
]  # fmt: skip


@pytest.mark.parametrize("module", MODULES, ids=repr)
def test_module_is_its_function(module: nn.Module) -> None:
    name = {
        "LeakyReLU": "leaky_relu", "LogSigmoid": "logsigmoid", "LogSoftmax": "log_softmax", "PReLU": "prelu",
    }.get(type(module).__name__, type(module).__name__.lower())  # fmt: skip
    x = np.array([[-2.0, 0.5, 1.0, 3.0]])
    arguments = [x, *module.parameters()]
    np.testing.assert_array_equal(module(x).data, getattr(F, name)(*arguments).data)


@by_name
def test_gradient_of_what_is_constant_costs_nothing(name: str) -> None:
    assert not FUNCTIONS[name](Tensor([[1.0, 2.0]])).requires_grad


def test_bounded_activations_stay_in_their_range() -> None:
    x = np.linspace(-50, 50, 1001)
    assert np.abs(F.tanh(x).data).max() <= 1
    assert F.sigmoid(x).data.min() >= 0
    assert F.sigmoid(x).data.max() <= 1
    assert F.relu6(x).data.max() == 6


@pytest.mark.parametrize("gradient", [np.inf, np.nan])
@pytest.mark.parametrize("function", [F.relu, F.hardtanh, F.hardsigmoid, F.relu6])
def test_no_gradient_passes_where_the_function_is_flat(function: Callable[[Tensor], Tensor], gradient: float) -> None:
    x = parameter([-9.0, 0.5])
    function(x).backward(np.array([gradient, 1.0]))
    assert grad_of(x)[0] == 0
    assert grad_of(x)[1] != 0


def test_root_of_relu_has_no_gradient_where_relu_is_zero() -> None:
    x = parameter([-1.0, 4.0])
    F.relu(x).sqrt().sum().backward()
    assert grad_of(x).tolist() == [0.0, 0.25]

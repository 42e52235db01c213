"""check_module, on anything that is called and has parameters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from clumsygrad.core import Tensor, double_precision, math, parameter
from clumsygrad.gradcheck import GradientError, check_module

from . import mistakes


class Layer:
    """A layer with parameters, a frozen one, and state that every call changes."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.weight = parameter(rng.standard_normal((3, 2)))
        self.bias = parameter([0.5, -0.5])
        self.frozen = Tensor([2.0, 3.0])
        self.calls = np.zeros(1)
        self.mean = Tensor([0.0, 0.0])

    def __call__(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.mean.data = x.data.mean(axis=0)[:2]
        return math.tanh(x @ self.weight + self.bias) * self.frozen

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        yield "weight", self.weight
        yield "bias", self.bias
        yield "tied", self.weight
        yield "frozen", self.frozen

    def parameters(self) -> Iterator[Tensor]:
        return (item for _, item in self.named_parameters())

    def buffers(self) -> Iterator[Tensor | npt.NDArray[np.float64]]:
        yield self.calls
        yield self.mean


class Faulty(Layer):
    def __call__(self, x: Tensor) -> Tensor:
        result: Tensor = mistakes.product(mistakes.factor_backward)(super().__call__(x), self.bias)
        return result


class Failing(Layer):
    def __call__(self, x: Tensor) -> Tensor:
        if self.calls[0] > 10:
            raise ZeroDivisionError
        return super().__call__(x)


X = np.random.default_rng(1).standard_normal((4, 3))


def test_parameters_and_inputs_are_checked_each_once() -> None:
    report = check_module(Layer(), X)
    assert [item.name for item in report.inputs] == ["input 0", "parameter weight", "parameter bias"]
    assert [item.checked for item in report.inputs] == [12, 6, 2]


def test_without_names_parameters_have_numbers() -> None:
    class Scale:
        def __init__(self) -> None:
            self.factor = parameter(2.0)

        def __call__(self, x: Tensor) -> Tensor:
            return x * self.factor

        def parameters(self) -> list[Tensor]:
            return [self.factor]

    assert [item.name for item in check_module(Scale(), X).inputs] == ["input 0", "parameter 0"]


@pytest.mark.parametrize("layer", [Layer(), Faulty(), Failing()], ids=lambda layer: type(layer).__name__)
def test_everything_is_put_back_also_after_an_error(layer: Layer) -> None:
    layer.weight.grad = np.ones((3, 2))
    tensors = (layer.weight, layer.bias, layer.mean, layer.frozen)
    arrays = [tensor.data for tensor in tensors]
    copies = [array.copy() for array in arrays]
    grad = layer.weight.grad
    if isinstance(layer, Failing):
        with pytest.raises(ZeroDivisionError):
            check_module(layer, X)
    else:
        assert bool(check_module(layer, X, raise_exception=False)) is not isinstance(layer, Faulty)
    for tensor, array, copy in zip(tensors, arrays, copies, strict=True):
        assert tensor.data is array
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, copy)
    assert layer.weight.grad is grad
    assert layer.calls.tolist() == [0.0]


def test_parameters_are_put_back_inside_double_precision_too() -> None:
    layer = Layer()
    single = layer.weight.data
    with double_precision():
        double = Layer()
        array = double.weight.data
        assert check_module(double, X)
        assert check_module(layer, X)
    assert double.weight.data is array
    assert array.dtype == np.float64
    assert layer.weight.data is single


def test_a_module_still_trains_afterwards() -> None:
    layer = Layer()
    check_module(layer, X)
    math.sum(layer(Tensor(X))).backward()
    assert layer.weight.grad is not None
    assert layer.weight.grad.dtype == np.float32


def test_a_faulty_module_is_found_out() -> None:
    with pytest.raises(GradientError) as error:
        check_module(Faulty(), X)
    assert "parameter bias" in str(error.value)
    assert error.value.report.blame[0].startswith("factor_backward")

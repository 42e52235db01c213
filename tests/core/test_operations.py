"""Every operation against NumPy and finite differences, over shapes, axes and memory layouts."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import clumsygrad.core
from clumsygrad.core import OPERATIONS, Operation, Tensor, double_precision, math, parameter

from .finite_difference import assert_first, assert_second, parameters
from .operation_table import CASES, NUMPY_CASES, Case

DIFFERENTIABLE = [operation for operation in OPERATIONS.values() if operation.differentiable]
PUBLIC = [operation for operation in OPERATIONS.values() if any(char.isalpha() for char in operation.name)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_first_derivative(case: Case) -> None:
    assert_first(case.function, case.inputs)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_second_derivative(case: Case) -> None:
    assert_second(case.function, case.inputs)


OURS = {str(case): case for case in CASES}


@pytest.mark.parametrize("case", NUMPY_CASES, ids=str)
def test_values_are_numpys_by_our_name_and_by_numpys(case: Case) -> None:
    with warnings.catch_warnings():
        # NumPy warns of what is empty or has no degree of freedom; we don't.
        warnings.simplefilter("ignore")
        expected: Any = case.function(*case.inputs)
    with double_precision():
        for function in (OURS[str(case)].function, case.function):
            result = function(*parameters(case.inputs))
            assert isinstance(result, Tensor)
            assert result.requires_grad
            assert result.shape == np.shape(expected)
            np.testing.assert_allclose(result.data, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_float32_in_float32_out(case: Case) -> None:
    tensors = [parameter(array) for array in case.inputs]
    result = case.function(*tensors)
    assert result.dtype == np.float32
    result.backward(np.ones(result.shape))
    for tensor in tensors:
        assert tensor.grad is not None
        assert tensor.grad.dtype == np.float32
        assert tensor.grad.shape == tensor.shape


BINARY: tuple[Callable[..., Any], ...] = (
    math.add, math.subtract, math.multiply, math.divide, math.power, math.arctan2, math.hypot, math.maximum,
    math.minimum, lambda x, y: math.where([True, False], x, y), lambda x, y: math.clip(x, y, None),
    lambda x, y: math.clip(x, max=y), np.add, np.subtract, np.multiply, np.divide, np.power, np.arctan2, np.hypot,
    np.maximum, np.minimum, lambda x, y: np.where([True, False], x, y),
    lambda x, y: np.clip(x, None, y),
)  # fmt: skip
OPERANDS: tuple[Any, ...] = (
    2, 2.5, True, np.float64(2.5), np.float32(2.5), np.float16(2.5), np.int64(2), np.uint8(2), np.bool_(True),
    np.array(2.5), np.array(2), [2, 3], [2.5, 3.5], [True, False], np.array([2, 3]), np.array([2.5, 3.5]),
    np.array([2, 3], np.int8), np.array([True, True]), np.array([2.5, 3.5], np.float16),
)  # fmt: skip


@pytest.mark.parametrize("function", BINARY)
@pytest.mark.parametrize("operand", OPERANDS, ids=repr)
def test_no_operand_makes_float64(function: Callable[..., Any], operand: Any) -> None:
    values = np.array([1.5, 0.5])
    for turned in (False, True):
        x = parameter(values)
        call: Any = function
        with np.errstate(divide="ignore"):
            expected = call(operand, values) if turned else call(values, operand)
        result = call(operand, x) if turned else call(x, operand)
        assert isinstance(result, Tensor)
        assert result.dtype == np.float32
        np.testing.assert_allclose(result.data, np.asarray(expected), rtol=1e-6)
        result.backward(np.ones(result.shape))
        assert x.grad is not None
        assert x.grad.dtype == np.float32


def test_every_differentiable_operation_is_checked() -> None:
    missing = {operation.name for operation in DIFFERENTIABLE} - {case.operation for case in CASES}
    assert not missing, f"operations without a row in operation_table.py: {sorted(missing)}"


def numpy_function(name: str) -> Any:
    """Return NumPy's function of a name, or None."""
    for place in (np, np.linalg):
        if callable(found := getattr(place, name, None)):
            return found
    return None


@pytest.mark.parametrize("operation", DIFFERENTIABLE, ids=lambda operation: operation.name)
def test_operation_is_found_everywhere(operation: Operation) -> None:
    name = operation.name
    function = numpy_function(name)
    if function is not None:
        assert function in operation.numpy, f"np.{name} has no dispatch entry"
    if hasattr(np.ndarray, name):
        assert name in operation.methods, f"ndarray has a method {name}"
    for method in operation.methods:
        assert getattr(Tensor, method) is operation.forward
    places = [math, getattr(clumsygrad.core, "linalg", None)]
    is_operator = any(method.startswith("__r") for method in operation.methods)
    assert is_operator or any(getattr(place, name, None) is operation.forward for place in places)
    assert operation.forward.__doc__


@pytest.mark.parametrize("operation", DIFFERENTIABLE, ids=lambda operation: operation.name)
def test_backward_function_is_named_after_the_operation(operation: Operation) -> None:
    if operation.backward is not None:
        name = operation.backward.__name__
        assert name == f"{operation.name}_backward"
        assert getattr(clumsygrad.core.grad, name) is operation.backward
        assert list(inspect.signature(operation.backward).parameters) == ["tensor", "grad"]


def test_every_public_function_is_registered() -> None:
    forwards = {operation.forward for operation in OPERATIONS.values()}
    for name, value in vars(math).items():
        if inspect.isfunction(value):
            assert value in forwards, f"math.{name} is not in the table of operations"


def test_methods_take_the_arguments_of_the_functions() -> None:
    x = parameter([[1.0, 2.0], [3.0, 4.0]])
    assert x.sum(axis=0, keepdims=True).shape == (1, 2)
    assert x.reshape(4, 1).shape == x.reshape((4, 1)).shape == (4, 1)
    assert x.transpose(1, 0).shape == x.transpose((1, 0)).shape == (2, 2)
    assert x.std(0, ddof=1).tolist() == np.std(x.data, 0, ddof=1).tolist()
    assert x.clip(2, 3).tolist() == [[2.0, 2.0], [3.0, 3.0]]
    assert x.argmax(axis=1).tolist() == [1, 1]
    assert x.argmin() == 0
    assert [part.shape for part in x.split(2, axis=1)] == [(2, 1), (2, 1)]


def test_argmax_is_of_integers() -> None:
    x = parameter([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]])
    positions: npt.NDArray[np.intp] = math.argmax(x, axis=1)
    assert positions.dtype == np.intp
    assert positions.tolist() == np.argmax(x, axis=1).tolist() == [1, 0]
    assert math.argmin(x, axis=0, keepdims=True).shape == (1, 3)
    assert math.argmax(x) == 3
    for function in (math.argmax, math.argmin):
        with pytest.raises(ValueError, match="empty"):
            function(np.zeros((0, 3)))


def test_filled_like() -> None:
    x = parameter([[1.0, 2.0]])
    for like, value in ((np.zeros_like, 0), (np.ones_like, 1)):
        constant: Any = like(x)
        assert isinstance(constant, Tensor)
        assert not constant.requires_grad
        assert constant.tolist() == [[value, value]]
        assert like(x, shape=(3,)).shape == (3,)
        assert like(x, dtype=np.bool_).dtype == np.bool_
    assert np.full_like(x, 2.5).tolist() == [[2.5, 2.5]]
    assert math.full_like(x, 2.5, shape=3).tolist() == [2.5, 2.5, 2.5]
    fill = parameter(3.0)
    filled = math.full_like(x, fill)
    filled.sum().backward()
    assert fill.grad == 2

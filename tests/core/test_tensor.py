"""The Tensor itself: construction, properties, Python's protocols, in-place updates, copies."""

from __future__ import annotations

import copy
import operator
import pickle
import sys
from typing import Any

import numpy as np
import pytest

from clumsygrad.core import (
    Tensor,
    TensorType,
    arange,
    as_tensor,
    create_node,
    double_precision,
    eye,
    from_numpy,
    full,
    math,
    no_grad,
    ones,
    parameter,
    tensor,
    zeros,
)

# Construction


def test_data_is_copied_into_float32() -> None:
    source = np.array([1.0, 2.0], np.float32)
    t = Tensor(source)
    source[0] = 9
    assert t.tolist() == [1.0, 2.0]
    for data in (
        [1, 2],
        (1, 2),
        np.array([1, 2]),
        np.array([1.0, 2.0]),
        np.array([True, True]),
        range(2),
        Tensor([1, 2]),
    ):
        assert Tensor(data).dtype == np.float32
    for scalar in (1, 1.5, True, np.float64(2), np.int64(3), np.float32(1)):
        assert Tensor(scalar).shape == ()
        assert isinstance(Tensor(scalar).data, np.ndarray)


@pytest.mark.parametrize(
    "data", [1j, np.array([1j]), "text", ["a"], np.array(["a"]), object(), None, [None], {"a": 1}, np.array([], object)]
)
def test_what_is_not_a_real_number_is_refused(data: Any) -> None:
    with pytest.raises(TypeError, match="real numbers"):
        Tensor(data)


def test_ragged_data_is_refused() -> None:
    with pytest.raises(ValueError, match="inhomogeneous"):
        Tensor([[1.0], [1.0, 2.0]])


def test_lists_of_recorded_tensors_are_refused() -> None:
    x = parameter(1.0)
    nests: list[Any] = [[x, x], [[1.0, x]], (x * 2,)]
    for data in nests:
        with pytest.raises(TypeError, match="stack"):
            Tensor(data)
    assert Tensor([tensor(1.0), tensor(2.0)]).tolist() == [1.0, 2.0]


def test_tensor_types() -> None:
    assert Tensor(1.0).tensor_type is TensorType.INPUT
    assert parameter(1.0).tensor_type is TensorType.PARAMETER
    assert (parameter(1.0) * 2).tensor_type is TensorType.INTERMEDIATE
    with pytest.raises(ValueError, match="INTERMEDIATE"):
        Tensor(1.0, TensorType.INTERMEDIATE)
    with pytest.raises(TypeError, match="TensorType"):
        Tensor(1.0, "parameter")  # type: ignore[arg-type]  # the error is what is tested
    x = parameter(1.0)
    assert (x.is_leaf, x.requires_grad) == (True, True)
    assert ((x * 2).is_leaf, (x * 2).requires_grad) == (False, True)
    with no_grad():
        y = x * 2
    assert (y.is_leaf, y.requires_grad, y.tensor_type) == (True, False, TensorType.INPUT)


def test_creation_functions() -> None:
    assert zeros((2, 3)).tolist() == [[0.0] * 3] * 2
    assert ones((2,)).tolist() == [1.0, 1.0]
    assert full((2,), np.float64(0.1)).dtype == np.float32
    assert eye(2, 3).shape == (2, 3)
    assert arange(1, 2, 0.5).tolist() == [1.0, 1.5]
    assert zeros((), tensor_type=TensorType.PARAMETER).requires_grad
    with pytest.raises(ValueError, match="INTERMEDIATE"):
        zeros((2,), tensor_type=TensorType.INTERMEDIATE)
    with double_precision():
        for made in (zeros((1,)), ones((1,)), full((1,), 2), eye(1), arange(2), tensor(1), parameter(2)):
            assert made.dtype == np.float64


def test_from_numpy_shares_memory() -> None:
    values = np.zeros((2, 3), np.float32)
    for view in (values, values.T, values[:, ::2], values[0]):
        assert np.shares_memory(from_numpy(view).data, values)
    values.setflags(write=False)
    frozen = from_numpy(values)
    with pytest.raises(ValueError, match="read-only"):
        frozen[0, 0] = 1.0
    for wrong in (np.zeros(2), np.zeros(2, int), [1.0], 1.0):
        with pytest.raises(TypeError, match="float32"):
            from_numpy(wrong)  # type: ignore[arg-type]  # the error is what is tested


def test_ids_grow() -> None:
    a = tensor(1.0)
    b = a * 2
    assert b.id > a.id


def test_properties_are_read_only() -> None:
    x = parameter([1.0])
    for name in (
        "shape",
        "ndim",
        "size",
        "dtype",
        "T",
        "requires_grad",
        "is_leaf",
        "id",
        "parents",
        "grad_fn",
        "extra",
    ):
        with pytest.raises(AttributeError):
            setattr(x, name, None)
    with pytest.raises(AttributeError):
        x.anything = 1  # type: ignore[attr-defined]  # slots: no attribute by mistake
    scaled = x * 2.5
    assert scaled.parents == (x,)
    assert scaled.extra["scalar_value"] == 2.5
    with pytest.raises(TypeError):
        scaled.extra["scalar_value"] = 3  # type: ignore[index]  # read-only


def test_shape_properties() -> None:
    x = tensor(np.arange(24).reshape(2, 3, 4))
    assert (x.shape, x.ndim, x.size, len(x)) == ((2, 3, 4), 3, 24, 2)
    assert x.T.shape == (4, 3, 2)
    assert x.mT.shape == (2, 4, 3)
    with pytest.raises(ValueError, match="two axes"):
        _ = tensor([1.0]).mT


# data and grad


def test_data_is_adopted_when_it_fits() -> None:
    x = parameter([1.0, 2.0])
    new = np.array([3.0, 4.0], np.float32)
    x.data = new
    assert x.data is new
    x.data = [5, 6]
    assert x.data.dtype == np.float32
    other = tensor([5.0, 6.0])
    x.data = other
    assert not np.shares_memory(x.data, other.data)
    with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
        x.data = np.zeros(3, np.float32)
    with pytest.raises(TypeError):
        x.data = np.array([1j, 2j])
    assert x.tolist() == [5.0, 6.0]
    with pytest.raises(RuntimeError, match="multiply"):
        (x * 2).data = [1.0, 2.0]


def test_grad_is_checked_and_copied() -> None:
    x = parameter([1.0, 2.0])
    source = np.array([1.0, 2.0], np.float32)
    x.grad = source
    assert x.grad is not None
    assert not np.shares_memory(x.grad, source)
    kept = np.asarray(x.grad)
    kept *= 2
    x.grad = kept
    assert x.grad is kept
    assert kept.tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match=r"\(2,\)"):
        x.grad = [1.0]
    x.grad = None
    assert x.grad is None
    x.grad = np.array([1, 2])
    assert np.asarray(x.grad).dtype == np.float32
    x.zero_grad()
    assert x.grad is None


def test_detach_and_numpy() -> None:
    x = parameter([1.0, 2.0])
    for source in (x, x * 2, tensor([1.0, 2.0])):
        free = source.detach()
        assert not free.requires_grad
        assert not np.shares_memory(free.data, source.data)
    view = x.numpy()
    assert np.shares_memory(view, x.data)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1
    x.data[0] = 7
    assert view[0] == 7


# In-place assignment


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (0, 5.0),
        (slice(None), 1),
        ((0, 1), 2.0),
        (np.array([True, False]), [[7, 8, 9]]),
        ([0, 0], 3),
        (..., 0),
        ((None, 1), 4),
    ],
)
def test_item_assignment_follows_numpy(key: Any, value: Any) -> None:
    expected = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = Tensor(expected)
    x[key] = value
    expected[key] = value
    assert np.array_equal(x.data, expected)


def test_item_assignment_takes_tensors() -> None:
    x = zeros((3,))
    x[tensor([0, 2])] = tensor([1.0, 2.0])
    assert x.tolist() == [1.0, 0.0, 2.0]
    with pytest.raises(IndexError, match="whole numbers"):
        x[tensor([0.5])] = 1.0


def test_where_item_assignment_is_refused() -> None:
    w = parameter([1.0, 2.0])
    with pytest.raises(RuntimeError, match="no_grad"):
        w[0] = 5.0
    with pytest.raises(RuntimeError, match="multiply"):
        (w * 2)[0] = 1.0
    with no_grad():
        w[0] = 5.0
    assert w.tolist() == [5.0, 2.0]
    x = zeros((2,))
    with pytest.raises(RuntimeError, match="cut"):
        x[0] = w[0]
    with pytest.raises(ValueError, match="view"):
        zeros((2, 2))[0][0] = 1.0
    with pytest.raises(ValueError, match="could not broadcast"):
        x[:] = [1.0, 2.0, 3.0]
    with pytest.raises(IndexError):
        x[5] = 1.0
    assert x.tolist() == [0.0, 0.0]


# Python's protocols


def test_length_and_iteration() -> None:
    assert list(zeros((0, 3))) == []
    assert len(list(tensor([1.0, 2.0, 3.0]))) == 3
    assert len(zeros((0,))) == 0
    with pytest.raises(TypeError, match="0-d"):
        iter(tensor(1.0))
    with pytest.raises(TypeError, match="0-d"):
        len(tensor(1.0))
    x = parameter([1.0, 2.0, 3.0])
    _, middle, _ = x
    (middle * 2).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 2.0, 0.0]


def test_conversion_of_one_element() -> None:
    for t in (tensor(2.0), tensor([2.0]), tensor([[2.0]])):
        assert (t.item(), float(t), int(t), bool(t)) == (2.0, 2.0, 2, True)
        assert type(t.item()) is float
    for t in (tensor([1.0, 2.0]), zeros((0,))):
        for convert in (Tensor.item, float, int, bool):
            with pytest.raises(ValueError, match="one element"):
                convert(t)
    assert not tensor(0.0)


def test_format() -> None:
    t, v = tensor(3.14159), tensor([1.0, 2.0])
    assert f"{t:.3f}" == "3.142"
    assert f"{v}" == str(v)
    assert f"{t}" == str(t)
    with pytest.raises(TypeError, match=r"\(2,\)"):
        f"{v:.2f}"


def test_repr_tells_value_type_and_origin() -> None:
    x = parameter([1.0, 2.0])
    assert repr(x) == "Tensor([1., 2.], type=PARAMETER)"
    assert "grad_fn=multiply" in repr(x * 2)
    assert "INPUT" in repr(zeros((0, 3)))


def test_comparisons_are_arrays_and_identity_is_kept() -> None:
    a, b, c = parameter([1.0, 1.0]), parameter([1.0, 1.0]), tensor([0.0, 2.0])
    for result in (a == b, a != c, a < c, a <= [1, 0], a > 0.5, a >= np.ones(2), np.ones(2) == a, 0.5 < a):
        assert isinstance(result, np.ndarray)
        assert result.dtype == bool
    assert len({a, b}) == 2
    assert {a: 1}[a] == 1
    product = math.sum(a * b)
    product.backward()
    assert a.grad is not None
    assert b.grad is not None
    assert a.grad.tolist() == b.grad.tolist() == [1.0, 1.0]
    zero_d = tensor(1.0) == 1.0
    assert zero_d.shape == ()
    assert 2.0 in tensor([1.0, 2.0])
    assert 3.0 not in tensor([1.0, 2.0])


def test_comparison_with_what_has_no_order() -> None:
    with pytest.raises(TypeError):
        _ = tensor([1.0]) < object()  # type: ignore[operator]  # the error is what is tested


# Copies


def test_leaves_copy_with_new_ids() -> None:
    x = parameter([1.0, 2.0])
    x.grad = [3.0, 4.0]
    for other in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):  # noqa: S301  # our own bytes
        assert other is not x
        assert other.id != x.id
        assert other.tensor_type is TensorType.PARAMETER
        assert other.tolist() == x.tolist()
        assert other.grad is not None
        assert other.grad.tolist() == [3.0, 4.0]
        assert not np.shares_memory(other.data, x.data)
        other.backward([1.0, 1.0])


def test_computed_tensors_copy_detached_and_without_recursion() -> None:
    y = parameter([1.0, 2.0])
    for _ in range(3000):
        y = y * 1.0
    for other in (copy.deepcopy(y), pickle.loads(pickle.dumps(y))):  # noqa: S301  # our own bytes
        assert other.tensor_type is TensorType.INPUT
        assert other.parents == ()
        assert other.tolist() == [1.0, 2.0]
    assert len(pickle.dumps(y)) < 1000


# Precision


@pytest.mark.parametrize(
    "operand",
    [
        2, 2.0, True, np.float64(2), np.float32(2), np.int64(2), np.bool_(True), np.array(2.0), np.array(2),
        np.array([2.0, 3.0]), np.array([2, 3]), np.array([True, True]), [2.0, 3.0], [2, 3], (2, 3),
    ],
)  # fmt: skip
def test_no_operand_changes_the_precision(operand: Any) -> None:
    x = parameter([1.0, 2.0])
    results = [
        x + operand, operand + x, x - operand, operand - x, x * operand, operand * x, x / operand, operand / x,
        x**operand, operand**x, math.maximum(x, operand), math.where([True, False], x, operand),
    ]  # fmt: skip
    for result in results:
        assert isinstance(result, Tensor)
        assert result.dtype == np.float32
        x.zero_grad()
        math.sum(result).backward()
        assert x.grad is not None
        assert x.grad.dtype == np.float32
    constant = Tensor([1.0, 2.0])
    assert (constant * operand).dtype == np.float32


def test_scalar_operand_makes_no_tensor() -> None:
    x = parameter([1.0])
    for scalar in (2, 2.5, np.float64(2.5), np.int32(2)):
        node = x * scalar
        assert node.parents == (x,)
        assert node.extra["scalar_value"] == scalar
        assert type(node.extra["scalar_value"]) is float


def test_integers_are_data_like_any_other() -> None:
    assert (Tensor([77]) * 0.1).item() == pytest.approx(7.7)
    assert (Tensor(np.array([3, 4], np.int64)) / 2).tolist() == [1.5, 2.0]
    assert (Tensor([True, False]) + 1).tolist() == [2.0, 1.0]
    assert Tensor(16777217).item() == 16777216.0


def test_double_precision_reaches_everything_inside() -> None:
    with double_precision():
        x = parameter([1.0, 2.0])
        y = math.sum(math.exp(x * 0.1) / (x + 1)) ** 2
        y.backward()
        assert y.dtype == np.float64
        assert x.grad is not None
        assert x.grad.dtype == np.float64
    assert Tensor([1.0]).dtype == np.float32


def test_values_of_another_precision_are_converted_by_the_factory() -> None:
    x = parameter([1.0])

    def double_backward(t: Tensor, grad: Any) -> Any:
        return (grad.astype(np.float64) * 2,)

    node = create_node(x.data.astype(np.float64) * 2, double_backward, (x,))
    assert node.dtype == np.float32
    node.backward()
    assert x.grad is not None
    assert x.grad.dtype == np.float32
    with pytest.raises(TypeError, match="real numbers"):
        create_node(np.array([1j]), double_backward, (x,))


def test_unsupported_operands_raise_a_type_error() -> None:
    x = parameter([1.0])
    computations: tuple[Any, ...] = (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.matmul,
    )  # fmt: skip
    for wrong in ("a", None, object(), {"a": 1}):
        for compute in computations:
            with pytest.raises(TypeError):
                compute(x, wrong)
            with pytest.raises(TypeError):
                compute(wrong, x)
    for wrong in (1j, np.complex64(1), np.array([1j])):
        with pytest.raises(TypeError):
            _ = x * wrong


def test_foreign_classes_may_answer() -> None:
    class Unit:
        def __radd__(self, other: object) -> str:
            return "answered"

    assert tensor(1.0) + Unit() == "answered"


def test_as_tensor_returns_tensors_themselves() -> None:
    x = parameter([1.0])
    assert as_tensor(x) is x
    array = np.ones(2, np.float32)
    assert not np.shares_memory(as_tensor(array).data, array)


def test_zero_d_results_are_arrays() -> None:
    x = parameter(2.0)
    for y in (x * x, -x, math.sum(x), math.exp(x), x**2, x.reshape(1)[0], x @ np.ones(1) if x.ndim else x + x):
        assert type(y.data) is np.ndarray
        assert y.shape == ()
        y.backward()
    assert type(x.grad) is np.ndarray


def test_a_tensor_is_small() -> None:
    assert sys.getsizeof(tensor(1.0)) < 130
    assert not hasattr(tensor(1.0), "__dict__")

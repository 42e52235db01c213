"""Leaves that are frozen and thawed."""

import pytest

from clumsygrad.core import TensorType, parameter, tensor


def test_a_frozen_leaf_records_nothing() -> None:
    w = parameter([1.0, 2.0])
    assert w.requires_grad_(False) is w
    assert w.tensor_type is TensorType.INPUT
    assert not (w * 2).requires_grad


def test_a_thawed_leaf_is_trained() -> None:
    x = tensor([1.0, 2.0]).requires_grad_()
    (x * x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_leaf_that_is_frozen_before_the_backward_pass_gets_no_gradient() -> None:
    w, v = parameter([1.0]), parameter([3.0])
    y = (w * v).sum()
    w.requires_grad_(False)
    y.backward()
    assert w.grad is None
    assert v.grad is not None
    assert v.grad.tolist() == [1.0]


def test_a_computed_tensor_is_neither() -> None:
    with pytest.raises(RuntimeError, match="only a leaf"):
        (parameter([1.0]) * 2).requires_grad_(False)

"""Linear, Bilinear and the layers that change the shape alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nn.finite_difference import check_derivatives, grad_of

from clumsygrad.core import Tensor, double_precision, gradients, ones, parameter, zeros
from clumsygrad.nn import Bilinear, Flatten, Identity, Linear, Unflatten
from clumsygrad.nn import functional as F

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(3,), (1, 3), (4, 3), (2, 4, 3), (2, 1, 2, 3), (0, 3), (2, 0, 3)])
@pytest.mark.parametrize("bias", [True, False])
def test_derivatives_of_linear(shape: tuple[int, ...], bias: bool) -> None:
    arrays = [RNG.normal(size=shape), RNG.normal(size=(2, 3)), RNG.normal(size=2)]
    check_derivatives(F.linear, *(arrays if bias else arrays[:2]))


@pytest.mark.parametrize("shape", [(4, 3), (2, 4, 3)])
def test_linear_is_its_composed_form(shape: tuple[int, ...]) -> None:
    with double_precision():
        arrays = [RNG.normal(size=shape), RNG.normal(size=(2, 3)), RNG.normal(size=2)]
        results: list[list[np.ndarray[Any, Any]]] = []
        for function in (F.linear, lambda x, w, b: x @ w.T + b):
            leaves = [parameter(array) for array in arrays]
            y = function(*leaves)
            first = gradients((y * y).sum(), leaves, create_graph=True)
            second = gradients(sum(((g * g).sum() for g in first[1:]), (first[0] * first[0]).sum()), leaves)
            results.append([y.data, *(g.data for g in first), *(g.data for g in second)])
    for left, right in zip(*results, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12)


@pytest.mark.parametrize(("inputs", "outputs"), [(0, 2), (3, 0), (1, 1)])
def test_linear_without_features(inputs: int, outputs: int) -> None:
    layer = Linear(inputs, outputs)
    x = parameter(np.ones((4, inputs)))
    y = layer(x)
    y.sum().backward()
    assert y.shape == (4, outputs)
    assert grad_of(x).shape == (4, inputs)
    assert grad_of(layer.weight).shape == (outputs, inputs)


def test_linear_of_views() -> None:
    x = parameter(RNG.normal(size=(3, 4)))
    w = parameter(RNG.normal(size=(2, 3)))
    y = F.linear(x.T, w)
    y.sum().backward()
    np.testing.assert_allclose(y.data, x.data.T @ w.data.T, rtol=1e-6)
    np.testing.assert_allclose(grad_of(x), np.broadcast_to(w.data.sum(0)[:, np.newaxis], (3, 4)), rtol=1e-5)


def test_linear_takes_arrays_and_lists() -> None:
    layer = Linear(2, 1)
    values = [[1.0, 2.0]]
    assert layer(values).tolist() == layer(np.array(values)).tolist() == layer(Tensor(values)).tolist()


@pytest.mark.parametrize(
    ("x", "weight", "bias"),
    [((2, 4), (3, 5), None), ((), (3, 5), None), ((2, 5), (5,), None), ((2, 5), (3, 5), (5,)), ((2, 5), (3, 5), ())],
)
def test_linear_shapes_that_do_not_match(
    x: tuple[int, ...], weight: tuple[int, ...], bias: tuple[int, ...] | None
) -> None:
    with pytest.raises(ValueError, match="features"):
        F.linear(np.ones(x), np.ones(weight), None if bias is None else np.ones(bias))


def test_linear_initial_values() -> None:
    layer = Linear(100, 400, rng=np.random.default_rng(0))
    for values in (layer.weight.data, layer.bias.data if layer.bias is not None else np.zeros(1)):
        assert np.abs(values).max() <= 0.1
        np.testing.assert_allclose(values.std(), 0.1 / np.sqrt(3), rtol=0.05)
    again = Linear(100, 400, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(layer.weight.data, again.weight.data)


@pytest.mark.parametrize("shape", [(), (4,), (2, 4)])
def test_derivatives_of_bilinear(shape: tuple[int, ...]) -> None:
    check_derivatives(
        F.bilinear,
        RNG.normal(size=(*shape, 3)), RNG.normal(size=(*shape, 2)), RNG.normal(size=(4, 3, 2)), RNG.normal(size=4),
        rtol=1e-5,
    )  # fmt: skip


def test_bilinear_is_a_sum_over_pairs() -> None:
    layer = Bilinear(3, 2, 4, rng=RNG)
    x, y = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 2))
    assert layer.bias is not None
    expected = np.einsum("ni,oij,nj->no", x, layer.weight.data, y) + layer.bias.data
    np.testing.assert_allclose(layer(x, y).data, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("first", "second"), [((5, 3), (4, 2)), ((5, 2), (5, 2)), ((5, 3), (5, 3)), ((), (2,))])
def test_bilinear_shapes_that_do_not_match(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="in1_features"):
        Bilinear(3, 2, 4)(np.ones(first), np.ones(second))


def test_bilinear_needs_features() -> None:
    with pytest.raises(ValueError, match="in1_features"):
        Bilinear(0, 2, 4)


def test_identity() -> None:
    x = ones(3)
    assert Identity(54, unused=True)(x) is x


@pytest.mark.parametrize(
    ("layer", "before", "after"),
    [
        (Flatten(), (2, 3, 4), (2, 12)),
        (Flatten(0), (2, 3, 4), (24,)),
        (Flatten(-2), (2, 3, 4), (2, 12)),
        (Flatten(0, 1), (2, 3, 4), (6, 4)),
        (Flatten(), (0, 3, 4), (0, 12)),
        (Flatten(), (2, 3), (2, 3)),
        (Flatten(0), (), (1,)),
        (Unflatten(1, (3, 4)), (2, 12), (2, 3, 4)),
        (Unflatten(-1, (-1, 4)), (2, 12), (2, 3, 4)),
        (Unflatten(0, [2, 1]), (2, 3), (2, 1, 3)),
        (Unflatten(1, (0, 5)), (2, 0), (2, 0, 5)),
    ],
)
def test_shapes(layer: Flatten | Unflatten, before: tuple[int, ...], after: tuple[int, ...]) -> None:
    x = parameter(np.ones(before))
    y = layer(x)
    assert y.shape == after
    y.sum().backward()
    assert grad_of(x).shape == before


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Flatten(2, 1)(zeros((2, 3, 4))), "order"),
        (lambda: Flatten(3)(zeros((2, 3, 4))), "axis"),
        (lambda: Unflatten(1, (5, 2))(zeros((2, 12))), "length"),
        (lambda: Unflatten(1, (5, -1))(zeros((2, 12))), "length"),
        (lambda: Unflatten(1, (-1, -1))(zeros((2, 12))), "length"),
        (lambda: Unflatten(1, (0, -1))(zeros((2, 0))), "length"),
    ],
)
def test_shapes_that_can_not_be(call: Callable[[], Tensor], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()

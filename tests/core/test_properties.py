"""Random graphs, shapes and keys against finite differences and against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clumsygrad.core import Tensor, double_precision, gradients, math, parameter, unbroadcast

from .finite_difference import Array, assert_first, assert_second, parameters

# Operations of one and of two (2, 3) tensors, smooth everywhere and of moderate size, so that 30 of them stay so.
UNARY: tuple[Callable[[Any], Any], ...] = (
    np.tanh, np.sin, np.cos, np.arctan, math.erf, lambda x: np.exp(-x * x), lambda x: 1 / (1 + x * x), lambda x: -x,
    lambda x: np.log1p(x * x), lambda x: np.sqrt(1 + x * x), lambda x: x - x.mean(axis=0), lambda x: x * 0.5 + 0.3,
    lambda x: np.sum(x, axis=1, keepdims=True) * 0.3 + x, lambda x: np.var(x, axis=0) * 0.1 + x,
    lambda x: math.logsumexp(x, axis=-1, keepdims=True) - x, lambda x: np.cumsum(x, axis=1) * 0.5,
    lambda x: np.flip(x, 1), lambda x: np.roll(x, 1), lambda x: x.T.reshape(2, 3), lambda x: x[:, [2, 0, 0]],
    lambda x: x[::-1, ::-1], lambda x: np.tril(x) + 0.1, lambda x: np.concatenate([x[:, 1:], x[:, :1]], axis=1),
    lambda x: np.pad(x, 1, mode="wrap")[1:3, 0:3], lambda x: np.tile(x, (2, 1))[1:3], lambda x: np.stack([x, x * x])[1],
    lambda x: (x @ x.T) @ x * 0.1, lambda x: np.repeat(x, 2, axis=0)[1:3], lambda x: np.broadcast_to(x[0], (2, 3)),
    lambda x: np.where(np.array([True, False, True]), x, x * x), lambda x: np.cumprod(x * 0.5, axis=0),
    lambda x: np.moveaxis(x, 0, 1).T * np.take_along_axis(x, np.array([[0, 2, 2], [1, 1, 0]]), axis=1),
)  # fmt: skip
BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: np.tanh(x) * y, lambda x, y: x / (1.5 + np.sin(y)),
    lambda x, y: np.arctan2(x, 2 + y * y), lambda x, y: np.hypot(x, 1 + np.cos(y) ** 2),
    lambda x, y: (1 + np.tanh(x) ** 2) ** np.sin(y), lambda x, y: x[:1] * y[:, :1], lambda x, y: x[0] + y,
    lambda x, y: np.where(np.arange(3) > 0, x, y), lambda x, y: np.concatenate([x[:1], y[1:]]),
)  # fmt: skip

Step = tuple[int, int, int]
PROGRAMS = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=30)


def run(program: list[Step], inputs: tuple[Any, ...]) -> Any:
    """Carry out a program: each step takes results of earlier steps, of which many are used more than once."""
    results = list(inputs)
    for choice, left, right in program:
        function: Any = (*UNARY, *BINARY)[choice % (len(UNARY) + len(BINARY))]
        x, y = results[left % len(results)], results[-1 - right % len(results)]
        value = function(y) if choice % (len(UNARY) + len(BINARY)) < len(UNARY) else function(x, y)
        # Bounded, so that products of products don't grow out of reach of the differences.
        results.append(np.sin(value))
    return results[-1] + 0.5 * results[len(results) // 2]


@settings(max_examples=60, deadline=None)
@given(program=PROGRAMS, seed=st.integers(0, 1000))
def test_random_graphs(program: list[Step], seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs = rng.uniform(0.2, 1.2, (2, 3)), rng.uniform(-1.2, -0.2, (2, 3))
    assert_first(lambda *tensors: run(program, tensors), inputs, rtol=1e-4, atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(program=PROGRAMS.filter(lambda program: len(program) <= 8), seed=st.integers(0, 1000))
def test_second_derivatives_of_random_graphs(program: list[Step], seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs = rng.uniform(0.2, 1.2, (2, 3)), rng.uniform(-1.2, -0.2, (2, 3))
    assert_second(lambda *tensors: run(program, tensors), inputs, rtol=1e-3, atol=1e-4)


@settings(max_examples=100, deadline=None)
@given(
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3, min_side=0), choice=st.integers(0, 7)
)
def test_random_broadcasts(shapes: hnp.BroadcastableShapes, choice: int) -> None:
    function = (
        math.add, math.subtract, math.multiply, math.divide, math.power, math.hypot, math.arctan2, math.maximum
    )[choice]  # fmt: skip
    rng = np.random.default_rng(choice)
    left, right = (np.asarray(rng.uniform(0.5, 2, shape)) for shape in shapes.input_shapes)
    with double_precision():
        x, y = parameters((left, right))
        result = function(x, y)
        assert result.shape == shapes.result_shape
        weights = rng.uniform(0.5, 1.5, result.shape)
        grads = gradients(result, (x, y), [weights])
        # Of operands that were broadcast by hand the gradient is that of every copy.
        wide = parameters([np.broadcast_to(t.data, result.shape).copy() for t in (x, y)])
        copies = gradients(function(*wide), wide, [weights])
    for grad, copy, tensor in zip(grads, copies, (x, y), strict=True):
        np.testing.assert_allclose(grad.data, unbroadcast(copy.data, tensor.shape), rtol=1e-9)


@st.composite
def arrays_and_keys(draw: st.DrawFn) -> tuple[Array, Any]:
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    values = np.arange(float(np.prod(shape))).reshape(shape)
    kind = draw(st.sampled_from(["basic", "integers", "mask", "mixed"]))
    key: Any
    if kind == "basic":
        key = draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    elif kind == "integers":
        key = draw(hnp.integer_array_indices(shape))
    elif kind == "mask":
        key = draw(hnp.arrays(np.bool_, shape))
    else:
        places = st.lists(st.integers(-shape[-1], shape[-1] - 1), min_size=1, max_size=5)
        key = (..., draw(places))
    return values, key


@settings(max_examples=150, deadline=None)
@given(arrays_and_keys())
def test_random_keys(drawn: tuple[Array, Any]) -> None:
    values, key = drawn
    x = parameter(values)
    result: Tensor = x[key]
    np.testing.assert_array_equal(result.data, values[key])
    weights = np.random.default_rng(0).integers(1, 9, result.shape).astype(float)
    (grad,) = gradients(result, x, [weights], create_graph=True)
    expected = np.zeros_like(values)
    np.add.at(expected, key, weights)
    np.testing.assert_array_equal(grad.data, expected)


@settings(max_examples=60, deadline=None)
@given(
    values=hnp.arrays(
        np.float64, hnp.array_shapes(max_dims=3, max_side=4), elements=st.sampled_from([0.0, 1.0, -2.0, 3.0])
    ),
    data=st.data(),
)
def test_products_at_any_zeros(values: Array, data: st.DataObject) -> None:
    axis = data.draw(st.sampled_from([None, *range(values.ndim), tuple(range(values.ndim))]))
    assert_first(lambda x: math.prod(x, axis), [values], rtol=1e-4, atol=1e-5)
    if not isinstance(axis, tuple):
        assert_first(lambda x: math.cumprod(x, axis), [values], rtol=1e-4, atol=1e-5)

"""Transforms of functions: their values, their nesting, their forms of arguments, and checkpoint."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from clumsygrad.core import (
    Array,
    Tensor,
    TensorType,
    TensorUtils,
    double_precision,
    functional,
    gradients,
    math,
    no_grad,
    parameter,
    random,
    tensor,
)

from .derivatives import difference

RNG = np.random.default_rng(3)


def smooth(x: Tensor) -> Tensor:
    return math.sum(math.sin(x) * math.exp(x * 0.3) + x**3 / 7)


def field(x: Tensor, y: Tensor) -> Tensor:
    return math.tanh(math.matmul(x, y)) * y[0] + math.exp(x[:, 0] * 0.1)


# Arguments


@pytest.mark.parametrize(
    "argument",
    [2.0, np.float64(2), np.array(2.0), tensor(2.0), parameter(2.0), parameter(1.0) * 2],
    ids=["number", "NumPy number", "array", "INPUT", "PARAMETER", "INTERMEDIATE"],
)
def test_every_kind_of_argument_is_differentiated(argument: Any) -> None:
    value, slope = functional.value_and_grad(lambda x: x**3)(argument)
    assert value.item() == 8
    assert slope.item() == 12
    assert slope.dtype == np.float32
    if isinstance(argument, Tensor):
        assert argument.grad is None


def test_integer_arrays_and_lists_of_numbers_are_arrays() -> None:
    assert functional.grad(lambda x: math.sum(x * x))([1, 2]).tolist() == [2, 4]
    assert functional.grad(lambda x: math.sum(x * x))(np.array([1, 2])).tolist() == [2, 4]
    assert functional.grad(lambda x: math.sum(x * x))([[1.0], (2.0,)]).tolist() == [[2], [4]]


def test_argnums_choose_the_arguments() -> None:
    def f(x: Tensor, y: Tensor, scale: float) -> Tensor:
        return math.sum(x * y * y) * scale

    assert functional.grad(f)(2.0, 3.0, 10.0).item() == 90
    assert functional.grad(f, 1)(2.0, 3.0, 10.0).item() == 120
    assert functional.grad(f, -1)(2.0, 3.0, 10.0).item() == 18
    by_y, by_x = functional.grad(f, (1, 0))(2.0, 3.0, 10.0)
    assert (by_y.item(), by_x.item()) == (120, 90)
    (only,) = functional.grad(f, [0])(2.0, 3.0, scale=10.0)
    assert only.item() == 90


@pytest.mark.parametrize("argnums", [2, -3, (0, 0), (0, -2), ()])
def test_argnums_that_are_not_there(argnums: int) -> None:
    with pytest.raises(ValueError, match="argnums names positional arguments, each once"):
        functional.grad(lambda x, y: x * y, argnums)(1.0, 2.0)


class Weights(NamedTuple):
    w: Tensor
    b: Tensor


def test_gradients_have_the_form_of_the_argument() -> None:
    def f(p: Any) -> Tensor:
        layers, extra = p["layers"], p["extra"]
        total = extra[0] * 3
        for w, b in layers:
            total = total + math.sum(w * w) * b
        return math.sum(total)

    p = {"layers": [Weights(tensor([1.0, 2.0]), tensor(3.0)), (np.array([4.0]), 5.0)], "extra": (tensor(1.0), None)}
    value, found = functional.value_and_grad(f)(p)
    slopes: Any = found
    assert value.item() == 15 + 80 + 3
    assert list(slopes) == ["layers", "extra"]
    first, second = slopes["layers"]
    assert isinstance(first, Weights)
    assert first.w.tolist() == [6, 12]
    assert first.b.item() == 5
    assert isinstance(second, tuple)
    assert second[0].tolist() == [40]
    assert second[1].item() == 16
    assert slopes["extra"][0].item() == 3
    assert slopes["extra"][1] is None


def test_an_argument_that_does_not_matter_has_a_gradient_of_zeros() -> None:
    grads = functional.grad(lambda x, y: math.sum(y), (0, 1))(tensor([1.0, 2.0]), tensor([3.0]))
    assert [g.tolist() for g in grads] == [[0, 0], [1]]
    assert functional.grad(lambda x: tensor(5.0))(tensor([1.0, 2.0])).tolist() == [0, 0]
    assert functional.jacobian(lambda x: tensor([5.0]))(tensor([1.0, 2.0])).tolist() == [[0, 0]]
    assert functional.hessian(lambda x: math.sum(x))(tensor([1.0, 2.0])).tolist() == [[0, 0], [0, 0]]


def test_the_same_tensor_twice_is_two_arguments() -> None:
    x = parameter(3.0)
    by_first, by_second = functional.grad(lambda a, b: a * b * b, (0, 1))(x, x)
    assert (by_first.item(), by_second.item()) == (9, 18)


def test_functions_written_for_numpy() -> None:
    def f(x: Array) -> Any:
        return np.sum(np.sin(x) ** 2)

    x = np.array([0.3, 1.0])
    assert np.allclose(functional.grad(f)(x).data, np.sin(2 * x), atol=1e-6)


def test_results_that_cannot_be_differentiated() -> None:
    with pytest.raises(TypeError, match="returns Tensors; this one returned float"):
        functional.grad(lambda x: x.item() * 2)(1.0)
    with pytest.raises(TypeError, match="returned ndarray"):
        functional.jacobian(lambda x: x.data)(np.ones(2))
    with pytest.raises(ValueError, match=r"returns one element; this one returned \(2,\)"):
        functional.grad(lambda x: x * 2)(np.ones(2))
    with pytest.raises(ValueError, match="one element"):
        functional.hvp(lambda x: x * 2, tensor([1.0, 2.0]), [1.0, 1.0])
    with pytest.raises(ValueError, match=r"returned \(\), \(\)"):
        functional.grad(lambda x: (x, x))(1.0)


# The graph that is left


def test_nothing_of_the_graph_is_left_without_an_outer_one() -> None:
    x, w = parameter([1.0, 2.0]), tensor([3.0, 4.0])
    results: list[Tensor] = [
        *functional.value_and_grad(smooth)(w),
        functional.jacobian(math.sin)(w),
        functional.hessian(smooth)(w),
        *functional.jvp(math.sin, (w,), (w,)),
        *functional.hvp(smooth, w, w),
    ]
    value, pull = functional.vjp(math.sin, w)
    results += [value, *pull(w)]
    with no_grad():
        results += [*functional.value_and_grad(smooth)(x), functional.hessian(smooth)(x)]
        results += functional.value_and_grad(lambda t: math.sum(t * x))(w)
    assert all(result.tensor_type is TensorType.INPUT for result in results)
    assert w.tensor_type is TensorType.INPUT
    assert x.tensor_type is TensorType.PARAMETER


def test_inside_no_grad_derivatives_are_right() -> None:
    with no_grad():
        assert functional.grad(lambda x: x**3)(2.0).item() == 12
        assert functional.hessian(lambda x: x**3)(2.0).item() == 12


def test_a_result_shares_no_memory_with_the_argument() -> None:
    x = tensor([1.0, 2.0])
    value, pull = functional.vjp(lambda t: t, x)
    assert not np.shares_memory(value.data, x.data)
    assert pull([3.0, 4.0])[0].tolist() == [3, 4]


def test_gradients_reach_what_a_function_closes_over() -> None:
    w = parameter([2.0, 3.0])
    value, slope = functional.value_and_grad(lambda x: math.sum(w * w * x * x))(tensor([1.0, 2.0]))
    assert TensorUtils.count_by_type(slope)[TensorType.PARAMETER] == 1
    (value + math.sum(slope)).backward()
    # value = Σ w²x², slope = 2w²x: the derivative by w is 2wx² + 4wx.
    assert w.grad is not None
    assert w.grad.tolist() == [4 + 8, 24 + 24]


def test_gradients_reach_the_argument_s_own_graph() -> None:
    w = parameter(3.0)
    y = w * w
    slope = functional.grad(lambda x: x**3)(y)
    slope.backward()
    # 3y² = 3w⁴
    assert w.grad is not None
    assert w.grad == 12 * 27


def test_keyword_arguments_are_handed_on() -> None:
    def f(x: Tensor, *, power: int, weight: Tensor) -> Tensor:
        return math.sum(weight * x**power)

    w = parameter(2.0)
    slope = functional.grad(f)(3.0, power=2, weight=w)
    assert slope.item() == 12
    slope.backward()
    assert w.grad == 6


# Nesting


def test_a_derivative_of_an_inner_derivative_with_a_closure() -> None:
    def outer(x: Tensor) -> Tensor:
        return functional.grad(lambda y: x * y * y)(5.0)

    assert outer(tensor(2.0)).item() == 20
    assert functional.grad(outer)(2.0).item() == 10


def test_perturbations_are_not_confused() -> None:
    # d/dx (x · d/dy (x + y)) = 1, not 2.
    assert functional.grad(lambda x: x * functional.grad(lambda y: x + y)(1.0))(1.0).item() == 1
    assert (
        functional.jvp(lambda x: x * functional.jvp(lambda y: x + y, (1.0,), (1.0,))[1], (1.0,), (1.0,))[1].item() == 1
    )
    assert functional.grad(lambda x: functional.grad(lambda y: x * y * y)(x))(3.0).item() == 12


def test_derivatives_of_order_five() -> None:
    f: Callable[..., Tensor] = math.sin
    with double_precision():
        for order in range(6):
            value = f(0.7) if order == 0 else f(np.float64(0.7))
            assert np.isclose(value.item(), np.sin(0.7 + order * np.pi / 2), atol=1e-12)
            f = functional.grad(f)


def test_transforms_nest_in_any_order() -> None:
    x = RNG.normal(size=3)
    with double_precision():
        hessian = functional.hessian(smooth)(x).data
        assert np.allclose(functional.jacobian(functional.grad(smooth))(x).data, hessian)
        v = RNG.normal(size=3)
        assert np.allclose(functional.jvp(functional.grad(smooth), (x,), (v,))[1].data, hessian @ v)
        assert np.allclose(functional.hvp(smooth, tensor(x), v)[1].data, hessian @ v)
        along = functional.grad(lambda t: math.sum(functional.grad(smooth)(t) * v))
        assert np.allclose(along(x).data, hessian @ v)
        _, pull = functional.vjp(functional.grad(smooth), x)
        assert np.allclose(pull(v)[0].data, hessian @ v)
        slope = functional.grad(lambda t: functional.jvp(smooth, (t,), (v,))[1])
        assert np.allclose(slope(x).data, hessian @ v)


# vjp and jvp


def test_vjp_and_jvp_are_consistent_with_the_jacobian() -> None:
    x, y = RNG.normal(size=(2, 3)), RNG.normal(size=3)
    u, dx, dy = RNG.normal(size=2), RNG.normal(size=(2, 3)), RNG.normal(size=3)

    def f(a: Tensor, b: Tensor) -> Tensor:
        return math.tanh(a @ b) * math.exp(b[0]) + math.sum(a * a, axis=1)

    with double_precision():
        by_x, by_y = functional.jacobian(f, (0, 1))(x, y)
        assert by_x.shape == (2, 2, 3)
        value, pull = functional.vjp(f, x, y)
        pulled = pull(u)
        again, tangent = functional.jvp(f, (x, y), (dx, dy))
    assert np.array_equal(value.data, again.data)
    expected = np.tensordot(by_x.data, dx, 2) + by_y.data @ dy
    assert np.allclose(tangent.data, expected)
    assert np.allclose(pulled[0].data, np.tensordot(u, by_x.data, 1))
    assert np.allclose(pulled[1].data, u @ by_y.data)
    assert np.isclose(u @ tangent.data, np.sum(pulled[0].data * dx) + np.sum(pulled[1].data * dy))


def test_jvp_equals_a_difference_quotient() -> None:
    x, v, eps = RNG.normal(size=4), RNG.normal(size=4), 1e-6
    with double_precision():
        _, tangent = functional.jvp(smooth, (x,), (v,))
        ahead, behind = smooth(tensor(x + eps * v)), smooth(tensor(x - eps * v))
    assert np.isclose(tangent.item(), (ahead.item() - behind.item()) / (2 * eps), rtol=1e-6)


def test_jvp_at_an_infinite_slope() -> None:
    assert functional.jvp(math.sqrt, (0.0,), (1.0,))[1].item() == np.inf


def test_vjp_and_jvp_of_trees() -> None:
    def f(p: Any, scale: Any) -> Any:
        return {"product": p[0] * p[1], "pair": (p[0] * scale, [p[1]])}

    primals = ([tensor(2.0), tensor([3.0, 4.0])], tensor(5.0))
    value, pull = functional.vjp(f, *primals)
    assert value["pair"][0].item() == 10
    pulled, by_scale = pull({"pair": (1.0, [[10.0, 20.0]]), "product": [1.0, 1.0]})
    assert pulled[0].item() == 7 + 5
    assert pulled[1].tolist() == [12, 22]
    assert by_scale.item() == 2
    assert pull({"product": [0.0, 0.0], "pair": (1.0, [[0.0, 0.0]])})[1].item() == 2
    _, tangent = functional.jvp(f, primals, ([1.0, [0.0, 1.0]], 2.0))
    assert tangent["product"].tolist() == [3, 4 + 2]
    assert tangent["pair"][0].item() == 5 + 4
    assert tangent["pair"][1][0].tolist() == [0, 1]


def test_vectors_of_the_wrong_form_are_refused() -> None:
    value, pull = functional.vjp(lambda x: (x, x * 2), tensor([1.0, 2.0]))
    assert value[1].tolist() == [2, 4]
    with pytest.raises(ValueError, match="must have the form"):
        pull(tensor([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"must be of the shapes .* received \[\(3,\), \(2,\)\]"):
        pull((tensor([1.0, 2.0, 3.0]), tensor([1.0, 2.0])))
    with pytest.raises(ValueError, match="the tangents have an entry for each of the 2 arguments"):
        functional.jvp(lambda x, y: x * y, (1.0, 2.0), (1.0,))
    with pytest.raises(ValueError, match="the vectors must be of the shapes"):
        functional.hvp(smooth, tensor([1.0, 2.0]), [1.0])


def test_pulling_back_again_and_differentiating_it() -> None:
    _, pull = functional.vjp(lambda x: x**3, tensor([1.0, 2.0]))
    assert pull([1.0, 0.0])[0].tolist() == [3, 0]
    assert pull([0.0, 1.0])[0].tolist() == [0, 12]
    u = parameter([1.0, 1.0])
    math.sum(pull(u)[0] * [1.0, 10.0]).backward()
    assert u.grad is not None
    assert u.grad.tolist() == [3, 120]


# jacobian and hessian


def test_jacobian_equals_differences() -> None:
    x, y = RNG.normal(size=(2, 3)), RNG.normal(size=3)
    with double_precision():
        found = functional.jacobian(field, (0, 1))(x, y)
        for row in range(2):

            def one(a: Array, b: Array, row: int = row) -> float:
                return float(field(tensor(a), tensor(b)).data.ravel()[row])

            expected = [difference(one, [x, y], place, 1e-6) for place in range(2)]
            shape = field(tensor(x), tensor(y)).shape
            for grad, numerical in zip(found, expected, strict=True):
                block = grad.data.reshape(-1, *numerical.shape)
                assert grad.shape == (*shape, *numerical.shape)
                assert np.allclose(block[row], numerical, atol=1e-7)


def test_jacobian_of_shapes_of_any_kind() -> None:
    assert functional.jacobian(lambda x: x * 2)(3.0).shape == ()
    assert functional.jacobian(lambda x: math.sum(x))(np.ones((2, 3))).shape == (2, 3)
    assert functional.jacobian(lambda x: x * np.ones((2, 1)))(np.ones(3)).shape == (2, 3, 3)
    assert functional.jacobian(lambda x: x * 2)(np.ones((0, 2))).shape == (0, 2, 0, 2)
    blocks = functional.jacobian(lambda p: {"a": p[0] * p[1], "b": p[1]})((tensor([1.0, 2.0]), tensor(3.0)))
    found: Any = blocks
    assert found["a"][0].tolist() == [[3, 0], [0, 3]]
    assert found["a"][1].tolist() == [1, 2]
    assert found["b"][0].tolist() == [0, 0]


def test_hessian_of_several_arguments_nests() -> None:
    (xx, xy), (yx, yy) = functional.hessian(lambda x, y: math.sum(x * x) * y + y**3, (0, 1))([1.0, 2.0], 3.0)
    assert xx.tolist() == [[6, 0], [0, 6]]
    assert xy.tolist() == yx.tolist() == [2, 4]
    assert yy.item() == 18


def chained(x: Tensor) -> Tensor:
    """A convex function of any number of variables, whose Hessian matrix is not diagonal."""
    return (
        math.sum(math.exp(x * 0.5) + math.exp(-x)) + math.sum((x[1:] - x[:-1] * 0.5) ** 2) + math.sum(x * x[::-1]) * 0.1
    )


def test_hessian_of_a_hundred_variables_and_newtons_method() -> None:
    x = np.linspace(-1, 2, 100)
    with double_precision():
        hessian = functional.hessian(chained)(x).data
        assert hessian.shape == (100, 100)
        assert np.allclose(hessian, hessian.T)
        slope = functional.grad(chained)
        v = RNG.normal(size=100)
        quotient = (slope(x + 1e-6 * v).data - slope(x - 1e-6 * v).data) / 2e-6
        assert np.allclose(hessian @ v, quotient, rtol=1e-6, atol=1e-6)
        sizes: list[float] = []
        for _ in range(8):
            x = x - np.linalg.solve(functional.hessian(chained)(x).data, slope(x).data)
            sizes.append(float(np.abs(slope(x).data).max()))
    assert sizes[-1] < 1e-12
    # Newton's method converges quadratically: the error's exponent doubles.
    ends = [size for size in sizes if size > 1e-13]
    assert ends[-1] < 10 * ends[-2] ** 2 + 1e-12


def test_gradient_penalty() -> None:
    w = RNG.normal(size=(3, 4))
    x = RNG.normal(size=(5, 3))

    def penalty(weights: Tensor) -> Tensor:
        def critic(points: Tensor) -> Tensor:
            return math.sum(math.tanh(points @ weights) ** 2)

        slope = functional.grad(critic)(x)
        return math.mean((math.sqrt(math.sum(slope * slope, axis=1)) - 1) ** 2)

    with double_precision():
        found = functional.grad(penalty)(w)
        expected = difference(lambda array: penalty(tensor(array)).item(), [w], 0, 1e-6)
        assert np.allclose(found.data, expected, atol=1e-7)
        p = parameter(w)
        penalty(p).backward()
        assert p.grad is not None
        assert np.allclose(p.grad, found.data)


def test_hvp_of_several_arguments_and_closures() -> None:
    w = parameter(2.0)

    def f(x: Tensor, y: Tensor) -> Tensor:
        return math.sum(x * x * y) * w

    value, (by_x, by_y) = functional.hvp(f, (np.array([1.0, 2.0]), 3.0), ([1.0, 0.0], 1.0))
    assert value.item() == 30
    assert by_x.tolist() == [2 * (6 + 2), 2 * 4]
    assert by_y.item() == 2 * 2
    math.sum(by_x).backward()
    assert w.grad == 8 + 4


# checkpoint


def layers(x: Tensor, weights: list[Tensor]) -> Tensor:
    for weight in weights:
        x = math.tanh(x @ weight)
    return x


def test_checkpoint_gives_the_gradients_of_a_plain_call() -> None:
    data, x = [RNG.normal(size=(4, 4)) for _ in range(6)], RNG.normal(size=(3, 4))
    found: list[list[Array]] = []
    for kept in (True, False):
        with double_precision():
            weights, given = [parameter(w) for w in data], parameter(x)
            h = given * 2
            if kept:
                y = layers(layers(h, weights[:3]), weights[3:])
            else:
                y = functional.checkpoint(layers, functional.checkpoint(layers, h, weights[:3]), weights[3:])
                assert len(list(TensorUtils.nodes(y))) == 6 + 2 + 2
            math.sum(y * y).backward()
        grads = [leaf.grad for leaf in (given, *weights)]
        found.append([grad for grad in grads if grad is not None])
    assert len(found[1]) == 7
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


def test_checkpoint_reaches_what_a_function_closes_over() -> None:
    w = parameter(2.0)
    inner = w * 3
    deeper = inner * inner

    def f(x: Tensor) -> Tensor:
        return x * deeper * inner * w

    y = functional.checkpoint(f, tensor(1.0))
    y.backward()
    # w · (3w)³
    assert w.grad == 27 * 4 * 8
    alone = functional.checkpoint(lambda: w * w)
    w.zero_grad()
    alone.backward()
    assert w.grad == 4


def test_checkpoint_of_an_argument_that_is_closed_over_as_well() -> None:
    w = parameter(3.0)
    functional.checkpoint(lambda t: t * t * w, w).backward()
    assert w.grad == 27


def test_checkpoint_of_trees_and_other_values() -> None:
    def f(p: Any, *, flag: str) -> Any:
        assert flag == "on"
        return {"double": p["a"] * 2, "rest": (p["b"] * p["a"], 5, p["a"]), "constant": p["c"]}

    a, b = parameter([1.0, 2.0]), parameter(3.0)
    out = functional.checkpoint(f, {"a": a, "b": b, "c": tensor(1.0)}, flag="on")
    assert out["rest"][1] == 5
    assert out["constant"].tensor_type is TensorType.INPUT
    (math.sum(out["double"]) + math.sum(out["rest"][0] * [1.0, 10.0]) + math.sum(out["rest"][2])).backward()
    assert a.grad is not None
    assert a.grad.tolist() == [2 + 3 + 1, 2 + 30 + 1]
    assert b.grad == 1 + 20


def test_checkpoint_of_derivatives_of_any_order() -> None:
    w = parameter(np.float64(1.5))

    def f(x: Tensor) -> Tensor:
        return math.sin(x * w) * x

    def g(x: Tensor) -> Tensor:
        return functional.checkpoint(f, x)

    with double_precision():
        w = parameter(1.5)
        for order in range(4):
            plain: Callable[..., Tensor] = f
            saving: Callable[..., Tensor] = g
            for _ in range(order):
                plain, saving = functional.grad(plain), functional.grad(saving)
            first, second = plain(tensor(0.8)), saving(tensor(0.8))
            assert np.isclose(first.item(), second.item(), rtol=1e-12)
            (by_w,) = gradients(first, w)
            (by_w_again,) = gradients(second, w)
            assert np.isclose(by_w.item(), by_w_again.item(), rtol=1e-12)


def test_checkpoint_inside_checkpoint() -> None:
    w = parameter(2.0)

    def inner(x: Tensor) -> Tensor:
        return x * w

    def outer(x: Tensor) -> Tensor:
        return functional.checkpoint(inner, functional.checkpoint(inner, x)) * x

    x = parameter(3.0)
    functional.checkpoint(outer, x).backward()
    assert x.grad == 2 * 4 * 3
    assert w.grad == 2 * 2 * 9


def test_checkpoint_gives_no_gradient_that_was_not_asked_for() -> None:
    a, b = parameter(2.0), parameter(3.0)
    y = functional.checkpoint(lambda x: x * b, a)
    (only,) = gradients(y, b, keep_graph=True)
    assert only.item() == 2
    (only,) = gradients(y, a)
    assert only.item() == 3
    assert a.grad is None
    assert b.grad is None


def test_checkpoint_without_anything_to_differentiate() -> None:
    x = tensor(2.0)
    assert functional.checkpoint(lambda t: t * 3, x).tensor_type is TensorType.INPUT
    with no_grad():
        assert functional.checkpoint(lambda t: t * 3, parameter(2.0)).tensor_type is TensorType.INPUT
    assert functional.checkpoint(lambda t: 7, x) == 7


def test_checkpoint_repeats_the_draws_of_a_generator_it_is_given() -> None:
    def noisy(x: Tensor, rng: np.random.Generator) -> Tensor:
        return x * rng.normal(size=3)

    rng = np.random.default_rng(0)
    x = parameter([1.0, 1.0, 1.0])
    y = functional.checkpoint(noisy, x, rng)
    state = rng.bit_generator.state
    math.sum(y).backward()
    assert x.grad is not None
    assert np.allclose(x.grad, y.data)
    assert rng.bit_generator.state == state


def test_checkpoint_repeats_the_draws_of_the_default_generator() -> None:
    x = parameter([1.0, 1.0, 1.0])
    random.seed(5)
    y = functional.checkpoint(lambda t: t * random.rand(3), x)
    following = random.rand(3).tolist()
    random.seed(5)
    random.rand(3)
    math.sum(y).backward()
    assert x.grad is not None
    assert np.array_equal(x.grad, y.data)
    assert random.rand(3).tolist() == following


def test_checkpoint_notices_a_function_that_does_something_else() -> None:
    x = parameter([1.0, 2.0])
    scale = parameter(2.0)
    y = functional.checkpoint(lambda t: t * scale, x)
    scale = parameter(2.0)
    with pytest.raises(RuntimeError, match="it used or returned other tensors"):
        math.sum(y).backward()
    rng = np.random.default_rng(0)
    y = functional.checkpoint(lambda t: t * rng.normal(size=2), x)
    with pytest.raises(RuntimeError, match="its values were others"):
        math.sum(y).backward()
    assert x.grad is None


def test_checkpoint_notices_an_update() -> None:
    w, x = parameter(2.0), parameter(3.0)
    y = functional.checkpoint(lambda t: t * w, x)
    w.data = np.array(5.0)
    with pytest.raises(RuntimeError, match=r"its values were others|changed in place"):
        y.backward()


def peak(steps: int, pieces: int) -> int:
    """The most memory above the start that a chain of steps takes, forward and backward, cut into pieces."""
    x = parameter(np.full(20_000, 0.1))

    def chain(h: Tensor, number: int) -> Tensor:
        for _ in range(number):
            h = math.sin(h)
        return h

    gc.collect()
    tracemalloc.start()
    h: Tensor = x
    for _ in range(pieces):
        h = chain(h, steps) if pieces == 1 else functional.checkpoint(chain, h, steps // pieces)
    math.sum(h).backward()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert x.grad is not None
    return most


def test_checkpoint_lowers_the_peak_of_memory() -> None:
    kept, saved = peak(100, 1), peak(100, 10)
    assert kept > 100 * 80_000
    assert saved < 0.3 * kept

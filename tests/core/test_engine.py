"""The backward walk: order, accumulation, freeing, aliasing, errors."""

from __future__ import annotations

import gc
import threading
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest

from clumsygrad.core import (
    Array,
    GradientTuple,
    Tensor,
    TensorType,
    create_node,
    double_precision,
    gradients,
    mark_updated,
    math,
    no_grad,
    parameter,
    tensor,
)


def grad_of(t: Tensor) -> Array:
    assert t.grad is not None
    return t.grad


@pytest.mark.parametrize("uses", [1, 5, 7, 8, 24, 40])
def test_a_tensor_used_many_times_gets_every_contribution(uses: int) -> None:
    x = parameter(3.0)
    total: Tensor = x
    for _ in range(uses - 1):
        total = total + x
    total.backward()
    assert grad_of(x) == uses
    many = parameter([3.0, 1.0])
    math.sum(math.concatenate([many] * uses)).backward()
    assert np.array_equal(grad_of(many), [uses, uses])


def test_long_chain_needs_no_recursion() -> None:
    x = parameter(1.0)
    y: Tensor = x
    for _ in range(20_000):
        y = y + 1.0 * x / 20_000
    y.backward()
    assert grad_of(x) == pytest.approx(2.0, abs=1e-3)


def test_chain_of_a_million_nodes_is_built_walked_and_dropped() -> None:
    x = parameter(1.0)
    y: Tensor = x
    for _ in range(1_000_000):
        y = -y
    y.backward()
    assert grad_of(x) == 1
    for _ in range(200_000):
        y = -y
    del y


def test_ladder_of_diamonds_is_linear() -> None:
    x = parameter(1.0)
    y: Tensor = x
    for _ in range(10_000):
        y = y * 0.5 + y * 0.5
    y.backward(keep_graph=True)
    y.backward()
    assert grad_of(x) == 2


def test_each_node_is_visited_once() -> None:
    calls: list[int] = []

    def counted_backward(t: Tensor, grad: Array) -> GradientTuple:
        calls.append(t.id)
        return (grad,)

    x = parameter([1.0])
    shared = create_node(x.data, counted_backward, (x,))
    y: Tensor = shared
    for _ in range(5):
        y = y + y
    math.sum(y + shared).backward()
    assert calls == [shared.id]
    assert np.array_equal(grad_of(x), [33.0])


def test_two_passes_over_a_kept_graph_give_twice_the_gradient_everywhere() -> None:
    a, b, d = parameter(4.0), parameter(-1.0), parameter(2.0)
    s = a + b
    e = s * d
    e.backward(keep_graph=True)
    assert [float(grad_of(t)) for t in (a, b, d, s, e)] == [2, 2, 3, 2, 1]
    e.backward()
    assert [float(grad_of(t)) for t in (a, b, d, s, e)] == [4, 4, 6, 4, 2]


def test_held_intermediates_get_a_gradient_and_dropped_ones_die() -> None:
    x = parameter([1.0, 2.0])
    held = x * 2
    dropped = held * 3
    alive = weakref.ref(dropped)
    loss = math.sum(dropped * dropped)
    del dropped
    gc.disable()
    try:
        loss.backward()
        assert alive() is None
    finally:
        gc.enable()
    assert np.array_equal(grad_of(held), [36.0, 72.0])
    assert np.array_equal(grad_of(x), [72.0, 144.0])


def test_nothing_waits_for_the_garbage_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        x = parameter([1.0, 2.0])
        dead: list[weakref.ref[Tensor]] = []
        for _ in range(1000):
            h = x * 2
            loss = math.sum(h * h)
            dead.append(weakref.ref(h))
            loss.backward()
            del h, loss
        assert all(ref() is None for ref in dead)
        failing = x * 2
        dead = [weakref.ref(failing)]
        loss = math.sum(failing)
        del loss, failing
        assert dead[0]() is None
    finally:
        gc.enable()


def test_freed_graph_says_how_to_keep_it() -> None:
    x = parameter([1.0, 2.0])
    y = math.sum(x * x)
    y.backward()
    with pytest.raises(RuntimeError, match="keep_graph=True"):
        y.backward()


def test_freed_part_under_another_output_is_found() -> None:
    x = parameter([1.0, 2.0])
    h = x * x
    first, second = math.sum(h), math.sum(h * 2)
    first.backward()
    before = grad_of(x).copy()
    with pytest.raises(RuntimeError, match="keep_graph=True"):
        second.backward()
    assert np.array_equal(grad_of(x), before)
    with pytest.raises(RuntimeError, match="keep_graph=True"):
        gradients(math.sum(h * 3), x)


@pytest.mark.parametrize("make", [lambda: tensor([1.0]), lambda: tensor(2.0) * 3])
def test_backward_needs_something_to_differentiate(make: Any) -> None:
    with pytest.raises(RuntimeError, match="requires gradients"):
        make().backward()


def test_non_scalar_needs_a_gradient_of_its_shape() -> None:
    x = parameter([1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"\(2,\)"):
        (x * 2).backward()
    with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
        (x * 2).backward([1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=r"\(2,\)"):
        (x * 2).backward(1.0)
    (x * 2).backward(np.array([1, 10]))
    assert np.array_equal(grad_of(x), [2.0, 20.0])
    single = parameter([[5.0]])
    single.backward()
    assert np.array_equal(grad_of(single), [[1.0]])


def test_gradients_share_memory_with_nothing() -> None:
    a, b = parameter([1.0, 2.0]), parameter([3.0, 4.0])
    seed = np.ones(2, np.float32)
    held = a + b
    out = held + 0.0
    out.backward(seed)
    arrays = [grad_of(a), grad_of(b), grad_of(held), grad_of(out), seed, a.data, b.data]
    for index, one in enumerate(arrays):
        for other in arrays[index + 1 :]:
            assert not np.shares_memory(one, other)
    for array in arrays[:4]:
        assert array.flags.writeable
        assert array.dtype == np.float32
    grad_of(a)[:] += 10
    assert np.array_equal(grad_of(b), [1.0, 1.0])
    assert np.array_equal(seed, [1.0, 1.0])


def test_shared_and_separate_uses_of_one_buffer() -> None:
    a, b = parameter([1.0, 2.0]), parameter([3.0, 4.0])
    z = a + b
    (math.sum(z) + math.sum(a * 3)).backward()
    assert np.array_equal(grad_of(a), [4.0, 4.0])
    assert np.array_equal(grad_of(b), [1.0, 1.0])


def test_views_of_a_gradient_are_copied() -> None:
    x = parameter(np.ones((2, 3)))
    (x.T).backward(np.arange(6, dtype=np.float32).reshape(3, 2))
    assert grad_of(x).flags.c_contiguous
    assert grad_of(x).base is None
    y = parameter(np.ones((2, 3)))
    math.sum(y).backward()
    grad_of(y)[0, 0] = 5
    assert np.array_equal(grad_of(y), [[5, 1, 1], [1, 1, 1]])


def test_grad_accumulates_in_place() -> None:
    x = parameter([1.0])
    (x * 2).backward()
    first = grad_of(x)
    (x * 3).backward()
    assert x.grad is first
    assert np.array_equal(first, [5.0])


def test_fresh_gradients_are_adopted_without_a_copy() -> None:
    made: list[int] = []

    def fresh_backward(t: Tensor, grad: Array) -> GradientTuple:
        result = grad * 2
        made.append(result.ctypes.data)
        return (result,)

    x = parameter(np.ones(1000))
    create_node(x.data * 2, fresh_backward, (x,)).backward(np.ones(1000))
    assert grad_of(x).ctypes.data == made[0]


def test_failing_pass_leaves_every_gradient_alone() -> None:
    def broken_backward(t: Tensor, grad: Array) -> GradientTuple:
        raise ZeroDivisionError("broken")

    x, w = parameter([1.0, 2.0]), parameter([5.0, 5.0])
    held = x * 2
    x.grad, w.grad = [7.0, 7.0], [8.0, 8.0]
    bad = create_node(held.data, broken_backward, (held,))
    with pytest.raises(ZeroDivisionError) as caught:
        (math.sum(bad) + math.sum(w * held)).backward()
    assert any("broken" in note and "(2,)" in note for note in caught.value.__notes__)
    assert np.array_equal(grad_of(x), [7.0, 7.0])
    assert np.array_equal(grad_of(w), [8.0, 8.0])
    assert held.grad is None


def _returning(result: Any) -> Any:
    def odd_backward(t: Tensor, grad: Array) -> Any:
        return result

    return odd_backward


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ((), "0 entries"),
        ((None, None), "2 entries"),
        (None, "NoneType"),
        ([np.ones(2)], "list"),
        (np.ones(2), "ndarray"),
        ((np.ones(3),), r"\(2,\).*shape \(3,\)"),
        ((np.ones((2, 2)),), r"shape \(2, 2\)"),
        ((1.0,), "float"),
        ((np.float32(1.0),), r"shape \(\)|float32"),
        (("x",), "str"),
    ],
)
def test_what_a_backward_function_returns_is_checked(result: Any, message: str) -> None:
    x = parameter([1.0, 2.0])
    node = create_node(x.data * 1, _returning(result), (x,))
    with pytest.raises(RuntimeError, match=message) as caught:
        math.sum(node).backward()
    assert "odd_backward" in str(caught.value)
    assert x.grad is None


def test_none_stops_a_gradient() -> None:
    x, w = parameter([1.0]), parameter([2.0])
    node = create_node(x.data + w.data, _returning((None, np.ones(1, np.float32))), (x, w))
    node.backward()
    assert x.grad is None
    assert np.array_equal(grad_of(w), [1.0])


def test_no_work_is_done_for_constants() -> None:
    x, w = tensor(np.ones((4, 3))), parameter(np.ones((3, 2)))
    out = x @ w
    assert out.grad_fn is not None
    left, right = out.grad_fn(out, np.ones((4, 2), np.float32))
    assert left is None
    assert right is not None
    for node in (x[:, 0] * w[:, 0].mean(), x[:, :2] / w[0], x[:, :2] - w[0], math.maximum(x[:, :2], w[0])):
        assert node.grad_fn is not None
        grads = node.grad_fn(node, np.ones(node.shape, np.float32))
        assert [grad is None for grad in grads] == [not parent.requires_grad for parent in node.parents]


# In-place updates


def test_update_between_forward_and_backward_is_caught() -> None:
    def assign(w: Tensor) -> None:
        w.data = [5.0]

    def assign_item(w: Tensor) -> None:
        with no_grad():
            w[0] = 5.0

    def augmented(w: Tensor) -> None:
        w.data -= 0.5

    def marked(w: Tensor) -> None:
        w.data[...] = 5.0
        mark_updated([w])

    for change in (assign, assign_item, augmented, marked):
        w = parameter([2.0])
        y = w * w
        change(w)
        with pytest.raises(RuntimeError, match=r"in place after multiply"):
            y.backward()
        assert w.grad is None
        (w * w).backward()
        assert np.array_equal(grad_of(w), 2 * w.data)


def test_changed_constant_is_caught_too() -> None:
    w, x = parameter([2.0]), tensor([3.0])
    y = w * x
    x[0] = 100.0
    with pytest.raises(RuntimeError, match="in place"):
        y.backward()


def test_array_operand_is_copied_so_that_later_writes_do_no_harm() -> None:
    w = parameter([2.0, 2.0])
    batch = np.array([1.0, 3.0], np.float32)
    y = math.sum(w * batch)
    batch[:] = 100
    y.backward()
    assert np.array_equal(grad_of(w), [1.0, 3.0])


def test_augmented_assignment_rebinds() -> None:
    x = parameter([1.0, 2.0])
    y = x * 1
    z = y
    y += 3
    assert z is not y
    loss = math.sum(y * z)
    assert loss.item() == 14
    loss.backward()
    assert np.array_equal(grad_of(x), [5.0, 7.0])


def test_detached_state_cuts_the_graph() -> None:
    w = parameter(0.5)
    h: Tensor = tensor(1.0)
    loss: Tensor = tensor(0.0)
    for x in (1.0, 2.0):
        h = math.tanh(w * h.detach() + x)
        loss = loss + h**2
    loss.backward()
    assert loss.item() == pytest.approx(1.79009414, rel=1e-6)
    assert grad_of(w) == pytest.approx(0.379214287, rel=1e-5)


# gradients()


def test_derivatives_of_derivatives() -> None:
    with double_precision():
        x = parameter([0.3, -0.7])
        y = math.sum(math.tanh(x * [1.0, 2.0]))
        (first,) = gradients(y, x, create_graph=True)
        (second,) = gradients(math.sum(first), x, create_graph=True)
        (third,) = gradients(math.sum(second), x)
    t = np.tanh(x.data * [1, 2])
    s = 1 - t**2
    np.testing.assert_allclose(first.data, s * [1, 2], rtol=1e-12)
    np.testing.assert_allclose(second.data, -2 * t * s * [1, 4], rtol=1e-12)
    np.testing.assert_allclose(third.data, (-2 * s * s + 4 * t * t * s) * [1, 8], rtol=1e-12)
    assert x.grad is None
    assert not third.requires_grad


def test_gradients_by_an_intermediate() -> None:
    x = parameter([1.0, 2.0])
    h = x * 3
    y = math.sum(h * h)
    by_h, by_x = gradients(y, (h, x))
    assert np.array_equal(by_h.data, [6.0, 12.0])
    assert np.array_equal(by_x.data, [18.0, 36.0])
    assert x.grad is None
    assert h.grad is None
    alone = math.sum(math.exp(h := x * 3))
    (only,) = gradients(alone, h)
    np.testing.assert_allclose(only.data, np.exp([3.0, 6.0]), rtol=1e-6)


def test_gradients_skip_what_nobody_asked_for() -> None:
    def forbidden_backward(t: Tensor, grad: Array) -> GradientTuple:
        raise AssertionError("visited")

    x, w = parameter([1.0]), parameter([2.0])
    aside = create_node(w.data * 2, forbidden_backward, (w,))
    (grad,) = gradients(x * aside, x)
    assert grad.item() == 4
    # A formula sees the parent that nobody asked for as one that needs no gradient.
    seen: list[bool] = []

    def spying_backward(t: Tensor, grad: Array) -> GradientTuple:
        seen.extend(parent.requires_grad for parent in t.parents)
        return grad * t.parents[1].data, None

    gradients(create_node(x.data * w.data, spying_backward, (x, w)), x)
    assert seen == [True, False]


def test_gradients_of_several_outputs_and_repeated_inputs() -> None:
    x = parameter([1.0, 2.0])
    y, z = x * 2, math.sum(x * x)
    first, again = gradients([y, z], [x, x], [[1.0, 10.0], None])
    assert np.array_equal(first.data, [4.0, 24.0])
    assert np.array_equal(again.data, first.data)


def test_gradients_errors() -> None:
    x, unused = parameter([1.0]), parameter([2.0])
    with pytest.raises(RuntimeError, match="allow_unused"):
        gradients(x * 2, unused)
    assert gradients(x * 2, (x, unused), allow_unused=True)[1] is None
    with pytest.raises(RuntimeError, match="INPUT"):
        gradients(x * 2, tensor([1.0]))
    with pytest.raises(RuntimeError, match="INPUT"):
        gradients(tensor([1.0]), x)
    with pytest.raises(ValueError, match=r"\(1,\).*\(2, 1\)"):
        gradients(x * 2, x, [[1.0], [2.0]])
    with pytest.raises(ValueError, match="3 for 2"):
        gradients([x * 2, x * 3], x, [[1.0], [2.0], [3.0]])
    with pytest.raises(TypeError, match="are Tensors"):
        gradients(x * 2, np.ones(1))  # type: ignore[call-overload]  # the error is what is tested


def test_gradients_keep_or_free_the_graph() -> None:
    x = parameter([3.0])
    y = x * x
    gradients(y, x, keep_graph=True)
    gradients(y, x)
    with pytest.raises(RuntimeError, match="keep_graph"):
        gradients(y, x)
    z = x * x
    gradients(z, x, create_graph=True)
    z.backward()


def test_gradient_can_be_differentiated_by_its_seed() -> None:
    x, v = parameter([1.0, 2.0]), parameter([1.0, 1.0])
    (g,) = gradients(x * x, x, v, create_graph=True)
    (by_v,) = gradients(math.sum(g), v)
    assert np.array_equal(by_v.data, [2.0, 4.0])


def test_create_graph_records_inside_no_grad() -> None:
    x = parameter([2.0])
    y = x * x * x
    with no_grad():
        (g,) = gradients(y, x, create_graph=True)
    assert g.requires_grad
    (h,) = gradients(g, x)
    assert h.item() == 12


# Memory


def test_peak_memory_of_a_step() -> None:
    layers, batch, width = 20, 256, 128
    rng = np.random.default_rng(0)
    weights = [parameter(rng.normal(0, 0.1, (width, width))) for _ in range(layers)]
    x = tensor(rng.normal(size=(batch, width)))

    def step() -> None:
        h: Tensor = x
        for w in weights:
            h = math.maximum(h @ w, 0.0)
        math.sum(h * h).backward()
        for w in weights:
            w.zero_grad()

    step()
    activation = batch * width * 4
    tracemalloc.start()
    try:
        step()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Two arrays a layer (the product and its relu), one gradient a weight, and three layers of gradients.
    assert peak < 2 * layers * activation + layers * width * width * 4 + 3 * 2 * activation


def test_memory_does_not_grow_over_steps() -> None:
    w = parameter(np.ones((8, 8)))

    def step() -> None:
        math.sum(math.tanh(w @ w)).backward()
        w.zero_grad()

    for _ in range(50):
        step()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(1000):
        step()
    gc.collect()
    assert len(gc.get_objects()) <= before + 5


def test_threads_differentiate_independently() -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            rng = np.random.default_rng(seed)
            for _ in range(30):
                x = parameter(rng.normal(size=(5, 5)))
                math.sum(math.tanh(x @ x) * x).backward()
                values = x.data
                t = np.tanh(values @ values)
                inner = values * (1 - t * t)
                expected = t + inner @ values.T + values.T @ inner
                np.testing.assert_allclose(grad_of(x), expected, rtol=1e-4, atol=1e-5)
        except BaseException as error:  # noqa: BLE001  # reported by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_results_of_constants_remember_nothing() -> None:
    x = tensor([1.0, 2.0])
    y = math.sum(math.exp(x * 2) + x)
    assert y.tensor_type is TensorType.INPUT
    assert y.grad_fn is None
    assert y.parents == ()
    assert dict(y.extra) == {}

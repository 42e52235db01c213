"""Failures that other libraries and users ran into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clumsygrad.core import Tensor, parameter
from clumsygrad.optim import SGD, Adam, Optimizer, clip_grad_norm_, clip_grad_value_, schedule

from .optimizers import ALL, STEPPED, Make, assert_same, copy_values, get_grad, make_closure, make_parameters, train


def follow(optimizer: Optimizer, tensor: Tensor, grads: list[list[float]]) -> list[list[float]]:
    path: list[list[float]] = []
    for grad in grads:
        tensor.grad = grad
        optimizer.step()
        path.append(tensor.tolist())
    return path


def test_adam_corrects_its_bias() -> None:
    """C108."""
    p = parameter([1.0, -2.0])
    path = follow(Adam([p], lr=0.1), p, [[0.5, -4.0], [0.5, 2.0], [-1.0, 0.0]])
    expected = [[0.900000002, -1.9], [0.800000004, -1.8733663], [0.807564937, -1.85277837]]
    np.testing.assert_allclose(path, expected, rtol=1e-6)
    np.testing.assert_allclose(path[0], [0.9, -1.9], rtol=1e-6)


def test_adam_adds_the_decay_of_the_parameter() -> None:
    """C110."""
    p = parameter([2.0, -3.0])
    path = follow(Adam([p], lr=0.1, weight_decay=0.1), p, [[0.0, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(path, [[1.9, -2.9], [1.8001665, -2.80010271]], rtol=1e-6)


def test_an_unused_parameter() -> None:
    """C112."""
    used, unused = parameter([1.0]), parameter([5.0])
    optimizer = Adam([used, unused], lr=0.1)
    (used**2).sum().backward()
    assert clip_grad_norm_([used, unused], 10.0) == 2.0
    optimizer.step()
    np.testing.assert_allclose(used.data, [0.899999976], rtol=1e-6)
    assert unused.tolist() == [5.0]


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_an_unused_parameter_in_every_optimizer(make: Make) -> None:
    """C112: no decay, no state, no step count."""
    parameters = make_parameters()
    optimizer = make(parameters)
    train(optimizer, make_closure(optimizer, parameters, used=[0, 2, 3]), 3)
    assert_same([parameters[1].data], [make_parameters()[1].data])
    assert parameters[1] not in optimizer.state
    assert 1 not in optimizer.state_dict()["state"]
    assert parameters[0].tolist() != make_parameters()[0].tolist()


@pytest.mark.parametrize("make", STEPPED.values(), ids=STEPPED)
def test_a_parameter_that_is_used_later_has_its_own_step_count(make: Make) -> None:
    """C112: it goes the way it would have gone alone."""
    late, alone = make_parameters(), make_parameters()
    optimizer, other = make(late), make(alone[1:2])
    closure = make_closure(optimizer, late, used=[0, 2, 3])
    train(optimizer, closure, 3)
    closure = make_closure(optimizer, late)
    for _ in range(3):
        closure()
        alone[1].grad = late[1].grad
        optimizer.step()
        other.step()
        assert_same([late[1].data], [alone[1].data])


def test_nesterov() -> None:
    """C114."""
    p = parameter([1.0])
    path = follow(SGD([p], lr=0.1, momentum=0.9, nesterov=True), p, [[1.0], [-0.5], [0.25]])
    np.testing.assert_allclose(path, [[0.81], [0.824], [0.7441]], rtol=1e-6)


@pytest.mark.parametrize(("momentum", "expected"), [(0.0, [[1.8], [1.61]]), (0.9, [[1.8], [1.43]])])
def test_decay_with_and_without_momentum(momentum: float, expected: list[list[float]]) -> None:
    """C116."""
    p = parameter([2.0])
    path = follow(SGD([p], lr=0.1, weight_decay=0.5, momentum=momentum), p, [[1.0], [1.0]])
    np.testing.assert_allclose(path, expected, rtol=1e-6)


GRADS = [[0.5], [-1.0], [2.0], [0.1], [0.3], [-0.2]]


def test_resuming_adam() -> None:
    """C118."""
    straight = parameter([1.0])
    follow(Adam([straight], lr=0.1), straight, GRADS)
    np.testing.assert_allclose(straight.data, [0.791661619], rtol=1e-6)

    p = parameter([1.0])
    first = Adam([p], lr=0.1)
    follow(first, p, GRADS[:3])
    state, value = first.state_dict(), p.data.copy()
    follow(first, p, GRADS[3:4])
    q = parameter(value)
    second = Adam([q], lr=0.5)
    second.load_state_dict(state)
    follow(second, q, GRADS[3:])
    assert_same([q.data], [straight.data])
    assert second.state[q]["step"] == 6
    assert second.state_dict()["state"][0]["step"] == 6


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_a_saved_state_is_a_copy(make: Make) -> None:
    """C118: neither the optimizer that saved it nor one that loaded it writes into it."""
    parameters = make_parameters()
    optimizer = make(parameters)
    closure = make_closure(optimizer, parameters)
    train(optimizer, closure, 2)
    state = optimizer.state_dict()
    before = flatten(state)
    train(optimizer, closure, 2)
    assert flatten(state) == before
    optimizer.load_state_dict(state)
    train(optimizer, closure, 2)
    assert flatten(state) == before


def flatten(state: Any) -> Any:
    """Return a state with the bytes of arrays in place of the arrays."""
    if isinstance(state, dict):
        return {key: flatten(value) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return [flatten(value) for value in state]
    return (state.dtype, state.shape, state.tobytes()) if isinstance(state, np.ndarray) else state


@pytest.mark.parametrize("loads_first", ["optimizer", "schedule"])
def test_resuming_a_schedule(loads_first: str) -> None:
    """C120."""
    expected = [0.1, 0.1, 0.05, 0.05, 0.025, 0.025]
    optimizer = SGD([parameter([1.0])], lr=0.1)
    decay = schedule.StepLR(optimizer, step_size=2, gamma=0.5)
    rates: list[float] = []
    for _ in range(3):
        rates.append(optimizer.param_groups[0]["lr"])
        decay.step()
    states = optimizer.state_dict(), decay.state_dict()

    resumed = SGD([parameter([1.0])], lr=0.1)
    if loads_first == "optimizer":
        resumed.load_state_dict(states[0])
    follower = schedule.StepLR(resumed, step_size=2, gamma=0.5)
    follower.load_state_dict(states[1])
    if loads_first == "schedule":
        resumed.load_state_dict(states[0])
    for _ in range(3):
        rates.append(resumed.param_groups[0]["lr"])
        follower.step()
    assert rates == expected


@pytest.mark.parametrize("max_norm", [0.0, 1.0])
def test_clipping_zeros(max_norm: float) -> None:
    """C122."""
    p = parameter([1.0, 1.0, 1.0])
    p.grad = [0.0, 0.0, 0.0]
    assert clip_grad_norm_([p], max_norm) == 0.0
    assert get_grad(p).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("max_norm", "first", "second"),
    [(1.0, 0.599999905, 0.799999833), (10.0, 3.0, 4.0), (0.001, 0.000599999912, 0.000799999863)],
)
def test_clipping_by_the_norm_of_all(max_norm: float, first: float, second: float) -> None:
    """C124."""
    a, b = parameter([0.0]), parameter([0.0])
    a.grad, b.grad = [3.0], [4.0]
    assert clip_grad_norm_([a, b], max_norm) == 5.0
    np.testing.assert_allclose(np.concatenate([get_grad(a), get_grad(b)]), [first, second], rtol=1e-7)


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_everything_stays_float32(make: Make) -> None:
    """C126: with every hyper-parameter a NumPy float64."""
    parameters = make_parameters()
    optimizer = make(parameters)
    for group in optimizer.param_groups:
        for name, value in group.items():
            if isinstance(value, float):
                group[name] = np.float64(value)
    closure = make_closure(optimizer, parameters)
    for _ in range(3):
        optimizer.step(closure)
        clip_grad_norm_(parameters, np.float64(0.1))
        clip_grad_value_(parameters, np.float64(0.05))
    for tensor in parameters:
        assert tensor.dtype == np.float32
        assert get_grad(tensor).dtype == np.float32
    for state in optimizer.state.values():
        for value in state.values():
            for array in value if isinstance(value, list) else [value]:
                assert not isinstance(array, np.ndarray) or array.dtype == np.float32


@pytest.mark.parametrize("make", STEPPED.values(), ids=STEPPED)
def test_parameters_of_equal_values_are_not_the_same(make: Make) -> None:
    """C106."""
    parameters = [parameter([[1.0, 1.0, 1.0]]), parameter([[1.0, 1.0, 1.0]]), parameter([[1.0, 1.0]])]
    optimizer = make(parameters)
    assert len(optimizer.param_groups[0]["params"]) == 3
    for tensor in parameters:
        tensor.grad = np.ones(tensor.shape)
    optimizer.step()
    assert all((tensor.data != 1).all() for tensor in parameters)
    assert_same(copy_values(parameters[:1]), copy_values(parameters[1:2]))


@pytest.mark.parametrize("make", STEPPED.values(), ids=STEPPED)
def test_a_step_between_forward_and_backward(make: Make) -> None:
    """C098: the gradient would be that at another value."""
    parameters = make_parameters()
    optimizer = make(parameters)
    late = [(tensor * tensor).sum() for tensor in parameters]
    make_closure(optimizer, parameters)()
    optimizer.step()
    for loss in late:
        with pytest.raises(RuntimeError, match="changed in place"):
            loss.backward()

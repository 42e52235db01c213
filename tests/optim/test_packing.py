"""Small parameters share a flat buffer; nobody can tell, whatever they do with the parameters."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from clumsygrad.core import Tensor, TensorType, double_precision, from_numpy, parameter
from clumsygrad.optim import SGD, Adam, NAdam
from clumsygrad.optim.elementwise import ElementwiseOptimizer
from clumsygrad.optim.packing import PATIENCE

from .optimizers import ELEMENTWISE, Make, assert_same, copy_values, get_grad


def set_gradients(parameters: list[Tensor], step: int) -> None:
    rng = np.random.default_rng(step)
    for tensor in parameters:
        tensor.grad = rng.standard_normal(tensor.shape)


def make_many(number: int = 5) -> list[Tensor]:
    rng = np.random.default_rng(3)
    return [parameter(rng.standard_normal((index + 1, 3))) for index in range(number)]


def count_packed(optimizer: ElementwiseOptimizer) -> int:
    return sum(len(pack.records) for roster in optimizer._rosters for pack in roster.packs)


def make_alone(make: Make, parameters: list[Tensor]) -> list[ElementwiseOptimizer]:
    """Return an optimizer for each parameter, none of which can share a buffer with another."""
    optimizers: list[ElementwiseOptimizer] = []
    for tensor in parameters:
        optimizer = make([tensor])
        assert isinstance(optimizer, ElementwiseOptimizer)
        optimizers.append(optimizer)
    return optimizers


def make_both(make: Make) -> tuple[list[Tensor], ElementwiseOptimizer, list[Tensor], list[ElementwiseOptimizer]]:
    together, apart = make_many(), make_many()
    optimizer = make(together)
    assert isinstance(optimizer, ElementwiseOptimizer)
    return together, optimizer, apart, make_alone(make, apart)


Event = Callable[[list[Tensor], int], None]


def nothing(parameters: list[Tensor], step: int) -> None:
    del parameters, step


def assign_once(parameters: list[Tensor], step: int) -> None:
    if step == 3:
        parameters[1].data = np.full((2, 3), 0.5, np.float32)


def assign_always(parameters: list[Tensor], step: int) -> None:
    del step
    parameters[2].data = parameters[2].data * np.float32(0.9)


def write_in_place(parameters: list[Tensor], step: int) -> None:
    if step == 3:
        parameters[1].data[...] = 0.25


def leave_out(parameters: list[Tensor], step: int) -> None:
    if step in {2, 5}:
        parameters[1].grad = None


def leave_out_first(parameters: list[Tensor], step: int) -> None:
    if step < 3:
        parameters[1].grad = None


def leave_all_out(parameters: list[Tensor], step: int) -> None:
    if step == 3:
        for tensor in parameters:
            tensor.grad = None


def freeze(parameters: list[Tensor], step: int) -> None:
    parameters[3].requires_grad_(not 2 <= step < 5)


def make_read_only(parameters: list[Tensor], step: int) -> None:
    if step in {0, 4}:
        parameters[1].data = np.broadcast_to(np.float32(0.5), (2, 3))


def make_transposed(parameters: list[Tensor], step: int) -> None:
    if step in {0, 4}:
        parameters[1].data = np.arange(6, dtype=np.float32).reshape(3, 2).T
        parameters[2].grad = np.arange(9, dtype=np.float32).reshape(3, 3).T


def make_strided(parameters: list[Tensor], step: int) -> None:
    if step in {0, 4}:
        parameters[1].data = np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::2]


EVENTS = [
    nothing,
    assign_once,
    assign_always,
    write_in_place,
    leave_out,
    leave_out_first,
    leave_all_out,
    freeze,
    make_read_only,
    make_transposed,
    make_strided,
]


@pytest.mark.parametrize("event", EVENTS, ids=[event.__name__ for event in EVENTS])
@pytest.mark.parametrize("make", ELEMENTWISE.values(), ids=ELEMENTWISE)
def test_together_is_as_apart(make: Make, event: Event) -> None:
    together, optimizer, apart, others = make_both(make)
    for step in range(8):
        set_gradients(together, step)
        set_gradients(apart, step)
        event(together, step)
        event(apart, step)
        optimizer.step()
        for other in others:
            other.step()
        assert_same(copy_values(together), copy_values(apart))
    assert not any(count_packed(other) for other in others)


def test_small_parameters_are_packed() -> None:
    parameters = make_many()
    optimizer = Adam(parameters)
    set_gradients(parameters, 0)
    optimizer.step()
    assert count_packed(optimizer) == len(parameters)
    bases = {id(tensor.data.base) for tensor in parameters}
    assert len(bases) == 1


def test_a_parameter_that_was_assigned_joins_again() -> None:
    parameters = make_many()
    optimizer = Adam(parameters)
    for step in range(PATIENCE + 5):
        set_gradients(parameters, step)
        if step == 2:
            parameters[0].data = np.ones((1, 3), np.float32)
        optimizer.step()
        if step == 2:
            assert count_packed(optimizer) == len(parameters) - 1
    # Its step count is that of the others: they are packed, though in two packs.
    parameters[1].data = np.ones((2, 3), np.float32)
    optimizer.step()
    assert count_packed(optimizer) >= len(parameters) - 2


def test_what_the_caller_sees_is_kept() -> None:
    """An array that somebody refers to stays the parameter's array, and changes with it."""
    memory = np.ones((2, 3), np.float32)
    shared = from_numpy(memory, tensor_type=TensorType.PARAMETER)
    held = parameter(np.ones((2, 3)))
    array = held.data
    viewed = parameter(np.ones((2, 3)))
    view = viewed.data[0]
    others = make_many(2)
    optimizer = SGD([shared, held, viewed, *others], lr=1.0)
    for step in range(3):
        set_gradients([shared, held, viewed, *others], step)
        optimizer.step()
        assert shared.data is memory
        assert held.data is array
        assert view.tolist() == viewed.data[0].tolist()
        assert count_packed(optimizer) == len(others)


def test_an_old_array_is_not_written_to_after_another_was_assigned() -> None:
    parameters = make_many()
    optimizer = SGD(parameters, lr=1.0, momentum=0.9)
    for step in range(2):
        set_gradients(parameters, step)
        optimizer.step()
    kept = [tensor.data for tensor in parameters]
    before = [array.copy() for array in kept]
    for tensor in parameters:
        tensor.data = np.zeros(tensor.shape, np.float32)
    for step in range(3):
        set_gradients(parameters, step)
        optimizer.step()
    assert_same(kept, before)


def test_an_array_taken_from_a_packed_parameter_follows_it() -> None:
    parameters = make_many()
    optimizer = SGD(parameters, lr=1.0)
    set_gradients(parameters, 0)
    optimizer.step()
    array, part = parameters[1].data, parameters[2].data[0]
    for step in range(3):
        set_gradients(parameters, step)
        # The pack is dissolved, but the array that was taken stays the parameter's.
        parameters[0].data = np.ones((1, 3), np.float32)
        optimizer.step()
        assert parameters[1].data is array
        assert part.tolist() == parameters[2].data[0].tolist()


def test_two_tensors_on_one_array() -> None:
    memory = np.ones((2, 3), np.float32)
    tied = [from_numpy(memory, tensor_type=TensorType.PARAMETER) for _ in range(2)]
    optimizer = SGD([*tied, *make_many(2)], lr=1.0)
    for tensor in tied:
        tensor.grad = np.ones((2, 3))
    optimizer.step()
    assert (memory == -1).all()


def test_a_step_does_not_age_what_it_leaves_alone() -> None:
    """A graph over a parameter that was not updated is still good, though its pack was dissolved."""
    parameters = make_many()
    optimizer = Adam(parameters)
    set_gradients(parameters, 0)
    optimizer.step()
    loss = (parameters[2] * parameters[2]).sum()
    set_gradients(parameters, 1)
    parameters[2].grad = None
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    loss.backward()
    np.testing.assert_allclose(get_grad(parameters[2]), 2 * parameters[2].data)


def test_loading_a_state_does_not_age_the_parameters() -> None:
    parameters = make_many()
    optimizer = Adam(parameters)
    set_gradients(parameters, 0)
    optimizer.step()
    loss = sum(((tensor * tensor).sum() for tensor in parameters), start=Tensor(0.0))
    optimizer.load_state_dict(optimizer.state_dict())
    loss.backward()


@pytest.mark.parametrize("make", ELEMENTWISE.values(), ids=ELEMENTWISE)
def test_precision_may_change(make: Make) -> None:
    """Values assigned in double precision are stepped in it, and back."""
    parameters = make_many()
    optimizer = make(parameters)
    for step in range(2):
        set_gradients(parameters, step)
        optimizer.step()
    with double_precision():
        for tensor in parameters[:3]:
            tensor.data = tensor.data.astype(np.float64)
        set_gradients(parameters, 3)
        optimizer.step()
        assert [tensor.dtype for tensor in parameters] == [np.float64] * 3 + [np.float32] * 2
    for tensor in parameters[:3]:
        tensor.data = tensor.data.astype(np.float32)
    set_gradients(parameters, 4)
    optimizer.step()
    assert {tensor.dtype for tensor in parameters} == {np.dtype(np.float32)}
    assert all(np.isfinite(tensor.data).all() for tensor in parameters)


@pytest.mark.parametrize("make", ELEMENTWISE.values(), ids=ELEMENTWISE)
def test_groups_and_parameters_added_later(make: Make) -> None:
    first, second = make_many(3), make_many(3)
    optimizer = make(first)
    set_gradients(first, 0)
    optimizer.step()
    optimizer.add_param_group({"params": second})
    before = copy_values(second)
    for step in range(3):
        set_gradients([*first, *second], step)
        optimizer.step()
    assert all((old != tensor.data).any() for old, tensor in zip(before, second, strict=True))
    # They have gone the way of the first, who were a step ahead.
    alone = make_many(3)
    other = make(alone)
    for step in range(3):
        rng = np.random.default_rng(step)
        for tensor in first:
            rng.standard_normal(tensor.shape)
        for tensor in alone:
            tensor.grad = rng.standard_normal(tensor.shape)
        other.step()
    assert_same(copy_values(second), copy_values(alone))


def test_the_list_of_a_group_may_be_changed_by_hand() -> None:
    parameters = make_many(4)
    optimizer = Adam(parameters[:2])
    set_gradients(parameters, 0)
    optimizer.step()
    optimizer.param_groups[0]["params"].append(parameters[2])
    before = copy_values(parameters)
    optimizer.step()
    assert (before[2] != parameters[2].data).any()
    assert optimizer.state[parameters[2]]["step"] == 1
    assert optimizer.state[parameters[0]]["step"] == 2


def test_running_numbers_are_kept_apart() -> None:
    """Parameters whose running products differ are never packed with one another."""
    parameters, alone = make_many(3), make_many(3)
    optimizer, others = NAdam(parameters), [NAdam([tensor]) for tensor in alone]
    for step in range(PATIENCE + 10):
        set_gradients(parameters, step)
        set_gradients(alone, step)
        if step == 1:
            parameters[0].grad = alone[0].grad = None
        optimizer.step()
        for other in others:
            other.step()
    assert_same(copy_values(parameters), copy_values(alone))


def test_copies_share_nothing() -> None:
    parameters = make_many()
    optimizer = Adam(parameters)
    set_gradients(parameters, 0)
    optimizer.step()
    copies = copy.deepcopy(parameters)
    pickled = pickle.loads(pickle.dumps(parameters))  # noqa: S301  # our own data
    before = copy_values(copies)
    set_gradients(parameters, 1)
    optimizer.step()
    assert_same(copy_values(copies), before)
    assert_same(copy_values(pickled), before)


def test_values_from_a_pickle() -> None:
    """An unpickled array has a dtype of its own, which equals float32."""
    parameters, alone = (
        [parameter(pickle.loads(pickle.dumps(tensor.data))) for tensor in make_many()]  # noqa: S301  # our own data
        for _ in range(2)
    )
    optimizer, others = Adam(parameters), [Adam([tensor]) for tensor in alone]
    for step in range(3):
        set_gradients(parameters, step)
        set_gradients(alone, step)
        optimizer.step()
        for other in others:
            other.step()
    assert count_packed(optimizer) == len(parameters)
    assert_same(copy_values(parameters), copy_values(alone))


def test_an_empty_parameter() -> None:
    parameters = [parameter(np.zeros((0, 3))), *make_many(2)]
    optimizer = Adam(parameters)
    for step in range(3):
        set_gradients(parameters, step)
        optimizer.step()
    assert parameters[0].shape == (0, 3)
    alone = Adam([parameter(np.zeros((0, 3)))])
    alone.param_groups[0]["params"][0].grad = np.zeros((0, 3))
    alone.step()

"""Schedules: their arguments, their states, and what they are combined with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clumsygrad.core import parameter
from clumsygrad.optim import LBFGS, SGD, Adam, schedule


def make(rate: float = 1.0) -> SGD:
    return SGD([parameter([1.0])], lr=rate, momentum=0.9)


def follow(plan: Any, steps: int) -> list[float]:
    rates = []
    for _ in range(steps):
        rates.append(round(plan.get_last_lr()[0], 6))
        plan.step()
    return rates


BAD: list[tuple[Callable[[SGD], object], type[Exception], str]] = [
    (lambda o: schedule.StepLR(o, 0), ValueError, "step_size is at least 1"),
    (lambda o: schedule.StepLR(o, 2, "a"), TypeError, "gamma is a number"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # a mistake
    (lambda o: schedule.MultiStepLR(o, [-1]), ValueError, "milestones is at least 0"),
    (lambda o: schedule.ConstantLR(o, 2.0), ValueError, "factor is from 0 to 1"),
    (lambda o: schedule.LinearLR(o, 0.0), ValueError, "start_factor is greater than 0"),
    (lambda o: schedule.CosineAnnealingLR(o, 0), ValueError, "T_max is at least 1"),
    (lambda o: schedule.CosineAnnealingWarmRestarts(o, 5, 0), ValueError, "T_mult is at least 1"),
    (lambda o: schedule.OneCycleLR(o, 1.0), ValueError, "total_steps, or both"),
    (lambda o: schedule.OneCycleLR(o, 1.0, 10, pct_start=2.0), ValueError, "pct_start is from 0 to 1"),
    (lambda o: schedule.CyclicLR(o, [0.1, 0.2], 1.0), ValueError, "one entry for each of 1"),
    (lambda o: schedule.LambdaLR(o, [lambda _: 1.0] * 2), ValueError, "one function for each of 1"),
    (lambda o: schedule.ReduceLROnPlateau(o, factor=1.0), ValueError, "factor is less than 1"),
    (lambda o: schedule.ReduceLROnPlateau(o, "least"), ValueError, "mode is one of"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # a mistake
    (lambda o: schedule.SequentialLR(o, [schedule.StepLR(o, 1)], [3]), ValueError, "1 schedules and 1 milestones"),
    (lambda o: schedule.SequentialLR(o, [schedule.StepLR(make(), 1)], []), ValueError, "belongs to another"),
    (lambda o: schedule.ChainedScheduler([]), ValueError, "at least one schedule"),
    (lambda o: schedule.StepLR(o, 1, last_epoch=3), ValueError, "no 'initial_lr'"),
]


@pytest.mark.parametrize(("build", "error", "message"), BAD)
def test_arguments(build: Callable[[SGD], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build(make())


def test_a_schedule_is_for_an_optimizer() -> None:
    with pytest.raises(TypeError, match="for an Optimizer"):
        schedule.StepLR(3, 1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # a mistake to be caught
    with pytest.raises(ValueError, match="neither momentum nor betas"):
        schedule.OneCycleLR(LBFGS([parameter([1.0])]), 1.0, 10)


def test_a_cycle_ends() -> None:
    plan = schedule.OneCycleLR(make(), 1.0, total_steps=3)
    follow(plan, 3)
    with pytest.raises(ValueError, match="3 steps long"):
        plan.step()


def test_a_sequence_inside_a_sequence_is_as_long_as_its_milestones_say() -> None:
    optimizer = make()
    inner = schedule.SequentialLR(
        optimizer, [schedule.ConstantLR(optimizer, 0.5, 3), schedule.ExponentialLR(optimizer, 0.5)], [3]
    )
    plan = schedule.SequentialLR(optimizer, [inner, schedule.StepLR(optimizer, 2, 0.1)], [5])
    assert follow(plan, 9) == [0.5, 0.5, 0.5, 1.0, 0.5, 1.0, 1.0, 0.1, 0.1]


def test_a_chain_inside_a_sequence_starts_anew() -> None:
    optimizer = make()
    chain = schedule.ChainedScheduler(
        [
            schedule.ExponentialLR(optimizer, 0.5),
            schedule.ConstantLR(optimizer, 0.5, 2),
        ]
    )
    plan = schedule.SequentialLR(optimizer, [schedule.StepLR(optimizer, 9), chain], [2])
    assert follow(plan, 6) == [1.0, 1.0, 0.5, 0.25, 0.25, 0.125]


def test_groups_added_later() -> None:
    optimizer = make()
    plan = schedule.StepLR(optimizer, 1, 0.5)
    plan.step()
    optimizer.add_param_group({"params": [parameter([1.0])], "lr": 0.8})
    plan.step()
    assert plan.get_last_lr() == [0.25, 0.4]


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    optimizer = make()
    plan = schedule.StepLR(optimizer, 2, 0.5)
    plan.step()
    before = plan.state_dict()
    for state in (
        schedule.ExponentialLR(make(), 0.9).state_dict(),
        {**before, "_last_lr": [0.1, 0.2]},
        {key: value for key, value in before.items() if key != "gamma"},
    ):
        with pytest.raises(ValueError, match="the state"):
            plan.load_state_dict(state)
    with pytest.raises(TypeError, match="mapping"):
        plan.load_state_dict([])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # a mistake to be caught
    assert plan.state_dict() == before
    assert optimizer.param_groups[0]["lr"] == 1.0


def test_loading_restores_momenta() -> None:
    optimizer = Adam([parameter([1.0])])
    plan = schedule.OneCycleLR(optimizer, 1.0, total_steps=10)
    follow(plan, 4)
    state = plan.state_dict()
    other = Adam([parameter([1.0])])
    resumed = schedule.OneCycleLR(other, 1.0, total_steps=10)
    resumed.load_state_dict(state)
    assert other.param_groups[0]["betas"] == optimizer.param_groups[0]["betas"]
    assert follow(resumed, 5) == follow(plan, 5)

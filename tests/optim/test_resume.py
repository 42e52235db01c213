"""A run that is interrupted and resumed is the same, to the last bit, as one that wasn't."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from clumsygrad.core import Tensor, parameter
from clumsygrad.optim import Optimizer, schedule

from .optimizers import ALL, assert_same, copy_values, make_closure, make_parameters

STEPS = 9

MakeSchedule = Callable[[Optimizer], Any]


class Halving:
    """A function of the epoch."""

    def __call__(self, epoch: int) -> float:
        return 0.5 ** (epoch // 3)


SCHEDULES: dict[str, MakeSchedule] = {
    "StepLR": lambda o: schedule.StepLR(o, 2, 0.7),
    "MultiStepLR": lambda o: schedule.MultiStepLR(o, [2, 5], 0.7),
    "ConstantLR": lambda o: schedule.ConstantLR(o, 0.3, 4),
    "LinearLR": lambda o: schedule.LinearLR(o, 0.2, total_iters=6),
    "ExponentialLR": lambda o: schedule.ExponentialLR(o, 0.8),
    "PolynomialLR": lambda o: schedule.PolynomialLR(o, 12, 2.0),
    "CosineAnnealingLR": lambda o: schedule.CosineAnnealingLR(o, 5),
    "CosineAnnealingWarmRestarts": lambda o: schedule.CosineAnnealingWarmRestarts(o, 3, 2),
    "CyclicLR": lambda o: schedule.CyclicLR(o, 0.001, 0.05, 3, cycle_momentum=can_cycle(o)),
    "OneCycleLR": lambda o: schedule.OneCycleLR(o, 0.05, total_steps=STEPS, cycle_momentum=can_cycle(o)),
    "LambdaLR": lambda o: schedule.LambdaLR(o, Halving()),
    "MultiplicativeLR": lambda o: schedule.MultiplicativeLR(o, Halving()),
    "SequentialLR": lambda o: schedule.SequentialLR(
        o, [schedule.LinearLR(o, 0.1, total_iters=3), schedule.CosineAnnealingLR(o, 6)], [3]
    ),
    "ChainedScheduler": lambda o: schedule.ChainedScheduler(
        [
            schedule.ConstantLR(o, 0.5, 4),
            schedule.ExponentialLR(o, 0.9),
        ]
    ),
    "ReduceLROnPlateau": lambda o: schedule.ReduceLROnPlateau(o, patience=1, factor=0.5),
}


def can_cycle(optimizer: Optimizer) -> bool:
    # A momentum of 0.85 would be one too many for those whose option excludes it.
    group = optimizer.param_groups[0]
    return "betas" in group or bool(group.get("momentum"))


def run(optimizer: Optimizer, plan: Any, parameters: list[Tensor], steps: range) -> None:
    closure = make_closure(optimizer, parameters)
    for step in steps:
        optimizer.step(closure)
        plan.step(*([1.0 / (1 + step % 3)] if isinstance(plan, schedule.ReduceLROnPlateau) else []))


# Every optimizer with every schedule, each pair interrupted at one of three points.
PAIRS = [
    (name, plan, (1, 4, 7)[(row + column) % 3]) for row, name in enumerate(ALL) for column, plan in enumerate(SCHEDULES)
]


@pytest.mark.parametrize(("name", "plan", "stop"), PAIRS)
def test_resume(name: str, plan: str, stop: int) -> None:
    make = ALL[name]
    straight = make_parameters()
    optimizer = make(straight)
    run(optimizer, SCHEDULES[plan](optimizer), straight, range(STEPS))

    first = make_parameters()
    optimizer = make(first)
    rates = SCHEDULES[plan](optimizer)
    run(optimizer, rates, first, range(stop))
    saved = pickle.dumps((copy_values(first), optimizer.state_dict(), rates.state_dict()))

    values, state, rate_state = pickle.loads(saved)  # noqa: S301  # our own data
    second = [parameter(value) for value in values]
    optimizer = make(second)
    rates = SCHEDULES[plan](optimizer)
    optimizer.load_state_dict(state)
    rates.load_state_dict(rate_state)
    run(optimizer, rates, second, range(stop, STEPS))
    assert_same(copy_values(second), copy_values(straight))

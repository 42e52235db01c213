"""A hundred steps of each schedule: the same learning rates, and momenta, as in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from clumsygrad import optim
from clumsygrad.core import parameter

STEPS = 100

Make = Callable[[Any, Any], Any]

# Each makes a schedule from a module (PyTorch's or ours) and an optimizer with two groups.
SCHEDULES: dict[str, Make] = {
    "StepLR": lambda s, o: s.StepLR(o, step_size=7, gamma=0.7),
    "StepLR-1": lambda s, o: s.StepLR(o, step_size=1),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, milestones=[3, 20, 20, 64], gamma=0.3),
    "MultiStepLR-0": lambda s, o: s.MultiStepLR(o, milestones=[0, 5]),
    "ConstantLR": lambda s, o: s.ConstantLR(o, factor=0.25, total_iters=9),
    "ConstantLR-default": lambda s, o: s.ConstantLR(o),
    "LinearLR": lambda s, o: s.LinearLR(o, start_factor=0.1, end_factor=0.8, total_iters=30),
    "LinearLR-down": lambda s, o: s.LinearLR(o, start_factor=1.0, end_factor=0.0, total_iters=30),
    "LinearLR-default": lambda s, o: s.LinearLR(o),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, gamma=0.95),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, total_iters=60, power=2.0),
    "PolynomialLR-default": lambda s, o: s.PolynomialLR(o),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, T_max=15, eta_min=0.01),
    "CosineAnnealingLR-long": lambda s, o: s.CosineAnnealingLR(o, T_max=100),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, T_0=7, T_mult=2, eta_min=0.001),
    "CosineAnnealingWarmRestarts-1": lambda s, o: s.CosineAnnealingWarmRestarts(o, T_0=10),
    "CyclicLR": lambda s, o: s.CyclicLR(o, base_lr=0.01, max_lr=0.3, step_size_up=7),
    "CyclicLR-2": lambda s, o: s.CyclicLR(
        o, base_lr=[0.01, 0.02], max_lr=[0.1, 0.4], step_size_up=5, step_size_down=11, mode="triangular2"
    ),
    "CyclicLR-exp": lambda s, o: s.CyclicLR(
        o, 0.01, 0.3, 6, mode="exp_range", gamma=0.97, base_momentum=0.5, max_momentum=0.8
    ),
    "CyclicLR-fn": lambda s, o: s.CyclicLR(
        o, 0.01, 0.3, 6, scale_fn=lambda x: 1 / x, scale_mode="cycle", cycle_momentum=False
    ),
    "CyclicLR-iterations": lambda s, o: s.CyclicLR(o, 0.01, 0.3, 6, scale_fn=lambda x: 0.9**x, scale_mode="iterations"),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, max_lr=0.5, total_steps=100),
    "OneCycleLR-linear": lambda s, o: s.OneCycleLR(
        o, max_lr=[0.5, 0.1], epochs=10, steps_per_epoch=10, anneal_strategy="linear", pct_start=0.15, div_factor=10.0
    ),
    "OneCycleLR-three": lambda s, o: s.OneCycleLR(
        o, max_lr=0.5, total_steps=101, three_phase=True, final_div_factor=50.0, cycle_momentum=False
    ),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 0.95**epoch),
    "LambdaLR-list": lambda s, o: s.LambdaLR(o, [lambda epoch: 1 / (1 + epoch), lambda epoch: math.cos(epoch) + 2]),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.9 + 0.05 * (epoch % 2)),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o,
        [s.ConstantLR(o, factor=0.1, total_iters=8), s.ExponentialLR(o, gamma=0.9), s.CosineAnnealingLR(o, T_max=20)],
        milestones=[8, 40],
    ),
    "SequentialLR-warmup": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.01, total_iters=10), s.CosineAnnealingWarmRestarts(o, T_0=13)], milestones=[10]
    ),
    "SequentialLR-lambda": lambda s, o: s.SequentialLR(
        o,
        [s.StepLR(o, 3, 0.5), s.LambdaLR(o, lambda epoch: 0.9**epoch), s.MultiplicativeLR(o, lambda epoch: 0.97)],
        milestones=[5, 30],
    ),
    "SequentialLR-more": lambda s, o: s.SequentialLR(
        o,
        [s.PolynomialLR(o, 20), s.MultiStepLR(o, [0, 2, 5], 0.5), s.StepLR(o, 4), s.LinearLR(o)],
        milestones=[10, 30, 50],
    ),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler(
        [
            s.ConstantLR(o, factor=0.1, total_iters=10),
            s.ExponentialLR(o, gamma=0.98),
            s.CosineAnnealingLR(o, T_max=33, eta_min=0.001),
        ]
    ),
    "ChainedScheduler-linear": lambda s, o: s.ChainedScheduler(
        [s.LinearLR(o, total_iters=20), s.StepLR(o, 10), s.MultiplicativeLR(o, lambda epoch: 0.99)], optimizer=o
    ),
}
OPTIMIZERS: dict[str, Callable[[Any, Any], Any]] = {
    "SGD": lambda module, groups: module.SGD(groups, lr=0.2, momentum=0.85),
    "AdamW": lambda module, groups: module.AdamW(groups, lr=0.2),
}


def make_pair(name: str) -> tuple[Any, Any]:
    make = OPTIMIZERS[name]
    own = make(optim, [{"params": [parameter([1.0])]}, {"params": [parameter([2.0])], "lr": 0.05}])
    theirs = make(
        torch.optim,
        [{"params": [torch.nn.Parameter(torch.ones(1))]}, {"params": [torch.nn.Parameter(torch.ones(1))], "lr": 0.05}],
    )
    return own, theirs


def read(optimizer: Any) -> list[float]:
    values = []
    for group in optimizer.param_groups:
        values += [group["lr"], group["momentum"] if "momentum" in group else group["betas"][0]]
    return values


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_values(name: str, optimizer: str) -> None:
    own, theirs = make_pair(optimizer)
    mine = SCHEDULES[name](optim.schedule, own)
    reference = SCHEDULES[name](torch.optim.lr_scheduler, theirs)
    for step in range(STEPS):
        np.testing.assert_allclose(read(own), read(theirs), rtol=1e-12, atol=1e-15, err_msg=f"step {step}")
        np.testing.assert_allclose(mine.get_last_lr(), reference.get_last_lr(), rtol=1e-12, atol=1e-15)
        own.step()
        theirs.step()
        mine.step()
        reference.step()
    np.testing.assert_allclose(read(own), read(theirs), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"factor": 0.5, "patience": 2, "cooldown": 3, "threshold": 0.05},
        {"mode": "max", "patience": 1, "threshold_mode": "abs", "threshold": 0.3, "min_lr": [0.01, 0.001]},
        {"mode": "max", "factor": 0.3, "patience": 0, "eps": 1e-3},
        {"threshold_mode": "abs", "patience": 3, "min_lr": 0.02},
    ],
)
def test_plateau(options: dict[str, Any]) -> None:
    own, theirs = make_pair("SGD")
    mine = optim.schedule.ReduceLROnPlateau(own, **options)
    reference = torch.optim.lr_scheduler.ReduceLROnPlateau(theirs, **options)
    for metric in np.random.default_rng(5).standard_normal(STEPS).cumsum() - 1:
        mine.step(metric)
        reference.step(metric)
        np.testing.assert_allclose(read(own), read(theirs), rtol=1e-12)
        assert mine.best == reference.best
        assert mine.num_bad_epochs == reference.num_bad_epochs


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("epoch", [0.0, 0.5, 3, 9.25, 26, 63.5])
@pytest.mark.parametrize("period", [1, 2])
def test_warm_restarts_at_a_given_epoch(epoch: float, period: int) -> None:
    own, theirs = make_pair("SGD")
    mine = optim.schedule.CosineAnnealingWarmRestarts(own, 5, period)
    reference = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(theirs, 5, period)
    mine.step(epoch)
    reference.step(epoch)
    for _ in range(20):
        np.testing.assert_allclose(read(own), read(theirs), rtol=1e-12)
        mine.step()
        reference.step()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "name", [name for name in SCHEDULES if not name.startswith(("Chained", "Sequential", "OneCycle", "CyclicLR"))]
)
def test_last_epoch(name: str) -> None:
    """Going on in a new schedule that is told the epoch, as PyTorch does it."""
    own, theirs = make_pair("SGD")
    for group in (*own.param_groups, *theirs.param_groups):
        group["initial_lr"] = group["lr"]
        group["lr"] *= 0.7

    def with_epoch(module: Any) -> Any:
        class Told:
            def __getattr__(self, kind: str) -> Any:
                return lambda *args, **kwargs: getattr(module, kind)(*args, last_epoch=4, **kwargs)

        return Told()

    mine = SCHEDULES[name](with_epoch(optim.schedule), own)
    reference = SCHEDULES[name](with_epoch(torch.optim.lr_scheduler), theirs)
    for _ in range(40):
        np.testing.assert_allclose(read(own), read(theirs), rtol=1e-12)
        mine.step()
        reference.step()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["StepLR", "ExponentialLR", "CosineAnnealingLR", "LinearLR", "LambdaLR", "CyclicLR"])
def test_a_learning_rate_set_by_hand(name: str) -> None:
    own, theirs = make_pair("SGD")
    mine = SCHEDULES[name](optim.schedule, own)
    reference = SCHEDULES[name](torch.optim.lr_scheduler, theirs)
    for step in range(30):
        if step == 5:
            own.param_groups[0]["lr"] = theirs.param_groups[0]["lr"] = 0.123
        mine.step()
        reference.step()
        np.testing.assert_allclose(read(own), read(theirs), rtol=1e-12)

"""Schedules that take the learning rate up and down, and the momentum down and up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, cast

from ..hyperparameter import choice, count, flag, number, positive, proportion
from ..optimizer import Optimizer
from .base import LRScheduler, as_list


class _MomentumLR(LRScheduler):
    """A schedule that sets the momentum (or the first of the betas) along with the learning rate."""

    cycle_momentum: bool

    def _begin_momentum(
        self, optimizer: Optimizer, cycle_momentum: bool, base: object, largest: object, last_epoch: int
    ) -> None:
        """Check the momentum's bounds and note them in the groups."""
        self.cycle_momentum = flag("cycle_momentum", cycle_momentum)
        if not self.cycle_momentum:
            return
        if not {"momentum", "betas"} & set(optimizer.defaults):
            raise ValueError(
                f"{type(optimizer).__name__} has neither momentum nor betas to be cycled; pass cycle_momentum=False"
            )
        lows, highs = as_list("base_momentum", base, optimizer), as_list("max_momentum", largest, optimizer)
        if last_epoch == -1:
            for group, low, high in zip(optimizer.param_groups, lows, highs, strict=True):
                group["base_momentum"], group["max_momentum"] = low, high

    def _set(self, rates: Sequence[float]) -> None:
        super()._set(rates)
        if not self.cycle_momentum:
            return
        for index, group in enumerate(self.optimizer.param_groups):
            momentum = self._get_momentum(index)
            if "betas" in self.optimizer.defaults:
                group["betas"] = (momentum, *group["betas"][1:])
            else:
                group["momentum"] = momentum

    def _get_first(self, rate: float, base: float, index: int) -> float:
        return self._get_next(rate, base, index)

    def _get_momentum(self, index: int) -> float:
        """Return the momentum of group ``index`` at ``last_epoch``."""
        raise NotImplementedError

    def _get_bound(self, index: int, name: str) -> float:
        """Return what the schedule noted in a group, or in the first where a group was added later."""
        groups = self.optimizer.param_groups
        return float(groups[index if name in groups[index] else 0][name])


class CyclicLR(_MomentumLR):
    """Takes the learning rate from ``base_lr`` to ``max_lr`` and back, again and again, in straight lines.

    It is meant to be stepped after each batch.

    Args:
        optimizer: the optimizer, whose learning rates are set to ``base_lr``.
        base_lr: the lower end, or a list of one for each parameter group.
        max_lr: the upper end, or such a list.
        step_size_up: the number of steps up.
        step_size_down: the number of steps down; as many by default.
        mode: ``"triangular"``, ``"triangular2"`` to halve the height in each cycle, or ``"exp_range"`` to multiply it
            by ``gamma`` in each step.
        gamma: that factor.
        scale_fn: a function that returns the height, instead of a mode.
        scale_mode: what ``scale_fn`` takes: the number of the ``"cycle"``, from 1, or the ``"iterations"``.
        cycle_momentum: whether the momentum goes from ``max_momentum`` to ``base_momentum`` and back meanwhile.
        base_momentum: the lower end of the momentum.
        max_momentum: its upper end.
        last_epoch: see :class:`LRScheduler`.

    Raises:
        ValueError: for a ``mode`` or ``scale_mode`` that doesn't exist, and an optimizer without a momentum to cycle.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> optimizer = SGD([parameter(1.0)], momentum=0.9)
        >>> cycle = schedule.CyclicLR(optimizer, base_lr=0.0, max_lr=1.0, step_size_up=2)
        >>> [cycle.step() or cycle.get_last_lr()[0] for _ in range(5)]
        [0.5, 1.0, 0.5, 0.0, 0.5]

    References:
        Smith, "Cyclical Learning Rates for Training Neural Networks", 2017.
    """

    unsaved: ClassVar[frozenset[str]] = frozenset({"optimizer", "_scale_fn"})

    max_lrs: list[float]
    total_size: float
    step_ratio: float
    mode: str
    gamma: float
    scale_mode: str

    _scale_fn: Callable[[float], float] | None

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(cast("object", optimizer), Optimizer):
            raise TypeError(f"a schedule is for an Optimizer; received a {type(optimizer).__name__}")
        up = positive("step_size_up", step_size_up)
        down = up if step_size_down is None else positive("step_size_down", step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if scale_fn is None:
            choice("triangular", "triangular2", "exp_range")("mode", mode)
        choice("cycle", "iterations")("scale_mode", scale_mode)
        self.mode = mode
        self.gamma = number("gamma", gamma)
        self.scale_mode = scale_mode
        self._scale_fn = scale_fn
        base_lrs = as_list("base_lr", base_lr, optimizer)
        self.max_lrs = as_list("max_lr", max_lr, optimizer)
        self._begin_momentum(optimizer, cycle_momentum, base_momentum, max_momentum, last_epoch)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs, strict=True):
                group["lr"] = group["initial_lr"] = rate
        super().__init__(optimizer, last_epoch)

    def _get_height(self) -> float:
        """Return how far up the cycle is, from 0 to 1."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        if self._scale_fn is not None:
            return height * self._scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.mode == "triangular2":
            return height / 2.0 ** (cycle - 1)
        return height * self.gamma**self.last_epoch if self.mode == "exp_range" else height

    def _get_next(self, rate: float, base: float, index: int) -> float:
        highest = self.max_lrs[index] if index < len(self.max_lrs) else self.max_lrs[0]
        return base + (highest - base) * self._get_height()

    def _get_momentum(self, index: int) -> float:
        low, high = self._get_bound(index, "base_momentum"), self._get_bound(index, "max_momentum")
        return high - (high - low) * self._get_height()


class OneCycleLR(_MomentumLR):
    """Takes the learning rate up to ``max_lr`` once, and then down to almost 0.

    It starts from ``max_lr / div_factor`` and ends at ``max_lr / div_factor / final_div_factor``. It is meant to be
    stepped after each batch.

    Args:
        optimizer: the optimizer.
        max_lr: the highest learning rate, or a list of one for each parameter group.
        total_steps: the number of steps, or
        epochs: the number of epochs, with
        steps_per_epoch: the number of steps in each.
        pct_start: which part of the steps goes up.
        anneal_strategy: ``"cos"`` for half a cosine, ``"linear"`` for straight lines.
        cycle_momentum: whether the momentum goes from ``max_momentum`` to ``base_momentum`` and back meanwhile.
        base_momentum: the lower end of the momentum.
        max_momentum: its upper end.
        div_factor: how many times smaller than the highest learning rate the first is.
        final_div_factor: how many times smaller than the first learning rate the last is.
        three_phase: come down to the first learning rate in as many steps as went up, and fall to the last from there.
        last_epoch: see :class:`LRScheduler`.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range, without a number of steps, and when there are more steps than that.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> optimizer = SGD([parameter(1.0)], momentum=0.9)
        >>> cycle = schedule.OneCycleLR(optimizer, 1.0, total_steps=5, pct_start=0.6, anneal_strategy="linear")
        >>> [cycle.step() or round(cycle.get_last_lr()[0], 3) for _ in range(4)]
        [0.52, 1.0, 0.5, 0.0]

    References:
        Smith and Topin, "Super-Convergence: Very Fast Training of Neural Networks Using Large Learning Rates", 2018.
    """

    total_steps: int
    anneal_strategy: str

    # For each phase: its last step, and the names of the learning rates and momenta between which it goes.
    _phases: list[tuple[float, str, str, str, str]]

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(cast("object", optimizer), Optimizer):
            raise TypeError(f"a schedule is for an Optimizer; received a {type(optimizer).__name__}")
        if total_steps is not None:
            self.total_steps = count("total_steps", total_steps)
        elif epochs is not None and steps_per_epoch is not None:
            self.total_steps = count("epochs", epochs) * count("steps_per_epoch", steps_per_epoch)
        else:
            raise ValueError("OneCycleLR needs total_steps, or both epochs and steps_per_epoch")
        choice("cos", "linear")("anneal_strategy", anneal_strategy)
        self.anneal_strategy = anneal_strategy
        share = proportion("pct_start", pct_start)
        up = ("initial_lr", "max_lr", "max_momentum", "base_momentum")
        down = ("max_lr", "min_lr", "base_momentum", "max_momentum")
        top, end = share * self.total_steps - 1, self.total_steps - 1
        if flag("three_phase", three_phase):
            back = ("max_lr", "initial_lr", "base_momentum", "max_momentum")
            out = ("initial_lr", "min_lr", "max_momentum", "max_momentum")
            self._phases = [(top, *up), (2 * share * self.total_steps - 2, *back), (end, *out)]
        else:
            self._phases = [(top, *up), (end, *down)]
        first, last = positive("div_factor", div_factor), positive("final_div_factor", final_div_factor)
        highest = as_list("max_lr", max_lr, optimizer)
        self._begin_momentum(optimizer, cycle_momentum, base_momentum, max_momentum, last_epoch)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, highest, strict=True):
                group["initial_lr"], group["max_lr"] = rate / first, rate
                group["min_lr"] = group["initial_lr"] / last
        super().__init__(optimizer, last_epoch)

    def step(self) -> None:
        """Set the learning rates of the next step.

        Raises:
            ValueError: after the last one.
        """
        if self.last_epoch >= self.total_steps:
            raise ValueError(
                f"the cycle was to be {self.total_steps} steps long, and is over; make it with the total number of "
                "steps"
            )
        super().step()

    def _get_next(self, rate: float, base: float, index: int) -> float:
        _, start, end, _, _, part = self._get_phase()
        return self._anneal(self._get_bound(index, start), self._get_bound(index, end), part)

    def _get_momentum(self, index: int) -> float:
        _, _, _, start, end, part = self._get_phase()
        return self._anneal(self._get_bound(index, start), self._get_bound(index, end), part)

    def _get_phase(self) -> tuple[float, str, str, str, str, float]:
        """Return the phase at ``last_epoch``, and which part of it is over."""
        start = 0.0
        phase = self._phases[-1]
        for phase in self._phases:
            if self.last_epoch <= phase[0] or phase is self._phases[-1]:
                break
            start = phase[0]
        length = phase[0] - start
        return (*phase, (self.last_epoch - start) / length if length else 1.0)

    def _anneal(self, start: float, end: float, part: float) -> float:
        if self.anneal_strategy == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2 * (math.cos(math.pi * part) + 1)

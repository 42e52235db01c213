"""Schedules that multiply the learning rate by a factor, at some steps or at all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..hyperparameter import count, number, proportion, whole
from ..optimizer import Optimizer
from .base import LRScheduler


class StepLR(LRScheduler):
    """Multiplies the learning rate by ``gamma`` every ``step_size`` epochs.

    Args:
        optimizer: the optimizer.
        step_size: the number of epochs between two changes.
        gamma: the factor.
        last_epoch: see :class:`LRScheduler`.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> decay = schedule.StepLR(SGD([parameter(1.0)], lr=1.0), step_size=2, gamma=0.5)
        >>> [decay.step() or decay.get_last_lr()[0] for _ in range(4)]
        [1.0, 0.5, 0.5, 0.25]
    """

    step_size: int
    gamma: float

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = count("step_size", step_size)
        self.gamma = number("gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def _get_first(self, rate: float, base: float, index: int) -> float:
        return self._get_next(rate, base, index)

    def _get_next(self, rate: float, base: float, index: int) -> float:
        return rate * self.gamma if self.last_epoch and not self.last_epoch % self.step_size else rate


class MultiStepLR(LRScheduler):
    """Multiplies the learning rate by ``gamma`` at each of the milestones.

    Args:
        optimizer: the optimizer.
        milestones: the epochs; one that is listed twice counts twice.
        gamma: the factor.
        last_epoch: see :class:`LRScheduler`.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> decay = schedule.MultiStepLR(SGD([parameter(1.0)], lr=1.0), milestones=[1, 3], gamma=0.5)
        >>> [decay.step() or decay.get_last_lr()[0] for _ in range(4)]
        [0.5, 0.5, 0.25, 0.25]
    """

    milestones: list[int]
    gamma: float

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = sorted(whole("milestones", milestone) for milestone in milestones)
        self.gamma = number("gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def _get_first(self, rate: float, base: float, index: int) -> float:
        return self._get_next(rate, base, index)

    def _get_next(self, rate: float, base: float, index: int) -> float:
        return rate * self.gamma ** self.milestones.count(self.last_epoch)


class ConstantLR(LRScheduler):
    """Multiplies the learning rate by ``factor`` until ``total_iters`` epochs are over.

    Args:
        optimizer: the optimizer.
        factor: the factor, from 0 to 1.
        total_iters: the number of epochs.
        last_epoch: see :class:`LRScheduler`.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> warmup = schedule.ConstantLR(SGD([parameter(1.0)], lr=1.0), factor=0.5, total_iters=2)
        >>> [warmup.step() or warmup.get_last_lr()[0] for _ in range(3)]
        [0.5, 1.0, 1.0]
    """

    factor: float
    total_iters: int

    def __init__(self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        self.factor = proportion("factor", factor)
        self.total_iters = whole("total_iters", total_iters)
        super().__init__(optimizer, last_epoch)

    def _get_first(self, rate: float, base: float, index: int) -> float:
        return self._get_next(rate, base, index)

    def _get_next(self, rate: float, base: float, index: int) -> float:
        if not self.last_epoch:
            return rate * self.factor
        if self.last_epoch != self.total_iters:
            return rate
        return rate * (1 / self.factor) if self.factor else base


class LinearLR(LRScheduler):
    """Multiplies the learning rate by a factor that goes from ``start_factor`` to ``end_factor`` in equal steps.

    Args:
        optimizer: the optimizer.
        start_factor: the first factor, above 0 and at most 1.
        end_factor: the last factor, from 0 to 1.
        total_iters: the number of epochs from the first to the last.
        last_epoch: see :class:`LRScheduler`.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> warmup = schedule.LinearLR(SGD([parameter(1.0)], lr=1.0), start_factor=0.25, total_iters=3)
        >>> [warmup.step() or warmup.get_last_lr()[0] for _ in range(4)]
        [0.5, 0.75, 1.0, 1.0]
    """

    start_factor: float
    end_factor: float
    total_iters: int

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.start_factor = proportion("start_factor", start_factor)
        if not self.start_factor:
            raise ValueError("start_factor is greater than 0, for the factors after it to follow from it; received 0")
        self.end_factor = proportion("end_factor", end_factor)
        self.total_iters = count("total_iters", total_iters)
        super().__init__(optimizer, last_epoch)

    def _get_first(self, rate: float, base: float, index: int) -> float:
        return rate if self.last_epoch else rate * self.start_factor

    def _get_next(self, rate: float, base: float, index: int) -> float:
        if not self.last_epoch:
            return rate * self.start_factor
        if self.last_epoch > self.total_iters:
            return rate
        change = self.end_factor - self.start_factor
        return rate * (1 + change / (self.total_iters * self.start_factor + (self.last_epoch - 1) * change))


class ExponentialLR(LRScheduler):
    """Multiplies the learning rate by ``gamma`` every epoch.

    Args:
        optimizer: the optimizer.
        gamma: the factor.
        last_epoch: see :class:`LRScheduler`.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> decay = schedule.ExponentialLR(SGD([parameter(1.0)], lr=1.0), gamma=0.5)
        >>> [decay.step() or decay.get_last_lr()[0] for _ in range(3)]
        [0.5, 0.25, 0.125]
    """

    gamma: float

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = number("gamma", gamma)
        super().__init__(optimizer, last_epoch)

    def _get_next(self, rate: float, base: float, index: int) -> float:
        return rate * self.gamma


class PolynomialLR(LRScheduler):
    """Multiplies the learning rate by ``(1 - epoch / total_iters) ** power``, until it is 0.

    Args:
        optimizer: the optimizer.
        total_iters: the number of epochs until 0.
        power: the power.
        last_epoch: see :class:`LRScheduler`.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> decay = schedule.PolynomialLR(SGD([parameter(1.0)], lr=1.0), total_iters=4)
        >>> [decay.step() or round(decay.get_last_lr()[0], 9) for _ in range(5)]
        [0.75, 0.5, 0.25, 0.0, 0.0]
    """

    total_iters: int
    power: float

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = count("total_iters", total_iters)
        self.power = number("power", power)
        super().__init__(optimizer, last_epoch)

    def _get_next(self, rate: float, base: float, index: int) -> float:
        if self.last_epoch > self.total_iters:
            return rate
        left, left_before = (1 - epoch / self.total_iters for epoch in (self.last_epoch, self.last_epoch - 1))
        return rate * math.pow(left / left_before, self.power)

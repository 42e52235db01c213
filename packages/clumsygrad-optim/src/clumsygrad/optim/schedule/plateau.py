"""A schedule that looks at how the training goes."""

from __future__ import annotations

import math
from typing import Literal, SupportsFloat

from ..hyperparameter import choice, non_negative, number, whole
from ..optimizer import Optimizer
from .base import Schedule, as_list


class ReduceLROnPlateau(Schedule):
    """Multiplies the learning rate by ``factor`` when a metric hasn't improved for ``patience`` epochs.

    Args:
        optimizer: the optimizer.
        mode: ``"min"`` for a metric that is to fall, ``"max"`` for one that is to rise.
        factor: the factor, from 0 to less than 1.
        patience: how many epochs without an improvement are put up with.
        threshold: how much better than the best a metric has to be.
        threshold_mode: ``"rel"`` for a threshold relative to the best, ``"abs"`` for a difference.
        cooldown: the number of epochs after a reduction that aren't counted.
        min_lr: the smallest learning rate, or a list of one for each parameter group.
        eps: a change of the learning rate that is no larger is left out.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> plateau = schedule.ReduceLROnPlateau(SGD([parameter(1.0)], lr=1.0), factor=0.5, patience=1)
        >>> [plateau.step(loss) or plateau.get_last_lr()[0] for loss in (3.0, 2.0, 2.0, 2.0, 1.0)]
        [1.0, 1.0, 1.0, 0.5, 0.5]
    """

    mode: str
    factor: float
    patience: int
    threshold: float
    threshold_mode: str
    cooldown: int
    min_lrs: list[float]
    eps: float
    best: float
    cooldown_counter: int
    num_bad_epochs: int
    last_epoch: int

    def __init__(
        self,
        optimizer: Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(optimizer)
        choice("min", "max")("mode", mode)
        choice("rel", "abs")("threshold_mode", threshold_mode)
        self.mode = mode
        self.threshold_mode = threshold_mode
        self.factor = non_negative("factor", factor)
        if self.factor >= 1:
            raise ValueError(f"factor is less than 1, to make the learning rate smaller; received {self.factor}")
        self.patience = whole("patience", patience)
        self.threshold = number("threshold", threshold)
        self.cooldown = whole("cooldown", cooldown)
        self.min_lrs = as_list("min_lr", min_lr, optimizer)
        self.eps = non_negative("eps", eps)
        self.best = math.inf if mode == "min" else -math.inf
        self.cooldown_counter = 0
        self.num_bad_epochs = 0
        self.last_epoch = 0
        self._last_lr = [float(group["lr"]) for group in optimizer.param_groups]

    @property
    def in_cooldown(self) -> bool:
        """Whether epochs aren't counted now."""
        return self.cooldown_counter > 0

    def step(self, metrics: SupportsFloat) -> None:
        """Look at the metric of an epoch; NaN is no improvement.

        Args:
            metrics: a number, or a Tensor of one element.
        """
        value = float(metrics)
        self.last_epoch += 1
        if self._is_better(value):
            self.best = value
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = [float(group["lr"]) for group in self.optimizer.param_groups]

    def _is_better(self, value: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        relative = self.threshold_mode == "rel"
        limit = self.best * (1 - sign * self.threshold) if relative else self.best - sign * self.threshold
        return sign * value < sign * limit

    def _reduce(self) -> None:
        for index, group in enumerate(self.optimizer.param_groups):
            # A group that was added later has the bound of the first.
            lowest = self.min_lrs[index if index < len(self.min_lrs) else 0]
            before = float(group["lr"])
            after = max(before * self.factor, lowest)
            if before - after > self.eps:
                group["lr"] = after

"""Schedules that follow a cosine."""

from __future__ import annotations

import math

from ..hyperparameter import count, non_negative, number
from ..optimizer import Optimizer
from .base import LRScheduler


class CosineAnnealingLR(LRScheduler):
    r"""Lowers the learning rate along half a period of a cosine, and raises it again along the other half.

    .. math:: \eta_t = \eta_{\min} + \tfrac12 (\eta_0 - \eta_{\min}) \Big(1 + \cos\frac{\pi t}{T}\Big)

    Each value follows from the one before, so that it may be combined with other schedules.

    Args:
        optimizer: the optimizer.
        T_max: T, the number of epochs of half a period.
        eta_min: η_min, the smallest learning rate.
        last_epoch: see :class:`LRScheduler`.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> decay = schedule.CosineAnnealingLR(SGD([parameter(1.0)], lr=1.0), T_max=3)
        >>> [decay.step() or round(decay.get_last_lr()[0], 9) for _ in range(3)]
        [0.75, 0.25, 0.0]

    References:
        Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017, without the restarts.
    """

    T_max: int
    eta_min: float

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = count("T_max", T_max)
        self.eta_min = number("eta_min", eta_min)
        super().__init__(optimizer, last_epoch)

    def _get_next(self, rate: float, base: float, index: int) -> float:
        # From the lowest point up there is nothing left to multiply.
        if not (self.last_epoch - 1 - self.T_max) % (2 * self.T_max):
            return rate + (base - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
        height, before = (1 + math.cos(math.pi * t / self.T_max) for t in (self.last_epoch, self.last_epoch - 1))
        return height / before * (rate - self.eta_min) + self.eta_min


class CosineAnnealingWarmRestarts(LRScheduler):
    r"""Lowers the learning rate along half a period of a cosine, again and again.

    .. math:: \eta_t = \eta_{\min} + \tfrac12 (\eta_0 - \eta_{\min}) \Big(1 + \cos\frac{\pi\, T_{cur}}{T_i}\Big)

    where T_cur counts the epochs since the last restart, and the i-th period is
    :math:`T_i = T_0 \cdot T_{mult}^i` epochs long.

    Args:
        optimizer: the optimizer.
        T_0: the number of epochs of the first period.
        T_mult: how many times longer each period is than that before.
        eta_min: η_min, the smallest learning rate.
        last_epoch: see :class:`LRScheduler`.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> decay = schedule.CosineAnnealingWarmRestarts(SGD([parameter(1.0)], lr=1.0), T_0=2)
        >>> [decay.step() or round(decay.get_last_lr()[0], 9) for _ in range(4)]
        [0.5, 1.0, 0.5, 1.0]

    References:
        Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017.
    """

    last_epoch: int
    T_0: int
    T_mult: int
    T_i: int
    T_cur: float
    eta_min: float

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_0 = count("T_0", T_0)  # pyright: ignore[reportConstantRedefinition]  # PyTorch's name, no constant
        self.T_i = self.T_0
        self.T_mult = count("T_mult", T_mult)
        self.eta_min = number("eta_min", eta_min)
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def start(self) -> None:
        """Count one step and set the learning rates to the first ones."""
        self._count()
        super().start()

    def restart(self) -> None:
        """Go back to the first learning rates."""
        self.T_i, self.T_cur = self.T_0, 0
        super().restart()

    def rewind(self) -> None:
        """Take back the last step of the count."""
        super().rewind()
        self.T_cur = self.last_epoch

    def reset(self) -> None:
        """Forget the count."""
        super().reset()
        self.T_i, self.T_cur = self.T_0, -1

    def step(self, epoch: float | None = None) -> None:
        """Set the learning rates of the next epoch, or those of any other.

        Args:
            epoch: the epoch to go to, which may be a fraction: a schedule that is called after each of n batches takes
                ``epoch + batch / n``.

        Raises:
            ValueError: for a negative epoch.
        """
        if epoch is None:
            self._count()
            super().step()
            return
        self._go_to(non_negative("epoch", epoch))
        self.last_epoch = math.floor(epoch) - 1
        super().step()

    def _count(self) -> None:
        self.T_cur += 1
        if self.T_cur >= self.T_i:
            self.T_cur %= self.T_i
            self.T_i *= self.T_mult

    def _go_to(self, epoch: float) -> None:
        self.T_i, self.T_cur = self.T_0, epoch
        if epoch < self.T_0:
            return
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
            return
        restarts = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
        self.T_cur = epoch - self.T_0 * (self.T_mult**restarts - 1) / (self.T_mult - 1)
        self.T_i = self.T_0 * self.T_mult**restarts

    def _get_first(self, rate: float, base: float, index: int) -> float:
        return self._get_next(rate, base, index)

    def _get_next(self, rate: float, base: float, index: int) -> float:
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2

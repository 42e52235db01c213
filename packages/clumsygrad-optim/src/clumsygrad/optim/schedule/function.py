"""Schedules given by functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias, cast

from ..hyperparameter import number
from ..optimizer import Optimizer
from .base import LRScheduler

Factor: TypeAlias = Callable[[int], float]
"""Takes the epoch."""


class _FunctionLR(LRScheduler):
    """A schedule with a function of the epoch for each parameter group; the functions are no part of its state."""

    unsaved: ClassVar[frozenset[str]] = frozenset({"optimizer", "lr_lambdas"})

    lr_lambdas: list[Factor]

    _shared: bool

    def __init__(self, optimizer: Optimizer, lr_lambda: Factor | Sequence[Factor], last_epoch: int = -1) -> None:
        listed = not callable(lr_lambda)
        functions = [lr_lambda] if callable(lr_lambda) else list(lr_lambda)
        for function in cast("list[object]", functions):
            if not callable(function):
                raise TypeError(f"lr_lambda is a function of the epoch; received a {type(function).__name__}")
        if (
            listed
            and isinstance(cast("object", optimizer), Optimizer)
            and len(functions) != len(optimizer.param_groups)
        ):
            raise ValueError(
                f"lr_lambda has one function for each of {len(optimizer.param_groups)} parameter groups; received "
                f"{len(functions)}"
            )
        self.lr_lambdas = functions
        self._shared = not listed
        super().__init__(optimizer, last_epoch)

    def _get_factor(self, index: int) -> float:
        if self._shared:
            index = 0
        elif index >= len(self.lr_lambdas):
            raise ValueError(
                f"lr_lambda has no function for parameter group {index}, which was added later; append one to "
                "lr_lambdas"
            )
        return number("the value of lr_lambda", self.lr_lambdas[index](self.last_epoch))


class LambdaLR(_FunctionLR):
    """Multiplies the first learning rate by a function of the epoch.

    Args:
        optimizer: the optimizer.
        lr_lambda: the function, or a list of one for each parameter group.
        last_epoch: see :class:`LRScheduler`.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> decay = schedule.LambdaLR(SGD([parameter(1.0)], lr=1.0), lambda epoch: 1 / (1 + epoch))
        >>> [decay.step() or decay.get_last_lr()[0] for _ in range(3)]
        [0.5, 0.3333333333333333, 0.25]
    """

    def _get_first(self, rate: float, base: float, index: int) -> float:
        return self._get_next(rate, base, index)

    def _get_next(self, rate: float, base: float, index: int) -> float:
        return base * self._get_factor(index)


class MultiplicativeLR(_FunctionLR):
    """Multiplies the learning rate before by a function of the epoch.

    Args:
        optimizer: the optimizer.
        lr_lambda: the function, or a list of one for each parameter group.
        last_epoch: see :class:`LRScheduler`.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> decay = schedule.MultiplicativeLR(SGD([parameter(1.0)], lr=1.0), lambda epoch: 0.5)
        >>> [decay.step() or decay.get_last_lr()[0] for _ in range(3)]
        [0.5, 0.25, 0.125]
    """

    def restart(self) -> None:
        """Go on from the present learning rates: as in PyTorch, there are no first ones to go back to."""
        self.last_epoch = -1
        self.step()

    def _get_next(self, rate: float, base: float, index: int) -> float:
        return rate * self._get_factor(index)

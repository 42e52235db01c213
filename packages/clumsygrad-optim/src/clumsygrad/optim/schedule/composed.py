"""Schedules made of other schedules."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, cast

from ..hyperparameter import whole
from ..optimizer import Optimizer
from .base import LRScheduler, Schedule


class _Composed(Schedule):
    """A schedule that steps others."""

    unsaved: ClassVar[frozenset[str]] = frozenset({"optimizer", "_schedulers"})

    _schedulers: list[Part]

    def __init__(self, optimizer: Optimizer, schedulers: Sequence[Part]) -> None:
        super().__init__(optimizer)
        self._schedulers = list(schedulers)
        for index, part in enumerate(cast("list[object]", self._schedulers)):
            if not isinstance(part, (LRScheduler, _Composed)):
                raise TypeError(
                    f"{type(self).__name__} is made of schedules that are stepped without arguments; entry {index} is "
                    f"a {type(part).__name__}"
                )
            if part.optimizer is not optimizer:
                raise ValueError(f"all schedules belong to one optimizer; entry {index} belongs to another")

    def start(self) -> None:
        """Count one step and set the learning rates to the first ones."""
        raise NotImplementedError

    def restart(self) -> None:
        """Go back to the first learning rates."""
        raise NotImplementedError

    def step(self) -> None:
        """Set the learning rates of the next epoch; call it after the optimizer's step."""
        raise NotImplementedError

    def rewind(self) -> None:
        """Take back the last step of the count, and that of every schedule."""
        super().rewind()
        for part in self._schedulers:
            part.rewind()

    def reset(self) -> None:
        """Forget the count, and that of every schedule."""
        super().reset()
        for part in self._schedulers:
            part.reset()

    def state_dict(self) -> dict[str, Any]:
        """Return a copy of all that is needed to go on from here."""
        return {**super().state_dict(), "_schedulers": [part.state_dict() for part in self._schedulers]}

    def check_state(self, state_dict: Mapping[str, Any]) -> None:
        """Raise when a state doesn't fit."""
        states = state_dict.get("_schedulers") if isinstance(cast("object", state_dict), Mapping) else None
        if not isinstance(states, Sequence) or len(cast("Sequence[object]", states)) != len(self._schedulers):
            raise ValueError(f"the state is not that of {len(self._schedulers)} schedules")
        super().check_state({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for part, state in zip(self._schedulers, cast("Sequence[Mapping[str, Any]]", states), strict=True):
            part.check_state(state)

    def adopt_state(self, state_dict: Mapping[str, Any]) -> None:
        """Take over a state that fits."""
        super().adopt_state({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for part, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            part.adopt_state(state)

    def _get_initial(self) -> list[float]:
        return [float(group["initial_lr" if "initial_lr" in group else "lr"]) for group in self.optimizer.param_groups]

    def _note(self) -> None:
        """Note the learning rates that the schedules have set."""
        self._last_lr = [float(group["lr"]) for group in self.optimizer.param_groups]


Part: TypeAlias = LRScheduler | _Composed
"""A schedule that others can be made of."""


class SequentialLR(_Composed):
    """Follows one schedule after the other, each from its own beginning.

    A sequence inside a sequence lasts as long as its milestones say; in PyTorch it is one epoch short.

    Args:
        optimizer: the optimizer.
        schedulers: the schedules, all of this optimizer; not :class:`ReduceLROnPlateau`, which needs a metric.
        milestones: the epochs at which the second and each further schedule begins.
        last_epoch: see :class:`LRScheduler`.

    Raises:
        TypeError: for anything but schedules.
        ValueError: for schedules of another optimizer, and for another number of milestones than of schedules less one.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> optimizer = SGD([parameter(1.0)], lr=1.0)
        >>> warmup = schedule.ConstantLR(optimizer, factor=0.1, total_iters=2)
        >>> decay = schedule.ExponentialLR(optimizer, gamma=0.5)
        >>> both = schedule.SequentialLR(optimizer, [warmup, decay], milestones=[2])
        >>> [both.step() or both.get_last_lr()[0] for _ in range(4)]
        [0.1, 1.0, 0.5, 0.25]
    """

    last_epoch: int

    _milestones: list[int]

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[Part],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        super().__init__(optimizer, schedulers)
        self._milestones = [whole("milestones", milestone) for milestone in milestones]
        if not self._schedulers or len(self._milestones) != len(self._schedulers) - 1:
            raise ValueError(
                f"each schedule but the first begins at a milestone; received {len(self._schedulers)} schedules and "
                f"{len(self._milestones)} milestones"
            )
        if self._milestones != sorted(self._milestones):
            raise ValueError(f"milestones are in the order of time; received {self._milestones}")
        self.last_epoch = last_epoch
        # Each schedule has set the learning rates when it was made: all but the first did so too early.
        for part in self._schedulers:
            part.rewind()
        self._set(self._get_initial())
        self.start()

    def start(self) -> None:
        """Count one step and set the learning rates to the first ones."""
        self.last_epoch += 1
        self._schedulers[bisect_right(self._milestones, 0)].start()
        self._note()

    def restart(self) -> None:
        """Go back to the first learning rates."""
        self.last_epoch = 0
        self._schedulers[bisect_right(self._milestones, 0)].restart()
        self._note()

    def step(self) -> None:
        """Set the learning rates of the next epoch; call it after the optimizer's step."""
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        if index and self._milestones[index - 1] == self.last_epoch:
            self._schedulers[index].restart()
        else:
            self._schedulers[index].step()
        self._note()


class ChainedScheduler(_Composed):
    """Steps several schedules at once, whose factors multiply.

    Args:
        schedulers: the schedules, all of one optimizer; not :class:`ReduceLROnPlateau`, which needs a metric.
        optimizer: that optimizer, which need not be given.

    Raises:
        TypeError: for anything but schedules.
        ValueError: for schedules of several optimizers.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD, schedule
        >>> optimizer = SGD([parameter(1.0)], lr=1.0)
        >>> parts = [schedule.ConstantLR(optimizer, 0.5, total_iters=2), schedule.ExponentialLR(optimizer, gamma=0.5)]
        >>> both = schedule.ChainedScheduler(parts)
        >>> [both.step() or both.get_last_lr()[0] for _ in range(3)]
        [0.25, 0.25, 0.125]
    """

    last_epoch: int

    def __init__(self, schedulers: Sequence[Part], optimizer: Optimizer | None = None) -> None:
        if not schedulers:
            raise ValueError("a chain has at least one schedule; received none")
        super().__init__(optimizer or schedulers[0].optimizer, schedulers)
        self.last_epoch = 0
        self._note()

    def start(self) -> None:
        """Set the learning rates to the first ones, with all factors."""
        self.last_epoch += 1
        for part in self._schedulers:
            part.start()
        self._note()

    def restart(self) -> None:
        """Go back to the first learning rates, with all factors."""
        self.reset()
        self._set(self._get_initial())
        self.start()

    def step(self) -> None:
        """Set the learning rates of the next epoch; call it after the optimizer's step."""
        self.last_epoch += 1
        for part in self._schedulers:
            part.step()
        self._note()

"""The base of all schedules."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from ..hyperparameter import number
from ..optimizer import Optimizer


class Schedule(ABC):
    """Sets the learning rates of an optimizer, and saves where it stands.

    Attributes:
        optimizer: the optimizer.
        last_epoch: the number of steps taken.
    """

    unsaved: ClassVar[frozenset[str]] = frozenset({"optimizer"})
    """The attributes that are no part of the state."""

    optimizer: Optimizer
    last_epoch: int

    _last_lr: list[float]

    def __init__(self, optimizer: Optimizer) -> None:
        if not isinstance(cast("object", optimizer), Optimizer):
            raise TypeError(f"a schedule is for an Optimizer; received a {type(optimizer).__name__}")
        self.optimizer = optimizer

    def get_last_lr(self) -> list[float]:
        """Return the learning rates that were set last, one for each parameter group."""
        return list(self._last_lr)

    def state_dict(self) -> dict[str, Any]:
        """Return a copy of all that is needed to go on from here: numbers, and lists and dicts of them."""
        return {name: copy.deepcopy(value) for name, value in vars(self).items() if name not in self.unsaved}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state_dict` returned; this sets the optimizer's learning rates, too.

        Raises:
            TypeError: for anything but a mapping.
            ValueError: when the state is that of another kind of schedule or of another number of parameter groups.
                Nothing is changed then.
        """
        self.check_state(state_dict)
        self.adopt_state(state_dict)
        self._restore()

    def check_state(self, state_dict: Mapping[str, Any]) -> None:
        """Raise when a state doesn't fit."""
        if not isinstance(cast("object", state_dict), Mapping):
            raise TypeError(f"a state is a mapping; received a {type(state_dict).__name__}")
        own = {name for name in vars(self) if name not in self.unsaved}
        missing, extra = sorted(own - set(state_dict)), sorted(set(state_dict) - own)
        if missing or extra:
            raise ValueError(
                f"the state is not that of a {type(self).__name__}: "
                f"{'missing ' + ', '.join(missing) if missing else ''}{' and ' if missing and extra else ''}"
                f"{'unexpected ' + ', '.join(extra) if extra else ''}"
            )
        rates, groups = state_dict["_last_lr"], len(self.optimizer.param_groups)
        if not isinstance(rates, Sequence) or len(cast("Sequence[object]", rates)) != groups:
            raise ValueError(f"the state has other learning rates than one for each of {groups} parameter groups")

    def adopt_state(self, state_dict: Mapping[str, Any]) -> None:
        """Take over a state that fits."""
        for name, value in state_dict.items():
            setattr(self, name, copy.deepcopy(value))

    def _restore(self) -> None:
        """Set the optimizer to what a loaded state says."""
        self._set(self._last_lr)

    def _set(self, rates: Sequence[float]) -> None:
        """Set the learning rates of all groups."""
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = float(rate)
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def rewind(self) -> None:
        """Take back the last step of the count; for schedules that are made of others."""
        self.last_epoch -= 1

    def reset(self) -> None:
        """Forget the count; for schedules that are made of others."""
        self.last_epoch = -1


class LRScheduler(Schedule):
    """A schedule whose learning rates depend on the number of steps, on their first values, and on those before.

    A subclass computes the learning rate of one group from that before in ``_get_next``; where the first one isn't just
    what the optimizer has, in ``_get_first``.

    Args:
        optimizer: the optimizer, whose learning rates are set at once.
        last_epoch: the number of steps taken before, -1 for none. To go on from a checkpoint,
            ``load_state_dict`` is simpler.

    Attributes:
        base_lrs: the first learning rates, which are also in the groups, as ``"initial_lr"``.

    Raises:
        TypeError: for anything but an optimizer.
        ValueError: when ``last_epoch`` is given for an optimizer without ``"initial_lr"`` in its groups.
    """

    base_lrs: list[float]
    last_epoch: int

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        super().__init__(optimizer)
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise ValueError(
                    f"last_epoch={last_epoch} goes on from a checkpoint, but group {index} has no 'initial_lr'; load "
                    "the optimizer's state first, or leave last_epoch out"
                )
        self.base_lrs = [float(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._last_lr = []
        self.start()

    def start(self) -> None:
        """Count one step and set the learning rates to the first ones."""
        self.last_epoch += 1
        self._set(
            [
                self._get_first(group["lr"], base, index)
                for index, (group, base) in enumerate(zip(self.optimizer.param_groups, self.base_lrs, strict=True))
            ]
        )

    def restart(self) -> None:
        """Go back to the first learning rates, whatever the present ones are; for schedules made of others."""
        self.last_epoch = 0
        self._include_new_groups()
        self._set([self._get_first(base, base, index) for index, base in enumerate(self.base_lrs)])

    def step(self) -> None:
        """Set the learning rates of the next epoch; call it after the optimizer's step."""
        self._include_new_groups()
        self.last_epoch += 1
        self._set(
            [
                self._get_next(group["lr"], base, index)
                for index, (group, base) in enumerate(zip(self.optimizer.param_groups, self.base_lrs, strict=True))
            ]
        )

    def _include_new_groups(self) -> None:
        """Start from their present learning rates with the groups that were added to the optimizer since."""
        for group in self.optimizer.param_groups[len(self.base_lrs) :]:
            group.setdefault("initial_lr", group["lr"])
            self.base_lrs.append(float(group["initial_lr"]))

    def _get_first(self, rate: float, base: float, index: int) -> float:
        """Return the learning rate of group ``index`` to start with, where the optimizer has ``rate``."""
        return rate

    @abstractmethod
    def _get_next(self, rate: float, base: float, index: int) -> float:
        """Return the learning rate of group ``index`` at ``last_epoch``, where that before was ``rate``."""


def as_list(name: str, value: object, optimizer: Optimizer) -> list[float]:
    """Return a number, or a list of one for each parameter group, as such a list."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [number(name, value)] * groups
    entries = cast("Sequence[object]", value)
    if len(entries) != groups:
        raise ValueError(f"{name} has one entry for each of {groups} parameter groups; received {len(entries)}")
    return [number(f"{name}[{index}]", entry) for index, entry in enumerate(entries)]

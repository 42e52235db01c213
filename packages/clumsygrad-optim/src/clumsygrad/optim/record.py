"""What an optimizer remembers about one parameter."""

from __future__ import annotations

from clumsygrad.core import Array, Tensor


class Clock:
    """How many steps were taken, and the running numbers that depend on nothing else.

    The parameters of a :class:`~clumsygrad.optim.packing.Pack` move in step and share one clock.
    """

    __slots__ = ("numbers", "step")

    step: int
    numbers: dict[str, float]

    def __init__(self, step: int = 0, numbers: dict[str, float] | None = None) -> None:
        self.step = step
        self.numbers = numbers or {}

    def copy(self) -> Clock:
        """Return a clock that shows the same and goes its own way."""
        return Clock(self.step, dict(self.numbers))


class Record:
    """The state of one parameter: its clock and its arrays, which are made at its first step.

    Attributes:
        tensor: the parameter.
        clock: its step count.
        buffers: its arrays, by PyTorch's names.
        settled: from which step of its group on it may share a flat buffer with others.
    """

    __slots__ = ("buffers", "clock", "settled", "tensor")

    tensor: Tensor
    clock: Clock
    buffers: dict[str, Array]
    settled: int

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.forget()

    def forget(self) -> None:
        """Start afresh."""
        self.clock = Clock()
        self.buffers = {}
        self.settled = 0

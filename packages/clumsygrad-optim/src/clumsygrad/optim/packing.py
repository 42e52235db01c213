"""Many small parameters in one flat buffer, so that a step costs a few NumPy calls in all.

Each parameter's ``data`` becomes a view of its slot in the flat array. That is done only while nobody else refers to
the array it replaces, so that nothing can be seen to change. Whatever the caller does later (assign another array,
leave a gradient out) shows in two comparisons of identities at the next step, and the pack is dissolved.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import accumulate, repeat
from operator import is_, is_not
from typing import Final, cast

import numpy as np

from clumsygrad.core import Array, Tensor, parameter, zeros

from .record import Clock, Record
from .writing import get_gradient

LIMIT: Final = 8192
"""The size up to which a parameter is small: above it, the arithmetic takes longer than the calls."""

PATIENCE: Final = 100
"""For how many steps a parameter that left a pack is stepped on its own before it may join one again."""

_getrefcount = sys.getrefcount


def _count_references(tensor: Tensor) -> int:
    array = tensor.data
    return _getrefcount(array)


# How many references there are while only the tensor refers to its array, in this Python.
_ALONE: Final[int] = _count_references(parameter([0.0]))


def is_unshared(tensor: Tensor) -> bool:
    """Tell whether nothing but the tensor refers to its array: no name, no view, no other tensor."""
    return tensor.data.base is None and _count_references(tensor) <= _ALONE


class Pack:
    """A few parameters of one group that are stepped as one; each has a gradient when they are packed.

    Attributes:
        records: the parameters' records, whose buffers are views of this pack's.
        tensors: the parameters themselves.
        clock: the step count that they share.
        data: the flat array of all values.
        grad: room for all gradients.
        buffers: the flat array of each buffer, by name.
    """

    __slots__ = ("_released", "_slots", "buffers", "clock", "data", "grad", "records", "tensors")

    records: list[Record]
    tensors: list[Tensor]
    clock: Clock
    data: Array
    grad: Array
    buffers: dict[str, Array]
    _slots: list[Array]
    _released: bool

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = list(records)
        self.tensors = [record.tensor for record in records]
        self.clock = records[0].clock
        # Of the dtypes that equal float32 (a pickled array brings its own) the one that a tensor adopts as it is.
        dtype = np.dtype(self.tensors[0].dtype.type)
        ends = list(accumulate(tensor.size for tensor in self.tensors))
        starts = [0, *ends[:-1]]
        self.data = np.empty(ends[-1], dtype)
        self.grad = np.empty(ends[-1], dtype)
        self.buffers = {name: np.empty(ends[-1], dtype) for name in records[0].buffers}
        self._slots = []
        self._released = False
        for record, start, end in zip(self.records, starts, ends, strict=True):
            tensor, shape = record.tensor, record.tensor.shape
            record.clock = self.clock
            slot: Array = self.data[start:end].reshape(shape)
            slot[...] = tensor.data
            tensor.data = slot
            self._slots.append(tensor.data)
            for name, flat in self.buffers.items():
                part = flat[start:end].reshape(shape)
                part[...] = record.buffers[name]
                record.buffers[name] = part
        self._collect([cast("Array", tensor.grad) for tensor in self.tensors])

    def gather(self) -> bool:
        """Collect the gradients; False when the pack doesn't hold together any more."""
        grads = [tensor.grad if tensor.requires_grad else None for tensor in self.tensors]
        if self._released or not all(map(is_, [tensor.data for tensor in self.tensors], self._slots)):
            return False
        if not all(map(is_not, grads, repeat(None))):
            return False
        self._collect(cast("list[Array]", grads))
        return True

    def _collect(self, grads: list[Array]) -> None:
        np.concatenate(grads, axis=None, out=self.grad, casting="same_kind")

    def count_references(self) -> tuple[int, list[int]]:
        """Count the references to the flat array, less those of the slots, and to each slot."""
        flat = self.data
        return _getrefcount(flat) - len(self._slots), [_getrefcount(slot) for slot in self._slots]

    def release(self) -> None:
        """Give every record a state of its own; the pack only holds the values from now on."""
        if self._released:
            return
        self._released = True
        for record in self.records:
            record.clock = self.clock.copy()
            record.buffers = {name: buffer.copy() for name, buffer in record.buffers.items()}

    def dissolve(self, now: int) -> None:
        """Let every parameter go its own way; those that broke the pack stay alone for a while.

        Args:
            now: the number of this step in the group.
        """
        self.release()
        on_flat, on_slots = self.count_references()
        # Any more references are somebody's views of parameters, of which there is no telling which.
        watched = on_flat > _FLAT_ALONE
        precision = zeros(0).dtype
        for record, slot, references in zip(self.records, self._slots, on_slots, strict=True):
            tensor = record.tensor
            if tensor.data is not slot or get_gradient(tensor) is None:
                record.settled = now + PATIENCE
            elif not watched and references <= _SLOT_ALONE and slot.dtype == precision:
                tensor.data = slot.copy()


def _measure() -> tuple[int, int]:
    probes = [parameter([0.0]), parameter([0.0])]
    for probe in probes:
        probe.grad = [0.0]
    on_flat, on_slots = Pack([Record(probe) for probe in probes]).count_references()
    return on_flat, on_slots[0]


# The references to a pack's flat array and to a slot while nobody else refers to them, in this Python.
_FLAT_ALONE, _SLOT_ALONE = _measure()


class Roster:
    """Which parameters of a group move together, and which alone.

    Attributes:
        packs: the parameters that share flat buffers.
        alone: the records of all others.
    """

    __slots__ = ("_due", "_now", "_records", "alone", "packs")

    packs: list[Pack]
    alone: list[Record]
    _records: list[Record]
    _now: int
    # The step at which small parameters that move alone are looked at again.
    _due: float

    def __init__(self) -> None:
        self.packs = []
        self.alone = []
        self._records = []
        self._now = 0
        self._due = 0

    def gather(self, records: list[Record], names: tuple[str, ...]) -> None:
        """Collect the gradients of every pack, and dissolve the packs that don't hold together any more.

        Args:
            records: those of the group; another list than before when parameters came or went.
            names: the buffers that are needed from now on.
        """
        if records is not self._records:
            for pack in list(self.packs):
                self._dissolve(pack)
            self._records, self.alone, self._due = records, list(records), 0
        self._now += 1
        for pack in list(self.packs):
            if names != tuple(pack.buffers) or not pack.gather():
                self._dissolve(pack)

    def form_packs(self, ready: list[Record]) -> list[Record]:
        """Pack the small ones of ``ready`` that nobody else looks at; return those that move alone."""
        if self._now < self._due:
            return ready
        # An array of another precision than that in force would be converted when it is assigned.
        precision = zeros(0).dtype
        alike: dict[object, list[Record]] = {}
        for record in ready:
            tensor = record.tensor
            small = tensor.size <= LIMIT and tensor.dtype == precision
            if small and record.settled <= self._now and is_unshared(tensor):
                key = (record.clock.step, tuple(record.clock.numbers.items()), tensor.dtype)
                alike.setdefault(key, []).append(record)
        packed: set[int] = set()
        for records in alike.values():
            if len(records) > 1:
                self.packs.append(Pack(records))
                packed.update(map(id, records))
        self.alone = [record for record in self.alone if id(record) not in packed]
        self._due = self._now + PATIENCE if any(record.tensor.size <= LIMIT for record in self.alone) else math.inf
        return [record for record in ready if id(record) not in packed]

    def release(self) -> None:
        """Give every record a state of its own; the packs are dissolved at the next step, for which values may move."""
        for pack in self.packs:
            pack.release()

    def _dissolve(self, pack: Pack) -> None:
        pack.dissolve(self._now)
        self.packs.remove(pack)
        self.alone += pack.records
        self._due = self._now

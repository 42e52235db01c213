"""Optimizers that treat every element alike: the walk over parameters, in cache-sized blocks and flat packs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np

from clumsygrad.core import Array, Tensor, mark_updated

from .optimizer import Optimizer, ParamGroup, ParamsLike
from .packing import Roster
from .record import Clock, Record
from .writing import BLOCK, get_gradient, make_writeable

Coefficients: TypeAlias = tuple[Any, ...]
"""Floats and bools. An update gets the floats as 0-d arrays of the data's precision, by which NumPy multiplies an array
faster than by a Python number."""

Arrays: TypeAlias = Sequence[Array]


class ElementwiseOptimizer(Optimizer):
    """An optimizer whose update of an element depends on that element, its gradient and its buffers alone.

    A subclass says which ``buffers`` it keeps (or, if that depends on the group, :meth:`_buffer_names`), turns the
    hyper-parameters and the step count into the numbers of this step (:meth:`_coefficients`), and updates one block of
    elements in place (:meth:`_update`). Blocks, scratch, parameters that share a flat buffer, and saving are taken care
    of here.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import ElementwiseOptimizer
        >>> from clumsygrad.optim.hyperparameter import non_negative
        >>> class SignDescent(ElementwiseOptimizer):
        ...     rules = {"lr": non_negative}
        ...     scratch = 1
        ...     def _coefficients(self, group, clock):
        ...         return (group["lr"],)
        ...     def _update(self, coefficients, data, grad, buffers, scratch):
        ...         np.sign(grad, out=scratch[0])
        ...         scratch[0] *= coefficients[0]
        ...         data -= scratch[0]
        >>> w = parameter([1.0, -1.0])
        >>> optimizer = SignDescent([w], {"lr": 0.5})
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.tolist()
        [0.5, -0.5]
    """

    buffers: ClassVar[tuple[str, ...]] = ()
    """The names of the arrays kept for each parameter."""

    scratch: ClassVar[int] = 1
    """How many scratch arrays an update needs."""

    saves_step: ClassVar[bool] = True
    """Whether the step count is a part of the saved state, as in PyTorch; else it tells new buffers from old ones."""

    _rosters: list[Roster]
    _rooms: dict[np.dtype[Any], tuple[Array, ...]]

    def __init__(self, params: ParamsLike, defaults: Mapping[str, Any]) -> None:
        self._rosters = []
        self._rooms = {}
        super().__init__(params, defaults)

    def _buffer_names(self, group: ParamGroup) -> tuple[str, ...]:
        """Return the names of the arrays kept for each parameter of a group."""
        return self.buffers

    def _initial_value(self, name: str, group: ParamGroup) -> float:
        """Return what a new buffer is filled with."""
        return 0.0

    @abstractmethod
    def _coefficients(self, group: ParamGroup, clock: Clock) -> Coefficients:
        """Return the numbers of this step; ``clock.step`` is 1 at the first one."""

    @abstractmethod
    def _update(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays, scratch: Arrays) -> None:
        """Update one block of elements, and its buffers, in place.

        Args:
            coefficients: what :meth:`_coefficients` returned.
            data: the values, of shape (n,).
            grad: their gradient, which is not to be written to.
            buffers: the buffers, in the order of :meth:`_buffer_names`.
            scratch: arrays of shape (n,) with arbitrary content.
        """

    def _take_step(self) -> None:
        updated: list[Tensor] = []
        try:
            # What overflows becomes infinite and what is undefined NaN, as in PyTorch; neither needs a warning here.
            with np.errstate(all="ignore"):
                for index, (group, records) in enumerate(self._sync()):
                    if index == len(self._rosters):
                        self._rosters.append(Roster())
                    self._step_group(self._rosters[index], group, records, updated)
                del self._rosters[len(self.param_groups) :]
        finally:
            mark_updated(updated)

    def _step_group(self, roster: Roster, group: ParamGroup, records: list[Record], updated: list[Tensor]) -> None:
        names = self._buffer_names(group)
        roster.gather(records, names)
        ready = [record for record in roster.alone if get_gradient(record.tensor) is not None]
        for record in ready:
            self._prepare(record, group, names)
        ready = roster.form_packs(ready)
        for pack in roster.packs:
            updated += pack.tensors
            pack.clock.step += 1
            self._run(self._coefficients(group, pack.clock), pack.data, pack.grad, list(pack.buffers.values()))
        for record in ready:
            updated.append(record.tensor)
            record.clock.step += 1
            self._step_alone(record, self._coefficients(group, record.clock), names)

    def _prepare(self, record: Record, group: ParamGroup, names: tuple[str, ...]) -> None:
        """Make the buffers that a parameter lacks."""
        buffers, dtype = record.buffers, record.tensor.dtype
        for name in names:
            if name not in buffers:
                buffers[name] = np.full(record.tensor.shape, self._initial_value(name, group), dtype)
                if not self.saves_step:
                    record.clock.step = 0
            elif buffers[name].dtype != dtype:
                buffers[name] = buffers[name].astype(dtype)

    def _step_alone(self, record: Record, coefficients: Coefficients, names: tuple[str, ...]) -> None:
        tensor = record.tensor
        data, grad = make_writeable(tensor), tensor.grad
        buffers = [record.buffers[name] for name in names]
        if grad is None:
            return
        if data.flags.c_contiguous and grad.flags.c_contiguous:
            flat = [buffer.reshape(-1) for buffer in buffers]
            self._run(coefficients, data.reshape(-1), grad.reshape(-1), flat)
        else:
            self._run_scattered(coefficients, data, grad, buffers)

    def _run(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays) -> None:
        """Update flat arrays of any length, block by block."""
        room: Arrays = self._get_room(data.dtype)
        size = data.size
        coefficients = _as_arrays(coefficients, data.dtype)
        # Blocks of one length: a short one at the end would cost as many calls as the others.
        length = -(-size // max(1, -(-size // BLOCK)))
        room = [scratch[:length] for scratch in room]
        for start in range(0, size, length or 1):
            end = start + length
            if end > size:
                room = [scratch[: size - start] for scratch in room]
            self._update(
                coefficients, data[start:end], grad[start:end], [buffer[start:end] for buffer in buffers], room
            )

    def _run_scattered(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays) -> None:
        """Update arrays that are not all contiguous: the iterator buffers them block by block."""
        room = self._get_room(data.dtype)
        coefficients = _as_arrays(coefficients, data.dtype)
        access = [["readwrite"], ["readonly"], *(["readwrite"] for _ in buffers)]
        flags: list[Any] = ["external_loop", "buffered", "zerosize_ok"]
        kinds = [data.dtype] * len(access)
        with np.nditer(
            [data, grad, *buffers],
            flags,
            cast("Any", access),
            kinds,
            order="C",
            casting="same_kind",
            buffersize=BLOCK,
        ) as blocks:
            for block in blocks:
                own, slope, *rest = block
                for start in range(0, own.size, BLOCK):
                    part = slice(start, start + BLOCK)
                    self._update(
                        coefficients,
                        own[part],
                        slope[part],
                        [buffer[part] for buffer in rest],
                        [scratch[: own[part].size] for scratch in room],
                    )

    def _get_room(self, dtype: np.dtype[Any]) -> tuple[Array, ...]:
        if dtype not in self._rooms:
            self._rooms[dtype] = tuple(np.empty(BLOCK, dtype) for _ in range(self.scratch))
        return self._rooms[dtype]

    # State

    def _get_state(self, record: Record) -> dict[str, Any]:
        if self.saves_step:
            return super()._get_state(record)
        return dict(record.buffers)

    def _get_state_names(self, group: ParamGroup) -> set[str]:
        names = {*self._buffer_names(group), *self.numbers}
        return {"step", *names} if self.saves_step else names

    def _read_state(self, record: Record, group: ParamGroup, key: object, state: Mapping[str, Any]) -> Record:
        result = super()._read_state(record, group, key, state)
        if not self.saves_step and result.buffers:
            result.clock.step = 1
        return result

    def _adopt(self, loaded: list[tuple[Record, Record | None]]) -> None:
        for roster in self._rosters:
            roster.release()
        super()._adopt(loaded)


def _as_arrays(coefficients: Coefficients, dtype: np.dtype[Any]) -> Coefficients:
    return tuple([np.array(value, dtype) if value.__class__ is float else value for value in coefficients])


def penalize(grad: Array, data: Array, decay: Array, maximize: bool, out: Array) -> Array:
    """Return the gradient to descend by: negated to maximize, with ``decay * data`` added to it.

    It is ``grad`` itself when there is nothing to change, else ``out``.
    """
    if decay:
        np.multiply(data, decay, out=out)
        return np.subtract(out, grad, out=out) if maximize else np.add(out, grad, out=out)
    return np.negative(grad, out=out) if maximize else grad

"""L-BFGS: a quasi-Newton method for losses that can be computed anew without noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, TypeVar, cast

import numpy as np

from clumsygrad.core import Array, Tensor, enable_grad, mark_updated

from .hyperparameter import Rule, choice, count, non_negative, number, optional, whole
from .line_search import Point, search
from .optimizer import Optimizer, ParamGroup, ParamsLike
from .record import Record
from .writing import get_gradient, overwrite

Loss = TypeVar("Loss")

_COUNTS: Final = ("func_evals", "n_iter")
_NUMBERS: Final = ("t", "H_diag", "prev_loss")
_VECTORS: Final = ("d", "prev_flat_grad")
_HISTORIES: Final = ("old_dirs", "old_stps", "ro")

# Where a line search starts, a scratch vector, and the gradients of the four points that it may look at together.
_ROOM: Final = 6


class _Memory:
    """What is kept from one iteration to the next, for all parameters as one flat vector.

    Attributes:
        evaluations: how often the loss was computed.
        iterations: how many directions were taken.
        direction, step: the last direction and how far it was followed.
        scale: the first guess of the inverse Hessian's diagonal.
        grad: the gradient before the last step.
        loss: the loss before the last step.
        changes: differences of successive gradients and parameters, oldest first, with the inverse of their product.
    """

    __slots__ = ("changes", "direction", "evaluations", "grad", "iterations", "loss", "scale", "step")

    def __init__(self, size: int, dtype: np.dtype[Any]) -> None:
        self.evaluations: int = 0
        self.iterations: int = 0
        self.direction: Array = np.zeros(size, dtype)
        self.grad: Array = np.zeros(size, dtype)
        self.step: float = 0.0
        self.scale: float = 1.0
        self.loss: float = 0.0
        self.changes: list[tuple[Array, Array, float]] = []


class LBFGS(Optimizer):
    r"""L-BFGS: descends along :math:`-H g`, with an inverse Hessian :math:`H` estimated from the last few steps.

    Each call of :meth:`step` takes up to ``max_iter`` iterations, for which it computes the loss several times: it
    needs a closure that clears the gradients, computes the loss, calls ``backward()`` and returns the loss. All
    parameters are in one group. A parameter without a gradient stays as it is.

    Args:
        params: the parameters.
        lr: the step length, or the first one tried by the line search.
        max_iter: the most iterations in a step.
        max_eval: the most evaluations of the loss in a step; ``max_iter * 5 // 4`` by default.
        tolerance_grad: stop when no element of the gradient is larger.
        tolerance_change: stop when no parameter moves by more, or the loss changes by less.
        history_size: how many steps H is estimated from.
        line_search_fn: ``"strong_wolfe"`` for a line search, None for steps of length ``lr``.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range, and for several groups.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import LBFGS
        >>> w = parameter([-1.0, 1.5])
        >>> optimizer = LBFGS([w], line_search_fn="strong_wolfe", max_iter=50)
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2
        ...     loss.backward()
        ...     return loss
        >>> float(optimizer.step(closure))
        29.0
        >>> [round(value, 3) for value in w.tolist()]
        [1.0, 1.0]

    References:
        Nocedal and Wright, "Numerical Optimization", 2006, Algorithm 7.5; as in PyTorch, the first step has length
        ``lr * min(1, 1 / sum(abs(g)))``, and a pair of changes enters the history when its product exceeds 1e-10.
    """

    rules: ClassVar[Mapping[str, Rule]] = {
        "lr": non_negative,
        "max_iter": count,
        "max_eval": optional(count),
        "tolerance_grad": non_negative,
        "tolerance_change": non_negative,
        "history_size": count,
        "line_search_fn": choice(None, "strong_wolfe"),
    }

    _memory: _Memory | None
    _room: list[Array]

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        self._memory = None
        self._room = []
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )

    def _append_group(self, param_group: Mapping[str, Any]) -> None:
        if self.param_groups:
            raise ValueError("LBFGS sees all parameters as one vector: it takes a single group. Pass one list of them")
        super()._append_group(param_group)

    def _check(self, group: ParamGroup) -> None:
        super()._check(group)
        if group["max_eval"] is None:
            group["max_eval"] = group["max_iter"] * 5 // 4

    def step(self, closure: Callable[[], Loss] | None = None) -> Loss | None:
        """Take up to ``max_iter`` iterations.

        Args:
            closure: clears the gradients, computes the loss, calls ``backward()`` and returns the loss.

        Returns:
            The loss before the step.

        Raises:
            TypeError: without a closure.
        """
        if closure is None:
            raise TypeError("LBFGS computes the loss several times in a step: call step(closure)")
        ((group, records),) = self._sync()
        tensors = [record.tensor for record in records]

        def compute() -> float:
            with enable_grad():
                return float(cast("Any", closure()))

        with enable_grad():
            first = closure()
        self._iterate(group, tensors, compute, float(cast("Any", first)))
        return first

    def _take_step(self) -> None:
        raise TypeError("LBFGS computes the loss several times in a step: call step(closure)")

    def _iterate(self, group: ParamGroup, tensors: list[Tensor], compute: Callable[[], float], loss: float) -> None:
        """Go on from the point at which ``loss`` and the gradients were computed."""
        size, dtype = sum(tensor.size for tensor in tensors), np.result_type(*(tensor.dtype for tensor in tensors))
        memory = self._memory = self._get_memory(size, dtype)
        memory.evaluations += 1
        origin, scratch, *grads = self._room
        grad = grads[0]
        _gather_grads(tensors, grad)
        if _largest(grad, scratch) <= group["tolerance_grad"]:
            return
        tolerance, evaluations = group["tolerance_change"], 1
        for iteration in range(1, group["max_iter"] + 1):
            memory.iterations += 1
            self._turn(memory, grad, group["history_size"], scratch)
            before = loss
            np.copyto(memory.grad, grad)
            memory.loss = loss
            memory.step = group["lr"]
            if memory.iterations == 1:
                np.abs(grad, out=scratch)
                total = float(scratch.sum())
                memory.step *= min(1.0, 1 / total) if total else 1.0
            direction = memory.direction
            slope = float(grad.dot(direction))
            if slope > -tolerance:
                break
            last = iteration == group["max_iter"]
            _gather_data(tensors, origin)
            if group["line_search_fn"]:
                start = Point(0.0, loss, slope, grad)
                limit = group["max_eval"] - evaluations
                try:
                    length = _largest(direction, scratch)
                    evaluate = _make_evaluation(tensors, compute, direction, self._room)
                    best, used = search(evaluate, start, memory.step, length, tolerance, limit)
                except BaseException:
                    _move(tensors, origin, direction, 0.0, scratch)
                    raise
                memory.step, loss, grad = best.step, best.loss, best.grad
                _move(tensors, origin, direction, memory.step, scratch)
            else:
                _move(tensors, origin, direction, memory.step, scratch)
                used = 0
                if not last:
                    loss, used = compute(), 1
                    _gather_grads(tensors, grad)
            evaluations += used
            memory.evaluations += used
            np.multiply(direction, memory.step, out=scratch)
            if (
                last
                or evaluations >= group["max_eval"]
                or _largest(grad, origin) <= group["tolerance_grad"]
                or _largest(scratch, scratch) <= tolerance
                or abs(loss - before) < tolerance
            ):
                break

    def _turn(self, memory: _Memory, grad: Array, history_size: int, scratch: Array) -> None:
        """Learn from the last step, and set the direction of the next."""
        direction, changes = memory.direction, memory.changes
        if memory.iterations == 1:
            np.negative(grad, out=direction)
            changes.clear()
            memory.scale = 1.0
            return
        change = np.subtract(grad, memory.grad, out=scratch)
        product = memory.step * float(change.dot(direction))
        if product > 1e-10:
            # The oldest pair makes room for the new one.
            del changes[: max(0, len(changes) - history_size)]
            room = changes.pop(0)[:2] if len(changes) == history_size else (np.empty_like(grad), np.empty_like(grad))
            np.copyto(room[0], change)
            np.multiply(direction, memory.step, out=room[1])
            changes.append((*room, 1 / product))
            memory.scale = product / float(change.dot(change))
        np.negative(grad, out=direction)
        weights: list[float] = []
        for change, moved, inverse in reversed(changes):
            weight = float(moved.dot(direction)) * inverse
            weights.append(weight)
            np.multiply(change, weight, out=scratch)
            direction -= scratch
        direction *= memory.scale
        for (change, moved, inverse), weight in zip(changes, reversed(weights), strict=True):
            np.multiply(moved, weight - float(change.dot(direction)) * inverse, out=scratch)
            direction += scratch

    def _get_memory(self, size: int, dtype: np.dtype[Any]) -> _Memory:
        """Return the memory, made at the first step, and make the scratch vectors that go with it."""
        memory = self._memory or _Memory(size, dtype)
        if memory.grad.size != size:
            raise ValueError(
                f"LBFGS remembers steps of {memory.grad.size} elements, the parameters now have {size}. "
                "Make a new optimizer for other parameters"
            )
        if memory.grad.dtype != dtype:
            memory.direction, memory.grad = memory.direction.astype(dtype), memory.grad.astype(dtype)
            memory.changes = [(one.astype(dtype), two.astype(dtype), ratio) for one, two, ratio in memory.changes]
        if not self._room or self._room[0].dtype != dtype or self._room[0].size != size:
            self._room = [np.empty(size, dtype) for _ in range(_ROOM)]
        return memory

    # State: PyTorch keeps that of all parameters with the first.

    def _get_state(self, record: Record) -> dict[str, Any]:
        memory = self._memory
        if memory is None or record is not self._records[0][0]:
            return {}
        counts = {"func_evals": memory.evaluations, "n_iter": memory.iterations}
        if not memory.iterations:
            return counts
        return {
            **counts,
            "d": memory.direction,
            "t": memory.step,
            "old_dirs": [change for change, _, _ in memory.changes],
            "old_stps": [moved for _, moved, _ in memory.changes],
            "ro": [inverse for _, _, inverse in memory.changes],
            "H_diag": memory.scale,
            "prev_flat_grad": memory.grad,
            "prev_loss": memory.loss,
        }

    def _read_state(self, record: Record, group: ParamGroup, key: object, state: Mapping[str, Any]) -> Record:
        if record is not self._records[0][0]:
            raise ValueError(f"LBFGS keeps its state with the first parameter; received one for parameter {key}")
        result = Record(record.tensor)
        numbers, buffers = result.clock.numbers, result.buffers
        missing = [name for name in _COUNTS if name not in state]
        if not missing and state["n_iter"]:
            missing = [name for name in (*_NUMBERS, *_VECTORS, *_HISTORIES) if name not in state]
        if missing:
            raise ValueError(f"the state of LBFGS lacks {', '.join(missing)}")
        for name in _COUNTS:
            numbers[name] = whole(f"{name} of the state", state[name])
        if not numbers["n_iter"]:
            return result
        for name in _NUMBERS:
            numbers[name] = number(f"{name} of the state", np.asarray(state[name]).item())
        size = sum(other.tensor.size for other in self._records[0])
        dtype = np.result_type(*(other.tensor.dtype for other in self._records[0]))
        depth = len(state["ro"])
        for name, shape in [
            *((name, (size,)) for name in _VECTORS),
            ("old_dirs", (depth, size)),
            ("old_stps", (depth, size)),
            ("ro", (depth,)),
        ]:
            array = np.array(state[name], dtype=np.float64 if name == "ro" else dtype)
            if array.shape != shape and depth:
                raise ValueError(f"{name} of the state has shape {shape} for these parameters; received {array.shape}")
            buffers[name] = array
        return result

    def _adopt(self, loaded: list[tuple[Record, Record | None]]) -> None:
        source = loaded[0][1]
        self._memory = None
        if source is None:
            return
        numbers, buffers = source.clock.numbers, source.buffers
        size = sum(record.tensor.size for record, _ in loaded)
        memory = self._memory = _Memory(size, np.result_type(*(record.tensor.dtype for record, _ in loaded)))
        memory.evaluations, memory.iterations = int(numbers["func_evals"]), int(numbers["n_iter"])
        if memory.iterations:
            memory.direction, memory.grad = buffers["d"], buffers["prev_flat_grad"]
            memory.step, memory.scale, memory.loss = (numbers[name] for name in _NUMBERS)
            ratios: list[float] = buffers["ro"].tolist()
            memory.changes = list(zip(buffers["old_dirs"], buffers["old_stps"], ratios, strict=True))


def _make_evaluation(
    tensors: list[Tensor], compute: Callable[[], float], direction: Array, room: list[Array]
) -> Callable[[float, list[Point]], Point]:
    """Return a function that computes the loss and its gradient at a step length along the direction."""
    origin, scratch, *grads = room

    def evaluate(step: float, kept: list[Point]) -> Point:
        _move(tensors, origin, direction, step, scratch)
        value = compute()
        free = next(array for array in grads if all(array is not point.grad for point in kept))
        _gather_grads(tensors, free)
        return Point(step, value, float(free.dot(direction)), free)

    return evaluate


def _gather_grads(tensors: list[Tensor], flat: Array) -> None:
    """Copy all gradients into one vector, zeros where there is none."""
    start = 0
    for tensor in tensors:
        end = start + tensor.size
        grad = get_gradient(tensor)
        flat[start:end].reshape(tensor.shape)[...] = 0 if grad is None else grad
        start = end


def _gather_data(tensors: list[Tensor], flat: Array) -> None:
    """Copy all values into one vector."""
    start = 0
    for tensor in tensors:
        end = start + tensor.size
        flat[start:end].reshape(tensor.shape)[...] = tensor.data
        start = end


def _move(tensors: list[Tensor], origin: Array, direction: Array, step: float, scratch: Array) -> None:
    """Set every parameter that has a gradient to where ``step`` along the direction leads from the origin."""
    np.multiply(direction, step, out=scratch)
    np.add(scratch, origin, out=scratch)
    start = 0
    moved: list[Tensor] = []
    for tensor in tensors:
        end = start + tensor.size
        if get_gradient(tensor) is not None:
            overwrite(tensor, scratch[start:end].reshape(tensor.shape))
            moved.append(tensor)
        start = end
    mark_updated(moved)


def _largest(values: Array, scratch: Array) -> float:
    """Return the largest magnitude."""
    return float(np.abs(values, out=scratch).max(initial=0))

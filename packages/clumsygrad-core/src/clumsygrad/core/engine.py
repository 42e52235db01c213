"""The backward pass: gradients flow from a result to what it was computed from.

Nodes are visited from the newest to the oldest. A child always has a larger id than its parents, so by the time a
node is the newest one left, all that depends on it has been visited and its gradient is complete. A heap of the ids
that are waiting gives that order in a single walk, without recursion and without a list of the graph.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any, Literal, cast, overload

import numpy as np

from .mode import enable_grad
from .registry import register
from .tensor import Tensor, as_array, operation_name, wrap
from .tensor_type import TensorType
from .types import Array, GradFn, TensorLike

_INPUT = TensorType.INPUT
_INTERMEDIATE = TensorType.INTERMEDIATE

_getrefcount = sys.getrefcount
_ndarray = np.ndarray
_add: Any = np.add


class StandIn:
    """What a backward function sees in place of a node, when the node itself would not do.

    For a graph of the gradient ``_data`` is the Tensor instead of its array, so that the same formula, which then
    meets Tensors, records operations instead of computing numbers. And a parent whose gradient nobody asked for
    stands here as an INPUT, so that the formula does no work for it.
    """

    __slots__ = ("_data", "_extra", "_parents", "_shape", "_tensor_type")

    def __init__(
        self, data: Array | Tensor, parents: tuple[StandIn, ...], extra: dict[str, Any], tensor_type: TensorType
    ) -> None:
        self._data = data
        self._shape = data.shape
        self._parents = parents
        self._extra = extra
        self._tensor_type = tensor_type

    @property
    def data(self) -> Array | Tensor:
        """The result or parent: its array, or the Tensor itself."""
        return self._data

    @property
    def parents(self) -> tuple[StandIn, ...]:
        """The stand-ins of the parents."""
        return self._parents

    @property
    def extra(self) -> dict[str, Any]:
        """The node's extra."""
        return self._extra

    @property
    def tensor_type(self) -> TensorType:
        """INPUT for a parent that needs no gradient."""
        return self._tensor_type

    @property
    def requires_grad(self) -> bool:
        """Whether a gradient is needed."""
        return self._tensor_type is not _INPUT

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return self._data.shape


class Pass:
    """One walk: the gradients that wait for their node, and what is asked of the walk."""

    __slots__ = ("create_graph", "keep_graph", "queue", "stop", "waiting", "wanted")

    keep_graph: bool
    create_graph: bool
    # The ids that gradients may flow to; None stands for all.
    wanted: set[int] | None
    # The ids of nodes that the walk doesn't go beyond.
    stop: Collection[int]
    # By id: the tensor, its gradient so far, and whether that is a sum made here, which may be added to in place.
    # At the end of the walk the leaves are left, and the nodes that were to be kept.
    waiting: dict[int, list[Any]]
    # The ids of the nodes among them, negated: the heap's smallest is the newest node.
    queue: list[int]

    def __init__(
        self,
        *,
        keep_graph: bool,
        create_graph: bool = False,
        wanted: set[int] | None = None,
        stop: Collection[int] = (),
    ) -> None:
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.wanted = wanted
        self.stop = stop
        self.waiting = {}
        self.queue = []

    def seed(self, tensor: Tensor, grad: Any) -> None:
        """Let the walk start at ``tensor`` with gradient ``grad``."""
        key = tensor._id
        if key in self.waiting:
            entry = self.waiting[key]
            entry[1] = entry[1] + grad
            return
        self.waiting[key] = [tensor, grad, False]
        if tensor._tensor_type is _INTERMEDIATE:
            heappush(self.queue, -key)

    def run(self, keep: set[int] | None = None) -> None:
        """Walk until only leaves are left.

        The gradient of a node is kept when ``keep`` names it; by default when anyone but the walk still holds the node.
        """
        waiting, queue, wanted = self.waiting, self.queue, self.wanted
        keep_graph, plain = self.keep_graph, wanted is None and not self.create_graph
        take, find = waiting.pop, waiting.get
        while queue:
            key = -heappop(queue)
            node: Tensor
            node, grad, _ = take(key)
            parents = node._parents
            if wanted is not None and (key in self.stop or not any(parent._id in wanted for parent in parents)):
                # An input that was asked for, and the walk goes no further: nothing asked for lies behind it.
                waiting[key] = [node, grad, False]
                continue
            grad_fn = node._grad_fn
            if not parents or grad_fn is None:
                raise _freed(node)
            try:
                grads = grad_fn(node, grad) if plain else self._call(grad_fn, node, grad)
            except Exception as error:
                error.add_note(_where(node, grad))
                raise
            if grads.__class__ is not tuple or len(grads) != len(parents):
                raise _wrong_result(node, grads)
            parent = contribution = entry = None
            for parent, contribution in zip(parents, grads):  # noqa: B905  # the lengths were compared above
                if parent._stamp > key:
                    raise _stale(node, parent)
                if contribution is None:
                    continue
                parent_type = parent._tensor_type
                if parent_type is _INPUT:
                    continue
                try:
                    fits = contribution.shape == parent._shape
                except AttributeError:
                    fits = False
                if not fits:
                    raise _wrong_gradient(node, parent, contribution)
                parent_key = parent._id
                entry = find(parent_key)
                if entry is None:
                    if wanted is not None and parent_key not in wanted:
                        continue
                    waiting[parent_key] = [parent, contribution, False]
                    if parent_type is _INTERMEDIATE:
                        heappush(queue, -parent_key)
                elif entry[2]:
                    _add(entry[1], contribution, entry[1])
                else:
                    entry[1] = entry[1] + contribution
                    entry[2] = entry[1].__class__ is _ndarray
            # These names refer to the node, or to what it leads to, and would keep it alive.
            del parents, parent, grads, contribution, entry
            if key in keep if keep is not None else keep_graph or _getrefcount(node) > _UNSHARED:
                waiting[key] = [node, grad, False]
            if not keep_graph:
                node._cleanup_references()

    def _call(self, grad_fn: GradFn, node: Tensor, grad: Array) -> tuple[Array | None, ...]:
        """Call a backward function on a stand-in for ``node``."""
        graph, wanted = self.create_graph, self.wanted
        parents = tuple(
            StandIn(
                parent if graph else parent._data,
                (),
                {},
                parent._tensor_type if wanted is None or parent._id in wanted else _INPUT,
            )
            for parent in node._parents
        )
        stand_in = StandIn(node if graph else node._data, parents, node._extra, node._tensor_type)
        return grad_fn(cast("Tensor", stand_in), grad)

    @staticmethod
    def adopt(entry: list[Any]) -> Array:
        """Take the gradient out of an entry, as an array of its tensor's precision that is shared with nothing."""
        grad = entry.pop(1)
        dtype = entry[0]._data.dtype
        # An array that owns its memory and that only this name refers to can't be seen by anyone else.
        if (
            grad.__class__ is _ndarray
            and grad.base is None
            and _getrefcount(grad) <= _UNSHARED
            and grad.dtype == dtype
            and grad.flags.writeable
        ):
            return cast("Array", grad)
        return np.array(grad, dtype=dtype, order="C")


def _count_unshared() -> int:
    """Count the references that an object has when a local name is the only one, in this Python."""
    box = [object()]
    only = box.pop()
    return _getrefcount(only)


_UNSHARED = _count_unshared()


def backward(tensor: Tensor, /, gradient: TensorLike | None = None, keep_graph: bool = False) -> None:
    """Add the gradient of this tensor to the ``grad`` of every parameter and held tensor it depends on.

    The graph is freed while it is walked, so that memory is given back as early as can be.

    Args:
        tensor: the result to start from.
        gradient: the gradient of some scalar with respect to this tensor, of its shape; 1 for a tensor of one element.
        keep_graph: keep the graph, for a second pass through it.

    Raises:
        RuntimeError: when the tensor doesn't require gradients; when it has more than one element and ``gradient`` is
            missing; when a part of the graph was freed before; when a value was changed in place since it was used.
        ValueError: when ``gradient`` has another shape.

    A pass that fails leaves every ``grad`` as it was.

    Example:
        >>> from clumsygrad.core import parameter
        >>> x = parameter(3.0)
        >>> (x**2).backward()
        >>> x.grad
        array(6., dtype=float32)
    """
    if tensor._tensor_type is _INPUT:
        raise RuntimeError(
            "backward() needs a tensor that requires gradients; this one was computed from INPUT tensors only, or "
            "inside no_grad(). Make what you want gradients for a parameter(...)"
        )
    walk = Pass(keep_graph=keep_graph)
    walk.seed(tensor, _seed(tensor, gradient))
    # Zero times infinity and the like are answered by the rules themselves: they need no warning.
    with np.errstate(all="ignore"):
        walk.run()
    adopted: list[tuple[Tensor, Array]] = [(entry[0], walk.adopt(entry)) for entry in walk.waiting.values()]
    for leaf, grad in adopted:
        if leaf._grad is None:
            leaf._grad = grad
        else:
            np.add(leaf._grad, grad, out=leaf._grad)


def _seed(output: Tensor, gradient: TensorLike | None) -> Array:
    shape = output._data.shape
    if gradient is None:
        if output._data.size != 1:
            raise RuntimeError(
                f"only a tensor of one element has an implicit gradient of 1; this one has shape {shape}. "
                "Reduce it, with .sum() or .mean(), or pass gradient="
            )
        return np.ones(shape, output._data.dtype)
    array = as_array(gradient, copy=False)
    if array.shape != shape:
        raise ValueError(f"gradient has the shape of its tensor, {shape}; received shape {array.shape}")
    return array


@overload
def gradients(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: TensorLike | Sequence[TensorLike | None] | None = None,
    *,
    keep_graph: bool = False,
    create_graph: bool = False,
    allow_unused: Literal[False] = False,
) -> tuple[Tensor, ...]: ...
@overload
def gradients(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: TensorLike | Sequence[TensorLike | None] | None = None,
    *,
    keep_graph: bool = False,
    create_graph: bool = False,
    allow_unused: bool,
) -> tuple[Tensor | None, ...]: ...
def gradients(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: TensorLike | Sequence[TensorLike | None] | None = None,
    *,
    keep_graph: bool = False,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of the sum of ``outputs`` with respect to ``inputs``, leaving every ``grad`` alone.

    Args:
        outputs: one tensor or several.
        inputs: the parameters or computed tensors to differentiate by.
        grad_outputs: a gradient for each output, of its shape; None for 1 on an output of one element.
        keep_graph: keep the graph of ``outputs``, for a second pass through it.
        create_graph: record the computation of the gradients, so that they can be differentiated in turn. It keeps
            the graph, too.
        allow_unused: give None for an input that no output depends on, instead of raising.

    Returns:
        A tuple with one Tensor of the input's shape for each input.

    Raises:
        RuntimeError: when an input or output doesn't require gradients, an input is not reached, or a part of the graph
            was freed.
        ValueError: when a gradient of an output has another shape, or there are not as many as outputs.

    Example:
        >>> from clumsygrad.core import gradients, parameter
        >>> x = parameter(2.0)
        >>> (first,) = gradients(x**3, x, create_graph=True)
        >>> (second,) = gradients(first, x)
        >>> first.item(), second.item()
        (12.0, 12.0)
    """
    results = _as_tensors(outputs, "outputs")
    targets = _as_tensors(inputs, "inputs")
    seeds = _as_seeds(grad_outputs, len(results))
    arrays = [_seed(output, gradient) for output, gradient in zip(results, seeds, strict=True)]
    chosen = [
        (gradient if isinstance(gradient, Tensor) else wrap(array)) if create_graph else array
        for gradient, array in zip(seeds, arrays, strict=True)
    ]
    found = partial_gradients(results, targets, chosen, keep_graph=keep_graph, create_graph=create_graph)
    for target in targets:
        if target._id not in found and not allow_unused:
            raise RuntimeError(
                f"no output depends on the input of shape {target._data.shape}; "
                "pass allow_unused=True for None in its place"
            )
    tensors = {key: grad if isinstance(grad, Tensor) else wrap(grad) for key, grad in found.items()}
    return tuple(tensors.get(target._id) for target in targets)


def partial_gradients(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    seeds: Sequence[Array | Tensor],
    *,
    keep_graph: bool = False,
    create_graph: bool = False,
    stop: Collection[int] = (),
) -> dict[int, Array | Tensor]:
    """Return by id the gradients of the ``inputs`` that an output depends on; Tensors when a graph is made of them.

    Args:
        outputs: where the walk starts.
        inputs: what is differentiated by.
        seeds: the gradient of each output, a Tensor for ``create_graph``.
        keep_graph: keep the graph of ``outputs``.
        create_graph: record the computation of the gradients.
        stop: the ids of nodes that count as leaves: what depends on them only through others of them is left out.
    """
    wanted = _leading_to(outputs, inputs, stop)
    walk = Pass(keep_graph=keep_graph or create_graph, create_graph=create_graph, wanted=wanted, stop=stop)
    for output, seed in zip(outputs, seeds, strict=True):
        if output._id in wanted:
            walk.seed(output, seed)
    asked = {target._id for target in inputs}
    with np.errstate(all="ignore"):
        if create_graph:
            with enable_grad():
                walk.run(asked)
        else:
            walk.run(asked)
    return {
        key: entry[1] if create_graph else walk.adopt(entry) for key in asked if (entry := walk.waiting.pop(key, None))
    }


def _as_tensors(value: Tensor | Sequence[Tensor], role: str) -> tuple[Tensor, ...]:
    tensors = (value,) if isinstance(value, Tensor) else tuple(value)
    for tensor in cast("tuple[object, ...]", tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{role} are Tensors; received {type(tensor).__name__}")
        if tensor._tensor_type is _INPUT:
            raise RuntimeError(
                f"{role} must require gradients; received an INPUT tensor of shape {tensor._data.shape}. "
                "Make what you differentiate by a parameter(...) before computing with it"
            )
    return tensors


def _as_seeds(
    grad_outputs: TensorLike | Sequence[TensorLike | None] | None, number: int
) -> Sequence[TensorLike | None]:
    if grad_outputs is None:
        return [None] * number
    seeds: Sequence[TensorLike | None]
    if isinstance(grad_outputs, (list, tuple)) and (number > 1 or len(cast("list[Any]", grad_outputs)) == 1):
        seeds = cast("Sequence[TensorLike | None]", grad_outputs)
    else:
        seeds = [cast("TensorLike", grad_outputs)]
    if len(seeds) != number:
        raise ValueError(f"grad_outputs has one entry for each output; received {len(seeds)} for {number} outputs")
    return seeds


def _leading_to(outputs: Iterable[Tensor], targets: Iterable[Tensor], stop: Collection[int]) -> set[int]:
    """Return the ids of the tensors below ``outputs`` from which a target can be reached, targets included.

    The search doesn't look behind the tensors in ``stop``.
    """
    wanted = {target._id for target in targets}
    oldest = min(wanted, default=0)
    below: dict[int, Tensor] = {}
    waiting = list(outputs)
    while waiting:
        node = waiting.pop()
        # What is older than every target can't lead to one.
        if node._id in below or node._id < oldest:
            continue
        if node._id in stop:
            continue
        below[node._id] = node
        if node._tensor_type is _INTERMEDIATE and not node._parents and node._id not in wanted:
            raise _freed(node)
        waiting.extend(node._parents)
    for key in sorted(below):
        if any(parent._id in wanted for parent in below[key]._parents):
            wanted.add(key)
    return wanted


def _where(node: Tensor, grad: Array) -> str:
    shapes = ", ".join(str(parent._data.shape) for parent in node._parents)
    return (
        f"while differentiating {operation_name(node)}: parents of shape {shapes}, result of shape {node._data.shape}, "
        f"gradient of shape {np.shape(grad)}"
    )


def _freed(node: Tensor) -> RuntimeError:
    return RuntimeError(
        f"the graph behind the result of {operation_name(node)}, of shape {node._data.shape}, was freed by an earlier "
        "backward pass; pass keep_graph=True to the pass that comes first"
    )


def _stale(node: Tensor, parent: Tensor) -> RuntimeError:
    return RuntimeError(
        f"a tensor of shape {parent._data.shape} was changed in place after {operation_name(node)} had used its value: "
        "the gradient would be computed from the wrong one. Call backward() before the update, or compute again after "
        "it"
    )


def _wrong_result(node: Tensor, grads: object) -> RuntimeError:
    name = cast("GradFn", node._grad_fn).__name__
    received = (
        f"{len(cast('tuple[object, ...]', grads))} entries" if isinstance(grads, tuple) else f"a {type(grads).__name__}"
    )
    return RuntimeError(
        f"{name} has to return a tuple with one gradient (or None) for each of its {len(node._parents)} parents; "
        f"it returned {received}"
    )


def _wrong_gradient(node: Tensor, parent: Tensor, grad: object) -> RuntimeError:
    name = cast("GradFn", node._grad_fn).__name__
    received = (
        f"shape {np.shape(cast('Array', grad))}"
        if isinstance(grad, (np.ndarray, Tensor))
        else f"a {type(grad).__name__}"
    )
    return RuntimeError(
        f"{name} has to return arrays of its parents' shapes; for a parent of shape {parent._data.shape} it returned "
        f"{received}. unbroadcast(grad, shape) sums a broadcast gradient back"
    )


register(backward, methods=("backward",), differentiable=False)

"""Trading computation for memory: a part of the graph that is not kept, but computed again when it is needed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from .engine import partial_gradients
from .grad.alias import alias, outer_tensors
from .grad.recording import as_recorded
from .mode import enable_grad, is_grad_enabled
from .random import default_generator
from .tensor import Tensor, create_node, wrap
from .tensor_type import TensorType
from .tree import leaves, rebuild
from .types import Array, GradientTuple, Shape

P = ParamSpec("P")
R = TypeVar("R")

_INPUT = TensorType.INPUT
_PARAMETER = TensorType.PARAMETER


def checkpoint(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Return ``function(*args, **kwargs)`` without keeping what it computed on the way.

    The graph inside is dropped, and with it the memory of the intermediate results; the backward pass runs the function
    once more to get at them. So a chain of n equal steps, cut into pieces of about the square root of n, needs memory
    for 2√n steps and the time of one more forward pass.

    Gradients reach the arguments, and whatever the function closes over: parameters of layers, and tensors computed
    before. Derivatives of any order are right. The function must return the same whenever it is called with the same
    arguments; draws from the default random generator are repeated.

    Args:
        function: any function of tensors.
        *args: its arguments: tensors, alone or in tuples, lists and dicts, and anything else.
        **kwargs: its keyword arguments, likewise.

    Returns:
        What the function returns: tensors, alone or in tuples, lists and dicts, and anything else.

    Raises:
        RuntimeError: in the backward pass, when the second run gives other results than the first.

    Example:
        >>> from clumsygrad.core import functional, math, parameter
        >>> w, x = parameter(2.0), parameter([1.0, 2.0])
        >>> y = functional.checkpoint(lambda t: math.exp(t * w), x)
        >>> y.sum().backward()
        >>> x.grad.round(2)
        array([ 14.78, 109.2 ], dtype=float32)

    References:
        Chen, Xu, Zhang and Guestrin, "Training deep nets with sublinear memory cost", 2016.
    """
    if not is_grad_enabled():
        return function(*args, **kwargs)
    given: list[object] = leaves((args, kwargs))
    tensors = [leaf for leaf in given if isinstance(leaf, Tensor)]
    # What takes the place of the tensors, so that the graph that is recorded ends there.
    stand_ins = [tensor if tensor._tensor_type is _INPUT else wrap(tensor._data, _PARAMETER) for tensor in tensors]
    call = _Call(function, rebuild((args, kwargs), [_HERE if isinstance(leaf, Tensor) else leaf for leaf in given]))
    before = wrap(np.empty(0))._id
    output = call(stand_ins)
    results: list[object] = leaves(output)
    # One piece of the node for each result that needs gradients, however often it was returned.
    recorded = {
        leaf._id: (place, leaf)
        for place, leaf in enumerate(results)
        if isinstance(leaf, Tensor) and leaf._tensor_type is not _INPUT
    }
    if not recorded:
        return cast("R", output)
    found = [leaf for _, leaf in recorded.values()]
    outer = outer_tensors(found, before, {leaf._id for leaf in stand_ins})
    shapes = [leaf._data.shape for leaf in found]
    extra: dict[str, Any] = {
        "call": call,
        "places": [place for place, _ in recorded.values()],
        "shapes": shapes,
        "tensors": len(tensors),
        "outer": tuple(outer),
    }
    data = found[0]._data if len(found) == 1 else np.concatenate([leaf._data.ravel() for leaf in found])
    node = create_node(data, checkpoint_backward, (*tensors, *outer), extra)
    pieces = [node] if len(found) == 1 else _pieces(node, shapes)
    piece_of = dict(zip(recorded, pieces, strict=True))
    return cast(
        "R", rebuild(output, [piece_of.get(leaf._id, leaf) if isinstance(leaf, Tensor) else leaf for leaf in results])
    )


_HERE = object()
"""Stands where a tensor stood among the arguments."""


class _Call:
    """A function with its arguments but for the tensors, and the state of the random generators it draws from."""

    __slots__ = ("_arguments", "_function", "_states")

    _function: Callable[..., object]
    _arguments: tuple[tuple[object, ...], dict[str, object]]
    _states: list[tuple[np.random.Generator, Any]]

    def __init__(
        self, function: Callable[..., object], arguments: tuple[tuple[object, ...], dict[str, object]]
    ) -> None:
        self._function = function
        self._arguments = arguments
        passed = [leaf for leaf in leaves(arguments) if isinstance(leaf, np.random.Generator)]
        self._states = [(generator, generator.bit_generator.state) for generator in (default_generator(), *passed)]

    def __call__(self, tensors: list[Tensor]) -> object:
        """Run the function, recording, on tensors in their places among the arguments."""
        following = iter(tensors)
        filled = [next(following) if leaf is _HERE else leaf for leaf in leaves(self._arguments)]
        args, kwargs = rebuild(self._arguments, filled)
        with enable_grad():
            return self._function(*args, **kwargs)

    def again(self, tensors: list[Tensor]) -> object:
        """Run the function with the random draws of the first time, and leave the generators as they were."""
        now = [generator.bit_generator.state for generator, _ in self._states]
        for generator, state in self._states:
            generator.bit_generator.state = state
        try:
            return self(tensors)
        finally:
            for (generator, _), state in zip(self._states, now, strict=True):
                generator.bit_generator.state = state


def _pieces(packed: Any, shapes: list[Shape]) -> list[Any]:
    """Return the tensors of the given shapes that were raveled into one."""
    stops = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
    starts = [0, *stops[:-1]]
    return [packed[start:stop].reshape(shape) for start, stop, shape in zip(starts, stops, shapes, strict=True)]


def checkpoint_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """Run the function again, and pass the gradient through its graph up to the arguments and the outer tensors."""
    extra, parents = tensor._extra, tensor._parents
    graph = as_recorded(grad) is not None
    count: int = extra["tensors"]
    outer: tuple[Tensor, ...] = extra["outer"]
    stand_ins = [
        # With a graph of the gradient the parent's data is the parent itself, and its derivative flows on.
        _stand_in(cast("Tensor", parent._data), parent._tensor_type)
        if graph
        else wrap(parent._data, _INPUT if parent._tensor_type is _INPUT else _PARAMETER)
        for parent in parents[:count]
    ]
    before = wrap(np.empty(0))._id
    results: list[object] = leaves(extra["call"].again(stand_ins))
    shapes: list[Shape] = extra["shapes"]
    places: list[int] = extra["places"]
    found = [results[place] for place in places if place < len(results)]
    outputs = [leaf for leaf in found if isinstance(leaf, Tensor)]
    own = {leaf._id for leaf in stand_ins}
    reached = outer_tensors(outputs, before, own)
    if [leaf._data.shape for leaf in outputs] != shapes or not {id(leaf) for leaf in reached} <= set(map(id, outer)):
        raise _differs("it used or returned other tensors")
    first = cast("object", tensor._data)
    values = _pieces(first._data if isinstance(first, Tensor) else first, shapes) if len(shapes) > 1 else [first]
    for value, output in zip(values, outputs, strict=True):
        if not np.allclose(np.asarray(value), output._data, rtol=1e-3, atol=1e-5, equal_nan=True):
            raise _differs("its values were others")
    seeds = [grad] if len(shapes) == 1 else _pieces(grad, shapes)
    targets = [*stand_ins, *outer]
    wanted = [target for target, parent in zip(targets, parents, strict=True) if parent._tensor_type is not _INPUT]
    stop = own | {leaf._id for leaf in outer}
    grads = partial_gradients(outputs, wanted, seeds, stop=stop, create_graph=graph)
    return tuple(cast("Array | None", grads.get(target._id)) for target in targets)


def _stand_in(tensor: Tensor, tensor_type: TensorType) -> Tensor:
    return wrap(tensor._data) if tensor_type is _INPUT else alias(tensor)


def _differs(how: str) -> RuntimeError:
    return RuntimeError(
        f"the function of a checkpoint has to do the same each time, but in the backward pass {how}. Look for a "
        "variable that it closes over and that was assigned to since, such as a loop's (pass it as an argument), for "
        "an array that was changed, and for a random generator (pass it as an argument, or use the default one)"
    )

"""Functions that turn a function of tensors into its derivatives, of any order.

A function to be transformed takes Tensors, or tuples, lists and dicts of them, nested at will, and returns Tensors in
the same way. Arguments are differentiated whether they are parameters, computed tensors, constants, arrays or numbers.
Derivatives by what a function closes over flow on: inside another transform, or when the function uses parameters, the
results belong to the graph; otherwise they are INPUT tensors, and nothing of the graph is kept.

To type checkers the derivative by an argument is a Tensor, whatever the argument: for a dict, say, ``cast`` it.

Example:
    >>> from clumsygrad.core import functional
    >>> cube = lambda x: x**3
    >>> functional.grad(cube)(2.0).item()
    12.0
    >>> functional.grad(functional.grad(cube))(2.0).item()
    12.0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast, overload

import numpy as np

from .checkpoint import checkpoint as checkpoint
from .engine import gradients
from .grad.alias import alias, outer_tensors
from .math.shaping import concatenate, reshape
from .mode import enable_grad, is_grad_enabled
from .tensor import Tensor, as_array, as_tensor, wrap
from .tensor_type import TensorType
from .tree import leaves, leaves_like, rebuild, rebuild_each, tree_map
from .types import TensorLike

R = TypeVar("R")

__all__ = ["checkpoint", "grad", "hessian", "hvp", "jacobian", "jvp", "value_and_grad", "vjp"]

_INPUT = TensorType.INPUT
_PARAMETER = TensorType.PARAMETER


@dataclass(slots=True)
class _Trace:
    """One run of a function: what it is differentiated by, what it returned, and whether that belongs to a graph."""

    # The tensors that stand for the leaves of the differentiated arguments.
    inputs: list[Tensor]
    output: Any
    connected: bool

    def outputs(self) -> list[Tensor]:
        """Return the tensors that the function returned."""
        return cast("list[Tensor]", leaves(self.output))

    def value(self) -> Any:
        """Return what the function returned, as constants unless it belongs to an outer graph."""
        if self.connected:
            return self.output
        fresh = {leaf._id for leaf in self.inputs}
        return tree_map(
            lambda leaf: wrap(leaf._data.copy() if leaf._id in fresh else leaf._data) if leaf.requires_grad else leaf,
            self.output,
        )

    def scalar(self) -> Tensor:
        """Return the one element that the function returned."""
        found = self.outputs()
        if len(found) != 1 or found[0]._data.size != 1:
            shapes = ", ".join(str(leaf._data.shape) for leaf in found) or "nothing"
            raise ValueError(
                f"the gradient is of a function that returns one element; this one returned {shapes}. Reduce it, "
                "or use jacobian or vjp"
            )
        return found[0]

    def pull(self, seeds: Sequence[TensorLike | None], *, keep: bool = False, graph: bool = False) -> list[Tensor]:
        """Return the gradient of each input for the given gradients of the outputs; zeros where there is no way."""
        pairs = [pair for pair in zip(self.outputs(), seeds, strict=True) if pair[0].requires_grad]
        found: Sequence[Tensor | None] = [None] * len(self.inputs)
        if pairs and self.inputs:
            outputs, chosen = zip(*pairs, strict=True)
            found = gradients(
                outputs,
                self.inputs,
                chosen,
                keep_graph=keep,
                create_graph=graph or self.connected,
                allow_unused=True,
            )
        return [
            wrap(np.zeros_like(leaf._data)) if grad is None else grad
            for leaf, grad in zip(self.inputs, found, strict=True)
        ]

    def close(self) -> None:
        """Turn the leaves that were made for this run into constants, so that no later pass sees parameters there."""
        for leaf in self.inputs:
            if leaf._tensor_type is _PARAMETER:
                leaf._tensor_type = _INPUT


def _trace(
    function: Callable[..., object], args: tuple[object, ...], argnums: Sequence[int], kwargs: dict[str, object]
) -> _Trace:
    """Run ``function`` on stand-ins for the differentiated arguments, recording."""
    recording = is_grad_enabled()
    before = wrap(np.empty(0))._id
    inputs: list[Tensor] = []

    def stand_in(leaf: TensorLike) -> Tensor:
        if recording and isinstance(leaf, Tensor) and leaf._tensor_type is not _INPUT:
            inputs.append(alias(leaf))
        else:
            inputs.append(wrap(as_array(leaf, copy=False), _PARAMETER))
        return inputs[-1]

    changed = list(args)
    with enable_grad():
        for place in argnums:
            changed[place] = tree_map(stand_in, args[place])
        output = function(*changed, **kwargs)
    found = leaves(output)
    for leaf in found:
        if not isinstance(leaf, Tensor):
            raise TypeError(
                f"a function that is differentiated returns Tensors; this one returned {type(leaf).__name__}, which "
                "has no graph. Leave out float(), .data, .item() and the like on the way to the result"
            )
    fresh = {leaf._id for leaf in inputs if leaf._tensor_type is _PARAMETER}
    connected = recording and bool(outer_tensors(found, before, fresh))
    return _Trace(inputs, output, connected)


def _places(argnums: int | Sequence[int], number: int) -> list[int]:
    """Return the positions of the differentiated arguments, counted from 0."""
    given = [argnums] if isinstance(argnums, int) else list(argnums)
    places = [place + number if place < 0 else place for place in given]
    if not places or len(set(places)) != len(places) or not all(0 <= place < number for place in places):
        raise ValueError(
            f"argnums names positional arguments, each once; received {argnums} for {number} positional arguments"
        )
    return places


def _arranged(values: list[Tensor], args: tuple[object, ...], places: list[int], argnums: int | Sequence[int]) -> Any:
    """Return values, one for each leaf of the differentiated arguments, in the form of these arguments."""
    trees = rebuild_each([args[place] for place in places], values)
    return trees[0] if isinstance(argnums, int) else tuple(trees)


@overload
def grad(function: Callable[..., object], argnums: int = 0) -> Callable[..., Tensor]: ...
@overload
def grad(function: Callable[..., object], argnums: Sequence[int]) -> Callable[..., tuple[Tensor, ...]]: ...
def grad(function: Callable[..., object], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    r"""Return the function that computes the gradient :math:`\nabla f` of a scalar function.

    Args:
        function: it returns a tensor of one element.
        argnums: which positional argument to differentiate by, or a sequence of several.

    Returns:
        A function of the same arguments. Its result has the form of the argument: a tensor of its shape for a tensor,
        array or number, and the same containers for a tuple, list or dict; a tuple of these when ``argnums`` is a
        sequence. An argument that doesn't matter has a gradient of zeros.

    Raises:
        ValueError: when called: for a result of several elements, or arguments that aren't there.
        TypeError: when called: for a result that is no Tensor.

    Example:
        >>> from clumsygrad.core import functional
        >>> loss = lambda w, x: (w * x).sum() ** 2
        >>> functional.grad(loss)([1.0, 2.0], [3.0, 4.0]).tolist()
        [66.0, 88.0]
        >>> by_w, by_x = functional.grad(loss, argnums=(0, 1))(2.0, 3.0)
        >>> by_w.item(), by_x.item()
        (36.0, 24.0)
    """
    both = value_and_grad(function, argnums)

    @wraps(function)
    def gradient(*args: object, **kwargs: object) -> object:
        return both(*args, **kwargs)[1]

    return gradient


@overload
def value_and_grad(function: Callable[..., R], argnums: int = 0) -> Callable[..., tuple[R, Tensor]]: ...
@overload
def value_and_grad(
    function: Callable[..., R], argnums: Sequence[int]
) -> Callable[..., tuple[R, tuple[Tensor, ...]]]: ...
def value_and_grad(function: Callable[..., object], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return the function that computes the value of a scalar function together with its gradient.

    Args:
        function: it returns a tensor of one element.
        argnums: which positional argument to differentiate by, or a sequence of several.

    Returns:
        A function of the same arguments that returns ``(value, gradient)``; the gradient is that of :func:`grad`.

    Raises:
        ValueError: when called: for a result of several elements, or arguments that aren't there.
        TypeError: when called: for a result that is no Tensor.

    Example:
        >>> from clumsygrad.core import functional
        >>> value, slope = functional.value_and_grad(lambda x: x**3)(2.0)
        >>> value.item(), slope.item()
        (8.0, 12.0)
    """

    @wraps(function)
    def value_and_gradient(*args: object, **kwargs: object) -> object:
        places = _places(argnums, len(args))
        trace = _trace(function, args, places, kwargs)
        trace.scalar()
        value = trace.value()
        grads = trace.pull([None])
        trace.close()
        return value, _arranged(grads, args, places, argnums)

    return value_and_gradient


def vjp(function: Callable[..., R], *primals: object) -> tuple[R, Callable[..., tuple[Any, ...]]]:
    r"""Return the value of a function, and the function that multiplies its Jacobian matrix by a vector from the left.

    Args:
        function: a function of any number of arguments, with any form of result.
        *primals: the arguments; all of them are differentiated.

    Returns:
        ``(value, pull)``. ``pull(vector)`` takes a tensor for each tensor of the value, in the value's form, and
        returns :math:`v^\top J` as a tuple with one entry for each argument, in its form. It may be called again.

    Raises:
        ValueError: when the vector hasn't the form or the shapes of the value.
        TypeError: for a result that is no Tensor.

    Example:
        >>> from clumsygrad.core import functional
        >>> value, pull = functional.vjp(lambda x, y: x * y, [1.0, 2.0], [3.0, 4.0])
        >>> [g.tolist() for g in pull([1.0, 10.0])]
        [[3.0, 40.0], [1.0, 20.0]]
    """
    places = list(range(len(primals)))
    trace = _trace(function, primals, places, {})

    def pull(vector: object) -> tuple[Any, ...]:
        seeds = _like(vector, trace.output, "a vector to pull back")
        graph = is_grad_enabled() and any(seed.requires_grad for seed in seeds)
        grads = trace.pull(seeds, keep=True, graph=graph)
        return cast("tuple[Any, ...]", _arranged(grads, primals, places, places))

    return cast("R", trace.value()), pull


def jvp(function: Callable[..., R], primals: object, tangents: object) -> tuple[R, R]:
    r"""Return the value of a function and its derivative along a direction: :math:`J v`.

    It is computed by two passes backward: the first gives :math:`u^\top J`, which is linear in ``u``, and the
    second the derivative of that by ``u``.

    Args:
        function: a function of any number of arguments, with any form of result.
        primals: the arguments, as a tuple or list; a single tensor, array or number when there is one.
        tangents: the direction, in the form and of the shapes of ``primals``.

    Returns:
        ``(value, tangent)``, both in the form of the function's result.

    Raises:
        ValueError: when the tangents haven't the form or the shapes of the primals.
        TypeError: for a result that is no Tensor.

    Example:
        >>> from clumsygrad.core import functional
        >>> value, slope = functional.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))
        >>> value.item(), slope.item()
        (6.0, 23.0)
    """
    args = _arguments(primals)
    trace = _trace(function, args, range(len(args)), {})
    directions = _directions(tangents, primals, args, trace, "the tangents")
    outputs = trace.outputs()
    # Any vector would do, for the product is linear in it. At 0 a rule may cut off a slope that is infinite.
    vectors = [wrap(np.ones_like(output._data), _PARAMETER) for output in outputs]
    products = _Trace(vectors, trace.pull(vectors, graph=True), trace.connected or _any_recorded(directions))
    found = products.pull(directions)
    value = trace.value()
    trace.close()
    products.close()
    return cast("R", value), cast("R", rebuild(trace.output, found))


@overload
def jacobian(function: Callable[..., object], argnums: int = 0) -> Callable[..., Tensor]: ...
@overload
def jacobian(function: Callable[..., object], argnums: Sequence[int]) -> Callable[..., tuple[Tensor, ...]]: ...
def jacobian(function: Callable[..., object], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    r"""Return the function that computes all derivatives :math:`\partial f_i / \partial x_j`.

    One pass backward for each element of the result.

    Args:
        function: a function with any form of result.
        argnums: which positional argument to differentiate by, or a sequence of several.

    Returns:
        A function of the same arguments. Its result has the form of the function's result, in which each tensor
        of shape ``s`` is replaced by what :func:`grad` would return, of shapes ``s + shape of the argument``.

    Raises:
        ValueError: when called, for arguments that aren't there.
        TypeError: when called, for a result that is no Tensor.

    Example:
        >>> from clumsygrad.core import functional
        >>> functional.jacobian(lambda x: x[:2] * x[2])([1.0, 2.0, 3.0]).tolist()
        [[3.0, 0.0, 1.0], [0.0, 3.0, 2.0]]
    """

    @wraps(function)
    def all_derivatives(*args: object, **kwargs: object) -> object:
        places = _places(argnums, len(args))
        trace = _trace(function, args, places, kwargs)
        outputs = trace.outputs()
        blocks: list[object] = []
        for output in outputs:
            rows: list[list[Tensor]] = []
            for index in np.ndindex(output._data.shape):
                unit = np.zeros_like(output._data)
                unit[index] = 1
                row = _Trace(trace.inputs, output, trace.connected).pull([unit], keep=True)
                rows.append(row)
            parts = [_stacked([row[i] for row in rows], output, leaf) for i, leaf in enumerate(trace.inputs)]
            blocks.append(_arranged(parts, args, places, argnums))
        result = rebuild(trace.output, blocks)
        trace.close()
        return result

    return all_derivatives


def _stacked(rows: list[Tensor], output: Tensor, leaf: Tensor) -> Tensor:
    """Return the gradients of an output's elements by one input as one tensor."""
    shape = output._data.shape + leaf._data.shape
    if not any(row.requires_grad for row in rows):
        return wrap(np.array([row._data for row in rows], leaf._data.dtype).reshape(shape))
    return reshape(concatenate([reshape(row, (1, *leaf._data.shape)) for row in rows]), shape)


@overload
def hessian(function: Callable[..., object], argnums: int = 0) -> Callable[..., Tensor]: ...
@overload
def hessian(
    function: Callable[..., object], argnums: Sequence[int]
) -> Callable[..., tuple[tuple[Tensor, ...], ...]]: ...
def hessian(function: Callable[..., object], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    r"""Return the function that computes all second derivatives :math:`\partial^2 f / \partial x_i \partial x_j`.

    Args:
        function: it returns a tensor of one element.
        argnums: which positional argument to differentiate by, or a sequence of several.

    Returns:
        A function of the same arguments. For one argument of shape ``s`` its result has the shape ``s + s``; for
        several it is a tuple of tuples, and for containers they nest: the first derivative's form outside.

    Raises:
        ValueError: when called: for a result of several elements, or arguments that aren't there.
        TypeError: when called: for a result that is no Tensor.

    Example:
        >>> from clumsygrad.core import functional
        >>> functional.hessian(lambda x: x[0] ** 2 * x[1])([1.0, 3.0]).tolist()
        [[6.0, 2.0], [2.0, 0.0]]
    """
    return jacobian(grad(function, cast("int", argnums)), cast("int", argnums))


@overload
def hvp(
    function: Callable[..., R], primals: tuple[object, ...] | list[object], vectors: object
) -> tuple[R, tuple[Tensor, ...]]: ...
@overload
def hvp(function: Callable[..., R], primals: TensorLike, vectors: TensorLike) -> tuple[R, Tensor]: ...
def hvp(function: Callable[..., object], primals: object, vectors: object) -> tuple[Any, Any]:
    r"""Return the value of a scalar function and the product :math:`H v` of its Hessian matrix with a vector.

    It costs about two gradients; the matrix isn't made.

    Args:
        function: it returns a tensor of one element.
        primals: the arguments, as a tuple or list; a single tensor, array or number when there is one.
        vectors: the vector, in the form and of the shapes of ``primals``.

    Returns:
        ``(value, product)``. The product is a tuple with an entry for each argument, in its form, or a single tensor
        when ``primals`` is one.

    Raises:
        ValueError: for a result of several elements, and when the vectors haven't the form or the shapes of the
            primals.
        TypeError: for a result that is no Tensor.

    Example:
        >>> from clumsygrad.core import functional, tensor
        >>> value, product = functional.hvp(lambda x: (x**3).sum(), tensor([1.0, 2.0]), [1.0, 10.0])
        >>> value.item(), product.tolist()
        (9.0, [6.0, 120.0])
    """
    args = _arguments(primals)
    trace = _trace(function, args, range(len(args)), {})
    trace.scalar()
    directions = _directions(vectors, primals, args, trace, "the vectors")
    slopes = trace.pull([None], graph=True)
    product = _Trace(trace.inputs, slopes, trace.connected or _any_recorded(directions)).pull(directions)
    value = trace.value()
    trace.close()
    result = tuple(rebuild_each(args, product))
    return value, result if isinstance(primals, (tuple, list)) else result[0]


def _arguments(primals: object) -> tuple[object, ...]:
    """Return the arguments of a function from a tuple or list of them, or a single one."""
    return tuple(cast("Sequence[object]", primals)) if isinstance(primals, (tuple, list)) else (primals,)


def _any_recorded(tensors: list[Tensor]) -> bool:
    return is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def _directions(given: object, primals: object, args: tuple[object, ...], trace: _Trace, role: str) -> list[Tensor]:
    """Return a tensor for each input of a run from what was given for each of its arguments."""
    parts = _arguments(given) if isinstance(primals, (tuple, list)) else (given,)
    if len(parts) != len(args):
        raise ValueError(f"{role} have an entry for each of the {len(args)} arguments; received {len(parts)}")
    patterns = rebuild_each(args, trace.inputs)
    return [leaf for part, pattern in zip(parts, patterns, strict=True) for leaf in _like(part, pattern, role)]


def _like(values: object, pattern: object, role: str) -> list[Tensor]:
    """Return the leaves of ``values`` as tensors, one of the same shape for each tensor of ``pattern``."""
    expected = cast("list[Tensor]", leaves(pattern))
    given = leaves_like(values, pattern)
    if given is None:
        raise ValueError(f"{role} must have the form of what they belong to; received a {type(values).__name__}")
    found = [as_tensor(value) for value in given]
    shapes = [leaf._data.shape for leaf in expected]
    if [leaf._data.shape for leaf in found] != shapes:
        received = [leaf._data.shape for leaf in found]
        raise ValueError(f"{role} must be of the shapes {shapes}; received {received}")
    return found

"""A second tensor of the same value, at which a transform can stop; and the search for what lies beyond it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..tensor import Tensor, create_node
from ..tensor_type import TensorType
from ..types import Array, GradientTuple

_INPUT = TensorType.INPUT
_PARAMETER = TensorType.PARAMETER


def alias_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient itself."""
    return (grad,)


def alias(tensor: Tensor) -> Tensor:
    """Return a node of the same value, whose gradient is passed on unchanged."""
    return create_node(tensor._data, alias_backward, (tensor,))


def outer_tensors(outputs: Iterable[Tensor], before: int, own: Collection[int]) -> list[Tensor]:
    """Return the tensors that a computation took from outside and that need gradients, each once.

    Args:
        outputs: the computation's results.
        before: an id from just before it began; what is older lies outside, and so does every parameter.
        own: the ids of the tensors that it was given, which are not looked behind.
    """
    found: dict[int, Tensor] = {}
    seen: set[int] = set(own)
    waiting = [output for output in outputs if output._id not in seen]
    while waiting:
        node = waiting.pop()
        if node._id in seen or node._tensor_type is _INPUT:
            continue
        seen.add(node._id)
        if node._id < before or node._tensor_type is _PARAMETER:
            found[node._id] = node
        else:
            waiting.extend(node._parents)
    return list(found.values())

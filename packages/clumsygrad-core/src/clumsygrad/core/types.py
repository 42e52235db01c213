"""The types that public signatures are written in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy.typing as npt

if TYPE_CHECKING:
    from .tensor import Tensor

Array: TypeAlias = npt.NDArray[Any]
"""The value of a tensor: float32, or float64 inside :func:`double_precision`."""

TensorLike: TypeAlias = "Tensor | npt.ArrayLike"
"""Whatever an operation takes as an operand: a Tensor, or what NumPy makes an array of."""

Shape: TypeAlias = tuple[int, ...]

Axis: TypeAlias = int | tuple[int, ...] | None
"""One axis, several, or None for all of them; negative ones count from the end."""

GradientTuple: TypeAlias = tuple[Array | None, ...]
"""What a backward function returns: one gradient for each parent, None where none is needed."""


class GradFn(Protocol):
    """A backward function: from the gradient of a result to the gradients of its parents.

    It is a plain module-level function. ``tensor`` is the result of the operation, through which the
    function reaches ``tensor.data``, ``tensor.parents`` and ``tensor.extra``; ``grad`` has the result's
    shape. It writes to none of them.
    """

    @property
    def __name__(self) -> str: ...

    def __call__(self, tensor: Tensor, grad: Array, /) -> GradientTuple:
        """Return the gradient of each parent."""
        ...

"""What is checked: a function of named float64 values, called as often as needed without touching the caller's data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Array, Tensor, TensorType, from_numpy

Values: TypeAlias = npt.NDArray[np.float64]
"""Numbers in double precision."""

Inputs: TypeAlias = Tensor | npt.ArrayLike | Sequence[Tensor | npt.ArrayLike]
"""A Tensor, an array, or a list or tuple of them."""

Function: TypeAlias = Callable[..., object]
"""A function of Tensors that returns a Tensor or a nest of lists, tuples and dicts of them."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the function: the leaves that it was given and the tensors that came out."""

    leaves: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    labels: tuple[str, ...]

    def flat(self) -> Values:
        """Return all output values, one after the other."""
        parts = [np.asarray(output.data, np.float64).ravel() for output in self.outputs]
        return np.concatenate(parts) if parts else np.zeros(0)

    def locate(self, position: int) -> str:
        """Name the output element at a position of :meth:`flat`."""
        for output, label in zip(self.outputs, self.labels, strict=True):
            if position < output.size:
                return label + format_index(position, output.shape)
            position -= output.size
        raise IndexError(f"there is no output element {position}")


class Subject(Protocol):
    """Something with values to differentiate by, that can be called at others."""

    @property
    def names(self) -> tuple[str, ...]:
        """What to call each value in a report."""
        ...

    @property
    def values(self) -> tuple[Values, ...]:
        """The values to differentiate at."""
        ...

    @property
    def owns_leaves(self) -> bool:
        """Whether each call makes leaves of its own, whose ``grad`` is nobody else's."""
        ...

    def __call__(self, values: Sequence[Values]) -> Call:
        """Compute the outputs from copies of ``values``."""
        ...


class FunctionSubject:
    """A function and its inputs.

    Tensors and floating-point arrays are differentiated by; arrays of integers or booleans are handed on as they are.
    """

    __slots__ = ("_arguments", "_fn", "names", "owns_leaves", "values")

    names: tuple[str, ...]
    values: tuple[Values, ...]
    owns_leaves: bool

    def __init__(self, fn: Function, inputs: Inputs) -> None:
        if not callable(fn):
            raise TypeError(f"fn is a function of Tensors; received {type(fn).__name__}")
        given = cast("Sequence[object]", inputs if isinstance(inputs, (list, tuple)) else (inputs,))
        self._fn = fn
        # An index into the values, or a constant argument.
        self._arguments: list[int | Array] = []
        names: list[str] = []
        values: list[Values] = []
        for position, item in enumerate(given):
            array = np.asarray(item.data if isinstance(item, Tensor) else item)
            if array.dtype.kind not in "fiub":
                raise TypeError(
                    f"inputs are Tensors or real arrays, or a list or tuple of them; input {position} is "
                    f"{type(item).__name__} of dtype {array.dtype}"
                )
            if array.dtype.kind == "f" or isinstance(item, int):
                self._arguments.append(len(values))
                names.append(f"input {position}")
                values.append(np.array(array, np.float64, order="K"))
            else:
                self._arguments.append(array)
        self.names = tuple(names)
        self.values = tuple(values)
        self.owns_leaves = True

    def __call__(self, values: Sequence[Values]) -> Call:
        """Call the function with fresh parameters."""
        leaves = tuple(fresh_leaf(value) for value in values)
        arguments = [leaves[item] if isinstance(item, int) else item.copy() for item in self._arguments]
        try:
            result = self._fn(*arguments)
        except Exception as error:
            shapes = ", ".join(str(argument.shape) for argument in arguments)
            error.add_note(
                f"while calling fn with {len(arguments)} inputs, of shape {shapes}. "
                "A list or tuple of inputs is one argument for each of its items; an array is one argument"
            )
            raise
        return Call(leaves, *outputs_of(result))


def fresh_leaf(value: Values) -> Tensor:
    """Return a parameter that holds a copy of ``value``, with its memory layout, in the precision in force."""
    return from_numpy(np.array(value, order="K"), tensor_type=TensorType.PARAMETER)


def outputs_of(result: object) -> tuple[tuple[Tensor, ...], tuple[str, ...]]:
    """Return the Tensors in a nest of lists, tuples and dicts, and the path to each."""
    tensors: list[Tensor] = []
    labels: list[str] = []

    def visit(item: object, label: str) -> None:
        if isinstance(item, Tensor):
            tensors.append(item)
            labels.append(label)
        elif isinstance(item, (list, tuple)):
            for position, part in enumerate(cast("Sequence[object]", item)):
                visit(part, f"{label}[{position}]")
        elif isinstance(item, Mapping):
            for key, part in cast("Mapping[object, object]", item).items():
                visit(part, f"{label}[{key!r}]")
        elif isinstance(item, (np.ndarray, float)):
            kind = "float" if isinstance(item, float) else "ndarray"
            raise TypeError(
                f"fn returns Tensors, through which gradients flow; its {label} is a {kind}. "
                "Compute it with operations on Tensors, without .data, .item() or .numpy()"
            )

    visit(result, "output")
    if not tensors:
        raise TypeError(f"fn returns a Tensor, or a nest of them; received {type(result).__name__} without any")
    return tuple(tensors), tuple(labels)


def format_index(position: int, shape: tuple[int, ...]) -> str:
    """Write a flat position as an index into ``shape``: ``[1, 2]``, or nothing for a 0-d array."""
    if not shape:
        return ""
    return f"[{', '.join(str(int(part)) for part in np.unravel_index(position, shape))}]"

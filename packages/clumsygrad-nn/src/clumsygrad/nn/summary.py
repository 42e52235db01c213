"""A table of a model's layers, with the shapes that pass through them and the numbers of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from clumsygrad.core import Shape, Tensor, no_grad, zeros

from .module import HookHandle, Module

InputShape: TypeAlias = Sequence[int]


@dataclass(frozen=True, slots=True)
class LayerSummary:
    """One row: a module, what came out of it, and the parameters that are its own or were not counted before."""

    name: str
    kind: str
    depth: int
    output_shape: str
    parameters: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The rows of a model in the order in which they are defined; as text, a table."""

    rows: tuple[LayerSummary, ...]
    parameters: int
    trainable: int

    def __str__(self) -> str:
        cells = [("layer", "output shape", "parameters")]
        for row in self.rows:
            label = "  " * row.depth + (f"{row.name}: {row.kind}" if row.name else row.kind)
            cells.append((label, row.output_shape, f"{row.parameters:,}" if row.parameters else ""))
        widths = [max(len(line[column]) for line in cells) for column in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}".rstrip() for a, b, c in cells]
        rule = "-" * (sum(widths) + 4)
        total = f"{self.parameters:,} parameters, of which {self.trainable:,} are trained"
        return "\n".join([lines[0], rule, *lines[1:], rule, total])

    __repr__ = __str__


def summary(module: Module, input_shape: InputShape | Sequence[InputShape] | None = None, *inputs: object) -> Summary:
    """Return a table of the layers, the shapes that come out of them, and the numbers of their parameters.

    A shared parameter counts once, in the first row that has it. The model is run once in evaluation mode and put back
    into the mode that it was in.

    Args:
        module: the model.
        input_shape: the shape of the input, batch included; or a sequence of shapes, for several inputs. They are
            filled with zeros. None for a table without shapes, or when ``inputs`` are given.
        inputs: the inputs themselves, for a model that takes other things than floating-point tensors.

    Raises:
        TypeError: for both a shape and inputs.

    Example:
        >>> from clumsygrad.nn import Linear, ReLU, Sequential, summary
        >>> print(summary(Sequential(Linear(4, 8), ReLU(), Linear(8, 2)), (1, 4)))
        layer        output shape  parameters
        -------------------------------------
        Sequential   (1, 2)
          0: Linear  (1, 8)                40
          1: ReLU    (1, 8)
          2: Linear  (1, 2)                18
        -------------------------------------
        58 parameters, of which 58 are trained
    """
    if input_shape is not None and inputs:
        raise TypeError("summary takes the shapes of the inputs, or the inputs; received both")
    if input_shape is not None:
        inputs = tuple(zeros(shape) for shape in _shapes(input_shape))
    shapes = _run(module, inputs) if inputs else {}
    counted: set[int] = set()
    rows = [
        LayerSummary(
            path.rpartition(".")[2],
            type(layer).__name__,
            path.count(".") + 1 if path else 0,
            shapes.get(id(layer), ""),
            _count(layer, counted),
        )
        for path, layer in module.named_modules()
    ]
    own = list(module.parameters())
    trained = sum(parameter.size for parameter in own if parameter.requires_grad)
    return Summary(tuple(rows), sum(parameter.size for parameter in own), trained)


def _shapes(input_shape: InputShape | Sequence[InputShape]) -> list[Shape]:
    if all(isinstance(length, int) for length in input_shape):
        return [tuple(cast("Sequence[int]", input_shape))]
    return [tuple(shape) for shape in cast("Sequence[Sequence[int]]", input_shape)]


def _count(layer: Module, counted: set[int]) -> int:
    """Return the number of elements of a layer's own parameters that were not counted before."""
    total = 0
    for parameter in layer.parameters(recurse=False):
        if id(parameter) not in counted:
            counted.add(id(parameter))
            total += parameter.size
    return total


def _run(module: Module, inputs: tuple[object, ...]) -> dict[int, str]:
    """Return the shape of what each layer returns, by the layer's id."""
    shapes: dict[int, str] = {}

    def note(layer: Module, args: tuple[Any, ...], output: Any) -> None:  # noqa: ARG001  # what hooks are called with
        shapes[id(layer)] = _shape_of(output)

    modes = [(layer, layer.training) for layer in module.modules()]
    hooks: list[HookHandle] = [layer.register_forward_hook(note) for layer, _ in modes]
    try:
        module.eval()
        with no_grad():
            module(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
        for layer, mode in modes:
            layer.training = mode
    return shapes


def _shape_of(output: object) -> str:
    if isinstance(output, Tensor):
        return str(output.shape)
    if isinstance(output, (tuple, list)):
        return ", ".join(_shape_of(part) for part in cast("list[object]", output))
    return type(output).__name__

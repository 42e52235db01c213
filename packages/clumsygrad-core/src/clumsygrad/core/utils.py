"""Looking at a graph: what it consists of, as a list, a table, a DOT description or a picture."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast

import numpy as np

from .layout import Picture, PictureBox, draw
from .registry import register
from .tensor import Tensor, operation_name
from .tensor_type import TensorType

Names: TypeAlias = Mapping[str, Tensor] | Mapping[Tensor, str] | Iterable[tuple[str, Tensor]]
"""Names for some of the tensors: name to tensor, tensor to name, or pairs as ``named_parameters()`` gives them."""

_COLOURS = {
    TensorType.PARAMETER: "#ffd8a8",
    TensorType.INPUT: "#d0ebff",
    TensorType.INTERMEDIATE: "#f8f9fa",
}
# A notebook shows the graph of a tensor along with its value up to this many nodes.
_SMALL_GRAPH = 60


class TensorUtils:
    """Functions that look at the graph behind a tensor. None of them changes it.

    Example:
        >>> from clumsygrad.core import TensorUtils, parameter
        >>> w = parameter([1.0, 2.0])
        >>> loss = (w * w).sum()
        >>> [node.shape for node in TensorUtils.nodes(loss)]
        [(), (2,), (2,)]
    """

    @staticmethod
    def nodes(tensor: Tensor) -> Iterator[Tensor]:
        """Return the tensors that ``tensor`` was computed from, itself first and every child before its parents.

        What a backward pass has freed, and what was computed without recording, is not there any more.

        Example:
            >>> from clumsygrad.core import TensorUtils, parameter
            >>> w = parameter(2.0)
            >>> len(list(TensorUtils.nodes(w * w + 1)))
            3
        """
        found = {tensor._id: tensor}
        waiting = [tensor]
        while waiting:
            for parent in waiting.pop()._parents:
                if parent._id not in found:
                    found[parent._id] = parent
                    waiting.append(parent)
        # Parents are older than their children.
        return iter([found[key] for key in sorted(found, reverse=True)])

    @staticmethod
    def get_parameters(tensor: Tensor) -> list[Tensor]:
        """Return the parameters that ``tensor`` depends on, each once, in the order in which they were made.

        Example:
            >>> from clumsygrad.core import TensorUtils, parameter
            >>> w, b = parameter(2.0), parameter(1.0)
            >>> [p.item() for p in TensorUtils.get_parameters(w * 3 + b + w)]
            [2.0, 1.0]
        """
        found = [node for node in TensorUtils.nodes(tensor) if node._tensor_type is TensorType.PARAMETER]
        return found[::-1]

    @staticmethod
    def count_by_type(tensor: Tensor) -> dict[TensorType, int]:
        """Return how many INPUT, PARAMETER and INTERMEDIATE tensors the graph has; each type is a key.

        Example:
            >>> from clumsygrad.core import TensorType, TensorUtils, parameter, tensor
            >>> counts = TensorUtils.count_by_type(parameter(2.0) * tensor(3.0))
            >>> counts[TensorType.PARAMETER], counts[TensorType.INPUT], counts[TensorType.INTERMEDIATE]
            (1, 1, 1)
        """
        counts = dict.fromkeys(TensorType, 0)
        for node in TensorUtils.nodes(tensor):
            counts[node._tensor_type] += 1
        return counts

    @staticmethod
    def summary(tensor: Tensor, names: Names | None = None) -> str:
        """Return the graph as a table, a line for each tensor, in the order of computation.

        Args:
            tensor: the result whose graph is shown.
            names: names for some of the tensors, such as ``dict(model.named_parameters())``.

        Example:
            >>> from clumsygrad.core import TensorUtils, parameter
            >>> w = parameter([1.0, 2.0])
            >>> print(TensorUtils.summary((w * w).sum(), {"w": w}))
             #  operation  name  type          shape  elements  from
            --------------------------------------------------------
             0  -          w     PARAMETER     (2,)          2  -
             1  multiply         INTERMEDIATE  (2,)          2  0, 0
             2  sum              INTERMEDIATE  ()            1  1
            --------------------------------------------------------
            3 tensors: 1 PARAMETER (2 elements), 2 INTERMEDIATE
        """
        nodes = list(TensorUtils.nodes(tensor))[::-1]
        named = _by_id(names)
        number = {node._id: index for index, node in enumerate(nodes)}
        columns = ("#", "operation", "name", "type", "shape", "elements", "from")
        rows = [
            (
                str(number[node._id]),
                operation_name(node) if node._grad_fn else "-",
                named.get(node._id, ""),
                node._tensor_type.name,
                str(node._data.shape),
                str(node._data.size),
                _origin(node, number),
            )
            for node in nodes
        ]
        return _table(columns, rows, _totals(nodes))

    @staticmethod
    def to_dot(tensor: Tensor, names: Names | None = None) -> str:
        r"""Return the graph in the DOT language, for Graphviz and its viewers.

        A box for each tensor has its name or number, its operation, its shape and its type; parameters are orange,
        inputs blue. Edges go from the operands to the results.

        Args:
            tensor: the result whose graph is described.
            names: names for some of the tensors, such as ``dict(model.named_parameters())``.

        Example:
            >>> from clumsygrad.core import TensorUtils, parameter
            >>> w = parameter([1.0, 2.0])
            >>> print(TensorUtils.to_dot(w.sum(), {"w": w}))
            digraph {
              rankdir=TB;
              node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=10];
              n0 [label="w\n(2,) PARAMETER", fillcolor="#ffd8a8"];
              n1 [label="sum\n() INTERMEDIATE", fillcolor="#f8f9fa", penwidth=2];
              n0 -> n1;
            }
        """
        nodes = list(TensorUtils.nodes(tensor))[::-1]
        named = _by_id(names)
        number = {node._id: index for index, node in enumerate(nodes)}
        lines = [
            "digraph {",
            "  rankdir=TB;",
            '  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=10];',
        ]
        for node in nodes:
            label = "\\n".join(_quote(line) for line in _label(node, named))
            border = ", penwidth=2" if node is tensor else ""
            lines.append(f'  n{number[node._id]} [label="{label}", fillcolor="{_COLOURS[node._tensor_type]}"{border}];')
        lines += [f"  n{number[parent._id]} -> n{number[node._id]};" for node in nodes for parent in node._parents]
        return "\n".join([*lines, "}"])

    @staticmethod
    def to_svg(tensor: Tensor, names: Names | None = None) -> Picture:
        """Return a picture of the graph as SVG text; no other software is needed for it.

        The result is a string that a notebook shows as the picture. Written to a file, any browser shows it.

        Args:
            tensor: the result whose graph is drawn.
            names: names for some of the tensors, such as ``dict(model.named_parameters())``.

        Example:
            >>> from clumsygrad.core import TensorUtils, parameter
            >>> TensorUtils.to_svg(parameter([1.0, 2.0]).sum())[:4]
            '<svg'
        """
        nodes = list(TensorUtils.nodes(tensor))
        named = _by_id(names)
        number = {node._id: index for index, node in enumerate(nodes)}
        boxes = [PictureBox(_label(node, named), _COLOURS[node._tensor_type], node is tensor) for node in nodes]
        return draw(boxes, [[number[parent._id] for parent in node._parents] for node in nodes])


def _by_id(names: Names | None) -> dict[int, str]:
    """Return the names by the tensors' ids, whichever way round they were given."""
    if names is None:
        return {}
    pairs = cast("Iterable[tuple[object, object]]", names.items() if isinstance(names, Mapping) else names)
    named: dict[int, str] = {}
    for first, second in pairs:
        name, tensor = (second, first) if isinstance(first, Tensor) else (first, second)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"names pair each name with a Tensor; received {type(tensor).__name__} for {name!r}. "
                "Pass a dict such as {'w': w}"
            )
        named[tensor._id] = str(name)
    return named


def _label(node: Tensor, named: dict[int, str]) -> tuple[str, str]:
    """Return the two lines that a box shows."""
    title = operation_name(node) if node._grad_fn else node._tensor_type.name.lower()
    name = named.get(node._id)
    if name is not None:
        title = f"{name} = {title}" if node._grad_fn else name
    return title, f"{node._data.shape} {node._tensor_type.name}"


def _origin(node: Tensor, number: dict[int, int]) -> str:
    if node._parents:
        return ", ".join(str(number[parent._id]) for parent in node._parents)
    return "freed" if node._grad_fn else "-"


def _totals(nodes: list[Tensor]) -> str:
    parts: list[str] = []
    for tensor_type in (TensorType.INPUT, TensorType.PARAMETER, TensorType.INTERMEDIATE):
        of_type = [node for node in nodes if node._tensor_type is tensor_type]
        if of_type:
            elements = sum(node._data.size for node in of_type)
            count = f"{len(of_type)} {tensor_type.name}"
            parts.append(f"{count} ({elements} elements)" if tensor_type is TensorType.PARAMETER else count)
    return f"{len(nodes)} tensor{'s' if len(nodes) > 1 else ''}: " + ", ".join(parts)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], totals: str) -> str:
    """Return rows as aligned columns; numbers stand on the right, and columns with nothing in them are left out."""
    shown = [index for index in range(len(columns)) if any(row[index] for row in rows)]
    lines: list[str] = []
    for row in (columns, *rows):
        cells: list[str] = []
        for index in shown:
            width = max(len(columns[index]), *(len(other[index]) for other in rows))
            right = columns[index] in {"#", "elements"}
            cells.append(row[index].rjust(width) if right else row[index].ljust(width))
        lines.append((" " + "  ".join(cells)).rstrip())
    rule = "-" * max(len(line) for line in lines)
    return "\n".join([lines[0], rule, *lines[1:], rule, totals])


def _quote(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _repr_html_(x: Tensor, /) -> str:  # pyright: ignore[reportUnusedFunction]  # registered below
    """Return what a notebook shows: the value, what it is, and the graph when that is small."""
    values = np.array2string(x._data, separator=", ", threshold=200)
    origin = f", made by <b>{html.escape(operation_name(x))}</b>" if x._grad_fn else ""
    heading = f"Tensor of shape {x._data.shape}, {x._tensor_type.name}{origin}"
    text = f"<div><div>{heading}</div><pre>{html.escape(values)}</pre>"
    if x._parents:
        number = sum(1 for _ in TensorUtils.nodes(x))
        picture = TensorUtils.to_svg(x) if number <= _SMALL_GRAPH else "TensorUtils.summary(t) lists them."
        text += f"<details><summary>Graph of {number} tensors</summary>{picture}</details>"
    return text + "</div>"


register(_repr_html_, methods=("_repr_html_",), differentiable=False)

"""Draw the graph behind a tensor as a PNG: the boxes and edges of ``TensorUtils.to_svg``, painted by matplotlib."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree as ET

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path as Curve
from matplotlib.textpath import TextPath

from clumsygrad.core import Tensor, TensorUtils

Names: TypeAlias = Mapping[int, str] | Mapping[str, Tensor]

# A box leaves this much room beside its text, in the picture's units.
_PADDING = 14.0
_SIZE = 8.5


def draw_graph(tensor: Tensor, path: Path | str, names: Names | None = None, *, dpi: int = 150) -> None:
    """Write a picture of everything that ``tensor`` was computed from to the PNG file ``path``.

    Args:
        tensor: the result, which stands at the bottom.
        path: where the picture goes.
        names: names for some of the tensors: by id, or as ``dict(model.named_parameters())`` gives them.
        dpi: pixels for each inch; a box is half an inch high.
    """
    svg = ET.fromstring(TensorUtils.to_svg(tensor, _by_name(tensor, names)))
    width, height = (float(value) for value in svg.attrib["viewBox"].split()[2:])
    boxes = [(group[0].attrib, group[1], group[2]) for group in svg.iter() if group.tag.endswith("}g")]
    edges = [element.attrib["d"] for element in svg if element.tag.endswith("}path")]

    # matplotlib's letters may be wider than a browser's: stretch the picture until the tightest text fits its box.
    stretch = max((_width(text) + _PADDING) / float(box["width"]) for box, *texts in boxes for text in texts)
    figure = Figure(figsize=(width * stretch / 72, height / 72))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width * stretch), ylim=(height, 0))
    axes.set_axis_off()
    for description in edges:
        axes.add_patch(_edge(description, stretch))
    for box, *texts in boxes:
        axes.add_patch(_box(box, stretch))
        for text in texts:
            x, y = float(text.attrib["x"]) * stretch, float(text.attrib["y"])
            color, weight = text.attrib.get("fill", "black"), _weight(text)
            axes.text(x, y, text.text or "", ha="center", fontsize=_SIZE, color=color, weight=weight)
    figure.savefig(path, dpi=dpi)


def _by_name(tensor: Tensor, names: Names | None) -> dict[Tensor, str]:
    """Return the name of each named tensor, whichever way round the names were given."""
    by_id: dict[int, str] = {}
    for key, value in (names or {}).items():
        if isinstance(value, Tensor):
            by_id[value.id] = str(key)
        else:
            by_id[int(key)] = value
    return {node: by_id[node.id] for node in TensorUtils.nodes(tensor) if node.id in by_id}


def _weight(text: ET.Element) -> str:
    return text.attrib.get("font-weight", "normal")


def _width(text: ET.Element) -> float:
    """Return how wide matplotlib draws a text, in points, of which the picture has one to each unit."""
    drawn = TextPath((0, 0), text.text or "", size=_SIZE, prop=FontProperties(weight=_weight(text)))
    return float(drawn.get_extents().width)


def _box(box: Mapping[str, str], stretch: float) -> FancyBboxPatch:
    x, y, width, height = (float(box[name]) for name in ("x", "y", "width", "height"))
    return FancyBboxPatch(
        (x * stretch, y),
        width * stretch,
        height,
        boxstyle="round,pad=0,rounding_size=5",
        facecolor=box["fill"],
        edgecolor=box["stroke"],
        linewidth=float(box["stroke-width"]),
    )


def _edge(description: str, stretch: float) -> FancyArrowPatch:
    """Return the curve that an SVG path of one M and several C commands describes, with an arrow's head."""
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", description)]
    points = [(x * stretch, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
    curve = Curve(points, [Curve.MOVETO] + [Curve.CURVE4] * (len(points) - 1))
    return FancyArrowPatch(path=curve, arrowstyle="-|>", mutation_scale=8, color="#868e96", linewidth=1)

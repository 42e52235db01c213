"""Drawing a graph in layers: each box below the boxes that it comes from, with few crossings and short edges."""

from __future__ import annotations

import html
from bisect import bisect_right, insort
from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

_HEIGHT = 36.0
_LEVEL = 64.0
_GAP = 16.0
_CHARACTER = 6.2
_MARGIN = 12.0
# Long edges bend around boxes through invisible points, one for each layer; beyond this many they go straight.
_MOST_BENDS = 20_000
_SWEEPS = 8
_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
    'viewBox="0 0 {width:.1f} {height:.1f}" font-family="sans-serif" font-size="11">\n'
    '<defs><marker id="arrow" markerWidth="7" markerHeight="7" refX="6" refY="3" orient="auto">'
    '<path d="M0,0 L6,3 L0,6 z" fill="#868e96"/></marker></defs>'
)


class Picture(str):
    """An SVG picture as text, which a notebook shows as the picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str | Path) -> None:
        """Write the picture to a file.

        Example:
            >>> from clumsygrad.core import TensorUtils, parameter
            >>> TensorUtils.to_svg(parameter(1.0) * 2).save("graph.svg")  # doctest: +SKIP
        """
        Path(path).write_text(self, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class PictureBox:
    """One box: its two lines of text, its colour, and whether its border is heavy."""

    lines: tuple[str, str]
    colour: str
    heavy: bool

    @property
    def width(self) -> float:
        """The width that the text needs."""
        return _CHARACTER * max(len(line) for line in self.lines) + 14


def draw(boxes: list[PictureBox], parents: list[list[int]]) -> Picture:
    """Return the picture of a graph.

    Args:
        boxes: the nodes, every child before its parents.
        parents: for each node the numbers of those it comes from.
    """
    levels = _levels(parents)
    chains, layers, widths = _with_bends(boxes, parents, levels)
    neighbours = _neighbours(chains, len(widths))
    _reduce_crossings(layers, neighbours)
    centre = _place(layers, neighbours, widths)
    left = min(x - width / 2 for x, width in zip(centre, widths, strict=True)) - _MARGIN
    right = max(x + width / 2 for x, width in zip(centre, widths, strict=True)) + _MARGIN
    depth = len(layers)
    level_of = {vertex: level for level, layer in enumerate(layers) for vertex in layer}

    def position(vertex: int) -> tuple[float, float]:
        # The result, of level 0, stands at the bottom.
        return centre[vertex] - left, _MARGIN + (depth - 1 - level_of[vertex]) * _LEVEL + _HEIGHT / 2

    width, height = right - left, 2 * _MARGIN + (depth - 1) * _LEVEL + _HEIGHT
    parts = [
        _HEAD.format(width=width, height=height),
        f'<rect width="{width:.1f}" height="{height:.1f}" fill="white"/>',
        *(_edge([position(vertex) for vertex in reversed(chain)]) for chain in chains),
        *(_box(box, *position(index)) for index, box in enumerate(boxes)),
        "</svg>",
    ]
    return Picture("\n".join(parts))


def _levels(parents: list[list[int]]) -> list[int]:
    """Return for each node the length of the longest way from it to a result."""
    levels = [0] * len(parents)
    for node, origins in enumerate(parents):
        for parent in origins:
            levels[parent] = max(levels[parent], levels[node] + 1)
    return levels


def _with_bends(
    boxes: list[PictureBox], parents: list[list[int]], levels: list[int]
) -> tuple[list[list[int]], list[list[int]], list[float]]:
    """Give every edge a point in each layer that it passes.

    Returns:
        The edges as chains of vertices from child to parent, the vertices of each layer, and the vertices' widths.
    """
    layers: list[list[int]] = [[] for _ in range(max(levels) + 1)]
    for node in _branch_by_branch(parents):
        layers[levels[node]].append(node)
    widths = [box.width for box in boxes]
    bent = sum(levels[parent] - levels[node] - 1 for node, origins in enumerate(parents) for parent in origins)
    chains: list[list[int]] = []
    for node, origins in enumerate(parents):
        for parent in dict.fromkeys(origins):
            chain = [node]
            if bent <= _MOST_BENDS:
                for level in range(levels[node] + 1, levels[parent]):
                    layers[level].append(len(widths))
                    chain.append(len(widths))
                    widths.append(4.0)
            chains.append([*chain, parent])
    return chains, layers, widths


def _branch_by_branch(parents: list[list[int]]) -> list[int]:
    """Return the nodes in an order in which what belongs to one branch stands together."""
    order: dict[int, None] = {}
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if node not in order:
            order[node] = None
            waiting.extend(reversed(parents[node]))
    return list(order)


def _neighbours(chains: list[list[int]], number: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return for each vertex those before it and those after it on its edges."""
    below: list[list[int]] = [[] for _ in range(number)]
    above: list[list[int]] = [[] for _ in range(number)]
    for chain in chains:
        for lower, upper in pairwise(chain):
            above[lower].append(upper)
            below[upper].append(lower)
    return below, above


def _reduce_crossings(layers: list[list[int]], neighbours: tuple[list[list[int]], list[list[int]]]) -> None:
    """Order each layer by the average place of its neighbours, sweeping up and down by turns; the best order stays."""
    place: dict[int, float] = {}
    for layer in layers:
        _number(layer, place)
    best, fewest = [list(layer) for layer in layers], _crossings(layers, neighbours[1], place)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        near = neighbours[sweep % 2]
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            goal = {v: _mean([place[n] for n in near[v]], place[v]) for v in layer}
            layer.sort(key=goal.__getitem__)
            _number(layer, place)
        crossings = _crossings(layers, neighbours[1], place)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    layers[:] = best


def _number(layer: list[int], place: dict[int, float]) -> None:
    """Number the places in a layer, with 0 in its middle."""
    for index, vertex in enumerate(layer):
        place[vertex] = index - (len(layer) - 1) / 2


def _crossings(layers: list[list[int]], above: list[list[int]], place: dict[int, float]) -> int:
    """Count the pairs of edges that cross between neighbouring layers: ends in another order than starts."""
    number = 0
    for layer in layers:
        ends: list[float] = []
        for vertex in layer:
            new = sorted(place[upper] for upper in above[vertex])
            number += sum(len(ends) - bisect_right(ends, end) for end in new)
            for end in new:
                insort(ends, end)
    return number


def _place(
    layers: list[list[int]], neighbours: tuple[list[list[int]], list[list[int]]], widths: list[float]
) -> list[float]:
    """Return each vertex's horizontal centre: as near to its neighbours' as the order and the widths allow."""
    centre = [0.0] * len(widths)
    for layer in layers:
        _spread(layer, [0.0] * len(layer), centre, widths)
    below, above = neighbours
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            near = [(below if sweep % 2 == 0 else above)[v] or below[v] or above[v] for v in layer]
            goals = [_mean([centre[n] for n in ns], centre[v]) for v, ns in zip(layer, near, strict=True)]
            _spread(layer, goals, centre, widths)
    return centre


def _spread(layer: list[int], goals: list[float], centre: list[float], widths: list[float]) -> None:
    """Set the centres nearest to ``goals`` in the sense of least squares that keep the boxes of a layer apart.

    With the widths subtracted, the centres have to be nondecreasing: neighbours that violate it are pooled at their
    mean, from left to right.
    """
    offsets = [0.0]
    for left, right in pairwise(layer):
        offsets.append(offsets[-1] + (widths[left] + widths[right]) / 2 + _GAP)
    pools: deque[tuple[float, int]] = deque()
    for goal, offset in zip(goals, offsets, strict=True):
        total, number = goal - offset, 1
        while pools and pools[-1][0] * number >= total * pools[-1][1]:
            before, count = pools.pop()
            total, number = total + before, number + count
        pools.append((total, number))
    flat = [total / number for total, number in pools for _ in range(number)]
    for vertex, value, offset in zip(layer, flat, offsets, strict=True):
        centre[vertex] = value + offset


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _edge(points: list[tuple[float, float]]) -> str:
    """Return a smooth line from a parent, the first point, down to its child."""
    (x, y), *rest = points
    y += _HEIGHT / 2
    path = [f"M{x:.1f},{y:.1f}"]
    for index, (next_x, next_y) in enumerate(rest):
        end_y = next_y - (_HEIGHT / 2 if index == len(rest) - 1 else 0)
        middle = (y + end_y) / 2
        path.append(f"C{x:.1f},{middle:.1f} {next_x:.1f},{middle:.1f} {next_x:.1f},{end_y:.1f}")
        x, y = next_x, end_y
    return f'<path d="{" ".join(path)}" fill="none" stroke="#868e96" marker-end="url(#arrow)"/>'


def _box(box: PictureBox, x: float, y: float) -> str:
    first, second = (html.escape(line) for line in box.lines)
    return (
        f'<g><rect x="{x - box.width / 2:.1f}" y="{y - _HEIGHT / 2:.1f}" width="{box.width:.1f}" '
        f'height="{_HEIGHT:.0f}" rx="5" fill="{box.colour}" stroke="#495057" stroke-width="{2 if box.heavy else 1}"/>'
        f'<text x="{x:.1f}" y="{y - 4:.1f}" text-anchor="middle" font-weight="bold">{first}</text>'
        f'<text x="{x:.1f}" y="{y + 11:.1f}" text-anchor="middle" fill="#495057">{second}</text></g>'
    )

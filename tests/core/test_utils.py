"""Looking at graphs: nodes, counts, the table, DOT and the picture."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from clumsygrad.core import Tensor, TensorType, TensorUtils, math, no_grad, parameter, tensor

SVG = "{http://www.w3.org/2000/svg}"


def network(layers: int) -> tuple[Tensor, dict[str, Tensor]]:
    """A residual network: long edges, a shared input, two parameters a layer."""
    rng = np.random.default_rng(0)
    names: dict[str, Tensor] = {}
    h: Tensor = tensor(rng.normal(size=(3, 4)))
    for layer in range(layers):
        w = names[f"layers.{layer}.weight"] = parameter(rng.normal(size=(4, 4)))
        b = names[f"layers.{layer}.bias"] = parameter(rng.normal(size=4))
        h = math.tanh(h @ w + b) + h * 0.5
    return math.sum(h * h), names


def test_nodes_come_once_and_before_their_parents() -> None:
    loss, names = network(5)
    nodes = list(TensorUtils.nodes(loss))
    place = {node.id: index for index, node in enumerate(nodes)}
    assert nodes[0] is loss
    assert len(place) == len(nodes) == 5 * 7 + 1 + 2
    assert all(place[parent.id] > place[node.id] for node in nodes for parent in node.parents)
    assert {p.id for p in names.values()} <= place.keys()


def test_nodes_of_a_long_chain_need_no_recursion() -> None:
    y: Tensor = parameter(1.0)
    for _ in range(20_000):
        y = y + 1.0
    assert sum(1 for _ in TensorUtils.nodes(y)) == 20_001


def test_parameters_come_once_in_the_order_they_were_made() -> None:
    loss, names = network(3)
    found = TensorUtils.get_parameters(loss)
    assert [p.id for p in found] == [p.id for p in names.values()]
    assert TensorUtils.get_parameters(tensor(1.0) * 2) == []
    alone = parameter(1.0)
    assert TensorUtils.get_parameters(alone)[0] is alone


def test_counts_have_every_type() -> None:
    w = parameter([1.0, 2.0])
    loss = math.sum(w * tensor([1.0, 1.0]) + w)
    counts = TensorUtils.count_by_type(loss)
    assert counts == {TensorType.INPUT: 1, TensorType.PARAMETER: 1, TensorType.INTERMEDIATE: 3}
    with no_grad():
        counts = TensorUtils.count_by_type(math.sum(w * 2))
    assert counts == {TensorType.INPUT: 1, TensorType.PARAMETER: 0, TensorType.INTERMEDIATE: 0}


def test_summary_has_a_line_for_each_tensor_in_order_of_computation() -> None:
    loss, names = network(2)
    lines = TensorUtils.summary(loss, names).splitlines()
    assert lines[0].split() == ["#", "operation", "name", "type", "shape", "elements", "from"]
    rows = [line.split() for line in lines[2:-2]]
    assert [int(row[0]) for row in rows] == list(range(len(list(TensorUtils.nodes(loss)))))
    weight = next(row for row in rows if "layers.1.weight" in row)
    assert weight[1:] == ["-", "layers.1.weight", "PARAMETER", "(4,", "4)", "16", "-"]
    assert rows[-1][1:] == ["sum", "INTERMEDIATE", "()", "1", str(len(rows) - 2)]
    assert lines[-1] == "17 tensors: 2 INPUT, 4 PARAMETER (40 elements), 11 INTERMEDIATE"


def test_summary_tells_what_was_freed() -> None:
    w = parameter([1.0, 2.0])
    squares = w * w
    loss = math.sum(squares)
    loss.backward()
    assert "freed" in TensorUtils.summary(loss)
    assert TensorUtils.summary(tensor(1.0)).splitlines()[-1] == "1 tensor: 1 INPUT"


STATEMENT = re.compile(
    r"""\s*(?:
        (?:rankdir=TB|node\s\[.*\])
        |(?P<node>n\d+)\s\[label="(?P<label>(?:[^"\\]|\\.)*)",\sfillcolor="(?P<colour>\#[0-9a-f]{6})"(?:,\spenwidth=2)?\]
        |(?P<start>n\d+)\s->\s(?P<end>n\d+)
    );""",
    re.VERBOSE,
)


def read_dot(text: str) -> tuple[dict[str, str], dict[str, str], list[tuple[str, str]]]:
    """Labels, colours and edges of a DOT text, every line of which has to be a statement of the language."""
    first, *lines, last = text.splitlines()
    assert (first, last) == ("digraph {", "}")
    labels: dict[str, str] = {}
    colours: dict[str, str] = {}
    edges: list[tuple[str, str]] = []
    for line in lines:
        match = STATEMENT.fullmatch(line)
        assert match, line
        if match["node"]:
            labels[match["node"]], colours[match["node"]] = match["label"], match["colour"]
        elif match["start"]:
            edges.append((match["start"], match["end"]))
    return labels, colours, edges


def test_dot_has_shapes_types_operations_names_and_colours() -> None:
    loss, names = network(2)
    labels, colours, edges = read_dot(TensorUtils.to_dot(loss, names))
    nodes = list(TensorUtils.nodes(loss))
    assert len(labels) == len(nodes)
    assert len(edges) == sum(len(node.parents) for node in nodes)
    assert all(end in labels and start in labels for start, end in edges)
    assert r"layers.0.bias\n(4,) PARAMETER" in labels.values()
    assert r"matmul\n(3, 4) INTERMEDIATE" in labels.values()
    of_kind = {
        kind: {colours[node] for node, label in labels.items() if label.endswith(kind.name)} for kind in TensorType
    }
    assert all(len(found) == 1 for found in of_kind.values())
    assert len(set.union(*of_kind.values())) == 3


def test_dot_escapes_names() -> None:
    w = parameter(1.0)
    labels, _, _ = read_dot(TensorUtils.to_dot(w * 2, {'the "best"\\\n': w}))
    assert labels["n0"].startswith(r"the \"best\"\\\n")


@pytest.mark.parametrize("form", ["by name", "by tensor", "pairs"])
def test_names_are_taken_either_way_round(form: str) -> None:
    w = parameter(1.0)
    result = w * 2
    if form == "by name":
        text = TensorUtils.to_dot(result, {"w": w, "twice": result})
    elif form == "by tensor":
        text = TensorUtils.to_dot(result, {w: "w", result: "twice"})
    else:
        text = TensorUtils.to_dot(result, [("w", w), ("twice", result)])
    assert r'"w\n() PARAMETER"' in text
    assert r'"twice = multiply\n() INTERMEDIATE"' in text


def test_names_of_something_else_are_refused() -> None:
    pairs: dict[str, object] = {"w": np.ones(2)}
    with pytest.raises(TypeError, match="names pair each name with a Tensor"):
        TensorUtils.to_dot(parameter(1.0), pairs)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # what is refused


def boxes_of(svg: str) -> list[tuple[float, float, float, float]]:
    """The rectangles of the nodes: x, y, width and height."""
    root = ET.fromstring(svg)
    found = [group.find(f"{SVG}rect") for group in root.iter(f"{SVG}g")]
    return [
        (float(r.attrib["x"]), float(r.attrib["y"]), float(r.attrib["width"]), float(r.attrib["height"]))
        for r in found
        if r is not None
    ]


@pytest.mark.parametrize("layers", [0, 1, 28])
def test_picture_boxes_never_overlap_and_lie_inside(layers: int) -> None:
    loss, names = network(layers)
    picture = TensorUtils.to_svg(loss, names)
    boxes = boxes_of(picture)
    assert len(boxes) == len(list(TensorUtils.nodes(loss)))
    root = ET.fromstring(picture)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for index, (x, y, w, h) in enumerate(boxes):
        assert x >= 0
        assert y >= 0
        assert x + w <= width + 1
        assert y + h <= height + 1
        for other_x, other_y, other_w, other_h in boxes[:index]:
            assert x >= other_x + other_w or other_x >= x + w or y >= other_y + other_h or other_y >= y + h
    texts = {text.text for text in root.iter(f"{SVG}text")}
    assert set(names) <= texts


@pytest.mark.parametrize("leaves", [32, 23, 61])
def test_picture_of_a_tree_has_no_crossings(leaves: int) -> None:
    layer: list[Tensor] = [parameter(float(i)) for i in range(leaves)]
    while len(layer) > 1:
        odd = layer[len(layer) // 2 * 2 :]
        layer = [a + b for a, b in zip(layer[::2], layer[1::2], strict=False)] + odd
    ends = [
        [tuple(float(v) for v in point.split(",")) for point in re.findall(r"-?[\d.]+,-?[\d.]+", path.attrib["d"])]
        for path in ET.fromstring(TensorUtils.to_svg(layer[0])).iter(f"{SVG}path")
        if "marker-end" in path.attrib
    ]
    assert len(ends) == 2 * leaves - 2
    for index, first in enumerate(ends):
        for second in ends[:index]:
            if first[0][1] == second[0][1]:
                assert (first[0][0] - second[0][0]) * (first[-1][0] - second[-1][0]) >= 0


def test_picture_is_xml_whatever_the_names() -> None:
    w = parameter(1.0)
    picture = TensorUtils.to_svg(w * 2, {'<w & "others">': w})
    assert '<w & "others">' in {text.text for text in ET.fromstring(picture).iter(f"{SVG}text")}


def test_picture_shows_and_saves_itself(tmp_path: Path) -> None:
    picture = TensorUtils.to_svg(parameter(1.0) * 2)
    assert picture._repr_svg_() == picture
    path = tmp_path / "graph.svg"
    picture.save(path)
    assert path.read_text(encoding="utf-8") == picture


def test_a_notebook_shows_value_and_graph() -> None:
    w = parameter([1.0, 2.0])
    shown = w._repr_html_()
    assert "PARAMETER" in shown
    assert "[1., 2.]" in shown
    assert "<svg" not in shown
    assert "<svg" in (w * 2)._repr_html_()
    loss, _ = network(20)
    assert "<svg" not in loss._repr_html_()
    assert "Graph of 143 tensors" in loss._repr_html_()

"""The chart of a comparison: one row for each workload, one mark for each system, on a scale of ratios."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from harness import REFERENCE, SYSTEMS, Measurement, Workload
from matplotlib import pyplot as plt

_MARKS = {
    "clumsygrad": ("o", "#d1495b"),
    "numpy": ("|", "#222222"),
    "torch": ("", "#777777"),
    "autograd": ("s", "#8fb8de"),
    "mygrad": ("^", "#66a182"),
}
_LABELS = {
    "clumsygrad": "ClumsyGrad",
    "numpy": "NumPy by hand",
    "torch": "PyTorch = 1",
    "autograd": "HIPS autograd",
    "mygrad": "MyGrad",
}


def draw(rows: Sequence[tuple[Workload, dict[str, Measurement]]], threads: int, path: Path) -> None:
    """Draw the ratios to the reference's time; left is faster."""
    rows = [row for row in rows if REFERENCE in row[1]]
    if not rows:
        return
    figure, axes = plt.subplots(figsize=(9, 1.4 + 0.32 * len(rows)), layout="constrained")
    height = range(len(rows), 0, -1)
    axes.axvline(1, color=_MARKS[REFERENCE][1], linewidth=1.5, label=_LABELS[REFERENCE])
    for system in SYSTEMS:
        if system == REFERENCE:
            continue
        points = [
            (measured[system].ratio(measured[REFERENCE]), y)
            for y, (_, measured) in zip(height, rows, strict=True)
            if system in measured
        ]
        if points:
            marker, color = _MARKS[system]
            size = 110 if marker == "|" else 42
            axes.scatter(*zip(*points, strict=True), marker=marker, c=color, s=size, label=_LABELS[system], zorder=3)
    goals = [(workload.target, y) for y, (workload, _) in zip(height, rows, strict=True) if workload.target]
    if goals:
        axes.scatter(*zip(*goals, strict=True), marker="<", facecolors="none", edgecolors="#d1495b", s=42, label="goal")
    axes.set_xscale("log")
    axes.set_yticks(list(height), [workload.name for workload, _ in rows])
    axes.set_xticks(ticks := [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10], [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="both", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("time of a step relative to PyTorch's, on a logarithmic scale; left is faster")
    axes.set_title(f"{threads} thread{'s' * (threads > 1)}")
    figure.legend(loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)

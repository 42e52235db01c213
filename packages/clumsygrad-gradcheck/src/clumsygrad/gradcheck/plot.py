"""A picture of analytic against numeric derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Protocol

import numpy as np

from .subject import Values


class Compared(Protocol):
    """What is drawn of an input's report."""

    @property
    def name(self) -> str:
        """The title."""
        ...

    @property
    def analytic_values(self) -> Values:
        """The derivatives by the backward functions."""
        ...

    @property
    def numeric_values(self) -> Values:
        """The derivatives by finite differences."""
        ...


def draw(inputs: Sequence[Compared], path: str | PathLike[str]) -> None:
    """Draw the derivatives of each input, numeric across and analytic up, and save the picture."""
    try:
        # Matplotlib is an extra: only who wants a picture needs it.
        from matplotlib.figure import Figure
    except ImportError as error:
        error.add_note("a picture of a gradient check needs Matplotlib: pip install 'clumsygrad-gradcheck[plot]'")
        raise
    shown = [item for item in inputs if item.analytic_values.size]
    # Matplotlib's keyword arguments have no types.
    figure: Any = Figure(figsize=(4.0 * max(len(shown), 1), 4.0), layout="constrained")
    for position, item in enumerate(shown):
        numeric, analytic = item.numeric_values.ravel(), item.analytic_values.ravel()
        finite = np.isfinite(numeric) & np.isfinite(analytic)
        axes: Any = figure.add_subplot(1, len(shown), position + 1)
        axes.axline((0.0, 0.0), slope=1.0, color="0.8", linewidth=1.0, zorder=0)
        axes.scatter(numeric[finite], analytic[finite], s=12.0)
        axes.set_title(item.name)
        axes.set_xlabel("numeric")
        axes.set_ylabel("analytic")
    figure.savefig(path)

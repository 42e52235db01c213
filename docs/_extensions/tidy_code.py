"""Leaves out the blank line at the end of a code block, which doctest needs to see where the output ends."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def strip_blocks(_app: Sphinx, doctree: nodes.document) -> None:
    """Strip the blank lines at the end of every block of code."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        block.rawsource = text
        block.children = [nodes.Text(text)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the stripping."""
    app.connect("doctree-read", strip_blocks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

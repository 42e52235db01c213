"""The directive ``{graph}``: runs its code, and shows it with the picture of the graph that it made.

The code leaves the tensor in ``result`` and may name tensors in the dict ``names``.
"""

from __future__ import annotations

import html
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from clumsygrad.core import TensorUtils


class GraphDirective(SphinxDirective):
    """Shows a picture drawn from the graph that its code builds while the pages are built."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {"hide-code": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Run the code and return the nodes."""
        source = "\n".join(self.content)
        scope: dict[str, Any] = {}
        exec(compile(source, f"{self.env.docname}:{self.lineno}", "exec"), scope)  # noqa: S102  # the page's own code
        picture = str(TensorUtils.to_svg(scope["result"], scope.get("names")))
        # An id that is the same in two pictures of a page would make one use the other's arrow.
        arrow = f"arrow-{self.env.new_serialno('graph')}"
        picture = picture.replace('id="arrow"', f'id="{arrow}"').replace("url(#arrow)", f"url(#{arrow})")
        caption = self.arguments[0] if self.arguments else "The graph"
        label = html.escape(caption, quote=True)
        picture = picture.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
        figure = f'<figure class="graph">{picture}<figcaption>{html.escape(caption)}</figcaption></figure>'
        shown: list[nodes.Node] = []
        if "hide-code" not in self.options:
            block = nodes.literal_block(source, source)
            block["language"] = "python"
            shown.append(block)
        return [*shown, nodes.raw("", figure, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("graph", GraphDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

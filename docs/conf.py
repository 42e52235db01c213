"""The documentation's settings: ``hatch run docs:build``. Nothing is fetched; pictures and API pages are made here."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.util import inspect as sphinx_inspect

import clumsygrad.core

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

import inventories  # noqa: E402  # found through the path that was added above

project = "ClumsyGrad"
author = "The ClumsyGrad authors"
project_copyright = author
release = clumsygrad.core.__version__
version = release

extensions = [
    "api_pages",
    "graph_pictures",
    "mathml",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "tidy_code",
]
exclude_patterns = ["_build", "_extensions", "_static"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = True
# Annotations name types of Python and NumPy, and type variables, that nothing here describes.
nitpick_ignore_regex = [("py:class", ".*"), ("py:obj", r"clumsygrad\..*\.(Arrays|Model)")]

# Markdown
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# The API, from docstrings
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_type_aliases = {
    name: f"clumsygrad.core.{name}" for name in ("Array", "Axis", "GradientTuple", "Shape", "TensorLike")
}
# A union with an alias is shown by repr(): let that be the alias's name.
sphinx_inspect.TypeAliasForwardRef.__repr__ = lambda self: self.name
add_module_names = False
python_use_unqualified_type_names = True
maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"

# Names of NumPy's and PyTorch's documentation: the lists are written here, so that no build needs the network.
intersphinx_mapping = inventories.write_all(HERE / "_build" / "inventories")
intersphinx_timeout = 1

# How it looks
html_theme = "furo"
html_math_renderer = "mathml"
html_title = f"ClumsyGrad {release}"
html_static_path = ["_static"]
html_css_files = ["clumsygrad.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#b35900", "color-brand-content": "#b35900"},
    "dark_css_variables": {"color-brand-primary": "#ffb566", "color-brand-content": "#ffb566"},
}
pygments_style = "friendly"
pygments_dark_style = "monokai"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

"""Writes the pages of the API reference from what the packages export, and the table of operations.

A name that is added to a package is on its page with the next build; nobody has to list it here.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon.docstring import GoogleDocstring
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.nodes import make_refnode

from clumsygrad.core import OPERATIONS, Operation

_FIRST = ("Tensor", "TensorType", "parameter", "tensor", "Module", "Optimizer")

# A star that doesn't enclose a word, and the underscore at the end of a name.
_MARKS = re.compile(r"(?<![\w*])\*{1,2}(?=[\s,)])|(?<![\w*])\*(?=\w)(?![^*]*\w\*)|(?<=\w)_(?!\w)")

MODULES = {
    "clumsygrad.core": "The engine: tensors, the graph, gradients.",
    "clumsygrad.core.math": "Functions of tensors, with NumPy's names.",
    "clumsygrad.core.linalg": "Linear algebra, with the names of `numpy.linalg`.",
    "clumsygrad.core.functional": "Transforms of functions: gradients, Jacobians, Hessians, products with vectors.",
    "clumsygrad.core.random": "Tensors of random numbers.",
    "clumsygrad.nn": "Layers, containers, activations, losses, saving.",
    "clumsygrad.nn.functional": "The same as functions, with PyTorch's signatures.",
    "clumsygrad.nn.init": "Initialisation of weights.",
    "clumsygrad.optim": "Optimizers, gradient clipping, averaging.",
    "clumsygrad.optim.schedule": "Schedules of the learning rate.",
    "clumsygrad.gradcheck": "Gradients compared with finite differences.",
}


def write_pages(app: Sphinx) -> None:
    """Write ``api/*.rst`` afresh."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    pages = {"operations.rst": operations_page(), "index.rst": index_page()}
    pages |= {f"{name}.rst": module_page(importlib.import_module(name)) for name in MODULES}
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        # An unchanged page keeps its date, so that it isn't built again.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


_INDEX = """API reference
=============

Everything public, from the docstrings. Whatever isn't here is internal, even when it can be imported.

{rows}
:doc:`The table of operations <operations>`
    Every operation: its method, and what it answers for in NumPy.

.. toctree::
   :hidden:

{toctree}
"""


def index_page() -> str:
    """Return the page that leads to the others."""
    rows = "".join(f":doc:`{name} <{name}>`\n    {_rst(text)}\n\n" for name, text in MODULES.items())
    return _INDEX.format(rows=rows, toctree="\n".join(f"   {name}" for name in (*MODULES, "operations")))


def module_page(module: ModuleType) -> str:
    """Return the page of one module: its names, grouped by the file that they are defined in."""
    package = module.__name__
    groups: dict[str, list[str]] = {}
    for name in sorted(public_names(module), key=_rank):
        groups.setdefault(_home(module, name), []).append(name)
    lines = [*_title(package), _rst(MODULES[package]), "", f".. py:module:: {package}", ""]
    single = len(groups) == 1
    for home, names in groups.items():
        if not single:
            lines += _title(_heading(home), "-")
        for name in names:
            lines += _entry(module, name)
    return "\n".join(lines)


def _rank(name: str) -> int:
    """Return where a name goes: what everything else is about comes first, the rest keeps its order."""
    return _FIRST.index(name) if name in _FIRST else len(_FIRST)


def public_names(module: ModuleType) -> list[str]:
    """Return the names that a module publishes: ``__all__``, or what it defines and re-exports."""
    names = getattr(module, "__all__", None)
    if names is None:
        again = set(re.findall(r"\bimport (\w+) as \1\b", inspect.getsource(module)))
        names = [
            name
            for name, value in vars(module).items()
            if name in again or getattr(value, "__module__", None) == module.__name__
        ]
    return [name for name in names if not name.startswith("_") and not inspect.ismodule(getattr(module, name))]


def _home(module: ModuleType, name: str) -> str:
    """Return the module in which a name is defined."""
    value = getattr(module, name)
    found = getattr(value, "__module__", None) if inspect.isclass(value) or inspect.isroutine(value) else None
    if isinstance(found, str) and found.startswith("clumsygrad"):
        return found
    return _defining(module, name) or module.__name__


def _defining(module: ModuleType, name: str) -> str | None:
    """Follow ``from .x import name`` to the file that assigns the name."""
    source = inspect.getsource(module)
    match = re.search(rf"^from (\.[\w.]*) import {re.escape(name)}\b", source, re.MULTILINE)
    return importlib.util.resolve_name(match.group(1), module.__name__) if match else None


def _heading(home: str) -> str:
    """Return the first sentence of a file's docstring as the heading of what is in it."""
    text = (inspect.getdoc(importlib.import_module(home)) or "").split("\n\n")[0].replace("\n", " ")
    first = re.split(r"(?<=[^.])[.:;](?:\s|$)", text)[0].strip()
    return first if first and len(first) < 90 else home.rpartition(".")[2].lstrip("_").replace("_", " ").capitalize()


def _entry(module: ModuleType, name: str) -> list[str]:
    value = getattr(module, name)
    full = f"{module.__name__}::{name}"
    if inspect.isclass(value):
        # The methods of Tensor are in the table of operations, each with its function.
        options = ["   :members:", "   :show-inheritance:"]
        return [f".. autoclass:: {full}", *options, ""]
    if inspect.isroutine(value):
        return [f".. autofunction:: {full}", ""]
    return _data(module, name)


def _data(module: ModuleType, name: str) -> list[str]:
    """Describe a value by the string that stands below it in its source."""
    home = _home(module, name)
    docs = ModuleAnalyzer.for_module(home).find_attr_docs()
    converted = str(GoogleDocstring(docs.get(("", name), []))).splitlines()
    return [f".. py:data:: {name}", "", *(f"   {line}".rstrip() for line in converted), ""]


_OPERATIONS = """The table of operations
=======================

Every operation is entered once into ``clumsygrad.core.OPERATIONS``; the methods of ``Tensor``, what NumPy's own
functions do with a Tensor, the derivative checks of the tests and this page follow from the entry. A NumPy function
that isn't here raises a ``TypeError`` rather than dropping the gradient.

There are {number} operations. The last column tells whether the operation has a backward function of its own, is
composed of others, or has no derivative.

.. list-table::
   :header-rows: 1
   :widths: 20 25 35 20

"""


def operations_page() -> str:
    """Return the table of operations, written from ``clumsygrad.core.OPERATIONS``."""
    rows = [_operation(OPERATIONS[name]) for name in sorted(OPERATIONS) if not name.startswith("_")]
    header = ("operation", "methods of Tensor", "NumPy functions", "derivative")
    cells = [line for row in (header, *rows) for line in _cells(*row)]
    return _OPERATIONS.format(number=len(rows)) + "\n".join([*cells, ""])


def _operation(operation: Operation) -> tuple[str, str, str, str]:
    name = operation.name
    shown = f"``{name}``"
    for home in ("clumsygrad.core.math", "clumsygrad.core.linalg"):
        if home in MODULES and getattr(importlib.import_module(home), name, None) is operation.forward:
            short = f"{home}.{name}".removeprefix("clumsygrad.core.").removeprefix("math.")
            shown = f":py:func:`{short} <{home}.{name}>`"
            break
    methods = ", ".join(f"``{method}``" for method in operation.methods)
    functions = ", ".join(dict.fromkeys(_numpy_name(function) for function in operation.numpy))
    rule = "own rule" if operation.backward else "composed"
    derivative = rule if operation.differentiable else "none"
    return shown, methods or "–", functions or "–", derivative


def _numpy_name(function: Callable[..., Any]) -> str:
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"``np.{owner.__name__}.{function.__name__}``"
    module = getattr(function, "__module__", None) or "numpy"
    full = f"{'numpy' if isinstance(function, np.ufunc) else module}.{function.__name__}"
    return f":py:obj:`{full.replace('numpy', 'np', 1)} <{full}>`"


def _cells(*texts: str) -> list[str]:
    first, *rest = texts
    return [f"   * - {first}", *(f"     - {text}" for text in rest)]


def _title(text: str, line: str = "=") -> list[str]:
    return [text, line * max(len(text), 3), ""]


def _rst(text: str) -> str:
    return text.replace("`", "``")


def short_reference(
    app: Sphinx, environment: BuildEnvironment, node: addnodes.pending_xref, content: nodes.TextElement
) -> nodes.reference | nodes.TextElement | None:
    """Find a name that a docstring leaves unqualified where it is published; a private one is shown without a link."""
    if node.get("refdomain") != "py" or not isinstance(node.get("reftarget"), str):
        return None
    target: str = node["reftarget"]
    if target.rpartition(".")[2].startswith("_"):
        return content
    domain = environment.domains.python_domain
    for module in MODULES:
        found = domain.objects.get(f"{module}.{target}")
        if found:
            return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, content)
    return None


def public_default(
    _app: Sphinx, _what: str, _name: str, _value: object, _options: object, signature: str | None, result: str | None
) -> tuple[str | None, str | None]:
    """Show the public name of a default, where a signature has the module's own."""
    return (signature.replace("= _INPUT", "= TensorType.INPUT") if signature else signature), result


def plain_text(_app: Sphinx, what: str, _name: str, _value: object, _options: object, lines: list[str]) -> None:
    """Let docstrings say ``(N, *)``, ``*args`` and ``zeros_`` without meaning emphasis or a link by it.

    And keep napoleon from taking what stands before a colon for the type of a property.
    """
    for index, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[index] = "".join(
                part if part.startswith("`") or part.endswith("`") else _MARKS.sub(r"\\\g<0>", part)
                for part in re.split(r"(``.*?``|`[^`]*`_?|\S*:`[^`]*`)", line)
            )
    if what in {"attribute", "data", "property"}:
        lines.insert(0, "")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the writing of the pages."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("builder-inited", write_pages)
    app.connect("missing-reference", short_reference)
    app.connect("autodoc-process-signature", public_default)
    app.connect("autodoc-process-docstring", plain_text, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

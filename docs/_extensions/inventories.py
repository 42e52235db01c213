"""Lists of the names that NumPy's and PyTorch's documentation describes, in Sphinx's inventory format.

Sphinx would fetch them for each build. Both sites name their pages after what is on them, so that the lists can be
written from the names alone.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from clumsygrad import nn, optim
from clumsygrad.nn import functional, init

NUMPY = "https://numpy.org/doc/stable/"
TORCH = "https://docs.pytorch.org/docs/stable/"


def write_all(folder: Path) -> dict[str, tuple[str, str]]:
    """Write both lists, and return what ``intersphinx_mapping`` wants to know."""
    folder.mkdir(parents=True, exist_ok=True)
    lists = {"numpy": (NUMPY, _numpy()), "torch": (TORCH, _torch())}
    for name, (_, entries) in lists.items():
        _write(folder / f"{name}.inv", name, entries)
    return {name: (address, str(folder / f"{name}.inv")) for name, (address, _) in lists.items()}


def _numpy() -> Iterable[tuple[str, str, str]]:
    for prefix, module in (("numpy", np), ("numpy.linalg", np.linalg)):
        for name in dir(module):
            if not name.startswith("_") and callable(getattr(module, name)):
                kind = "data" if isinstance(getattr(module, name), np.ufunc) else "function"
                kind = "class" if inspect.isclass(getattr(module, name)) else kind
                yield f"{prefix}.{name}", kind, f"reference/generated/{prefix}.{name}.html#$"
    yield "numpy.exceptions.AxisError", "exception", "reference/generated/numpy.exceptions.AxisError.html#$"
    yield "numpy.random.Generator", "class", "reference/random/generator.html#$"


def _torch() -> Iterable[tuple[str, str, str]]:
    """Name what has PyTorch's name here: layers, losses, functions, optimizers."""
    for name, value in vars(nn).items():
        if inspect.isclass(value) and issubclass(value, nn.Module) and name != "Parameter":
            yield f"torch.nn.{name}", "class", f"generated/torch.nn.{name}.html#$"
    for name in _functions(functional):
        full = f"torch.nn.functional.{name}"
        yield full, "function", f"generated/{full}.html#$"
    for name in _functions(init):
        yield f"torch.nn.init.{name}", "function", "nn.init.html#$"
    for name, value in vars(optim).items():
        if inspect.isclass(value) and name not in {"Lion", "ExponentialMovingAverage"}:
            yield f"torch.optim.{name}", "class", f"generated/torch.optim.{name}.html#$"
    for name in ("Tensor", "nn.Parameter", "no_grad", "autograd.grad", "autograd.Function", "autograd.gradcheck"):
        yield f"torch.{name}", "class", f"generated/torch.{name}.html#$"


def _functions(module: object) -> Iterable[str]:
    return [name for name, value in vars(module).items() if inspect.isfunction(value) and not name.startswith("_")]


def _write(path: Path, project: str, entries: Iterable[tuple[str, str, str]]) -> None:
    head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
    head += "# The remainder of this file is compressed using zlib.\n"
    lines = "".join(f"{name} py:{kind} 1 {address} -\n" for name, kind, address in sorted(set(entries)))
    path.write_bytes(head.encode() + zlib.compress(lines.encode()))

"""A mistake in any backward function is found: all of them are mutated, and every mutant has to be caught.

The functions are found by walking the packages, and the calls to catch their mutants with by walking the graphs that
the tables of examples make, so a new operation is either mutated too or reported as missing.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from clumsygrad.core import GradFn, Tensor, double_precision, parameter
from clumsygrad.gradcheck import GradientReport, check_gradient
from clumsygrad.nn import functional

from .backward_functions import Mutant, Planted, backward_functions, full_name, graph_of, mutants
from .examples import FUNCTIONAL, Example, derivative, examples, tensors_in

FUNCTIONS = backward_functions()
# How many calls a mutant has to be caught with, before it counts as having survived.
CALLS = 4


def grad_fns(example: Example) -> dict[str, tuple[int, int]]:
    """Return the backward functions in an example's graph, with how many parents they serve and of what rank."""
    found: dict[str, tuple[int, int]] = {}
    with double_precision():
        outputs = tensors_in(example.function(*map(parameter, example.inputs)))
    for node in graph_of(outputs):
        if node.grad_fn is not None:
            active = sum(parent.requires_grad and parent.size > 0 for parent in node.parents)
            key = full_name(node.grad_fn)
            found[key] = max(found.get(key, (0, 0)), (active, min(node.ndim, 2)))
    return found


@cache
def calls() -> dict[str, list[Example]]:
    """Return for each backward function the examples whose graph it is in, the most telling first.

    What is in no graph of an example may be in that of its gradient, or of the gradient of that.
    """
    ranked: dict[str, list[tuple[tuple[int, ...], Example]]] = defaultdict(list)
    level = examples()
    for order in range(3):
        for example in level:
            for name, rank in grad_fns(example).items():
                size = example.size()
                ranked[name].append(((-order, *rank, -abs(size - 8)), example))
        if not any(name not in ranked for name in FUNCTIONS):
            break
        level = [derivative(example) for example in level if 0 < example.size() < 40]
    return {
        name: [example for _, example in sorted(found, key=lambda item: item[0], reverse=True)][:CALLS]
        for name, found in ranked.items()
    }


def planted(function: Callable[..., Any], original: GradFn, mistake: Planted) -> Callable[..., tuple[Tensor, ...]]:
    """Return ``function`` with a mistake in the backward function of its graph's nodes."""

    def call(*arguments: Tensor) -> tuple[Tensor, ...]:
        outputs = tensors_in(function(*arguments))
        for node in graph_of(outputs):
            if node.grad_fn is original:
                node._grad_fn = mistake
        return outputs

    return call


def catch(original: GradFn, mutant: Mutant, found: list[Example]) -> tuple[str, GradientReport | None]:
    """Check a mutant with one call after the other until it is caught."""
    verdict = "same"
    for example in found:
        mistake = mutant.of(original)
        report = check_gradient(
            planted(example.function, original, mistake), example.inputs, allow_kinks=True, raise_exception=False
        )
        if mistake.differs:
            if not report:
                return "caught", report
            verdict = "SURVIVED"
    return verdict, None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_mutant_is_caught(name: str, record_property: Callable[[str, object], None]) -> None:
    original, found = FUNCTIONS[name], calls().get(name, [])
    assert found, f"no example reaches {name}: add a row to the table of operations, or to tests/project/examples.py"
    for example in found:
        assert check_gradient(example.function, example.inputs, allow_kinks=True, raise_exception=False), example.label
    with double_precision():
        nodes = [
            node
            for example in found
            for node in graph_of(tensors_in(example.function(*map(parameter, example.inputs))))
            if node.grad_fn is original
        ]
    verdicts: dict[str, str] = {}
    blamed = 0
    for mutant in mutants(max(len(node.parents) for node in nodes)):
        verdicts[mutant.label], report = catch(original, mutant, found)
        blamed += report is not None and any(original.__name__ in line for line in report.blame)
    caught = sum(verdict == "caught" for verdict in verdicts.values())
    columns = [f"{name}: {caught} caught, {blamed} with the function named"]
    for verdict, meaning in (("SURVIVED", "SURVIVED"), ("same", "the same function")):
        labels = [label for label, result in verdicts.items() if result == verdict]
        columns += [f"{meaning}: {', '.join(labels)}"] if labels else []
    record_property("mutants", "; ".join(columns))
    survivors = [label for label, verdict in verdicts.items() if verdict == "SURVIVED"]
    assert not survivors
    assert caught >= 2
    assert blamed == caught


def test_every_function_of_nn_has_an_example() -> None:
    public = [
        name
        for name, member in inspect.getmembers(functional, inspect.isfunction)
        if not name.startswith("_") and inspect.signature(member).return_annotation == "Tensor"
    ]
    assert public
    assert [name for name in public if name not in FUNCTIONAL] == []

"""The checker never fails a right gradient: all operations, all forms of them, and random inputs in their domains."""

from __future__ import annotations

import os
import zlib
from collections import defaultdict

import numpy as np
import numpy.typing as npt
import pytest
from core.operation_table import CASES, UNARY, Case

from clumsygrad.core import math
from clumsygrad.gradcheck import check_gradient

# How many random elements each operation is checked at; elementwise ones get a thousand besides.
DRAWS = int(os.environ.get("GRADCHECK_DRAWS", "100"))

BY_OPERATION: dict[str, list[Case]] = defaultdict(list)
for _case in CASES:
    BY_OPERATION[_case.operation].append(_case)


def generator(seed: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(seed.encode()))


def jittered(case: Case, rng: np.random.Generator) -> tuple[npt.NDArray[np.float64], ...]:
    """Return other inputs of a case's shapes, near enough to its own to lie in the operation's domain."""
    return tuple(array * rng.uniform(0.97, 1.03, array.shape) for array in case.inputs)


@pytest.mark.parametrize("operation", BY_OPERATION)
def test_every_form_of_every_operation_passes(operation: str) -> None:
    for case in BY_OPERATION[operation]:
        assert check_gradient(case.function, case.inputs, allow_kinks=True), case.label


@pytest.mark.parametrize("operation", BY_OPERATION)
def test_random_inputs_pass(operation: str) -> None:
    rng = generator(operation)
    drawn = 0
    while drawn < DRAWS:
        before = drawn
        for case in BY_OPERATION[operation]:
            inputs = jittered(case, rng)
            assert check_gradient(case.function, inputs, allow_kinks=True), (case.label, inputs)
            drawn += sum(array.size for array in inputs)
            if drawn >= DRAWS:
                break
        assert drawn > before


@pytest.mark.parametrize("name", UNARY)
def test_a_thousand_random_elements_of_the_whole_domain_pass(name: str) -> None:
    low, high = UNARY[name]
    assert check_gradient(getattr(math, name), generator(name).uniform(low, high, 1000))

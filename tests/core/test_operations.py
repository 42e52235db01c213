"""Every operation against finite differences: first and second derivatives, over shapes, axes and memory layouts."""

from __future__ import annotations

import pytest

from .finite_difference import assert_first, assert_second
from .operation_table import CASES, Case


@pytest.mark.parametrize("case", CASES, ids=str)
def test_first_derivative(case: Case) -> None:
    assert_first(case.function, case.inputs)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_second_derivative(case: Case) -> None:
    assert_second(case.function, case.inputs)

"""What a report says, and the picture of it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from clumsygrad.core import math
from clumsygrad.gradcheck import check_gradient

from . import mistakes


def test_a_passed_report_is_true_and_one_line() -> None:
    report = check_gradient(math.tanh, np.ones((2, 3)))
    assert report
    assert str(report) == "Gradient check passed: 6 elements of 1 input against 6 outputs."
    assert repr(report) == str(report)


def test_a_failed_report_says_where_how_much_and_who() -> None:
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    report = check_gradient(mistakes.product(mistakes.factor_backward), [x, y], raise_exception=False)
    assert not report
    wrong = report.inputs[1]
    assert report.inputs[0].passed
    assert (wrong.name, wrong.shape, wrong.checked, wrong.failed) == ("input 1", (2,), 2, 2)
    assert wrong.index in {(0,), (1,)}
    assert wrong.analytic == pytest.approx(2 * wrong.numeric)
    assert wrong.absolute_error == pytest.approx(abs(wrong.numeric))
    assert wrong.relative_error == pytest.approx(0.5)
    assert 0 < wrong.tolerance < 1e-6
    text = str(report)
    for part in ("input 1 (2,): 2 of 2 elements disagree", "analytic", "numeric", "to blame: factor_backward", "hint:"):
        assert part in text
    assert "input 0 (2,)" not in text


def test_a_picture_needs_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = check_gradient(math.tanh, np.ones((2, 3)))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError) as error:
        report.save_plot(tmp_path / "picture.png")
    assert "clumsygrad-gradcheck[plot]" in error.value.__notes__[0]

"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# The plugin is named on the command line, where it is not installed; installed, it must not be loaded twice.
ALONE = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

TESTS = """
import numpy as np
from clumsygrad.core import create_node, math


def wrong_backward(tensor, grad):
    return (-grad,)


def test_right(gradcheck):
    assert gradcheck(math.tanh, np.ones(3), second=True)


def test_wrong(gradcheck):
    gradcheck(lambda x: create_node(x.data * 1, wrong_backward, (x,)), np.ones(3))
"""


def test_the_fixture_fails_with_the_report_and_a_short_traceback(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    plugin = ["-p", "clumsygrad.gradcheck.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugin, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=ALONE)
    assert "1 failed, 1 passed" in result.stdout
    assert "the gradient of input 0 has the opposite sign" in result.stdout
    assert "to blame: wrong_backward" in result.stdout
    assert "conclude" not in result.stdout
    assert "run_check" not in result.stdout

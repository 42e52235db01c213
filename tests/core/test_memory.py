"""Freed memory stays with the process, where the allocator can be told so and the user did not object."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from clumsygrad.core import keep_freed_memory

# Frees and allocates arrays of 1 MiB, then tells how many of their pages had to be mapped afresh.
_COUNT_FAULTS = """
import resource, sys
import numpy as np
import clumsygrad.core
if len(sys.argv) > 1:
    clumsygrad.core.keep_freed_memory(sys.argv[1] == "on")
def step():
    arrays = [np.ones((512, 512), np.float32) for _ in range(8)]
step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def _faults(*arguments: str, **environment: str) -> int:
    environ = {name: value for name, value in os.environ.items() if name != "CLUMSYGRAD_KEEP_MEMORY"}
    run = subprocess.run(
        [sys.executable, "-c", _COUNT_FAULTS, *arguments],
        env=environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(run.stdout)


def _on_glibc() -> bool:
    return sys.platform == "linux" and keep_freed_memory(True)


def test_freed_arrays_are_used_again() -> None:
    if _on_glibc():
        assert _faults() < 100
        assert _faults("on", CLUMSYGRAD_KEEP_MEMORY="0") < 100
    else:
        assert not keep_freed_memory(True)


@pytest.mark.parametrize("arguments", [(), ("off",)])
def test_freed_arrays_go_back_to_the_system_when_asked_to(arguments: tuple[str, ...]) -> None:
    if _on_glibc():
        environment = {} if arguments else {"CLUMSYGRAD_KEEP_MEMORY": "0"}
        assert _faults(*arguments, **environment) > 500
    else:
        assert not keep_freed_memory(False)


def _no_confstr(name: str) -> str:
    raise ValueError(name)


def _other_library(name: str) -> str:
    return "musl 1.2"


@pytest.mark.parametrize("confstr", [_no_confstr, _other_library, None])
def test_nothing_is_set_elsewhere(monkeypatch: pytest.MonkeyPatch, confstr: object) -> None:
    if confstr is None:
        monkeypatch.delattr(os, "confstr", raising=False)
    else:
        monkeypatch.setattr(os, "confstr", confstr, raising=False)
    monkeypatch.setitem(sys.modules, "ctypes", None)
    assert keep_freed_memory(True) is False
    assert keep_freed_memory(False) is False

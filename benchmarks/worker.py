"""Runs one workload in one system, and answers on standard output; started by ``harness.Worker``."""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import time
from pathlib import Path

from workloads import WORKLOADS

WARM_UP = WORKLOADS["MLP digits"].systems

_PACKAGES = {"clumsygrad": ("clumsygrad.nn", "clumsygrad.optim"), "autograd": ("autograd.numpy",)}


def _status(name: str) -> float:
    """Return a line of the process's status in MiB; 0 where the system has no such file."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name + ":")), 0.0)


def _forget_peak() -> None:
    """Let the peak of the process's memory start again at what it holds now, on Linux."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def main() -> None:
    workload, system, threads, clock_name = sys.argv[1:]
    for package in _PACKAGES.get(system, (system,)):
        importlib.import_module(package)
    if system == "torch":
        import torch

        torch.set_num_threads(int(threads))
    # A small step first: what the system loads with its first step is not what the workload needs.
    WARM_UP[system]()()
    _forget_peak()
    before = _status("VmRSS")
    clock = time.process_time if clock_name == "cpu" else time.perf_counter
    step = WORKLOADS[workload].systems[system]()
    for line in sys.stdin:
        steps = int(line)
        if not steps:
            answer = [_status("VmHWM") - before]
        else:
            start = clock()
            for _ in range(steps):
                result = step()
            elapsed = clock() - start
            answer = [elapsed, float((result.detach() if system == "torch" else result).sum())]
            del result
        print(json.dumps(answer), flush=True)


main()

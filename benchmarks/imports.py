"""How long importing a package takes beyond importing NumPy, in fresh processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Iterable

_TIME_IMPORT = """
import time, numpy
start = time.perf_counter()
import {package}
print(time.perf_counter() - start)
"""

_PACKAGES = {"clumsygrad": "clumsygrad.core", "autograd": "autograd.numpy"}


def import_times(systems: Iterable[str], repeats: int = 7) -> dict[str, float]:
    """Return the median for each system, in milliseconds."""
    times: dict[str, list[float]] = {system: [] for system in systems}
    # The first import may compile the package; it isn't counted, and the others have to find what it compiled.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for counted in (False, *[True] * repeats):
        for system, measured in times.items():
            code = _TIME_IMPORT.format(package=_PACKAGES.get(system, system))
            run = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
            )
            if counted:
                measured.append(float(run.stdout) * 1e3)
    return {system: statistics.median(measured) for system, measured in times.items()}

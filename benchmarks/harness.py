"""What a workload is, and how systems are measured on it: in turns, each in a process of its own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

# One call is one step. What it returns has a sum, which has to be the same number in every system.
Step = Callable[[], Any]

REFERENCE = "torch"
SYSTEMS = ("clumsygrad", "numpy", "torch", "autograd", "mygrad")
"""The systems compared; "numpy" is the same computation with its gradients written out by hand."""

WARM_UP = 4
"""The steps before the clock starts; their last result is what the systems have to agree on."""


@dataclass(frozen=True)
class Workload:
    """One computation, in as many systems as can express it."""

    name: str
    systems: Mapping[str, Callable[[], Step]]
    """By the system's name: what prepares the data and returns the step. It runs in the worker's process."""

    target: float | None = None
    """The ratio to PyTorch's time that this project wants to stay below."""

    tolerance: float = 1e-3
    """How far, relatively, the results of two systems may lie apart."""

    rounds: int | None = None
    """How often each system has its turn, where a step takes seconds; such a workload is left out of a quick run."""


@dataclass
class Measurement:
    """What was measured of one system on one workload."""

    result: float
    seconds: list[float] = field(default_factory=list[float])
    peak: float = 0.0
    """The most memory that the process held, beyond what it held after importing the system, in MiB."""

    @property
    def median(self) -> float:
        """The median time of one step, in seconds."""
        return statistics.median(self.seconds)

    def ratio(self, other: Measurement) -> float:
        """The median of the ratios of the times that were measured in the same turn."""
        return statistics.median(mine / theirs for mine, theirs in zip(self.seconds, other.seconds, strict=True))


class Worker:
    """A process that runs one workload in one system, step by step as it is told to."""

    def __init__(self, workload: str, system: str, threads: int, clock: str) -> None:
        limits = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("worker.py")), workload, system, str(threads), clock],
            env=os.environ | limits,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, steps: int) -> tuple[float, float]:
        """Run some steps; return the seconds of one of them, and the last one's result."""
        seconds, result = self._ask(steps)
        return seconds / steps, result

    def peak(self) -> float:
        """Return the peak of the process's memory since the system was imported, in MiB, and end the process."""
        (peak,) = self._ask(0)
        self.close()
        return peak

    def close(self) -> None:
        """End the process."""
        cast("IO[str]", self._process.stdin).close()
        self._process.wait()

    def _ask(self, steps: int) -> list[float]:
        print(steps, file=self._process.stdin, flush=True)
        answer = cast("IO[str]", self._process.stdout).readline()
        if not answer:
            raise RuntimeError(f"the worker {self._process.args!r} ended early; its error is printed above")
        return json.loads(answer)


def measure(
    workload: Workload, systems: list[str], threads: int, rounds: int, budget: float, clock: str
) -> dict[str, Measurement]:
    """Measure the systems that can do the workload, in turns.

    Args:
        workload: what to run.
        systems: the systems asked for.
        threads: how many threads each may use.
        rounds: how often each system has its turn.
        budget: about how many seconds the reference may take for one turn; all do the same number of steps.
        clock: "wall", or "cpu" for the time that the process itself was running.

    Returns:
        A measurement for each system.
    """
    workers = {
        system: Worker(workload.name, system, threads, clock) for system in systems if system in workload.systems
    }
    try:
        # The first answer comes when the data is prepared, so that no preparation runs beside the clock.
        for worker in workers.values():
            worker.run(1)
        measured = {system: Measurement(worker.run(WARM_UP - 1)[1]) for system, worker in workers.items()}
        pace = REFERENCE if REFERENCE in workers else next(iter(workers))
        steps = max(1, min(20, round(budget / workers[pace].run(1)[0])))
        for _ in range(workload.rounds or rounds):
            for system, worker in workers.items():
                measured[system].seconds.append(worker.run(steps)[0])
        for system, worker in workers.items():
            measured[system].peak = worker.peak()
    finally:
        for worker in workers.values():
            worker.close()
    return measured


def disagreement(workload: Workload, measured: Mapping[str, Measurement]) -> str:
    """Return a sentence on the systems whose results differ; empty when all agree."""
    results = {system: measurement.result for system, measurement in measured.items()}
    lowest, highest = min(results.values()), max(results.values())
    # Written so that a NaN does not pass.
    if highest - lowest <= workload.tolerance * max(abs(lowest), abs(highest)):
        return ""
    return f"{workload.name}: the results differ: " + ", ".join(
        f"{name} {value:.6g}" for name, value in results.items()
    )

"""What a step of an optimizer costs, as a ratio to PyTorch's, one thread each.

Run it where both can be imported: ``python benchmarks/optim.py``. The two take turns, so that whatever else the machine
does hits both alike, and medians are compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
import torch

from clumsygrad.core import parameter
from clumsygrad.optim import SGD, Adam

ROWS: list[tuple[str, int, int]] = [("Adam", 50, 200_000), ("Adam", 500, 64), ("SGD", 500, 64)]


def make_steps(name: str, number: int, size: int) -> dict[str, Callable[[], object]]:
    """Return the step of each competitor, on parameters of the same number and size."""
    rng = np.random.default_rng(0)
    options = {"lr": 1e-3, "momentum": 0.9} if name == "SGD" else {"lr": 1e-3}

    own = [parameter(rng.standard_normal(size)) for _ in range(number)]
    for tensor in own:
        tensor.grad = rng.standard_normal(size)
    optimizer = SGD(own, **options) if name == "SGD" else Adam(own, **options)
    steps: dict[str, Callable[[], object]] = {"clumsygrad": optimizer.step}

    for label, extra in [("default", {}), ("foreach", {"foreach": True}), ("fused", {"fused": True})]:
        theirs = [torch.nn.Parameter(torch.tensor(rng.standard_normal(size), dtype=torch.float32)) for _ in own]
        for tensor in theirs:
            tensor.grad = torch.tensor(rng.standard_normal(size), dtype=torch.float32)
        steps[f"torch {label}"] = getattr(torch.optim, name)(theirs, **options, **extra).step
    return steps


def compare(steps: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """Time the steps in turns and return the median of each."""
    times: dict[str, list[float]] = {label: [] for label in steps}
    for step in steps.values():
        step()
        step()
    end = perf_counter() + seconds
    while perf_counter() < end or len(times["clumsygrad"]) < 5:
        for label, step in steps.items():
            start = perf_counter()
            step()
            times[label].append(perf_counter() - start)
    return {label: median(values) for label, values in times.items()}


def measure_bandwidth(values: int = 10_000_000) -> float:
    """Return the bytes per second at which an array is copied, reading and writing counted."""
    source, target = np.ones(values, np.float32), np.empty(values, np.float32)
    times = []
    for _ in range(7):
        start = perf_counter()
        np.copyto(target, source)
        times.append(perf_counter() - start)
    return 2 * source.nbytes / median(times)


def main() -> None:
    """Print a table of all rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="how long to measure each row")
    parser.add_argument("--runs", type=int, default=3, help="how often to repeat the table")
    arguments = parser.parse_args()
    # NumPy's elementwise functions always use one.
    torch.set_num_threads(1)
    print(f"{'':24}{'ms':>9}   ratio to PyTorch's")
    print(f"{'':24}{'':>9}{'default':>11}{'foreach':>11}{'fused':>11}")
    for _ in range(arguments.runs):
        for name, number, size in ROWS:
            times = compare(make_steps(name, number, size), arguments.seconds)
            own = times.pop("clumsygrad")
            ratios = "".join(f"{own / time:>11.3f}" for time in times.values())
            print(f"{f'{name} {number} × {size:,}':24}{own * 1e3:>9.3f}{ratios}")
            if number * size >= 1_000_000:
                # Values, gradients and both moments are read; values and moments are written.
                limit = 7 * 4 * number * size / measure_bandwidth()
                print(f"{'':24}{limit * 1e3:>9.3f} ms at the speed of a copy: {own / limit:.2f} times that")


if __name__ == "__main__":
    main()

"""How the cost grows with the work: ``python benchmarks/growth.py``.

Prints the time of a node in chains of 1,000 to 1,000,000 nodes, with the garbage collector's share, and the time of a
training step for batches of 128 and of 1024. Both should grow as the work does.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable

from harness import Step
from workloads import chain, mlp


def fastest(step: Step, repeats: int, clock: Callable[[], float] = time.process_time) -> float:
    """Return the shortest of several times, in seconds of the processor: the one that least else interfered with."""
    times = []
    for _ in range(repeats):
        start = clock()
        step()
        times.append(clock() - start)
    return min(times)


def main() -> None:
    first = 0.0
    for length, repeats in ((1_000, 300), (10_000, 30), (100_000, 5), (1_000_000, 3)):
        each = fastest(chain.clumsygrad((4,), length), repeats) / length
        first = first or each
        print(f"chain of {length:9,} nodes: {each * 1e6:.2f} µs a node, {each / first:.2f} times the shortest chain's")
    widths = mlp.NETWORKS["MNIST-size"][0]
    small = fastest(mlp.clumsygrad(widths, 128), 50)
    large = fastest(mlp.clumsygrad(widths, 1024), 20)
    print(f"perceptron, batch 128: {small * 1e3:.2f} ms; batch 1024: {large * 1e3:.2f} ms, {large / small:.2f} times")


if __name__ == "__main__":
    main()

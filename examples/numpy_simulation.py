"""Fit a simulation that someone else wrote with plain NumPy, unchanged, by its gradient.

``predator_prey.py`` imports nothing but NumPy. Given Tensors instead of arrays it builds a graph, through which the
difference between its course and 100 years of noisy counts is minimised::

    python examples/numpy_simulation.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from predator_prey import simulate
from tqdm import trange

from clumsygrad import optim
from clumsygrad.core import TensorUtils, parameter

mpl.use("Agg")
from matplotlib import pyplot as plt

TRUTH = {"growth": 0.8, "hunting": 0.5, "conversion": 0.3, "death": 0.6}
START = np.array([3.0, 1.0])


def main() -> None:
    """Make the counts, fit the coefficients, draw both."""
    parser = argparse.ArgumentParser(description="Fit a plain NumPy simulation by gradient.")
    parser.add_argument("--quick", action="store_true", help="a few steps only")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)

    rng = np.random.default_rng(0)
    times = np.linspace(0, 15, 76)
    truth = simulate(list(TRUTH.values()), START, times)
    counts = truth * rng.lognormal(sigma=0.05, size=truth.shape)

    # Rates are positive: what is trained are their logarithms, from a guess that is far off.
    guess = parameter(np.log([0.5, 0.3, 0.5, 0.4]))
    first = simulate(np.exp(guess), START, times)
    optimizer = optim.Adam([guess], lr=0.1)
    steps = 20 if options.quick else 150
    losses: list[float] = []
    # A long course depends wildly on its coefficients; so the fit begins with the first years and takes in more.
    with trange(steps, desc="fitting", unit="step") as bar:
        for step in bar:
            known = min(len(times), 20 + step)
            course = simulate(np.exp(guess), START, times[:known])
            loss = np.mean((np.log(course) - np.log(counts[:known])) ** 2)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            bar.set_postfix(loss=f"{losses[-1]:.4f}")
    last = simulate(np.exp(guess), START, times)
    print(f"The graph of the whole course has {len(list(TensorUtils.nodes(last)))} tensors.")
    for (name, right), found in zip(TRUTH.items(), np.exp(guess.data), strict=True):
        print(f"{name:>10}: {found:.3f}, in truth {right}")
    draw(times, counts, first.data, last.data, losses, options.output)


def draw(
    times: np.ndarray, counts: np.ndarray, first: np.ndarray, last: np.ndarray, losses: list[float], output: Path
) -> None:
    """Draw the counts with the first and the last course, and the losses."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), width_ratios=(2, 1), layout="constrained")
    for index, (name, color) in enumerate((("prey", "tab:green"), ("predators", "tab:red"))):
        left.plot(times, counts[:, index], ".", color=color, alpha=0.5, label=f"{name}, counted")
        left.plot(times, first[:, index], ":", color=color, label=f"{name}, first guess")
        left.plot(times, last[:, index], "-", color=color, label=f"{name}, fitted")
    left.set(title="A NumPy simulation, fitted through its gradient", xlabel="year", ylabel="number", ylim=(0, None))
    left.legend(ncols=2, fontsize=8)
    right.semilogy(losses)
    right.set(title="Mean squared error of the logarithms", xlabel="step")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(output / "numpy_simulation.png", dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()

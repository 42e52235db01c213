"""Fit a decay with a background, as a user of gradfit would, and draw it: ``python decay.py``."""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from gradfit import fit
from tqdm import tqdm

from clumsygrad.core import Tensor, tensor

mpl.use("Agg")
from matplotlib import pyplot as plt


def decay(x: Tensor, amplitude: Tensor, rate: Tensor, background: Tensor) -> Tensor:
    """Return the curve."""
    return amplitude * np.exp(-rate * x) + background


def main() -> None:
    """Measure, fit, draw."""
    parser = argparse.ArgumentParser(description="Fit a decay with a background.")
    parser.add_argument("--quick", action="store_true", help="a few steps only")
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[1] / "output")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)

    rng = np.random.default_rng(0)
    x = np.linspace(0, 8, 80)
    y = 3 * np.exp(-0.7 * x) + 0.5 + rng.normal(scale=0.1, size=x.shape)
    found = fit(decay, x, y, (1.0, 1.0, 0.0), steps=100 if options.quick else 500, progress=tqdm)
    for name, value, error in zip(("amplitude", "rate", "background"), found.values, found.errors, strict=True):
        print(f"{name:>10}: {value:.3f} ± {error:.3f}")

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(x, y, ".", label="measured")
    axes.plot(x, decay(tensor(x), *(tensor(value) for value in found.values)).data, label="fitted")
    axes.set(title="A decay with a background", xlabel="time", ylabel="counts")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(options.output / "downstream_decay.png", dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()

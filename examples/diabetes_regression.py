"""Regression with uncertainty: how far a disease will have gone in a year, and how sure of it the model is.

Five small networks predict a mean and a variance for each patient, trained by the likelihood; their mixture is the
prediction. The data are the 442 patients that come with scikit-learn::

    python examples/diabetes_regression.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_diabetes
from tqdm import tqdm

from clumsygrad import nn, optim
from clumsygrad.core import Tensor, no_grad, tensor
from clumsygrad.nn import functional

mpl.use("Agg")
from matplotlib import pyplot as plt


class MeanAndVariance(nn.Module):
    """A network with two results for each row: a mean, and a variance, which softplus keeps positive."""

    body: nn.Sequential

    def __init__(self, features: int, rng: np.random.Generator) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(features, 16, rng=rng), nn.Tanh(), nn.Dropout(0.1, rng=rng), nn.Linear(16, 2, rng=rng)
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the means and the variances, each of shape (N,)."""
        out = self.body(x)
        return out[:, 0], functional.softplus(out[:, 1]) + 1e-3


def train(x: np.ndarray, y: np.ndarray, epochs: int, rng: np.random.Generator, bar: tqdm) -> MeanAndVariance:
    """Return a network trained on a sample of the rows, drawn with replacement."""
    model = MeanAndVariance(x.shape[1], rng)
    optimizer = optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)
    rows = rng.integers(0, len(x), size=len(x))
    for _ in range(epochs):
        order = rng.permutation(rows)
        for start in range(0, len(order), 64):
            chosen = order[start : start + 64]
            mean, variance = model(tensor(x[chosen]))
            loss = functional.gaussian_nll_loss(mean, tensor(y[chosen]), variance)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        bar.update()
        bar.set_postfix(loss=f"{loss.item():.3f}")
    model.eval()
    return model


def predict(models: list[MeanAndVariance], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of the mixture of what the networks say."""
    with no_grad():
        means, variances = zip(*((m.data, v.data) for m, v in (model(tensor(x)) for model in models)), strict=True)
    mean = np.mean(means, axis=0)
    return mean, np.sqrt(np.mean(variances, axis=0) + np.var(means, axis=0))


def main() -> None:
    """Train five networks, test their mixture, draw it."""
    parser = argparse.ArgumentParser(description="Regression with uncertainty.")
    parser.add_argument("--quick", action="store_true", help="a few epochs only")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)

    rng = np.random.default_rng(0)
    data, progression = load_diabetes(return_X_y=True, scaled=True)
    data = data / data.std(axis=0)
    order = rng.permutation(len(data))
    known, unknown = order[:342], order[342:]
    centre, spread = progression[known].mean(), progression[known].std()
    y = (progression - centre) / spread

    epochs, number = (5 if options.quick else 60), 5
    with tqdm(total=epochs * number, desc="training", unit="epoch") as bar:
        models = [train(data[known], y[known], epochs, rng, bar) for _ in range(number)]
    mean, deviation = predict(models, data[unknown])
    error = y[unknown] - mean
    explained = 1 - np.mean(error**2) / np.var(y[unknown])
    inside = float(np.mean(np.abs(error) < 1.645 * deviation))
    print(f"Explained variance on patients not seen: {explained:.2f}; {inside:.0%} inside their 90 % intervals")
    draw(progression[unknown], mean * spread + centre, deviation * spread, options.output)


def draw(truth: np.ndarray, mean: np.ndarray, deviation: np.ndarray, output: Path) -> None:
    """Draw predictions with their intervals, and how many truths the intervals of each width hold."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    left.errorbar(truth, mean, yerr=1.645 * deviation, fmt="o", markersize=4, alpha=0.5, elinewidth=1)
    ends = [truth.min(), truth.max()]
    left.plot(ends, ends, color="black", linewidth=1)
    left.set(title="Patients not seen, with 90 % intervals", xlabel="true progression", ylabel="predicted progression")
    away = np.sort(np.abs(truth - mean) / deviation)
    normal = np.abs(np.random.default_rng(1).normal(size=100_000))
    right.plot([float(np.mean(normal < value)) for value in away], np.arange(1, len(away) + 1) / len(away))
    right.plot([0, 1], [0, 1], color="black", linewidth=1)
    right.set(title="Calibration", xlabel="probability of the interval", ylabel="share of the patients inside")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(output / "diabetes_regression.png", dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()

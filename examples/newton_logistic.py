"""Logistic regression by Newton's method, with the exact Hessian, beside gradient descent.

The data are the 569 breast tumours, of 30 measurements each, that come with scikit-learn::

    python examples/newton_logistic.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_breast_cancer
from tqdm import trange

from clumsygrad.core import Tensor, functional, math

mpl.use("Agg")
from matplotlib import pyplot as plt


def main() -> None:
    """Fit twice, and draw how the losses fall."""
    parser = argparse.ArgumentParser(description="Logistic regression by Newton's method.")
    parser.add_argument("--quick", action="store_true", help="a few steps of gradient descent only")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)

    measurements, benign = load_breast_cancer(return_X_y=True)
    x = (measurements - measurements.mean(axis=0)) / measurements.std(axis=0)
    x = np.column_stack([x, np.ones(len(x))]).astype(np.float32)
    sign = np.where(benign == 1, 1, -1).astype(np.float32)

    def loss(weights: Tensor) -> Tensor:
        # log(1 + exp(-m)) of the margin m, as a logsumexp, which can't overflow.
        margin = (x @ weights) * sign
        both = math.stack([margin * 0, -margin])
        return math.mean(math.logsumexp(both, axis=0)) + 1e-3 * math.sum(weights * weights)

    value_and_slope = functional.value_and_grad(loss)
    curvature = functional.hessian(loss)

    newton: list[float] = []
    weights = np.zeros(x.shape[1], np.float32)
    for _ in trange(10, desc="Newton", unit="step"):
        value, slope = value_and_slope(weights)
        newton.append(value.item())
        weights = weights - np.linalg.solve(curvature(weights).data, slope.data)

    descent: list[float] = []
    slow = np.zeros_like(weights)
    for _ in trange(50 if options.quick else 2000, desc="gradient descent", unit="step"):
        value, slope = value_and_slope(slow)
        descent.append(value.item())
        slow = slow - 0.5 * slope.data

    # The inverse of the Hessian of the sum is the covariance of the weights, in Laplace's approximation.
    covariance = np.linalg.inv(curvature(weights).data * len(x))
    right = float(((x @ weights > 0) == (sign > 0)).mean())
    print(f"Newton: loss {newton[-1]:.6f} after {len(newton)} steps, {right:.1%} of the tumours told right")
    print(f"Gradient descent: loss {descent[-1]:.6f} after {len(descent)} steps")
    draw(newton, descent, weights, np.sqrt(np.diag(covariance)), options.output)


def draw(newton: list[float], descent: list[float], weights: np.ndarray, errors: np.ndarray, output: Path) -> None:
    """Draw the losses' distance to the best, and the weights with their standard errors."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    best = min(newton)
    for name, losses, style in (("Newton's method", newton, "o-"), ("gradient descent", descent, "-")):
        left.loglog(np.arange(1, len(losses) + 1), np.maximum(np.array(losses) - best, 1e-8), style, label=name)
    left.set(title="Loss above the minimum", xlabel="step", ylim=(0.5e-8, 2))
    left.legend()
    left.grid(alpha=0.3)
    names = [*load_breast_cancer().feature_names, "constant"]
    order = np.argsort(np.abs(weights))[-12:]
    right.errorbar(weights[order], range(len(order)), xerr=2 * errors[order], fmt="o", capsize=3)
    right.set_yticks(range(len(order)), [names[index] for index in order])
    right.axvline(0, color="grey", linewidth=1)
    right.set(title="The largest weights, ± 2 standard errors", xlabel="weight")
    figure.savefig(output / "newton_logistic.png", dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()

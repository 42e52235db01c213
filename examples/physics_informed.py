"""Solve a differential equation with a network: second derivatives in the loss.

A damped oscillator, u'' + 2 d u' + w² u = 0 with u(0) = 1 and u'(0) = 0. The network u(t) is given no solution to
imitate; its loss is how much it violates the equation. Training that differentiates the network's derivatives::

    python examples/physics_informed.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from tqdm import trange

from clumsygrad import nn, optim
from clumsygrad.core import Tensor, gradients, math, no_grad, parameter, tensor

mpl.use("Agg")
from matplotlib import pyplot as plt

DAMPING, FREQUENCY, END = 0.3, 2.5, 4.0


def exact(t: np.ndarray) -> np.ndarray:
    """Return the solution that a textbook gives."""
    inner = np.sqrt(FREQUENCY**2 - DAMPING**2)
    return np.exp(-DAMPING * t) * (np.cos(inner * t) + DAMPING / inner * np.sin(inner * t))


def solution(model: nn.Module, t: Tensor) -> Tensor:
    """Return u(t); its form fulfils u(0) = 1 and u'(0) = 0 whatever the network says."""
    return 1 + math.square(math.tanh(t)) * model(t)


def residual(model: nn.Module, t: Tensor) -> Tensor:
    """Return how much the network violates the equation at each of the times ``t``, a parameter of shape (n, 1)."""
    u = solution(model, t)
    (velocity,) = gradients(math.sum(u), t, create_graph=True)
    (acceleration,) = gradients(math.sum(velocity), t, create_graph=True)
    return acceleration + 2 * DAMPING * velocity + FREQUENCY**2 * u


def main() -> None:
    """Train, and draw the solution beside the exact one."""
    parser = argparse.ArgumentParser(description="Solve a differential equation with a network.")
    parser.add_argument("--quick", action="store_true", help="a few steps only")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)

    rng = np.random.default_rng(0)
    model = nn.Sequential(
        nn.Linear(1, 32, rng=rng), nn.Tanh(), nn.Linear(32, 32, rng=rng), nn.Tanh(), nn.Linear(32, 1, rng=rng)
    )
    steps = 50 if options.quick else 3000
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    schedule = optim.schedule.CosineAnnealingLR(optimizer, T_max=steps)
    losses: list[float] = []
    with trange(steps, desc="training", unit="step", mininterval=0.5) as bar:
        for _ in bar:
            # One random time in each of 64 equal pieces.
            t = parameter((np.arange(64) + rng.uniform(size=64))[:, None] * (END / 64))
            loss = math.mean(residual(model, t) ** 2)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            bar.set_postfix(loss=f"{losses[-1]:.2e}")

    times = np.linspace(0, END, 400)[:, None]
    with no_grad():
        found = solution(model, tensor(times)).data
    print(f"Largest error of the solution: {np.abs(found - exact(times)).max():.4f}")
    draw(times, found, losses, options.output)


def draw(times: np.ndarray, found: np.ndarray, losses: list[float], output: Path) -> None:
    """Draw both solutions, and the loss."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    left.plot(times, exact(times), color="black", linewidth=3, alpha=0.3, label="exact")
    left.plot(times, found, "--", color="tab:red", label="network")
    left.set(title="A damped oscillator, from its equation alone", xlabel="t", ylabel="u")
    left.legend()
    right.semilogy(losses, linewidth=0.5)
    right.set(title="Mean squared violation of the equation", xlabel="step")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(output / "physics_informed.png", dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()

"""Train an LSTM to remember: it adds the two marked numbers of a long sequence.

The adding problem of Hochreiter and Schmidhuber (1997): each step brings a random number between 0 and 1 and a mark,
which is 1 at two steps and 0 elsewhere; after the last step the network has to tell the sum of the two marked numbers.
Always answering 1 has a mean squared error of 1/6; the LSTM gets below 0.01 on sequences it has not seen, in half a
minute::

    python examples/lstm_sequence.py            # a picture in examples/output/
    python examples/lstm_sequence.py --quick    # 40 steps: does it run?
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from clumsygrad import nn, optim
from clumsygrad.core import Tensor, no_grad, tensor
from clumsygrad.nn import functional

mpl.use("Agg")
from matplotlib import pyplot as plt

Values = npt.NDArray[np.float32]

STEPS = 24
"""How long the sequences are."""


class Adder(nn.Module):
    """An LSTM and a linear reading of its last state: sequences (N, T, 2) to sums (N,)."""

    lstm: nn.LSTM
    reading: nn.Linear

    def __init__(self, hidden: int, rng: np.random.Generator) -> None:
        super().__init__()
        self.lstm = nn.LSTM(2, hidden, batch_first=True, rng=rng)
        # A forget gate that is open at first lets gradients through long sequences (Jozefowicz et al. 2015).
        forget_bias = dict(self.lstm.named_parameters())["bias_ih_l0"]
        forget_bias.data[hidden : 2 * hidden] += 1
        self.reading = nn.Linear(hidden, 1, rng=rng)

    def forward(self, x: Tensor) -> Tensor:
        """Return the sum that the network believes in after the last step."""
        _, (h, _) = self.lstm(x)
        return self.reading(h[0]).reshape(-1)

    def thoughts(self, x: Tensor) -> Values:
        """Return what it would answer after each step, (N, T)."""
        with no_grad():
            states, _ = self.lstm(x)
            return self.reading(states).data[..., 0]


def draw_sequences(count: int, rng: np.random.Generator) -> tuple[Values, Values]:
    """Return sequences (N, T, 2), with a mark in either half of each, and their sums (N,)."""
    x = np.zeros((count, STEPS, 2), np.float32)
    x[..., 0] = rng.random((count, STEPS))
    rows = np.arange(count)
    half = STEPS // 2
    for start, stop in ((0, half), (half, STEPS)):
        x[rows, rng.integers(start, stop, count), 1] = 1
    return x, (x[..., 0] * x[..., 1]).sum(axis=1)


def train(
    model: Adder, test: tuple[Values, Values], steps: int, rng: np.random.Generator
) -> tuple[list[float], list[tuple[int, float]]]:
    """Train ``model`` in place; return the loss of each step, and that on the test sequences after some of them."""
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    losses: list[float] = []
    tests: list[tuple[int, float]] = []
    with tqdm(range(1, steps + 1), desc="training", unit="step") as bar:
        for step in bar:
            optimizer.param_groups[0]["lr"] = 1e-2 * 0.5 * (1 + np.cos(np.pi * step / (steps + 1)))
            x, y = draw_sequences(64, rng)
            loss = functional.mse_loss(model(tensor(x)), tensor(y))
            optimizer.zero_grad()
            loss.backward()
            optim.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            if step % 50 == 0 or step == steps:
                with no_grad():
                    tests.append((step, functional.mse_loss(model(tensor(test[0])), tensor(test[1])).item()))
                bar.set_postfix(loss=f"{np.mean(losses[-50:]):.4f}", test=f"{tests[-1][1]:.4f}")
    return losses, tests


def draw(
    model: Adder, losses: list[float], tests: list[tuple[int, float]], test: tuple[Values, Values], path: Path
) -> None:
    """Draw the curves, the answers against the sums, and how an answer comes about."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained")
    left.plot(np.arange(1, len(losses) + 1), losses, alpha=0.4, label="training batches")
    left.plot(*zip(*tests, strict=True), marker=".", label="test sequences")
    left.axhline(1 / 6, color="gray", linestyle=":", label="always answering 1")
    left.set(title="mean squared error", xlabel="step", yscale="log")
    left.legend()
    x, y = test
    thoughts = model.thoughts(tensor(x))
    middle.plot([0, 2], [0, 2], color="gray", linewidth=1)
    middle.scatter(y, thoughts[:, -1], s=5)
    middle.set(title="answers to the test sequences", xlabel="the sum", ylabel="the answer")
    marks = np.flatnonzero(x[0, :, 1])
    right.bar(np.arange(STEPS), x[0, :, 0], color=np.where(x[0, :, 1] > 0, "tab:orange", "lightgray"))
    right.plot(np.arange(STEPS), thoughts[0], color="tab:blue", label="what it would answer")
    right.axhline(y[0], color="tab:green", linestyle="--", label="the sum")
    right.set(title=f"one sequence, marked at {marks[0]} and {marks[1]}", xlabel="step")
    right.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    """Train, report and draw."""
    parser = argparse.ArgumentParser(description="Train an LSTM on the adding problem.")
    parser.add_argument("--quick", action="store_true", help="40 steps only")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output", help="where pictures go")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    test = draw_sequences(500, rng)
    model = Adder(32, rng)
    losses, tests = train(model, test, 40 if options.quick else 1000, rng)
    picture = options.output / "lstm_sequence.png"
    draw(model, losses, tests, test, picture)
    reached, wanted = tests[-1][1], 0.5 if options.quick else 0.01
    print(f"mean squared error {reached:.4f} (below {wanted} expected); picture in {picture}")
    if reached >= wanted:
        raise SystemExit("it did not learn as it should")


if __name__ == "__main__":
    main()

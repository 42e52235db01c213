"""Train a character-level transformer on Python's own documentation, and let it write.

The text is that of ``pydoc_data.topics``, the half million characters behind ``help("for")``, which every Python brings
along. A decoder-only transformer of two layers learns to predict the next character; the last tenth of the text is kept
to test it. It gets below 1.9 nats for each character of the test text in about a minute (guessing by frequency is
at 3.25), and prints a sample::

    python examples/char_transformer.py            # a picture in examples/output/
    python examples/char_transformer.py --quick    # 60 steps: does it run, and does it learn at all?
"""

from __future__ import annotations

import argparse
from pathlib import Path
from pydoc_data.topics import topics

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from clumsygrad import nn, optim
from clumsygrad.core import Tensor, no_grad
from clumsygrad.nn import functional

mpl.use("Agg")
from matplotlib import pyplot as plt

Ids = npt.NDArray[np.int64]

LENGTH = 64
"""How many characters the model sees at once."""


class CharTransformer(nn.Module):
    """Predicts at each place the character that follows: ids (N, T) to scores (N, T, symbols)."""

    characters: nn.Embedding
    places: nn.Embedding
    encoder: nn.TransformerEncoder
    scores: nn.Linear

    def __init__(self, symbols: int, width: int, layers: int, rng: np.random.Generator) -> None:
        super().__init__()
        self.characters = nn.Embedding(symbols, width, rng=rng)
        self.places = nn.Embedding(LENGTH, width, rng=rng)
        layer = nn.TransformerEncoderLayer(
            width, 4, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True, rng=rng
        )
        self.encoder = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width))
        self.scores = nn.Linear(width, symbols, rng=rng)

    def forward(self, ids: Ids) -> Tensor:
        """Return one score for each symbol at each place; no place sees the ones behind it."""
        x = (self.characters(ids) + self.places(np.arange(ids.shape[1]))) * 0.5
        return self.scores(self.encoder(x, is_causal=True))


def read_text() -> tuple[list[str], Ids]:
    """Return the symbols that occur, and the text as their numbers."""
    text = "\n".join(topics.values())
    symbols = sorted(set(text))
    number = {symbol: index for index, symbol in enumerate(symbols)}
    return symbols, np.array([number[symbol] for symbol in text], np.int64)


def draw_batch(text: Ids, size: int, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Return random pieces of the text, and the same moved on by one character."""
    starts = rng.integers(0, len(text) - LENGTH - 1, size)
    places = starts[:, np.newaxis] + np.arange(LENGTH + 1)
    return text[places[:, :-1]], text[places[:, 1:]]


def loss_of(model: CharTransformer, given: Ids, wanted: Ids) -> Tensor:
    """Return the mean cross-entropy of the predictions, in nats for each character."""
    scores = model(given)
    return functional.cross_entropy(scores.reshape(-1, scores.shape[-1]), wanted.reshape(-1))


def test_loss(model: CharTransformer, text: Ids) -> float:
    """Return the loss on fixed pieces of the text."""
    given, wanted = draw_batch(text, 64, np.random.default_rng(1))
    with no_grad():
        return loss_of(model, given, wanted).item()


def write(model: CharTransformer, symbols: list[str], start: str, count: int, rng: np.random.Generator) -> str:
    """Return ``start`` continued by ``count`` characters, drawn from what the model expects."""
    ids = [symbols.index(symbol) for symbol in start]
    with no_grad():
        for _ in range(count):
            scores = model(np.array([ids[-LENGTH:]])).data[0, -1] / 0.7
            chances = np.exp(scores - scores.max(), dtype=np.float64)
            ids.append(int(rng.choice(len(symbols), p=chances / chances.sum())))
    return "".join(symbols[index] for index in ids)


def train(
    model: CharTransformer, text: Ids, held_out: Ids, steps: int, rng: np.random.Generator
) -> tuple[list[float], list[tuple[int, float]]]:
    """Train ``model`` in place; return the loss of each step, and that on the test text after some of them."""
    optimizer = optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    losses: list[float] = []
    tests: list[tuple[int, float]] = []
    with tqdm(range(1, steps + 1), desc="training", unit="step") as bar:
        for step in bar:
            # The step size grows at first, and shrinks to nothing along half a cosine.
            warm = min(1.0, step / 50)
            optimizer.param_groups[0]["lr"] = 3e-3 * warm * 0.5 * (1 + np.cos(np.pi * step / (steps + 1)))
            loss = loss_of(model, *draw_batch(text, 16, rng))
            optimizer.zero_grad()
            loss.backward()
            optim.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            if step % 50 == 0 or step == steps:
                tests.append((step, test_loss(model, held_out)))
                bar.set_postfix(loss=f"{np.mean(losses[-50:]):.3f}", test=f"{tests[-1][1]:.3f}")
    return losses, tests


def draw(losses: list[float], tests: list[tuple[int, float]], guess: float, sample: str, path: Path) -> None:
    """Draw the curves beside a sample of the writing."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    left.plot(np.arange(1, len(losses) + 1), losses, alpha=0.4, label="training batches")
    left.plot(*zip(*tests, strict=True), marker="o", label="test text")
    left.axhline(guess, color="gray", linestyle=":", label="guessing by frequency")
    left.set(title="cross-entropy", xlabel="step", ylabel="nats per character")
    left.legend()
    lines = [line[start : start + 60] for line in sample.splitlines() for start in range(0, max(1, len(line)), 60)]
    right.text(0, 1, "\n".join(lines[:24]).replace("$", r"\$"), family="monospace", va="top", fontsize=8)
    right.set_title("what it writes")
    right.axis("off")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    """Train, write and draw."""
    parser = argparse.ArgumentParser(description="Train a character-level transformer on Python's documentation.")
    parser.add_argument("--quick", action="store_true", help="60 steps only")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output", help="where pictures go")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    symbols, text = read_text()
    cut = len(text) * 9 // 10
    shares = np.bincount(text, minlength=len(symbols)) / len(text)
    guess = float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum())
    print(f"{len(text):,} characters, {len(symbols)} different ones; guessing by frequency: {guess:.2f} nats each")
    model = CharTransformer(len(symbols), 64, 2, rng)
    losses, tests = train(model, text[:cut], text[cut:], 60 if options.quick else 1400, rng)
    sample = write(model, symbols, "The statement ", 100 if options.quick else 600, rng)
    picture = options.output / "char_transformer.png"
    draw(losses, tests, guess, sample, picture)
    print(sample)
    reached, wanted = tests[-1][1], 3.1 if options.quick else 1.9
    print(f"\ntest loss {reached:.3f} nats per character (below {wanted} expected); picture in {picture}")
    if reached >= wanted:
        raise SystemExit("it did not learn as it should")


if __name__ == "__main__":
    main()

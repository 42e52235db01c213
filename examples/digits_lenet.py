"""Train a small convolutional network on handwritten digits, and draw its kernels and what it gets wrong.

The data are the 1,797 digits of 8×8 pixels that come with scikit-learn, in a fixed, shuffled 80/20 split. The network
follows LeNet (LeCun et al. 1998): two convolutions with max-pooling, then two linear layers. It recognises at least
97 % of the test digits in about ten seconds::

    python examples/digits_lenet.py            # a picture in examples/output/
    python examples/digits_lenet.py --quick    # two epochs: does it run, and does it learn at all?
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits
from tqdm import tqdm

from clumsygrad import nn, optim
from clumsygrad.core import Tensor, no_grad, tensor
from clumsygrad.nn import functional

mpl.use("Agg")
from matplotlib import pyplot as plt

Images = npt.NDArray[np.float32]
Labels = npt.NDArray[np.intp]


class LeNet(nn.Module):
    """Two convolutions with pooling, and two linear layers: images (N, 1, 8, 8) to scores (N, 10)."""

    features: nn.Sequential
    classifier: nn.Sequential

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, rng=rng),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1, rng=rng),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(),
            nn.Dropout(0.3, rng=rng),
            nn.Linear(32 * 2 * 2, 64, rng=rng),
            nn.ReLU(),
            nn.Linear(64, 10, rng=rng),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return one score for each digit."""
        return self.classifier(self.features(x))


def split_digits(rng: np.random.Generator) -> tuple[Images, Labels, Images, Labels]:
    """Return training images (N, 1, 8, 8) in the range from 0 to 1, their labels, and the test ones."""
    pixels, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(pixels))
    images, labels = (pixels[order] / 16).astype(np.float32).reshape(-1, 1, 8, 8), labels[order]
    cut = len(images) * 4 // 5
    return images[:cut], labels[:cut], images[cut:], labels[cut:]


def shifted(images: Images, rng: np.random.Generator) -> Images:
    """Return the images, each moved by up to one pixel, as more data to learn from."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (8, 8), axis=(2, 3))
    down, right = rng.integers(0, 3, (2, len(images)))
    return windows[np.arange(len(images)), :, down, right]


def predict(model: nn.Module, images: Images) -> Labels:
    """Return the digits that ``model`` sees."""
    model.eval()
    with no_grad():
        predicted: Labels = model(tensor(images)).data.argmax(axis=1)
    model.train()
    return predicted


def train(
    model: nn.Module, images: Images, labels: Labels, test: tuple[Images, Labels], epochs: int, rng: np.random.Generator
) -> dict[str, list[float]]:
    """Train ``model`` in place and return the curves of the loss and of the test accuracy."""
    optimizer = optim.Adam(model.parameters(), lr=2e-3)
    batch_size = 64
    history: dict[str, list[float]] = {"loss": [], "test accuracy": []}
    with tqdm(range(epochs), desc="training", unit="epoch") as bar:
        for epoch in bar:
            # The step shrinks to nothing along half a cosine.
            optimizer.param_groups[0]["lr"] = 1e-3 * (1 + np.cos(np.pi * epoch / epochs))
            order = rng.permutation(len(images))
            losses: list[float] = []
            for start in range(0, len(order), batch_size):
                chosen = order[start : start + batch_size]
                loss = functional.cross_entropy(model(tensor(shifted(images[chosen], rng))), labels[chosen])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            history["loss"].append(float(np.mean(losses)))
            history["test accuracy"].append(float((predict(model, test[0]) == test[1]).mean()))
            bar.set_postfix(loss=f"{history['loss'][-1]:.4f}", test=f"{history['test accuracy'][-1]:.1%}")
    return history


def draw(model: LeNet, history: dict[str, list[float]], images: Images, labels: Labels, path: Path) -> None:
    """Draw the curves, the kernels of the first layer, and test digits that were taken for others."""
    predicted = predict(model, images)
    wrong = np.flatnonzero(predicted != labels)[:8]
    figure = plt.figure(figsize=(11, 6.5), layout="constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=(3, 2))
    left, right = figure.add_subfigure(grid[0]).subplots(1, 2)
    epochs = range(1, len(history["loss"]) + 1)
    left.plot(epochs, history["loss"])
    left.set(title="cross-entropy of the training batches", xlabel="epoch", yscale="log")
    right.plot(epochs, history["test accuracy"], color="tab:green")
    right.set(title=f"test accuracy, {history['test accuracy'][-1]:.1%} at the end", xlabel="epoch")
    axes = figure.add_subfigure(grid[1]).subplots(2, 8)
    kernels = next(iter(model.parameters())).data[:, 0]
    for axis, kernel in zip(axes[0], kernels, strict=False):
        axis.imshow(kernel, cmap="coolwarm", vmin=-abs(kernels).max(), vmax=abs(kernels).max())
    axes[0, 0].set_title("kernels of the first layer", loc="left", fontsize=9)
    for axis, index in zip(axes[1], wrong, strict=False):
        axis.imshow(images[index, 0], cmap="gray_r")
        axis.set_title(f"{labels[index]} taken for {predicted[index]}", fontsize=8)
    for axis in axes.flat:
        axis.axis("off")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    """Train, report and draw."""
    parser = argparse.ArgumentParser(description="Train a small convolutional network on handwritten digits.")
    parser.add_argument("--quick", action="store_true", help="two epochs only")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output", help="where pictures go")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    images, labels, test_images, test_labels = split_digits(rng)
    model = LeNet(rng)
    history = train(model, images, labels, (test_images, test_labels), 2 if options.quick else 20, rng)
    reached, wanted = history["test accuracy"][-1], 0.7 if options.quick else 0.97
    picture = options.output / "digits_lenet.png"
    draw(model, history, test_images, test_labels, picture)
    print(f"test accuracy {reached:.1%} (at least {wanted:.0%} expected); picture in {picture}")
    if reached < wanted:
        raise SystemExit("it did not learn as it should")


if __name__ == "__main__":
    main()

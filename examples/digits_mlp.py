"""Train a classifier on handwritten digits, check its gradients, and draw what happened.

The data are the 1,797 digits of 8×8 pixels that come with scikit-learn, in a fixed, shuffled 80/20 split::

    hatch run demo            # about ten seconds; pictures in demo-output/
    hatch run demo --epochs 5 --output somewhere
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from drawing import draw_graph
from sklearn.datasets import load_digits
from tqdm import tqdm

from clumsygrad import nn, optim
from clumsygrad.core import Tensor, TensorUtils, no_grad, tensor
from clumsygrad.gradcheck import check_gradient
from clumsygrad.nn import functional

mpl.use("Agg")
from matplotlib import pyplot as plt

Values = npt.NDArray[np.float32]
Labels = npt.NDArray[np.intp]


def split_digits(rng: np.random.Generator) -> tuple[Values, Labels, Values, Labels]:
    """Return training images and labels, then test ones; images of shape (N, 64) in the range from 0 to 1."""
    images, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    images, labels = (images[order] / 16).astype(np.float32), labels[order]
    cut = len(images) * 4 // 5
    return images[:cut], labels[:cut], images[cut:], labels[cut:]


def accuracy(model: nn.Module, images: Values, labels: Labels) -> float:
    """Return the share of images that ``model`` recognises."""
    with no_grad():
        return float((model(tensor(images)).data.argmax(axis=1) == labels).mean())


def train(
    model: nn.Module, images: Values, labels: Labels, test: tuple[Values, Labels], epochs: int, rng: np.random.Generator
) -> dict[str, list[float]]:
    """Train ``model`` in place and return the curves of loss and accuracy."""
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    batch_size = 32
    history: dict[str, list[float]] = {"loss": [], "train accuracy": [], "test accuracy": []}
    with tqdm(range(epochs), desc="training", unit="epoch") as epochs_bar:
        for _ in epochs_bar:
            order = rng.permutation(len(images))
            losses: list[float] = []
            for start in range(0, len(order), batch_size):
                chosen = order[start : start + batch_size]
                loss = functional.cross_entropy(model(tensor(images[chosen])), labels[chosen])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            history["loss"].append(float(np.mean(losses)))
            history["train accuracy"].append(accuracy(model, images, labels))
            history["test accuracy"].append(accuracy(model, *test))
            epochs_bar.set_postfix(
                loss=f"{history['loss'][-1]:.4f}",
                train=f"{history['train accuracy'][-1]:.1%}",
                test=f"{history['test accuracy'][-1]:.1%}",
            )
    return history


def draw_curves(history: dict[str, list[float]], path: Path) -> None:
    """Draw the loss on the left and both accuracies on the right."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    epochs = range(1, len(history["loss"]) + 1)
    left.plot(epochs, history["loss"], color="tab:red")
    left.set(title="Training loss", xlabel="epoch", ylabel="cross-entropy", yscale="log")
    for name, color in (("train accuracy", "tab:blue"), ("test accuracy", "tab:orange")):
        right.plot(epochs, [100 * value for value in history[name]], color=color, label=name)
    right.axhline(97, color="grey", linestyle=":", label="97 %")
    right.set(title="Accuracy", xlabel="epoch", ylabel="%", ylim=(min(90, 100 * min(history["test accuracy"])), 100.5))
    right.legend(loc="lower right")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def draw_predictions(model: nn.Module, images: Values, labels: Labels, path: Path) -> None:
    """Draw a grid of test digits with what ``model`` takes them for: every mistake first, in red."""
    with no_grad():
        predictions = model(tensor(images)).data.argmax(axis=1)
    order = np.argsort(predictions == labels, kind="stable")[:40]
    figure, grid = plt.subplots(5, 8, figsize=(10, 7), layout="constrained")
    for axes, index in zip(grid.flat, order, strict=True):
        axes.imshow(images[index].reshape(8, 8), cmap="gray_r")
        right = predictions[index] == labels[index]
        text = f"{predictions[index]}" if right else f"{predictions[index]}, is {labels[index]}"
        axes.set_title(
            text, color="black" if right else "tab:red", fontsize=11, fontweight="normal" if right else "bold"
        )
        axes.set_axis_off()
    mistakes = int((predictions != labels).sum())
    figure.suptitle(f"Test digits and predictions: {mistakes} mistakes among {len(labels)}, shown first in red")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def check_layer(model: nn.Module, image: Values) -> str:
    """Check the first layer's gradients against finite differences, in double precision."""
    weight, bias = (parameter.data for parameter in list(model.parameters())[:2])

    def layer(w: Tensor, b: Tensor) -> Tensor:
        return functional.relu(functional.linear(tensor(image), w, b))

    return str(check_gradient(layer, (weight[:4], bias[:4])))


def small_step(rng: np.random.Generator) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the loss of one step of a tiny network, and names for its leaves."""
    model = nn.Sequential(nn.Linear(4, 3, rng=rng), nn.Tanh(), nn.Linear(3, 2, rng=rng))
    batch = tensor(rng.normal(size=(5, 4)))
    loss = functional.cross_entropy(model(batch), np.array([0, 1, 1, 0, 1]))
    return loss, {**dict(model.named_parameters()), "batch": batch}


def main() -> None:
    """Run the demo."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--epochs", type=int, default=30)
    arguments.add_argument("--output", type=Path, default=Path("demo-output"))
    options = arguments.parse_args()
    output: Path = options.output
    output.mkdir(parents=True, exist_ok=True)

    rng = np.random.default_rng(0)
    images, labels, test_images, test_labels = split_digits(rng)
    model = nn.Sequential(
        nn.Linear(64, 64, rng=rng), nn.ReLU(), nn.Linear(64, 64, rng=rng), nn.ReLU(), nn.Linear(64, 10, rng=rng)
    )
    history = train(model, images, labels, (test_images, test_labels), options.epochs, rng)

    print("\nGradients of the first layer, checked against finite differences:")
    print(check_layer(model, test_images[:3]))

    draw_curves(history, output / "curves.png")
    draw_predictions(model, test_images, test_labels, output / "predictions.png")
    loss, names = small_step(rng)
    (output / "graph.dot").write_text(TensorUtils.to_dot(loss, names=names), encoding="utf-8")
    draw_graph(loss, output / "graph.png", names=names)

    print(f"\nPictures: {', '.join(str(output / name) for name in ('curves.png', 'predictions.png', 'graph.png'))}")
    print(f"The graph as DOT text: {output / 'graph.dot'}")
    print(f"Test accuracy: {history['test accuracy'][-1]:.2%}")


if __name__ == "__main__":
    main()

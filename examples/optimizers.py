"""Compare optimizers: their paths down Rosenbrock's valley, and how fast they learn handwritten digits.

::

    python examples/optimizers.py            # about a minute; the picture is examples/output/optimizers.png
    python examples/optimizers.py --quick    # a few seconds, with fewer steps
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits
from tqdm import tqdm

from clumsygrad import nn, optim
from clumsygrad.core import Tensor, no_grad, parameter, tensor
from clumsygrad.nn import functional

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

Make = Callable[[Iterable[Tensor]], optim.Optimizer]
Curve = npt.NDArray[np.float64]

START = (-1.6, 1.6)

VALLEY: dict[str, Make] = {
    "SGD": lambda p: optim.SGD(p, lr=1e-3),
    "SGD, momentum 0.9": lambda p: optim.SGD(p, lr=3e-4, momentum=0.9),
    "RMSprop": lambda p: optim.RMSprop(p, lr=1e-2),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.5),
    "Adam": lambda p: optim.Adam(p, lr=0.05),
    "Rprop": lambda p: optim.Rprop(p, lr=0.02),
    "L-BFGS": lambda p: optim.LBFGS(p, max_iter=1, max_eval=20, line_search_fn="strong_wolfe"),
}
DIGITS: dict[str, Make] = {
    "SGD": lambda p: optim.SGD(p, lr=0.1),
    "SGD, momentum 0.9": lambda p: optim.SGD(p, lr=0.05, momentum=0.9),
    "RMSprop": lambda p: optim.RMSprop(p, lr=2e-3),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.03),
    "Adam": lambda p: optim.Adam(p, lr=3e-3),
    "Lion": lambda p: optim.Lion(p, lr=5e-4, weight_decay=0.01),
    "Muon": lambda p: optim.Muon(p, lr=0.02, weight_decay=0.01),
}
COLORS = {
    "SGD": "#7f7f7f",
    "SGD, momentum 0.9": "#1f77b4",
    "RMSprop": "#9467bd",
    "Adagrad": "#bcbd22",
    "Adam": "#d62728",
    "Rprop": "#2ca02c",
    "L-BFGS": "#111111",
    "Lion": "#ff7f0e",
    "Muon": "#17becf",
}


def rosenbrock(x: Tensor, y: Tensor) -> Tensor:
    """Return the height of a curved valley whose lowest point, 0, is at (1, 1)."""
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def descend(make: Make, steps: int) -> tuple[Curve, Curve]:
    """Return the points of a path, of shape (steps + 1, 2), and the heights there."""
    point = parameter(START)
    optimizer = make([point])
    path, heights = [point.data.copy()], []

    def closure() -> Tensor:
        optimizer.zero_grad()
        height = rosenbrock(point[0], point[1])
        height.backward()
        return height

    for _ in range(steps):
        height = optimizer.step(closure)
        assert height is not None
        heights.append(height.item())
        path.append(point.data.copy())
    heights.append(rosenbrock(point[0], point[1]).item())
    return np.array(path, dtype=np.float64), np.array(heights)


def learn(make: Make, epochs: int) -> tuple[Curve, float]:
    """Train a small network on digits; return the loss of each epoch, and the accuracy on digits it has not seen."""
    rng = np.random.default_rng(0)
    images, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(images))
    images, labels = (images[order] / 16).astype(np.float32), labels[order]
    cut = len(images) * 4 // 5
    model = nn.Sequential(nn.Linear(64, 64, rng=rng), nn.Tanh(), nn.Linear(64, 10, rng=rng))
    parameters = list(model.parameters())
    matrices = [weight for weight in parameters if weight.ndim == 2]
    if isinstance(make(matrices), optim.Muon):
        # Muon is for matrices; the rest has an optimizer of its own.
        optimizers = [make(matrices), optim.Adam([p for p in parameters if p.ndim != 2], lr=3e-3)]
    else:
        optimizers = [make(parameters)]
    curve = []
    for _ in range(epochs):
        total = 0.0
        chosen = rng.permutation(cut)
        for start in range(0, cut, 32):
            batch = chosen[start : start + 32]
            loss = functional.cross_entropy(model(tensor(images[batch])), labels[batch])
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()
            total += loss.item() * len(batch)
        curve.append(total / cut)
    with no_grad():
        guesses = model(tensor(images[cut:])).data.argmax(axis=1)
    return np.array(curve), float((guesses == labels[cut:]).mean())


def draw_valley(axes: Axes, paths: dict[str, Curve]) -> None:
    """Draw the valley's contours and the paths through it."""
    xs, ys = np.meshgrid(np.linspace(-2.1, 2.0, 300), np.linspace(-0.9, 3.1, 300))
    heights = (1 - xs) ** 2 + 100 * (ys - xs**2) ** 2
    levels = np.geomspace(0.05, 4000, 22)
    axes.contourf(xs, ys, heights, levels, norm=LogNorm(0.05, 60000), cmap="Greys", alpha=0.8, extend="both")
    axes.contour(xs, ys, heights, levels, colors="white", linewidths=0.4)
    for name, path in paths.items():
        axes.plot(*path.T, color="white", lw=3.0, alpha=0.7)
        axes.plot(*path.T, color=COLORS[name], lw=1.5, label=name)
        axes.plot(*path[-1], "o", color=COLORS[name], ms=6, mec="white", zorder=4)
    axes.plot(*START, "s", color="black", ms=7, mec="white", zorder=5)
    axes.annotate("start", START, xytext=(-8, 8), textcoords="offset points", ha="right")
    axes.plot(1, 1, "*", color="gold", ms=17, mec="black", zorder=6)
    axes.set(xlim=(-2.1, 2.0), ylim=(-0.9, 3.1), xlabel="x", ylabel="y")
    axes.legend(loc="lower left", fontsize=8, framealpha=0.95)


def main() -> None:
    """Run every optimizer on both problems and draw what happened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="take a tenth of the steps")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output", help="where the picture goes")
    arguments = parser.parse_args()
    steps, epochs = (300, 4) if arguments.quick else (3000, 30)

    paths: dict[str, Curve] = {}
    falls: dict[str, Curve] = {}
    curves: dict[str, Curve] = {}
    accuracies: dict[str, float] = {}
    with tqdm(total=len(VALLEY) + len(DIGITS), unit="run") as bar:
        for name, make in VALLEY.items():
            bar.set_description(f"valley: {name}")
            paths[name], falls[name] = descend(make, steps)
            bar.update()
        for name, make in DIGITS.items():
            bar.set_description(f"digits: {name}")
            curves[name], accuracies[name] = learn(make, epochs)
            bar.update()

    plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"})
    figure, ((valley, fall), (curve, bars)) = plt.subplots(2, 2, figsize=(13, 10.5), layout="constrained")
    draw_valley(valley, paths)
    valley.set_title(f"Rosenbrock's valley: {steps:,} steps")
    for name, heights in falls.items():
        fall.loglog(np.arange(1, len(heights) + 1), np.maximum(heights, 1e-13), color=COLORS[name], lw=1.6, label=name)
    fall.set(xlabel="step", ylabel="height above the lowest point", ylim=(1e-11, 1e4), title="How far down they are")
    fall.grid(alpha=0.25)
    fall.legend(loc="lower left", fontsize=8, framealpha=0.95)
    for name, losses in curves.items():
        curve.semilogy(np.arange(1, epochs + 1), losses, color=COLORS[name], lw=1.8, label=name)
    curve.set(
        xlabel="epoch", ylabel="mean training loss", title="Handwritten digits: a network 64–64–10, batches of 32"
    )
    curve.grid(alpha=0.25)
    curve.legend(loc="lower left", fontsize=8, framealpha=0.95)
    names = sorted(accuracies, key=lambda name: accuracies[name])
    shares = [100 * accuracies[name] for name in names]
    for row, (name, share) in enumerate(zip(names, shares, strict=True)):
        bars.plot(share, row, "o", color=COLORS[name], ms=11)
        bars.text(share, row, f"   {share:.1f} %", va="center", fontsize=9)
    bars.set_yticks(range(len(names)), names)
    bars.set(xlim=(min(shares) - 0.5, max(shares) + 0.5), ylim=(-0.6, len(names) - 0.4))
    bars.set(xlabel="% of 360 unseen digits recognised", title=f"After {epochs} epochs")
    bars.grid(alpha=0.25)
    arguments.output.mkdir(parents=True, exist_ok=True)
    target = arguments.output / "optimizers.png"
    figure.savefig(target, dpi=110)

    for name, heights in falls.items():
        print(f"valley  {name:20} height {heights[-1]:.2e} at {paths[name][-1].round(4)}")
    for name, share in accuracies.items():
        print(f"digits  {name:20} loss {curves[name][-1]:.4f}, accuracy {share:.1%}")
    print(f"picture: {target}")


if __name__ == "__main__":
    main()

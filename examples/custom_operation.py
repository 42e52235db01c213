"""An operation of one's own: forward, backward, verified, and used in a model.

The activation x / (s + |x|) with a scale s that is trained along with the weights::

    python examples/custom_operation.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from drawing import draw_graph
from tqdm import trange

from clumsygrad import nn, optim
from clumsygrad.core import (
    Array,
    GradientTuple,
    Tensor,
    TensorLike,
    as_tensor,
    create_node,
    no_grad,
    parameter,
    tensor,
    unbroadcast,
)
from clumsygrad.gradcheck import check_gradient, check_second_gradient

mpl.use("Agg")
from matplotlib import pyplot as plt


def softsign(x: TensorLike, scale: TensorLike) -> Tensor:
    """Return x / (scale + |x|), elementwise; the scale is positive and broadcasts."""
    x, scale = as_tensor(x), as_tensor(scale)
    return create_node(x.data / (scale.data + np.abs(x.data)), softsign_backward, (x, scale))


def softsign_backward(result: Tensor, grad: Array) -> GradientTuple:
    """Return the gradients: scale / d² for x and -x / d² for the scale, where d = scale + |x|."""
    x, scale = result.parents
    slope = grad / np.square(scale.data + np.abs(x.data))
    return (
        unbroadcast(slope * scale.data, x.shape) if x.requires_grad else None,
        unbroadcast(-slope * x.data, scale.shape) if scale.requires_grad else None,
    )


class Softsign(nn.Module):
    """The operation as a layer, with one scale for each feature."""

    scale: Tensor

    def __init__(self, features: int) -> None:
        super().__init__()
        self.scale = parameter(np.ones(features))

    def forward(self, x: Tensor) -> Tensor:
        """Return the activations, of the shape of ``x``."""
        return softsign(x, self.scale)


def verify(rng: np.random.Generator) -> None:
    """Compare both derivatives with finite differences, for several shapes."""
    for x_shape, scale_shape in (((5,), (5,)), ((4, 3), (3,)), ((4, 3), (4, 1)), ((2, 3), ())):
        inputs = [rng.normal(size=x_shape), rng.uniform(0.5, 2, size=scale_shape)]
        check_gradient(softsign, inputs)
        check_second_gradient(softsign, inputs)
        print(f"x of shape {x_shape}, scale of shape {scale_shape}: first and second derivatives are right")


def spirals(number: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return points on two interleaved spirals, and which one each lies on."""
    angle = np.sqrt(rng.uniform(size=number)) * 3 * np.pi
    label = rng.integers(0, 2, size=number)
    radius = angle / 10 * np.where(label == 0, 1, -1)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return points + rng.normal(scale=0.02, size=points.shape), label


def main() -> None:
    """Verify the operation, train with it, draw the result."""
    parser = argparse.ArgumentParser(description="An operation of one's own.")
    parser.add_argument("--quick", action="store_true", help="a few steps only")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)

    rng = np.random.default_rng(0)
    verify(rng)
    points, label = spirals(500, rng)
    model = nn.Sequential(
        nn.Linear(2, 32, rng=rng), Softsign(32), nn.Linear(32, 32, rng=rng), Softsign(32), nn.Linear(32, 2, rng=rng)
    )
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    with trange(30 if options.quick else 800, desc="training", unit="step") as bar:
        for _ in bar:
            loss = nn.functional.cross_entropy(model(tensor(points)), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with no_grad():
                for name, scale in model.named_parameters():
                    if name.endswith("scale"):
                        scale.data = np.maximum(scale.data, 0.1)
            bar.set_postfix(loss=f"{loss.item():.4f}")
    names = dict(model.named_parameters())
    loss = nn.functional.cross_entropy(model(tensor(points)), label)
    draw_graph(loss, options.output / "custom_operation_graph.png", names)
    draw(model, points, label, options.output)


def draw(model: nn.Module, points: np.ndarray, label: np.ndarray, output: Path) -> None:
    """Draw what the model says about the plane, and the shapes that the activations have found."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    x, y = np.meshgrid(np.linspace(-1.1, 1.1, 200), np.linspace(-1.1, 1.1, 200))
    with no_grad():
        shares = nn.functional.softmax(model(tensor(np.stack([x, y], axis=-1).reshape(-1, 2))), dim=1)
    left.contourf(x, y, shares.data[:, 1].reshape(x.shape), levels=20, cmap="RdBu", alpha=0.6)
    left.scatter(*points.T, c=label, cmap="RdBu", edgecolors="black", linewidths=0.3, s=14)
    left.set(title="Two spirals", aspect="equal")
    line = np.linspace(-4, 4, 200)
    scales = np.concatenate([value.data for name, value in model.named_parameters() if name.endswith("scale")])
    for scale in np.quantile(scales, [0, 0.25, 0.5, 0.75, 1]):
        right.plot(line, softsign(line, scale).data, label=f"s = {scale:.2f}")
    right.set(title="x / (s + |x|): quartiles of the trained scales s")
    right.title.set_fontsize(10)
    right.grid(alpha=0.3)
    right.legend()
    figure.savefig(output / "custom_operation.png", dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()

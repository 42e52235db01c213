"""A convolutional network of LeNet's size on 64 images of 28×28: loss, backward, and a step of Adam."""

from __future__ import annotations

from typing import Any

import numpy as np
from harness import Step, Workload
from numpy.lib.stride_tricks import sliding_window_view

from .steps import Adam, Array, clumsygrad_training, mygrad_training, seeded, torch_training

_SHAPES = ((6, 1, 5, 5), (6,), (16, 6, 5, 5), (16,), (120, 400), (120,), (84, 120), (84,), (10, 84), (10,))


def _data() -> tuple[Array, Array]:
    rng = np.random.default_rng(1)
    return rng.standard_normal((64, 1, 28, 28)).astype(np.float32), rng.integers(0, 10, 64)


def clumsygrad() -> Step:
    from clumsygrad import nn
    from clumsygrad.core import Tensor

    images, labels = _data()
    model = nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    )
    for parameter, value in zip(model.parameters(), seeded(_SHAPES), strict=True):
        parameter.data = value
    x = Tensor(images)
    return clumsygrad_training(model, lambda: nn.functional.cross_entropy(model(x), labels))


def torch() -> Step:
    import torch
    from torch import nn

    images, labels = (torch.from_numpy(array) for array in _data())
    model = nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    )
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), seeded(_SHAPES), strict=True):
            parameter.copy_(torch.from_numpy(value))
    return torch_training(model, lambda: nn.functional.cross_entropy(model(images), labels))


def mygrad() -> Step:
    import mygrad
    from mygrad.nnet.activations import relu
    from mygrad.nnet.layers import conv_nd, max_pool
    from mygrad.nnet.losses import softmax_crossentropy

    images, labels = _data()
    parameters = [mygrad.tensor(value) for value in seeded(_SHAPES)]

    def loss() -> Any:
        first, first_bias, second, second_bias, *dense = parameters
        x = relu(conv_nd(images, first, stride=1, padding=2) + first_bias.reshape(-1, 1, 1))
        x = max_pool(x, (2, 2), 2)
        x = relu(conv_nd(x, second, stride=1) + second_bias.reshape(-1, 1, 1))
        x = max_pool(x, (2, 2), 2).reshape(64, 400)
        for weight, bias in zip(dense[:4:2], dense[1:4:2], strict=True):
            x = relu(mygrad.matmul(x, weight.T) + bias)
        return softmax_crossentropy(mygrad.matmul(x, dense[4].T) + dense[5], labels)

    return mygrad_training(parameters, loss)


def _convolve(x: Array, weight: Array, bias: Array) -> tuple[Array, Array]:
    """Return the result (N, H, W, out), and the matrix of windows (N·H·W, in·k·k) it was made of."""
    size = weight.shape[-1]
    windows = sliding_window_view(x, (size, size), axis=(1, 2))
    number, height, width = windows.shape[:3]
    columns = windows.reshape(number * height * width, -1)
    return (columns @ weight.reshape(len(weight), -1).T + bias).reshape(number, height, width, -1), columns


def _pool(x: Array) -> tuple[Array, Array]:
    """Return the largest of each 2×2 window, and a mask of where it was."""
    number, height, width, channels = x.shape
    windows = x.reshape(number, height // 2, 2, width // 2, 2, channels)
    top = windows.max(axis=(2, 4), keepdims=True)
    return top[:, :, 0, :, 0], windows == top


def by_hand() -> Step:
    """Channels last, convolution as one product of matrices, as a careful NumPy programmer would."""
    images, labels = _data()
    images = np.pad(images.transpose(0, 2, 3, 1), ((0, 0), (2, 2), (2, 2), (0, 0)))
    parameters = seeded(_SHAPES)
    rows = np.arange(64)
    optimizer = Adam(parameters)

    def step() -> Array:
        w1, b1, w2, b2, w3, b3, w4, b4, w5, b5 = parameters
        c1, columns1 = _convolve(images, w1, b1)
        np.maximum(c1, 0, out=c1)
        p1, mask1 = _pool(c1)
        c2, columns2 = _convolve(p1, w2, b2)
        np.maximum(c2, 0, out=c2)
        p2, mask2 = _pool(c2)
        flat = p2.transpose(0, 3, 1, 2).reshape(64, 400)
        h3 = np.maximum(flat @ w3.T + b3, 0)
        h4 = np.maximum(h3 @ w4.T + b4, 0)
        grad = h4 @ w5.T + b5
        grad -= grad.max(axis=1, keepdims=True)
        picked = grad[rows, labels]
        np.exp(grad, out=grad)
        total = grad.sum(axis=1)
        loss = (np.log(total) - picked).mean()
        grad /= total[:, None]
        grad[rows, labels] -= 1
        grad /= 64
        grads = [grad.sum(axis=0), grad.T @ h4]
        grad = (grad @ w5) * (h4 > 0)
        grads += [grad.sum(axis=0), grad.T @ h3]
        grad = (grad @ w4) * (h3 > 0)
        grads += [grad.sum(axis=0), grad.T @ flat]
        grad = (grad @ w3).reshape(64, 16, 5, 5).transpose(0, 2, 3, 1)
        # Where the largest is 0, relu stops the gradient; so ties among zeros do not matter.
        grad = (grad[:, :, None, :, None] * (mask2 & (p2 > 0)[:, :, None, :, None])).reshape(-1, 16)
        grads += [grad.sum(axis=0), (grad.T @ columns2).reshape(w2.shape)]
        windows = (grad @ w2.reshape(16, -1)).reshape(64, 10, 10, 6, 5, 5)
        below = np.zeros_like(p1)
        for i in range(5):
            for j in range(5):
                below[:, i : i + 10, j : j + 10] += windows[..., i, j]
        grad = (below[:, :, None, :, None] * (mask1 & (p1 > 0)[:, :, None, :, None])).reshape(-1, 6)
        grads += [grad.sum(axis=0), (grad.T @ columns1).reshape(w1.shape)]
        optimizer.step(grads[::-1])
        return loss

    return step


WORKLOADS = (
    Workload(
        "CNN of LeNet's size", {"clumsygrad": clumsygrad, "numpy": by_hand, "torch": torch, "mygrad": mygrad}, 1.2
    ),
)

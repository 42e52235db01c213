"""Perceptrons of several sizes: softmax cross-entropy of a fixed batch, backward, and a step of Adam."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from harness import Step, Workload

from .steps import Adam, Array, autograd_training, clumsygrad_training, mygrad_training, seeded, torch_training

Sizes = tuple[int, ...]


def data(sizes: Sizes, batch: int) -> tuple[Array, Array]:
    """Return a batch of inputs and their classes."""
    rng = np.random.default_rng(1)
    return rng.standard_normal((batch, sizes[0])).astype(np.float32), rng.integers(0, sizes[-1], batch)


def weights(sizes: Sizes) -> list[Array]:
    """Return the matrices (outputs, inputs) and the biases of the layers in turn."""
    return seeded([shape for inputs, outputs in pairwise(sizes) for shape in ((outputs, inputs), (outputs,))])


def clumsygrad_model(sizes: Sizes) -> Any:
    from clumsygrad import nn

    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    model = nn.Sequential(*layers[:-1])
    for parameter, value in zip(model.parameters(), weights(sizes), strict=True):
        parameter.data = value
    return model


def torch_model(sizes: Sizes) -> Any:
    import torch

    layers: list[torch.nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), weights(sizes), strict=True):
            parameter.copy_(torch.from_numpy(value))
    return model


def clumsygrad(sizes: Sizes, batch: int) -> Step:
    from clumsygrad.core import Tensor
    from clumsygrad.nn.functional import cross_entropy

    inputs, labels = data(sizes, batch)
    model, x = clumsygrad_model(sizes), Tensor(inputs)
    return clumsygrad_training(model, lambda: cross_entropy(model(x), labels))


def torch(sizes: Sizes, batch: int) -> Step:
    import torch

    inputs, labels = (torch.from_numpy(array) for array in data(sizes, batch))
    model = torch_model(sizes)
    return torch_training(model, lambda: torch.nn.functional.cross_entropy(model(inputs), labels))


def by_hand(sizes: Sizes, batch: int) -> Step:
    x, labels = data(sizes, batch)
    parameters = weights(sizes)
    layers = list(zip(parameters[::2], parameters[1::2], strict=True))
    rows = np.arange(batch)
    optimizer = Adam(parameters)

    def step() -> Array:
        inputs = [x]
        for weight, bias in layers:
            inputs.append(inputs[-1] @ weight.T + bias)
            if weight is not layers[-1][0]:
                np.maximum(inputs[-1], 0, out=inputs[-1])
        grad = inputs.pop()
        grad -= grad.max(axis=1, keepdims=True)
        picked = grad[rows, labels]
        np.exp(grad, out=grad)
        total = grad.sum(axis=1)
        loss = (np.log(total) - picked).mean()
        grad /= total[:, None]
        grad[rows, labels] -= 1
        grad /= batch
        grads: list[Array] = []
        while inputs:
            below = inputs.pop()
            weight, _ = layers[len(inputs)]
            grads += [grad.sum(axis=0), grad.T @ below]
            if inputs:
                grad = grad @ weight
                grad *= below > 0
        optimizer.step(grads[::-1])
        return loss

    return step


def _scores(matmul: Callable[..., Any], relu: Callable[[Any], Any], x: Any, parameters: list[Any]) -> Any:
    """Return the last layer's values, in a library without layers."""
    layers = list(zip(parameters[::2], parameters[1::2], strict=True))
    for weight, bias in layers[:-1]:
        x = relu(matmul(x, weight.T) + bias)
    return matmul(x, layers[-1][0].T) + layers[-1][1]


def autograd(sizes: Sizes, batch: int) -> Step:
    from autograd import numpy as anp

    inputs, labels = data(sizes, batch)
    rows = np.arange(batch)

    def loss(parameters: list[Any]) -> Any:
        scores = _scores(anp.matmul, lambda x: anp.maximum(x, 0), inputs, parameters)
        top = scores.max(axis=1, keepdims=True)
        return anp.mean(anp.log(anp.sum(anp.exp(scores - top), axis=1)) + top[:, 0] - scores[rows, labels])

    return autograd_training(weights(sizes), loss)


def mygrad(sizes: Sizes, batch: int) -> Step:
    import mygrad
    from mygrad.nnet.activations import relu
    from mygrad.nnet.losses import softmax_crossentropy

    inputs, labels = data(sizes, batch)
    parameters = [mygrad.tensor(value) for value in weights(sizes)]
    return mygrad_training(
        parameters, lambda: softmax_crossentropy(_scores(mygrad.matmul, relu, inputs, parameters), labels)
    )


_BUILDERS = {"clumsygrad": clumsygrad, "numpy": by_hand, "torch": torch, "autograd": autograd, "mygrad": mygrad}

NETWORKS: dict[str, tuple[Sizes, int]] = {
    "digits": ((64, 64, 64, 10), 32),
    "MNIST-size": ((784, 256, 128, 10), 128),
    "big": ((1024, 2048, 2048, 1000), 512),
    "31 layers of 32": ((32,) * 32, 16),
}
"""By name: the widths from the inputs to the classes, and the batch."""

_TARGETS = {"digits": 0.38, "MNIST-size": 0.90, "big": 1.15, "31 layers of 32": 0.40}

WORKLOADS = tuple(
    Workload(
        f"MLP {name}",
        {system: partial(builder, sizes, batch) for system, builder in _BUILDERS.items()},
        _TARGETS[name],
    )
    for name, (sizes, batch) in NETWORKS.items()
)

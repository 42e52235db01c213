"""An LSTM from 32 to 128 values over 50 steps, batch 32: the mean square of its outputs, backward, a step of Adam."""

from __future__ import annotations

from typing import Any

import numpy as np
from harness import Step, Workload

from .steps import Adam, Array, autograd_training, clumsygrad_training, seeded, torch_training

_BATCH, _LENGTH, _INPUTS, _STATE = 32, 50, 32, 128
# PyTorch's order: the weights of the input and of the state for the gates i, f, g, o, and their biases.
_SHAPES = ((4 * _STATE, _INPUTS), (4 * _STATE, _STATE), (4 * _STATE,), (4 * _STATE,))


def _inputs() -> Array:
    return np.random.default_rng(1).standard_normal((_BATCH, _LENGTH, _INPUTS)).astype(np.float32)


def clumsygrad() -> Step:
    from clumsygrad import nn
    from clumsygrad.core import Tensor, math

    model, x = nn.LSTM(_INPUTS, _STATE, batch_first=True), Tensor(_inputs())
    for parameter, value in zip(model.parameters(), seeded(_SHAPES), strict=True):
        parameter.data = value
    return clumsygrad_training(model, lambda: math.mean(model(x)[0] ** 2))


def torch() -> Step:
    import torch

    model, x = torch.nn.LSTM(_INPUTS, _STATE, batch_first=True), torch.from_numpy(_inputs())
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), seeded(_SHAPES), strict=True):
            parameter.copy_(torch.from_numpy(value))
    return torch_training(model, lambda: torch.mean(model(x)[0] ** 2))


def autograd() -> Step:
    from autograd import numpy as anp

    x = _inputs()

    def sigmoid(values: Any) -> Any:
        return 0.5 * anp.tanh(0.5 * values) + 0.5

    def loss(parameters: list[Any]) -> Any:
        from_input, from_state, bias, more = parameters
        mapped = anp.dot(x, from_input.T) + (bias + more)
        h = c = np.zeros((_BATCH, _STATE), np.float32)
        total = 0.0
        for t in range(_LENGTH):
            gates = mapped[:, t] + anp.dot(h, from_state.T)
            i, f, g, o = (gates[:, _STATE * k : _STATE * (k + 1)] for k in range(4))
            c = sigmoid(f) * c + sigmoid(i) * anp.tanh(g)
            h = sigmoid(o) * anp.tanh(c)
            total = total + anp.sum(h**2)
        return total / (_BATCH * _LENGTH * _STATE)

    return autograd_training(seeded(_SHAPES), loss)


def by_hand() -> Step:
    x = _inputs()
    parameters = seeded(_SHAPES)
    optimizer = Adam(parameters)
    size = _BATCH * _LENGTH * _STATE

    def step() -> Any:
        from_input, from_state, bias, more = parameters
        gates = (x.transpose(1, 0, 2).reshape(-1, _INPUTS) @ from_input.T + (bias + more)).reshape(_LENGTH, _BATCH, -1)
        h = np.zeros((_LENGTH + 1, _BATCH, _STATE), np.float32)
        c, squashed = np.zeros_like(h), np.empty_like(h)
        # Of a row of gates, i and f and o pass a sigmoid, and g the tanh.
        sigmoids = [slice(0, 2 * _STATE), slice(3 * _STATE, 4 * _STATE)]
        for t in range(_LENGTH):
            row = gates[t]
            row += h[t] @ from_state.T
            for part in sigmoids:
                row[:, part] = 0.5 * np.tanh(0.5 * row[:, part]) + 0.5
            i, f, g, o = (row[:, _STATE * k : _STATE * (k + 1)] for k in range(4))
            np.tanh(g, out=g)
            c[t + 1] = f * c[t] + i * g
            squashed[t] = np.tanh(c[t + 1])
            h[t + 1] = o * squashed[t]
        loss = (h[1:] ** 2).sum() / size
        grads = np.empty_like(gates)
        h_grad, c_grad = np.zeros_like(h[0]), np.zeros_like(h[0])
        for t in reversed(range(_LENGTH)):
            i, f, g, o = (gates[t][:, _STATE * k : _STATE * (k + 1)] for k in range(4))
            h_grad = h_grad + (2 / size) * h[t + 1]
            c_grad = c_grad + h_grad * o * (1 - squashed[t] ** 2)
            parts = c_grad * g * i * (1 - i), c_grad * c[t] * f * (1 - f), c_grad * i * (1 - g * g)
            np.concatenate([*parts, h_grad * squashed[t] * o * (1 - o)], axis=1, out=grads[t])
            h_grad, c_grad = grads[t] @ from_state, c_grad * f
        flat = grads.reshape(-1, 4 * _STATE)
        total = flat.sum(axis=0)
        rows = x.transpose(1, 0, 2).reshape(-1, _INPUTS)
        optimizer.step([flat.T @ rows, flat.T @ h[:-1].reshape(-1, _STATE), total, total])
        return loss

    return step


WORKLOADS = (
    Workload(
        "LSTM, 50 steps of 32→128",
        {"clumsygrad": clumsygrad, "numpy": by_hand, "torch": torch, "autograd": autograd},
        1.0,
    ),
)

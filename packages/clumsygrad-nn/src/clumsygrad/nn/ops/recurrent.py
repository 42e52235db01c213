"""Whole sequences of recurrent steps, each kind as one node: plain RNN, LSTM and GRU.

The input's part of all steps is one matrix product, and so are the gradients of the weights: only the state's part and
the elementwise work go step by step. What the steps computed is kept for the backward pass on arrays, which nothing
else reads; a graph of the gradient is recorded through the same steps, composed of ordinary operations.

All take x of shape (T, N, I), the state (N, H), ``w_ih`` (G * H, I), ``w_hh`` (G * H, H) and two biases (G * H,) or
none, where G is the number of gates; all parents in this order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from clumsygrad.core import Array, GradientTuple, Tensor, create_node, gradients
from clumsygrad.core.math import stack

from ..activation import relu, sigmoid
from ..layers.linear import linear
from .recording import is_recorded

Composed = Callable[..., Tensor]


def rnn_sequence(x: Tensor, h: Tensor, weights: Sequence[Tensor], *, nonlinearity: str) -> Tensor:
    """Return ``h[t] = f(W_ih x[t] + b_ih + W_hh h[t-1] + b_hh)`` for all t, of shape (T, N, H)."""
    matrix = weights[1].data.T
    result = _input_part(x.data, weights)
    state = h.data
    for index in range(len(result)):
        total = result[index]
        total += state @ matrix
        state = np.tanh(total, out=total) if nonlinearity == "tanh" else np.maximum(total, 0, out=total)
    return create_node(result, rnn_sequence_backward, (x, h, *weights), {"nonlinearity": nonlinearity})


def rnn_sequence_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient carried from the last step to the first, and products over all steps for the weights."""
    nonlinearity: str = tensor.extra["nonlinearity"]
    if is_recorded(grad):
        return _recorded(tensor, grad, _composed_rnn, nonlinearity=nonlinearity)
    h, matrix = tensor.parents[1].data, tensor.parents[3].data
    states = tensor.data
    slopes = 1 - states * states if nonlinearity == "tanh" else (states > 0).astype(states.dtype)
    carried: Array = np.zeros_like(h)
    for step in range(len(states) - 1, -1, -1):
        slopes[step] *= carried + grad[step]
        carried = slopes[step] @ matrix
    return _gradients(tensor, slopes, slopes, _before(h, states), carried)


def _composed_rnn(x: Tensor, h: Tensor, *weights: Tensor, nonlinearity: str) -> Tensor:
    steps: list[Tensor] = []
    for index in range(x.shape[0]):
        total = _composed_part(x[index], weights[0], weights[2:3]) + _composed_part(h, weights[1], weights[3:4])
        h = total.tanh() if nonlinearity == "tanh" else relu(total)
        steps.append(h)
    return stack(steps)


def lstm_sequence(x: Tensor, h: Tensor, c: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """Return the hidden states of all steps, and behind them the last cell state: shape (T + 1, N, H).

    The gates i, f, g and o are the four parts of ``W_ih x + b_ih + W_hh h + b_hh``; then ``c = s(f) c + s(i) tanh(g)``
    and ``h = s(o) tanh(c)`` with the logistic function s.
    """
    steps, number = x.shape[:2]
    size = h.shape[1]
    dtype = x.data.dtype
    # s(z) = (1 + tanh(z / 2)) / 2: with the weights halved beforehand, one tanh serves all four gates.
    halves = np.full(4 * size, 0.5, dtype)
    halves[2 * size : 3 * size] = 1
    shift = 1 - halves
    matrix = (weights[1].data * halves[:, np.newaxis]).T
    gates = _input_part(x.data, weights)
    gates *= halves
    cells = np.empty((steps, number, size), dtype)
    curved = np.empty((steps, number, size), dtype)
    result = np.empty((steps + 1, number, size), dtype)
    state, cell = h.data, c.data
    scratch = np.empty((number, size), dtype)
    for index in range(steps):
        gate = gates[index]
        gate += state @ matrix
        np.tanh(gate, out=gate)
        gate *= halves
        gate += shift
        new = np.multiply(gate[:, size : 2 * size], cell, out=cells[index])
        new += np.multiply(gate[:, :size], gate[:, 2 * size : 3 * size], out=scratch)
        np.tanh(new, out=curved[index])
        state = np.multiply(gate[:, 3 * size :], curved[index], out=result[index])
        cell = new
    result[steps] = cell
    kept = {"gates": gates, "cells": cells, "curved": curved}
    return create_node(result, lstm_sequence_backward, (x, h, c, *weights), kept)


def lstm_sequence_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradients of state and cell carried from the last step to the first; products over all steps for the rest."""
    if is_recorded(grad):
        return _recorded(tensor, grad, _composed_lstm)
    h, c, matrix = tensor.parents[1].data, tensor.parents[2].data, tensor.parents[4].data
    gates: Array = tensor.extra["gates"]
    cells: Array = tensor.extra["cells"]
    curved: Array = tensor.extra["curved"]
    steps, number, size = cells.shape
    i, f, g, o = (gates[..., part * size : (part + 1) * size] for part in range(4))
    # What each gate's preactivation gets for a unit of the cell's gradient; the last for one of the state's.
    slopes = np.empty((steps, number, 4, size), gates.dtype)
    np.multiply(i * (1 - i), g, out=slopes[:, :, 0])
    np.multiply(f * (1 - f), _before(c, cells), out=slopes[:, :, 1])
    np.multiply(1 - g * g, i, out=slopes[:, :, 2])
    np.multiply(o * (1 - o), curved, out=slopes[:, :, 3])
    through = o * (1 - curved * curved)
    carried: Array = np.zeros_like(h)
    cell_grad = np.array(grad[steps])
    for index in range(steps - 1, -1, -1):
        carried += grad[index]
        slope = slopes[index]
        slope[:, 3] *= carried
        carried *= through[index]
        cell_grad += carried
        slope[:, :3] *= cell_grad[:, np.newaxis]
        cell_grad *= f[index]
        carried = slope.reshape(number, 4 * size) @ matrix
    flat = slopes.reshape(steps, number, 4 * size)
    x_grad, h_grad, *weight_grads = _gradients(tensor, flat, flat, _before(h, tensor.data[:steps]), carried, states=2)
    return x_grad, h_grad, cell_grad, *weight_grads


def _composed_lstm(x: Tensor, h: Tensor, c: Tensor, *weights: Tensor) -> Tensor:
    steps: list[Tensor] = []
    size = h.shape[1]
    for index in range(x.shape[0]):
        total = _composed_part(x[index], weights[0], weights[2:3]) + _composed_part(h, weights[1], weights[3:4])
        i, f, g, o = (total[:, part * size : (part + 1) * size] for part in range(4))
        c = sigmoid(f) * c + sigmoid(i) * g.tanh()
        h = sigmoid(o) * c.tanh()
        steps.append(h)
    return stack([*steps, c])


def gru_sequence(x: Tensor, h: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """Return the hidden states of all steps, of shape (T, N, H).

    ``r``, ``z`` and ``n`` are the three parts of the two products; ``n = tanh(x_n + s(r) * h_n)``, where h_n contains
    its bias, and ``h = (1 - s(z)) n + s(z) h`` with the logistic function s.
    """
    steps, number = x.shape[:2]
    size = h.shape[1]
    matrix = weights[1].data.T
    bias = weights[3].data if len(weights) > 2 else None
    gates = _input_part(x.data, weights[:3])
    projected = np.empty((steps, number, size), gates.dtype)
    result = np.empty((steps, number, size), gates.dtype)
    state = h.data
    for index in range(steps):
        gate = gates[index]
        part = state @ matrix
        if bias is not None:
            part += bias
        both = gate[:, : 2 * size]
        both += part[:, : 2 * size]
        both *= 0.5
        np.tanh(both, out=both)
        both *= 0.5
        both += 0.5
        projected[index] = part[:, 2 * size :]
        new = gate[:, 2 * size :]
        new += gate[:, :size] * projected[index]
        np.tanh(new, out=new)
        following = np.subtract(state, new, out=result[index])
        following *= gate[:, size : 2 * size]
        following += new
        state = following
    return create_node(result, gru_sequence_backward, (x, h, *weights), {"gates": gates, "projected": projected})


def gru_sequence_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient of the state carried from the last step to the first; products over all steps for the rest."""
    if is_recorded(grad):
        return _recorded(tensor, grad, _composed_gru)
    h, matrix = tensor.parents[1].data, tensor.parents[3].data
    gates: Array = tensor.extra["gates"]
    projected: Array = tensor.extra["projected"]
    steps, number, size = projected.shape
    r, z, n = (gates[..., part * size : (part + 1) * size] for part in range(3))
    before = _before(h, tensor.data)
    # What each gate's preactivation gets for a unit of the state's gradient, on the input's side and the state's.
    slopes = np.empty((steps, number, 3, size), gates.dtype)
    np.multiply((1 - z) * (1 - n * n), 1, out=slopes[:, :, 2])
    np.multiply(slopes[:, :, 2] * projected, r * (1 - r), out=slopes[:, :, 0])
    np.multiply(before - n, z * (1 - z), out=slopes[:, :, 1])
    inner = slopes.copy()
    inner[:, :, 2] *= r
    carried: Array = np.zeros_like(h)
    for index in range(steps - 1, -1, -1):
        carried += grad[index]
        slopes[index] *= carried[:, np.newaxis]
        inner[index] *= carried[:, np.newaxis]
        carried *= z[index]
        carried += inner[index].reshape(number, 3 * size) @ matrix
    flat = (steps, number, 3 * size)
    return _gradients(tensor, slopes.reshape(flat), inner.reshape(flat), before, carried)


def _composed_gru(x: Tensor, h: Tensor, *weights: Tensor) -> Tensor:
    steps: list[Tensor] = []
    size = h.shape[1]
    for index in range(x.shape[0]):
        given = _composed_part(x[index], weights[0], weights[2:3])
        own = _composed_part(h, weights[1], weights[3:4])
        r = sigmoid(given[:, :size] + own[:, :size])
        z = sigmoid(given[:, size : 2 * size] + own[:, size : 2 * size])
        n = (given[:, 2 * size :] + r * own[:, 2 * size :]).tanh()
        h = (1 - z) * n + z * h
        steps.append(h)
    return stack(steps)


def _input_part(x: Array, weights: Sequence[Tensor]) -> Array:
    """Return ``W_ih x`` of all steps, plus the biases that are given."""
    steps, number, features = x.shape
    matrix = weights[0].data
    result = x.reshape(steps * number, features) @ matrix.T
    if len(weights) > 2:
        result += sum((bias.data for bias in weights[3:]), start=weights[2].data)
    return result.reshape(steps, number, matrix.shape[0])


def _before(first: Array, states: Array) -> Array:
    """Return for each step the state that it began with."""
    return np.concatenate([first[np.newaxis], states[:-1]])


def _gradients(
    tensor: Tensor, given: Array, own: Array, before: Array, carried: Array, *, states: int = 1
) -> tuple[Array | None, ...]:
    """Return the gradients of x, h, the two matrices and the two biases.

    ``given`` and ``own`` are the gradients of the two products, of shape (T, N, G * H).
    """
    x, h = tensor.parents[:2]
    w_ih, w_hh, *biases = tensor.parents[1 + states :]
    gates = given.shape[2]
    rows, own_rows = given.reshape(-1, gates), own.reshape(-1, gates)
    return (
        (rows @ w_ih.data).reshape(x.shape) if x.requires_grad else None,
        carried if h.requires_grad else None,
        rows.T @ x.data.reshape(-1, x.shape[2]) if w_ih.requires_grad else None,
        own_rows.T @ before.reshape(-1, before.shape[2]) if w_hh.requires_grad else None,
        *(
            part.sum(axis=0) if bias.requires_grad else None
            for bias, part in zip(biases, (rows, own_rows), strict=False)
        ),
    )


def _composed_part(x: Tensor, matrix: Tensor, bias: tuple[Tensor, ...]) -> Tensor:
    return linear(x, matrix, *bias)


def _alias_backward(tensor: Tensor, grad: Array) -> GradientTuple:  # noqa: ARG001  # as all backward functions
    return (grad,)


def _recorded(tensor: Tensor, grad: Array, composed: Composed, **settings: Any) -> GradientTuple:
    """Return the gradients as Tensors of a graph, through the same steps composed of ordinary operations.

    It starts from an alias of each parent, since a parent may itself depend on another: each gets its own part alone.
    """
    aliases: list[Tensor] = []
    for parent in tensor.parents:
        value = cast("Tensor", parent.data)
        aliases.append(create_node(value.data, _alias_backward, (value,)) if parent.requires_grad else value)
    wanted = [alias for alias, parent in zip(aliases, tensor.parents, strict=True) if parent.requires_grad]
    result = composed(*aliases, **settings)
    found = iter(gradients(result, wanted, cast("Tensor", grad), create_graph=True))
    return tuple(cast("Array", next(found)) if parent.requires_grad else None for parent in tensor.parents)

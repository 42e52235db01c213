"""Activations: the same values, gradients and second gradients as in PyTorch, and the same modules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as TF
from parity.nn_comparison import compare

from clumsygrad import nn
from clumsygrad.core import parameter
from clumsygrad.nn import functional as F

# Name of the function and its settings.
FUNCTIONS: list[tuple[str, dict[str, Any]]] = [
    ("relu", {}),
    ("leaky_relu", {}),
    ("leaky_relu", {"negative_slope": 0.3}),
    ("leaky_relu", {"negative_slope": -0.3}),
    ("elu", {}),
    ("elu", {"alpha": 0.4}),
    ("selu", {}),
    ("celu", {}),
    ("celu", {"alpha": 0.5}),
    ("gelu", {}),
    ("gelu", {"approximate": "tanh"}),
    ("silu", {}),
    ("mish", {}),
    ("softplus", {}),
    ("softplus", {"beta": 2.5}),
    ("softplus", {"beta": 2.0, "threshold": 3.0}),
    ("softsign", {}),
    ("sigmoid", {}),
    ("logsigmoid", {}),
    ("tanh", {}),
    ("hardtanh", {}),
    ("hardtanh", {"min_val": -0.5, "max_val": 2.0}),
    ("hardsigmoid", {}),
    ("hardswish", {}),
    ("relu6", {}),
    ("softmax", {"dim": -1}),
    ("softmax", {"dim": 0}),
    ("log_softmax", {"dim": -1}),
    ("log_softmax", {"dim": 1}),
    ("softmin", {"dim": 1}),
    ("glu", {}),
    ("glu", {"dim": 0}),
]

# In these PyTorch computes with a float32 constant even in double precision.
INEXACT = {"hardsigmoid": 1e-7}


MODULES: list[tuple[str, dict[str, Any]]] = [
    ("ReLU", {}), ("LeakyReLU", {"negative_slope": 0.2}), ("ELU", {"alpha": 0.5}), ("SELU", {}),
    ("CELU", {"alpha": 2.0}), ("GELU", {}), ("GELU", {"approximate": "tanh"}), ("SiLU", {}), ("Mish", {}),
    ("Softplus", {"beta": 2, "threshold": 10}), ("Softsign", {}), ("Sigmoid", {}), ("LogSigmoid", {}), ("Tanh", {}),
    ("Hardtanh", {"min_val": -2.0, "max_val": 0.5}), ("Hardsigmoid", {}), ("Hardswish", {}), ("ReLU6", {}),
    ("Softmax", {"dim": 1}), ("LogSoftmax", {"dim": 0}), ("Softmin", {"dim": 1}), ("GLU", {"dim": 1}),
    ("PReLU", {}), ("PReLU", {"num_parameters": 4, "init": 0.1}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings"), FUNCTIONS)
def test_function(name: str, settings: dict[str, Any]) -> None:
    x = np.random.default_rng(0).normal(scale=4, size=(4, 3, 6))
    compare(
        lambda t: getattr(F, name)(t, **settings),
        lambda t: getattr(TF, name)(t, **settings),
        [x],
        # PyTorch has no second derivative of it.
        second=name != "hardsigmoid",
        rtol=2e-5,
        atol=5e-6,
        double_rtol=INEXACT.get(name, 1e-9),
    )


@pytest.mark.parametrize(("name", "settings"), FUNCTIONS)
def test_gradient_where_the_function_bends(name: str, settings: dict[str, Any]) -> None:
    x = np.array([[0.0, -3.0, 3.0, 6.0, -1.0, 1.0, -0.5, 2.0]]).repeat(2, 0)
    compare(
        lambda t: getattr(F, name)(t, **settings),
        lambda t: getattr(TF, name)(t, **settings),
        [x],
        second=False,
        double_rtol=INEXACT.get(name, 1e-9),
    )


@pytest.mark.parametrize(("name", "settings"), FUNCTIONS)
def test_function_of_large_inputs(name: str, settings: dict[str, Any]) -> None:
    x = np.array([[-1e4, -300.0, -88.8, -20.0, 20.0, 88.8, 300.0, 1e4]]).repeat(2, 0)
    compare(
        lambda t: getattr(F, name)(t, **settings),
        lambda t: getattr(TF, name)(t, **settings),
        [x],
        second=False,
        double_rtol=INEXACT.get(name, 1e-9),
    )


@pytest.mark.parametrize("shape", [(3, 4), (2, 4, 5), (2, 4, 3, 2), (4,)])
@pytest.mark.parametrize("slopes", [1, 4])
def test_prelu(shape: tuple[int, ...], slopes: int) -> None:
    if len(shape) == 1:
        slopes = 1
    rng = np.random.default_rng(0)
    compare(F.prelu, TF.prelu, [rng.normal(size=shape), rng.random(slopes)])


@pytest.mark.parametrize(("name", "settings"), MODULES)
def test_module(name: str, settings: dict[str, Any]) -> None:
    mine, other = getattr(nn, name)(**settings), getattr(torch.nn, name)(**settings)
    assert repr(mine) == repr(other)
    state = {key: value.numpy() for key, value in other.state_dict().items()}
    assert {key: value.shape for key, value in mine.state_dict().items()} == {k: v.shape for k, v in state.items()}
    mine.load_state_dict(state)
    values = np.random.default_rng(0).normal(scale=3, size=(2, 4, 6)).astype(np.float32)
    x, y = parameter(values), torch.tensor(values, requires_grad=True)
    left, right = mine(x), other(y)
    left.sum().backward()
    right.sum().backward()
    np.testing.assert_allclose(left.data, right.detach().numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(x.grad, y.grad.numpy(), rtol=1e-5, atol=1e-6)

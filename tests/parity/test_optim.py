"""Fifty steps of each optimizer, with each of its options, on a small network: the same parameters as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from clumsygrad import optim
from clumsygrad.core import Tensor, double_precision, parameter

STEPS = 50

torch.set_num_threads(1)

# Name and options of an optimizer.
CASES: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {}),
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 1.0}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.01, "momentum": 0.9, "nesterov": True, "maximize": True}),
    ("SGD", {"lr": 0.01, "weight_decay": 0.1, "maximize": True}),
    *[
        (name, options)
        for name in ("Adam", "AdamW")
        for options in (
            {},
            {"lr": 0.01, "weight_decay": 0.1},
            {"lr": 0.01, "amsgrad": True},
            {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1, "maximize": True},
            {"lr": 0.01, "betas": (0.5, 0.9), "eps": 1e-3},
            {"lr": 0.01, "betas": (0.0, 0.0)},
        )
    ],
    ("Adam", {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RMSprop", {}),
    ("RMSprop", {"lr": 0.001, "alpha": 0.9, "eps": 1e-4, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.001, "momentum": 0.9}),
    ("RMSprop", {"lr": 0.001, "centered": True}),
    ("RMSprop", {"lr": 0.001, "centered": True, "momentum": 0.9, "weight_decay": 0.1, "maximize": True}),
    ("Adagrad", {}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3, "maximize": True}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.5, "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    ("Adamax", {}),
    ("Adamax", {"lr": 0.01, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    ("NAdam", {}),
    ("NAdam", {"lr": 0.01, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True, "momentum_decay": 0.1}),
    ("NAdam", {"lr": 0.01, "betas": (0.5, 0.9), "maximize": True}),
    ("RAdam", {}),
    ("RAdam", {"lr": 0.01, "weight_decay": 0.1}),
    ("RAdam", {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    ("RAdam", {"lr": 0.01, "betas": (0.5, 0.5)}),
    ("ASGD", {}),
    ("ASGD", {"lr": 0.1, "lambd": 0.1, "alpha": 0.5, "t0": 10.0, "weight_decay": 0.1}),
    ("ASGD", {"lr": 0.01, "t0": 0.0, "maximize": True}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.02, "etas": (0.3, 1.5), "step_sizes": (1e-3, 0.05)}),
    ("Rprop", {"lr": 0.001, "maximize": True}),
    ("LBFGS", {}),
    ("LBFGS", {"lr": 0.5, "max_iter": 5, "history_size": 3}),
    ("LBFGS", {"max_iter": 3, "max_eval": 2}),
    ("LBFGS", {"max_iter": 1, "lr": 0.3}),
    ("LBFGS", {"line_search_fn": "strong_wolfe"}),
    ("LBFGS", {"line_search_fn": "strong_wolfe", "max_iter": 4, "history_size": 2, "lr": 0.8}),
]
IDS = [f"{name}-{'-'.join(f'{key}={value}' for key, value in options.items())}" for name, options in CASES]

RNG = np.random.default_rng(7)
INPUTS = RNG.standard_normal((16, 5))
TARGETS = np.sin(INPUTS.sum(axis=1, keepdims=True))
INITIAL = [RNG.standard_normal(shape) * 0.5 for shape in [(5, 8), (8,), (8, 1), (1,)]]

Closure = Callable[[], Any]


def make_closure(parameters: list[Any], inputs: Any, targets: Any, optimizer: Any) -> Closure:
    # What is to be maximized is the negative error: rounding grows beyond all bounds where a path runs off.
    sign = -1.0 if optimizer.param_groups[0].get("maximize") else 1.0

    def closure() -> Any:
        optimizer.zero_grad()
        first, bias, second, last = parameters
        error = (inputs @ first + bias).tanh() @ second + last - targets
        loss = (error * error).mean() * sign
        loss.backward()
        return loss

    return closure


def train(name: str, options: dict[str, Any], steps: int) -> list[list[np.ndarray[Any, Any]]]:
    parameters = [parameter(value) for value in INITIAL]
    optimizer = getattr(optim, name)(parameters, **options)
    closure = make_closure(parameters, Tensor(INPUTS), Tensor(TARGETS), optimizer)
    path = []
    for _ in range(steps):
        optimizer.step(closure)
        path.append([tensor.data.copy() for tensor in parameters])
    return path


def train_torch(name: str, options: dict[str, Any], steps: int, dtype: torch.dtype) -> list[list[np.ndarray[Any, Any]]]:
    parameters = [torch.nn.Parameter(torch.tensor(value, dtype=dtype)) for value in INITIAL]
    optimizer = getattr(torch.optim, name)(parameters, **options)
    closure = make_closure(parameters, torch.tensor(INPUTS, dtype=dtype), torch.tensor(TARGETS, dtype=dtype), optimizer)
    path = []
    for _ in range(steps):
        optimizer.step(closure)
        path.append([tensor.detach().numpy().copy() for tensor in parameters])
    return path


@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_trajectory_in_double_precision(name: str, options: dict[str, Any]) -> None:
    # The error in a step of L-BFGS grows tenfold every few iterations, of which it takes up to twenty in each.
    steps = 12 if name == "LBFGS" and options.get("max_iter") != 1 else STEPS
    with double_precision():
        path = train(name, options, steps)
    expected = train_torch(name, options, steps, torch.float64)
    for step, (values, wanted) in enumerate(zip(path, expected, strict=True)):
        for value, want in zip(values, wanted, strict=True):
            assert value.dtype == np.float64
            np.testing.assert_allclose(value, want, rtol=1e-5, atol=1e-9, err_msg=f"step {step}")


# Rounding in the last bit of a gradient turns a sign, or a quotient of two numbers near zero, in these.
CHAOTIC = {"Rprop", "LBFGS"}


@pytest.mark.parametrize(
    ("name", "options"),
    [case for case in CASES if case[0] not in CHAOTIC],
    ids=[key for key, case in zip(IDS, CASES, strict=True) if case[0] not in CHAOTIC],
)
def test_trajectory(name: str, options: dict[str, Any]) -> None:
    path = train(name, options, STEPS)
    expected = train_torch(name, options, STEPS, torch.float32)
    for step, (values, wanted) in enumerate(zip(path, expected, strict=True)):
        for value, want in zip(values, wanted, strict=True):
            assert value.dtype == np.float32
            np.testing.assert_allclose(value, want, rtol=1e-5, atol=1e-5, err_msg=f"step {step}")


@pytest.mark.parametrize("name", sorted({name for name, _ in CASES} | {"Muon"}))
def test_defaults_are_the_same(name: str) -> None:
    own = getattr(optim, name)([parameter([[1.0]])]).param_groups[0]
    theirs = getattr(torch.optim, name)([torch.nn.Parameter(torch.ones(1, 1))]).param_groups[0]
    for key, value in own.items():
        if key != "params":
            assert theirs[key] == value, key


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lr": 0.02, "momentum": 0.8, "nesterov": False, "weight_decay": 0.0},
        {"lr": 0.02, "adjust_lr_fn": "match_rms_adamw", "ns_steps": 3},
        {"lr": 0.02, "adjust_lr_fn": "original", "ns_coefficients": (2.0, -1.5, 0.5), "eps": 1e-3},
    ],
)
def test_muon(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    # PyTorch iterates in bfloat16, of which three digits are right; without that it has to be the same.
    monkeypatch.setattr(torch.Tensor, "bfloat16", torch.Tensor.clone)
    rng = np.random.default_rng(3)
    shapes = [(4, 4), (6, 3), (3, 7), (1, 5)]
    values = [rng.standard_normal(shape) for shape in shapes]
    with double_precision():
        own = [parameter(value) for value in values]
        optimizer = optim.Muon(own, **options)
        theirs = [torch.nn.Parameter(torch.tensor(value)) for value in values]
        reference = torch.optim.Muon(theirs, **options)
        for _ in range(STEPS):
            for tensor, other in zip(own, theirs, strict=True):
                grad = rng.standard_normal(tensor.shape)
                tensor.grad, other.grad = grad, torch.tensor(grad)
            optimizer.step()
            reference.step()
            for tensor, other in zip(own, theirs, strict=True):
                np.testing.assert_allclose(tensor.data, other.detach().numpy(), rtol=1e-8, atol=1e-10)

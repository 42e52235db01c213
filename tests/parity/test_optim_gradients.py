"""Clipping and averaging: the same numbers as in PyTorch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from clumsygrad.core import Tensor, parameter
from clumsygrad.optim import AveragedModel, clip_grad_norm_, clip_grad_value_

SHAPES: list[tuple[int, ...]] = [(3, 4), (5,), (), (100, 200)]


def make_gradients(scale: float = 1.0) -> tuple[list[Tensor], list[torch.nn.Parameter]]:
    rng = np.random.default_rng(2)
    own, theirs = [], []
    for shape in SHAPES:
        grad = np.asarray(rng.standard_normal(shape) * scale, np.float32)
        own.append(parameter(np.zeros(shape)))
        theirs.append(torch.nn.Parameter(torch.zeros(shape)))
        own[-1].grad, theirs[-1].grad = grad, torch.tensor(grad)
    # One without a gradient.
    return [*own, parameter([1.0])], [*theirs, torch.nn.Parameter(torch.ones(1))]


def compare(own: list[Tensor], theirs: list[torch.nn.Parameter]) -> None:
    for tensor, other in zip(own, theirs, strict=True):
        if other.grad is None:
            assert tensor.grad is None
        else:
            np.testing.assert_allclose(tensor.grad, other.grad.numpy(), rtol=1e-5)


@pytest.mark.parametrize("norm_type", [2.0, 1.0, 3.0, 0.5, math.inf])
@pytest.mark.parametrize("max_norm", [0.0, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 1e12])
def test_clip_grad_norm(norm_type: float, max_norm: float, scale: float) -> None:
    own, theirs = make_gradients(scale)
    norm = clip_grad_norm_(own, max_norm, norm_type)
    expected = torch.nn.utils.clip_grad_norm_(theirs, max_norm, norm_type)
    if not torch.isfinite(expected):
        # PyTorch's powers overflow in float32, and then clip to nothing.
        assert norm > 1e12
        return
    np.testing.assert_allclose(norm, float(expected), rtol=1e-5)
    compare(own, theirs)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("norm_type", [2.0, 1.0, math.inf])
def test_clip_grad_norm_of_what_is_not_finite(value: float, norm_type: float) -> None:
    own, theirs = make_gradients()
    for tensor, other in zip(own[:1], theirs[:1], strict=True):
        assert tensor.grad is not None
        assert other.grad is not None
        tensor.grad[0, 0] = other.grad[0, 0] = value
    norm = clip_grad_norm_(own, 1.0, norm_type)
    np.testing.assert_equal(norm, float(torch.nn.utils.clip_grad_norm_(theirs, 1.0, norm_type)))
    compare(own, theirs)


def test_clip_grad_value() -> None:
    own, theirs = make_gradients()
    clip_grad_value_(own, 0.3)
    torch.nn.utils.clip_grad_value_(theirs, 0.3)
    compare(own, theirs)


class Line:
    def __init__(self, parameters: list[Any]) -> None:
        self.values = parameters

    def parameters(self) -> list[Any]:
        return self.values


def test_averaged_model() -> None:
    rng = np.random.default_rng(4)
    model, reference = Line([parameter(np.zeros((3, 4)))]), torch.nn.Linear(4, 3, bias=False)
    average, other = AveragedModel(model), torch.optim.swa_utils.AveragedModel(reference)
    for _ in range(20):
        value = rng.standard_normal((3, 4)).astype(np.float32)
        model.values[0].data = value
        with torch.no_grad():
            reference.weight.copy_(torch.tensor(value))
        average.update_parameters(model)
        other.update_parameters(reference)
        np.testing.assert_allclose(
            average.parameters()[0].data, next(other.parameters()).detach().numpy(), rtol=1e-5, atol=1e-6
        )


def test_exponential_average() -> None:
    rng = np.random.default_rng(4)
    model, reference = Line([parameter(np.zeros((3, 4)))]), torch.nn.Linear(4, 3, bias=False)
    average = AveragedModel(model, avg_fn=lambda old, new, number: 0.9 * old + 0.1 * new)
    other = torch.optim.swa_utils.AveragedModel(reference, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    for _ in range(20):
        value = rng.standard_normal((3, 4)).astype(np.float32)
        model.values[0].data = value
        with torch.no_grad():
            reference.weight.copy_(torch.tensor(value))
        average.update_parameters(model)
        other.update_parameters(reference)
        np.testing.assert_allclose(
            average.parameters()[0].data, next(other.parameters()).detach().numpy(), rtol=1e-5, atol=1e-6
        )

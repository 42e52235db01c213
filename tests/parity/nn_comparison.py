"""The same function in both libraries, on the same arrays: values, gradients and second gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from clumsygrad.core import Tensor, double_precision, gradients, parameter

torch.set_num_threads(1)

Arrays = Sequence[np.ndarray[Any, Any]]


def compare(
    ours: Callable[..., Tensor],
    theirs: Callable[..., torch.Tensor],
    arrays: Arrays,
    *,
    second: bool = True,
    atol: float = 1e-6,
    rtol: float = 1e-5,
    double_rtol: float = 1e-9,
) -> None:
    """Compare in float32, and in double precision with the second gradients."""
    mine = _results(ours, [np.asarray(array, np.float32) for array in arrays], second=False)
    other = _torch_results(theirs, [torch.tensor(array, dtype=torch.float32) for array in arrays], second=False)
    _assert_equal(mine, other, rtol, atol)
    with double_precision():
        mine = _results(ours, arrays, second=second)
    other = _torch_results(theirs, [torch.tensor(array, dtype=torch.float64) for array in arrays], second=second)
    _assert_equal(mine, other, double_rtol, 1e-12)


def weights(shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).uniform(0.5, 1.5, shape)


def _results(function: Callable[..., Tensor], arrays: Arrays, *, second: bool) -> list[np.ndarray[Any, Any]]:
    leaves = [parameter(array) for array in arrays]
    output = function(*leaves)
    total = (output * weights(output.shape, 1)).sum()
    grads = gradients(total, leaves, create_graph=second, allow_unused=True)
    results = [output.data, *(_or_zeros(grad, leaf) for grad, leaf in zip(grads, leaves, strict=True))]
    if second:
        probes = [(g * weights(g.shape, 2)).sum() for g in grads if g is not None and g.requires_grad]
        if probes:
            probe = sum(probes[1:], probes[0])
            seconds = gradients(probe, leaves, allow_unused=True)
        else:
            seconds = tuple(None for _ in leaves)
        results += [_or_zeros(grad, leaf) for grad, leaf in zip(seconds, leaves, strict=True)]
    return results


def _or_zeros(grad: Tensor | None, leaf: Tensor) -> np.ndarray[Any, Any]:
    return np.zeros(leaf.shape) if grad is None else grad.data


def _torch_results(
    function: Callable[..., torch.Tensor], leaves: list[torch.Tensor], *, second: bool
) -> list[np.ndarray[Any, Any]]:
    for leaf in leaves:
        leaf.requires_grad_()
    output = function(*leaves)
    total = (output * torch.tensor(weights(tuple(output.shape), 1), dtype=output.dtype)).sum()
    grads = torch.autograd.grad(total, leaves, create_graph=second, allow_unused=True)
    results = [output.detach().numpy(), *(_torch_or_zeros(g, leaf) for g, leaf in zip(grads, leaves, strict=True))]
    if second:
        probes = [
            (g * torch.tensor(weights(tuple(g.shape), 2), dtype=g.dtype)).sum()
            for g in grads
            if g is not None and g.requires_grad
        ]
        seconds = torch.autograd.grad(sum(probes), leaves, allow_unused=True) if probes else [None] * len(leaves)
        results += [_torch_or_zeros(g, leaf) for g, leaf in zip(seconds, leaves, strict=True)]
    return results


def _torch_or_zeros(grad: torch.Tensor | None, leaf: torch.Tensor) -> np.ndarray[Any, Any]:
    return np.zeros(tuple(leaf.shape)) if grad is None else grad.numpy(force=True)


def _assert_equal(mine: Arrays, other: Arrays, rtol: float, atol: float) -> None:
    assert len(mine) == len(other)
    for number, (left, right) in enumerate(zip(mine, other, strict=True)):
        np.testing.assert_allclose(left, right, rtol=rtol, atol=atol, err_msg=f"result {number}")

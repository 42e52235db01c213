"""Elementwise functions, reductions, rearrangements and selections against PyTorch: values and two derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from clumsygrad.core import double_precision, gradients, math, parameter

Ours = Callable[..., Any]


def compare(ours: Ours, theirs: Ours, *arrays: Any) -> None:
    """Compare value, gradient and the gradient of the gradient's squares, in double precision."""
    rng = np.random.default_rng(0)
    with double_precision():
        tensors = [parameter(array) for array in arrays]
        result = ours(*tensors)
        weights = rng.uniform(0.5, 1.5, result.shape)
        grads = gradients(result, tensors, [weights], create_graph=True, allow_unused=True)
        total = squares(grads)
        second = gradients(total, tensors, allow_unused=True) if total is not None else [None] * len(arrays)
    leaves = [torch.tensor(np.asarray(array, float), requires_grad=True) for array in arrays]
    expected = theirs(*leaves)
    np.testing.assert_allclose(result.data, expected.detach().numpy(), rtol=1e-10, atol=1e-12)
    torch_grads = torch.autograd.grad(expected, leaves, torch.tensor(weights), create_graph=True, allow_unused=True)
    torch_total = squares(torch_grads)
    torch_second: Any = [None] * len(arrays)
    if torch_total is not None:
        torch_second = torch.autograd.grad(torch_total, leaves, allow_unused=True)
    for found, wanted, rtol in ((grads, torch_grads, 1e-9), (second, torch_second, 1e-8)):
        for one, other, array in zip(found, wanted, arrays, strict=True):
            # What nothing depends on is None for one, zero for the other.
            ours_grad = np.zeros(np.shape(array)) if one is None else one.data
            torch_grad = np.zeros(np.shape(array)) if other is None else other.numpy(force=True)
            np.testing.assert_allclose(ours_grad, torch_grad, rtol=rtol, atol=1e-10)


def squares(grads: Any) -> Any:
    """Return the sum of the squares of the gradients that depend on something, None when none does."""
    parts = [(grad * grad).sum() for grad in grads if grad is not None and grad.requires_grad]
    return sum(parts) if parts else None


def draw(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 1) -> Any:
    return np.random.default_rng(seed).uniform(low, high, shape)


UNARY: tuple[tuple[str, str, float, float], ...] = (
    ("exp", "exp", -2, 2), ("expm1", "expm1", -2, 2), ("log", "log", 0.5, 3), ("log1p", "log1p", -0.5, 2),
    ("log2", "log2", 0.5, 3), ("log10", "log10", 0.5, 3), ("sqrt", "sqrt", 0.5, 3), ("square", "square", -2, 2),
    ("reciprocal", "reciprocal", 0.5, 2), ("abs", "abs", -2, 2), ("sign", "sign", -2, 2), ("sin", "sin", -3, 3),
    ("cos", "cos", -3, 3), ("tan", "tan", -1, 1), ("arcsin", "asin", -0.9, 0.9), ("arccos", "acos", -0.9, 0.9),
    ("arctan", "atan", -3, 3), ("sinh", "sinh", -2, 2), ("cosh", "cosh", -2, 2), ("tanh", "tanh", -2, 2),
    ("erf", "erf", -3, 3), ("negative", "neg", -2, 2),
)  # fmt: skip


@pytest.mark.parametrize(("ours", "theirs", "low", "high"), UNARY)
@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0, 3)])
def test_unary(ours: str, theirs: str, low: float, high: float, shape: tuple[int, ...]) -> None:
    compare(getattr(math, ours), getattr(torch, theirs), draw(*shape, low=low, high=high))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("add", "add"), ("subtract", "sub"), ("multiply", "mul"), ("divide", "div"), ("power", "pow"),
        ("arctan2", "atan2"), ("hypot", "hypot"), ("maximum", "maximum"), ("minimum", "minimum"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("shapes", [((), ()), ((3,), (2, 3)), ((2, 1), (3,)), ((2, 3), ()), ((0, 3), (3,))])
def test_binary(ours: str, theirs: str, shapes: Any) -> None:
    x, y = draw(*shapes[0], low=0.5), draw(*shapes[1], low=0.5, seed=2)
    compare(getattr(math, ours), getattr(torch, theirs), x, y)


def test_ties_and_points_without_slope() -> None:
    tied = np.array([[1.0, 2.0, 2.0], [2.0, 0.0, 2.0]])
    compare(lambda x: math.maximum(x, x[::-1]), lambda x: torch.maximum(x, x.flip(0)), tied)
    compare(lambda x: math.max(x, axis=1), lambda x: torch.amax(x, 1), tied)
    compare(lambda x: math.min(x, axis=(0, 1)), lambda x: torch.amin(x, (0, 1)), tied)
    compare(lambda x: math.clip(x, 0, 2), lambda x: torch.clamp(x, 0, 2), tied)
    compare(math.abs, torch.abs, np.zeros(3))


AXES: tuple[Any, ...] = (0, 1, -1, (0, 2), (-1, 0), (0, 1, 2))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("keep", [False, True])
def test_reductions(axis: Any, keep: bool) -> None:
    x = draw(2, 3, 4)
    pairs: tuple[tuple[Ours, Ours], ...] = (
        (math.sum, torch.sum), (math.mean, torch.mean), (math.max, torch.amax), (math.min, torch.amin),
        (math.logsumexp, torch.logsumexp),
    )  # fmt: skip
    for ours, theirs in pairs:
        compare(lambda t, f=ours: f(t, axis=axis, keepdims=keep), lambda t, f=theirs: f(t, dim=axis, keepdim=keep), x)
    for ddof in (0, 1):
        for ours, theirs in ((math.var, torch.var), (math.std, torch.std)):
            compare(
                lambda t, f=ours, d=ddof: f(t, axis=axis, ddof=d, keepdims=keep),
                lambda t, f=theirs, d=ddof: f(t, dim=axis, correction=d, keepdim=keep),
                x,
            )


@pytest.mark.parametrize("order", [1, 2, 3, 2.5, np.inf, -np.inf])
def test_vector_norms(order: float) -> None:
    for axis in (0, -1):
        compare(
            lambda x, axis=axis: math.norm(x, order, axis),
            lambda x, axis=axis: torch.linalg.vector_norm(x, order, dim=axis),
            draw(3, 4),
        )


@pytest.mark.parametrize("order", ["fro", 1, -1, np.inf, -np.inf])
def test_matrix_norms(order: Any) -> None:
    compare(
        lambda x: math.norm(x, order, (0, 2), keepdims=True),
        lambda x: torch.linalg.matrix_norm(x, order, (0, 2), keepdim=True),
        draw(2, 3, 4),
    )


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_products(zeros: int) -> None:
    x = draw(3, 4)
    x[:, :zeros] = 0
    for axis in (0, 1):
        compare(lambda t, axis=axis: math.prod(t, axis), lambda t, axis=axis: torch.prod(t, axis), x)
        compare(lambda t, axis=axis: math.cumprod(t, axis), lambda t, axis=axis: torch.cumprod(t, axis), x)
    compare(math.prod, torch.prod, x)


KEY = np.array([[2, 0, 0], [1, 1, 3], [3, 2, 3]])
PAIRS: dict[str, tuple[Ours, Ours]] = {
    "reshape": (lambda x: math.reshape(x, (2, 6)), lambda x: x.reshape(2, 6)),
    "transpose": (math.transpose, lambda x: x.T),
    "swapaxes": (lambda x: math.swapaxes(x, 0, -1), lambda x: x.swapaxes(0, -1)),
    "moveaxis": (lambda x: math.moveaxis(x, 0, -1), lambda x: x.moveaxis(0, -1)),
    "squeeze": (lambda x: math.squeeze(x[:1], 0), lambda x: x[:1].squeeze(0)),
    "expand_dims": (lambda x: math.expand_dims(x, 1), lambda x: x.unsqueeze(1)),
    "flatten": (math.flatten, torch.flatten),
    "broadcast_to": (lambda x: math.broadcast_to(x, (2, 3, 4)), lambda x: x.broadcast_to(2, 3, 4)),
    "concatenate": (lambda x: math.concatenate([x, x[:1]]), lambda x: torch.cat([x, x[:1]])),
    "stack": (lambda x: math.stack([x, 2 * x], -1), lambda x: torch.stack([x, 2 * x], -1)),
    "split": (lambda x: math.split(x, [1], 1)[1], lambda x: torch.tensor_split(x, [1], 1)[1]),
    "tile": (lambda x: math.tile(x, (2, 1, 2)), lambda x: torch.tile(x, (2, 1, 2))),
    "repeat": (
        lambda x: math.repeat(x, [1, 0, 2], 0),
        lambda x: torch.repeat_interleave(x, torch.tensor([1, 0, 2]), 0),
    ),
    "pad": (lambda x: math.pad(x, ((0, 0), (1, 2))), lambda x: torch.nn.functional.pad(x, (1, 2))),
    "pad edge": (
        lambda x: math.pad(x, ((0, 0), (1, 2)), "edge"),
        lambda x: torch.nn.functional.pad(x[None], (1, 2), "replicate")[0],
    ),
    "pad reflect": (
        lambda x: math.pad(x, ((0, 0), (1, 2)), "reflect"),
        lambda x: torch.nn.functional.pad(x[None], (1, 2), "reflect")[0],
    ),
    "pad wrap": (
        lambda x: math.pad(x, ((0, 0), (1, 2)), "wrap"),
        lambda x: torch.nn.functional.pad(x[None], (1, 2), "circular")[0],
    ),
    "flip": (lambda x: math.flip(x, 1), lambda x: x.flip(1)),
    "roll": (lambda x: math.roll(x, (1, -1), (0, 1)), lambda x: x.roll((1, -1), (0, 1))),
    "tril": (lambda x: math.tril(x, -1), lambda x: x.tril(-1)),
    "triu": (lambda x: math.triu(x, 1), lambda x: x.triu(1)),
    "diagonal": (lambda x: math.diagonal(x, 1), lambda x: x.diagonal(1)),
    "trace": (lambda x: math.trace(x[:, :3]), lambda x: x[:, :3].trace()),
    "take": (lambda x: math.take(x, [1, 1, 0], 1), lambda x: x.index_select(1, torch.tensor([1, 1, 0]))),
    "take_along_axis": (
        lambda x: math.take_along_axis(x, KEY, 1),
        lambda x: torch.take_along_dim(x, torch.tensor(KEY), 1),
    ),
    "sort": (lambda x: math.sort(x, 0), lambda x: x.sort(0).values),
    "cumsum": (lambda x: math.cumsum(x, 1), lambda x: x.cumsum(1)),
    "where": (lambda x: math.where(x > 0, x * x, x), lambda x: torch.where(x > 0, x * x, x)),
    "getitem": (lambda x: x[[0, 2, 2], 1:], lambda x: x[[0, 2, 2], 1:]),
    "getitem pairs": (lambda x: x[[0, 2, 2], [1, 1, 1]], lambda x: x[[0, 2, 2], [1, 1, 1]]),
    "getitem mask": (lambda x: x[x > 0], lambda x: x[x > 0]),
    "getitem none": (lambda x: x[..., None, 1], lambda x: x[..., None, 1]),
}


@pytest.mark.parametrize("name", PAIRS)
def test_rearrangements_and_selections(name: str) -> None:
    ours, theirs = PAIRS[name]
    # Squared, so that the second derivative is not zero.
    compare(lambda x: ours(x) ** 2, lambda x: theirs(x) ** 2, draw(3, 4))


STEPS: tuple[tuple[Ours, Ours], ...] = (
    (lambda x, y: math.tanh(x) * y, lambda x, y: torch.tanh(x) * y),
    (lambda x, y: math.sin(x + y), lambda x, y: torch.sin(x + y)),
    (lambda x, y: x / (2 + math.cos(y)), lambda x, y: x / (2 + torch.cos(y))),
    (lambda x, y: math.exp(-x * x) - y, lambda x, y: torch.exp(-x * x) - y),
    (lambda x, y: x - math.mean(y, axis=0), lambda x, y: x - y.mean(0)),
    (lambda x, y: x[:, [2, 0, 0]] * y, lambda x, y: x[:, [2, 0, 0]] * y),
    (lambda x, y: (x @ y.T) @ x * 0.1, lambda x, y: (x @ y.T) @ x * 0.1),
    (lambda x, y: math.cumsum(x, 1) * 0.3 + y, lambda x, y: x.cumsum(1) * 0.3 + y),
    (lambda x, y: math.logsumexp(x, 1, keepdims=True) - y, lambda x, y: torch.logsumexp(x, 1, keepdim=True) - y),
    (lambda x, y: math.where(y > 0, x, y * y), lambda x, y: torch.where(y > 0, x, y * y)),
    (lambda x, y: math.maximum(x, y), lambda x, y: torch.maximum(x, y)),
    (lambda x, y: math.concatenate([x[:1], y[1:]]), lambda x, y: torch.cat([x[:1], y[1:]])),
    (lambda x, y: math.arctan2(x, 2 + y * y), lambda x, y: torch.atan2(x, 2 + y * y)),
    (lambda x, y: math.std(x, 1, keepdims=True) * y, lambda x, y: x.std(1, correction=0, keepdim=True) * y),
)


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    program = [rng.integers(0, 1000, 3) for _ in range(rng.integers(1, 31))]

    def run(side: int, bound: Ours, inputs: Any) -> Any:
        results = list(inputs)
        for choice, left, right in program:
            x, y = results[left % len(results)], results[-1 - right % len(results)]
            results.append(bound(STEPS[choice % len(STEPS)][side](x, y)))
        return results[-1] + results[len(results) // 2]

    compare(
        lambda *tensors: run(0, math.arctan, tensors),
        lambda *tensors: run(1, torch.atan, tensors),
        draw(2, 3, seed=seed),
        draw(2, 3, seed=seed + 1000),
    )

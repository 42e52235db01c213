"""Products, linear algebra and transforms against PyTorch: values, gradients, second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from clumsygrad.core import double_precision, functional, gradients, linalg, math, parameter

RNG = np.random.default_rng(5)


def compare(ours: Callable[..., Any], theirs: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
    arrays = [RNG.normal(size=shape) for shape in shapes]
    with double_precision():
        tensors = [parameter(array) for array in arrays]
        result = ours(*tensors)
        weights = RNG.normal(size=result.shape)
        grads = gradients(result, tensors, weights, create_graph=True)
        squares = sum(math.sum(g * g) for g in grads)
        more = gradients(squares, tensors, allow_unused=True) if squares.requires_grad else []
    leaves = [torch.tensor(array, requires_grad=True) for array in arrays]
    expected = theirs(*leaves)
    np.testing.assert_allclose(result.data, expected.detach().numpy(), rtol=1e-9, atol=1e-11)
    torch_grads = torch.autograd.grad(expected, leaves, torch.tensor(weights), create_graph=True)
    for grad, other in zip(grads, torch_grads, strict=True):
        np.testing.assert_allclose(grad.data, other.detach().numpy(), rtol=1e-8, atol=1e-10)
    torch_squares = sum((g * g).sum() for g in torch_grads)
    assert bool(more) == torch_squares.requires_grad
    if more:
        torch_more = torch.autograd.grad(torch_squares, leaves, allow_unused=True)
        for grad, other in zip(more, torch_more, strict=True):
            found = 0 if grad is None else grad.data
            np.testing.assert_allclose(found, 0 if other is None else other.numpy(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("shapes", [
    ((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((4, 2, 3), (3, 2)), ((4, 2, 3), (4, 3, 2)),
    ((5, 1, 2, 3), (4, 3, 2)), ((2, 3), (4, 3, 2)), ((3,), (4, 3, 2)), ((4, 2, 3), (3,)),
])  # fmt: skip
def test_matmul(shapes: tuple[tuple[int, ...], ...]) -> None:
    compare(math.matmul, torch.matmul, *shapes)


@pytest.mark.parametrize(("form", "shapes"), [
    ("ij,jk->ik", ((2, 3), (3, 4))), ("ii->i", ((3, 3),)), ("ii", ((3, 3),)), ("bij,bjk->bik", ((2, 3, 2), (2, 2, 4))),
    ("i,j->ij", ((3,), (2,))), ("ij->j", ((2, 3),)), ("...ij,...jk->...ik", ((2, 2, 3), (3, 4))),
    ("ab,bc,cd->ad", ((2, 3), (3, 2), (2, 4))), ("i,i->", ((3,), (1,))),
    ("bhqd,bhkd->bhqk", ((2, 2, 3, 2), (2, 2, 4, 2))),
    ("ijij->ij", ((2, 3, 2, 3),)), ("ij,ij->", ((2, 3), (2, 3))),
])  # fmt: skip
def test_einsum(form: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    compare(lambda *xs: math.einsum(form, *xs), lambda *xs: torch.einsum(form, *xs), *shapes)


@pytest.mark.parametrize("axes", [0, 1, 2, ([0, 1], [1, 0]), ([-1], [0])])
def test_tensordot(axes: Any) -> None:
    second = (3, 2) if axes in (1, ([0, 1], [1, 0]), ([-1], [0])) else (2, 3)
    compare(lambda x, y: math.tensordot(x, y, axes), lambda x, y: torch.tensordot(x, y, axes), (2, 3), second)


def spd(x: Any) -> Any:
    unit = torch.eye(x.shape[-1], dtype=torch.float64) if isinstance(x, torch.Tensor) else np.eye(x.shape[-1])
    return x @ x.swapaxes(-1, -2) + x.shape[-1] * unit


PAIRS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "inv": (linalg.inv, torch.linalg.inv, ((3, 3),)),
    "inv of stacks": (linalg.inv, torch.linalg.inv, ((2, 3, 3),)),
    "solve, vector": (linalg.solve, torch.linalg.solve, ((3, 3), (3,))),
    "solve, matrix": (linalg.solve, torch.linalg.solve, ((3, 3), (3, 2))),
    "solve, stacks": (linalg.solve, torch.linalg.solve, ((2, 3, 3), (2, 3, 2))),
    "det": (linalg.det, torch.linalg.det, ((3, 3),)),
    "det of stacks": (linalg.det, torch.linalg.det, ((2, 3, 3),)),
    "slogdet": (lambda x: linalg.slogdet(x)[1], lambda x: torch.linalg.slogdet(x)[1], ((3, 3),)),
    "cholesky": (lambda x: linalg.cholesky(spd(x)), lambda x: torch.linalg.cholesky(spd(x)), ((3, 3),)),
    "cholesky of stacks": (lambda x: linalg.cholesky(spd(x)), lambda x: torch.linalg.cholesky(spd(x)), ((2, 3, 3),)),
    "eigenvalues": (lambda x: linalg.eigh(spd(x))[0], lambda x: torch.linalg.eigh(spd(x))[0], ((3, 3),)),
    "eigenvectors": (
        lambda x: linalg.eigh(spd(x))[1] ** 2, lambda x: torch.linalg.eigh(spd(x))[1] ** 2, ((2, 3, 3),)),
    "Q": (lambda x: linalg.qr(x)[0], lambda x: torch.linalg.qr(x)[0], ((4, 3),)),
    "R": (lambda x: linalg.qr(x)[1], lambda x: torch.linalg.qr(x)[1], ((2, 4, 3),)),
    "Q, wide": (lambda x: linalg.qr(x)[0], lambda x: torch.linalg.qr(x)[0], ((3, 4),)),
    "R, wide": (lambda x: linalg.qr(x)[1], lambda x: torch.linalg.qr(x)[1], ((3, 4),)),
    "U": (lambda x: linalg.svd(x, False)[0] ** 2, lambda x: torch.linalg.svd(x, False)[0] ** 2, ((4, 3),)),
    "S": (linalg.svdvals, torch.linalg.svdvals, ((2, 3, 4),)),
    "Vh": (lambda x: linalg.svd(x, False)[2] ** 2, lambda x: torch.linalg.svd(x, False)[2] ** 2, ((3, 4),)),
    "pinv, tall": (linalg.pinv, torch.linalg.pinv, ((4, 2),)),
    "pinv, wide": (linalg.pinv, torch.linalg.pinv, ((2, 2, 4),)),
    "matrix_power": (lambda x: linalg.matrix_power(x, 3), lambda x: torch.linalg.matrix_power(x, 3), ((3, 3),)),
    "multi_dot": (lambda *x: linalg.multi_dot(x), lambda *x: torch.linalg.multi_dot(x), ((2, 3), (3, 4), (4, 1))),
    "nuclear norm": (lambda x: linalg.norm(x, "nuc"), lambda x: torch.linalg.norm(x, "nuc"), ((3, 4),)),
    "spectral norm": (lambda x: linalg.norm(x, 2), lambda x: torch.linalg.norm(x, 2), ((3, 4),)),
    "smallest singular value": (lambda x: linalg.norm(x, -2), lambda x: torch.linalg.norm(x, -2), ((3, 4),)),
    "outer": (math.outer, torch.outer, ((3,), (2,))),
}  # fmt: skip


@pytest.mark.parametrize(("ours", "theirs", "shapes"), PAIRS.values(), ids=PAIRS)
def test_linear_algebra(ours: Any, theirs: Any, shapes: tuple[tuple[int, ...], ...]) -> None:
    compare(ours, theirs, *shapes)


@pytest.mark.parametrize("name", ["cholesky", "eigh"])
def test_gradient_of_a_symmetric_leaf(name: str) -> None:
    root = RNG.normal(size=(3, 3))
    array = root @ root.T + np.eye(3)
    with double_precision():
        a = parameter(array)
        result = linalg.cholesky(a) if name == "cholesky" else linalg.eigh(a)[0]
        result.backward(np.arange(1.0, result.size + 1).reshape(result.shape))
    leaf = torch.tensor(array, requires_grad=True)
    expected = torch.linalg.cholesky(leaf) if name == "cholesky" else torch.linalg.eigh(leaf)[0]
    expected.backward(torch.arange(1.0, expected.numel() + 1, dtype=torch.float64).reshape(expected.shape))
    np.testing.assert_allclose(a.grad, leaf.grad.numpy(), rtol=1e-9)


def test_transforms() -> None:
    x, v = RNG.normal(size=4), RNG.normal(size=4)

    def ours(t: Any) -> Any:
        return math.sum(math.exp(math.sin(t)) * t[::-1])

    def theirs(t: Any) -> Any:
        return (torch.exp(torch.sin(t)) * t.flip(0)).sum()

    def slope(t: Any) -> Any:
        return torch.autograd.grad(theirs(t), t, create_graph=True)[0]

    there = torch.autograd.functional
    start, way = torch.tensor(x, requires_grad=True), torch.tensor(v)
    with double_precision():
        pairs = [
            (functional.grad(ours)(x), slope(start)),
            (functional.hessian(ours)(x), there.hessian(theirs, start)),
            (functional.jacobian(functional.grad(ours))(x), there.jacobian(slope, start)),
            (functional.jvp(ours, (x,), (v,))[1], there.jvp(theirs, start, way)[1]),
            (functional.hvp(ours, (x,), (v,))[1][0], there.hvp(theirs, start, way)[1]),
            (functional.vjp(functional.grad(ours), x)[1](v)[0], there.vjp(slope, start, way)[1]),
            (
                functional.jacobian(functional.hessian(ours))(x),
                there.jacobian(lambda t: there.hessian(theirs, t, create_graph=True), start),
            ),
        ]
    for found, expected in pairs:
        np.testing.assert_allclose(found.data, expected.detach().numpy(), rtol=1e-9, atol=1e-12)

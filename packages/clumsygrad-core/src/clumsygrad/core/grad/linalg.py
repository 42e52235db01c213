"""Backward functions of ``linalg.py``, in the same order.

A factorisation has several results, and a node has one: its value is all of them in a row, which the forward function
and the backward function take apart in the same way (:func:`pieces`).
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from ..broadcasting import unbroadcast
from ..tensor import Tensor
from ..tensor_type import TensorType
from ..types import Array, GradientTuple, Shape
from .recording import as_recorded

_INPUT = TensorType.INPUT


def transposed(x: Array) -> Array:
    """Return the matrices of a stack, each transposed."""
    return x.swapaxes(-1, -2)


def packed(*parts: Array, stack: int) -> Array:
    """Return stacks of arrays as one: every array raveled, one after the other, along the last axis.

    Args:
        *parts: arrays that agree in the first ``stack`` axes.
        stack: the number of these axes.
    """
    rows = [part.reshape(*part.shape[:stack], math.prod(part.shape[stack:])) for part in parts]
    return np.concatenate(rows, axis=-1)


def pieces(row: Array, shapes: tuple[Shape, ...]) -> list[Array]:
    """Return what :func:`packed` put into ``row``: arrays whose last axes have the given shapes."""
    found: list[Array] = []
    start = 0
    for shape in shapes:
        stop = start + math.prod(shape)
        found.append(row[..., start:stop].reshape(*row.shape[:-1], *shape))
        start = stop
    return found


def _most(*parts: Array) -> Array:
    """Return the largest absolute value in each matrix, over several stacks of them, as an array that broadcasts."""
    most: Array = np.maximum.reduce(
        [np.abs(np.asarray(part)).max(axis=(-1, -2), keepdims=True, initial=0) for part in parts]
    )
    return most


def quotient(numerator: Array, denominator: Array, size: Array, scale: Array) -> Array:
    """Return ``numerator / denominator`` for a numerator that vanishes wherever the denominator does.

    Where the denominator is 0 but for rounding, the result is 0 for a numerator that is so, too, and NaN for any other:
    there the gradient doesn't exist.

    Args:
        numerator: matrices.
        denominator: matrices of the same shape, or one that broadcasts.
        size: how large the numbers are of which the denominator is a sum or difference.
        scale: how large those are of which the numerator is made.
    """
    eps = float(np.finfo(size.dtype).eps)
    zero = np.abs(np.asarray(denominator)) <= 8 * eps * size
    if not zero.any():
        return numerator / denominator
    rounding = 16 * eps * max(numerator.shape[-2:]) * scale
    undefined = np.logical_and(zero, np.abs(np.asarray(numerator)) > rounding)
    value = numerator / np.where(zero, 1, denominator)
    return np.where(undefined, np.nan, np.where(zero, 0, value))


def _differences(values: Array) -> Array:
    """Return the matrix of ``values[j] - values[i]``, with 1 on the diagonal."""
    unit = np.eye(values.shape[-1], dtype=values.dtype)
    differences: Array = values[..., None, :] - values[..., :, None] + unit
    return differences


def inv_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``-B.mT @ grad @ B.mT`` for the inverse B."""
    inverse = transposed(tensor._data)
    return (-(inverse @ grad @ inverse),)


def solve_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``h = solve(A.mT, grad)`` for the right side, and ``-h @ x.mT`` for the matrix."""
    matrix, right = tensor._parents
    a, b, x = matrix._data, right._data, tensor._data
    vector = b.ndim == 1
    if vector:
        grad, x = grad[..., None], x[..., None]
    pulled = np.linalg.solve(transposed(a), grad)
    matrix_grad = right_grad = None
    if matrix._tensor_type is not _INPUT:
        matrix_grad = unbroadcast(-(pulled @ transposed(x)), a.shape)
    if right._tensor_type is not _INPUT:
        right_grad = unbroadcast(pulled[..., 0] if vector else pulled, b.shape)
    return matrix_grad, right_grad


def cofactors(a: Array) -> Array:
    r"""Return the derivatives of the determinant: for each element that of what is left without its row and column.

    By the singular values :math:`\det(U V^\top) U \, \mathrm{diag}(\prod_{j \ne i} s_j) V^\top`, which is right for
    matrices of any rank.
    """
    number = a.shape[-1]
    if as_recorded(a) is not None:
        return _recorded_cofactors(a, number)
    if not a.size:
        return a
    u, s, vt = np.linalg.svd(a)
    sign = np.sign(np.linalg.det(u) * np.linalg.det(vt))
    others = np.where(np.eye(number, dtype=bool), 1, s[..., None, :]).prod(-1) * sign[..., None]
    return cast("Array", (u * others[..., None, :]) @ vt)


def _recorded_cofactors(a: Array, number: int) -> Array:
    """Return the cofactors in operations that have derivatives themselves."""
    values = cast("Tensor", a)._data
    smallest = np.linalg.svd(values, compute_uv=False)[..., -1:] if number else values
    limit = np.sqrt(np.finfo(values.dtype).eps) * np.abs(values).max(initial=0)
    if np.all(smallest > limit):
        return cast("Array", np.linalg.det(a)[..., None, None] * transposed(np.linalg.inv(a)))
    # The determinants of the minors need no inverse, which doesn't exist here; they cost more.
    kept = np.array([[other for other in range(number) if other != index] for index in range(number)], dtype=np.intp)
    kept = kept.reshape(number, number - 1)
    minors = a[..., kept[:, None, :, None], kept[None, :, None, :]]
    signs = (-1.0) ** np.add.outer(np.arange(number), np.arange(number))
    return cast("Array", np.linalg.det(minors) * signs.astype(values.dtype))


def det_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad`` times the matrix of cofactors."""
    return (grad[..., None, None] * cofactors(tensor._parents[0]._data),)


def slogdet_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``grad * inv(A).mT``."""
    return (grad[..., None, None] * transposed(np.linalg.inv(tensor._parents[0]._data)),)


def cholesky_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The symmetric part of ``inv(L).mT @ P @ inv(L)``: P is the lower half of ``L.mT @ grad``, its diagonal halved."""
    factor = transposed(tensor._data)
    unit = np.eye(factor.shape[-1], dtype=grad.dtype)
    lower = np.tril(np.ones_like(unit))
    half = (factor @ (grad * lower)) * (lower - unit / 2)
    left = np.linalg.solve(factor, half)
    both = np.linalg.solve(factor, transposed(left))
    return ((both + transposed(both)) / 2,)


def eigh_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The symmetric part of ``V @ (diag(gw) + (V.mT @ gV) / (wj - wi)) @ V.mT``."""
    shapes = tensor._extra["shapes"]
    values, vectors = pieces(tensor._data, shapes)
    values_grad, vectors_grad = pieces(grad, shapes)
    unit = np.eye(values.shape[-1], dtype=grad.dtype)
    turned = transposed(vectors) @ vectors_grad
    size, scale = _most(values[..., None, :]), _most(turned)
    # Only a rotation keeps the vectors orthonormal: it is what they can do, and what counts in their gradient.
    turned = (turned - transposed(turned)) / 2
    inner = quotient(turned, _differences(values), size, scale) + unit * values_grad[..., None, :]
    result = vectors @ inner @ transposed(vectors)
    return ((result + transposed(result)) / 2,)


def qr_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``(gQ + Q @ C) @ inv(R).mT`` with C the lower half of ``R @ gR.mT - gQ.mT @ Q``, mirrored at the diagonal.

    For a wide matrix ``[X, Y]``, ``R = [U, V]`` with ``V = Q.mT @ Y``: the part of Y is ``Q @ gV``, and ``Y @ gV.mT``
    joins the gradient of Q.
    """
    shapes: tuple[Shape, ...] = tensor._extra["shapes"]
    q, r = pieces(tensor._data, shapes)
    q_grad, r_grad = pieces(grad, shapes)
    rows, columns = shapes[1]
    r_grad = r_grad * np.triu(np.ones((rows, columns), grad.dtype))
    rest = None
    if columns > rows:
        beyond = tensor._parents[0]._data[..., rows:]
        rest = q @ r_grad[..., rows:]
        q_grad = q_grad + beyond @ transposed(r_grad[..., rows:])
        r, r_grad = r[..., :rows], r_grad[..., :rows]
    lower = np.tril(np.ones((rows, rows), grad.dtype))
    half = (r @ transposed(r_grad) - transposed(q_grad) @ q) * lower
    mirrored = half + transposed(half * (1 - np.eye(rows, dtype=grad.dtype)))
    result = transposed(np.linalg.solve(r, transposed(q_grad + q @ mirrored)))
    return (result if rest is None else np.concatenate([result, rest], axis=-1),)


def svd_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``U @ (diag(gs) + (K + L) / (sj - si) / 2 + (K - L) / (sj + si) / 2) @ V.mT``, and what leaves the two spaces.

    K and L are ``U.mT @ gU`` and ``V.mT @ gV`` minus their transposes. What leaves the space of U is divided by the
    singular values, and likewise for V.
    """
    shapes: tuple[Shape, ...] = tensor._extra["shapes"]
    u, s, vt = pieces(tensor._data, shapes)
    u_grad, s_grad, vt_grad = pieces(grad, shapes)
    number = shapes[1][0]
    if np.any(np.asarray(u_grad[..., number:])) or np.any(np.asarray(vt_grad[..., number:, :])):
        raise ValueError(
            "the singular vectors beyond the singular values are any basis of a space, and have no gradient; "
            "call svd with full_matrices=False"
        )
    u, u_grad = u[..., :number], u_grad[..., :number]
    vt, vt_grad = vt[..., :number, :], vt_grad[..., :number, :]
    v, v_grad = transposed(vt), transposed(vt_grad)
    turned_u, turned_v = transposed(u) @ u_grad, transposed(v) @ v_grad
    size, scale = _most(s[..., None, :]), _most(turned_u, turned_v)
    turned_u, turned_v = turned_u - transposed(turned_u), turned_v - transposed(turned_v)
    unit = np.eye(number, dtype=grad.dtype)
    sums = s[..., None, :] + s[..., :, None]
    inner = quotient(turned_u + turned_v, _differences(s), size, scale)
    inner = (inner + quotient(turned_u - turned_v, sums, size, scale)) / 2
    result = u @ (inner + unit * s_grad[..., None, :]) @ vt
    if u.shape[-2] > number:
        leaving = u_grad - u @ (transposed(u) @ u_grad)
        result = result + quotient(leaving, s[..., None, :], size, _most(u_grad)) @ vt
    if v.shape[-2] > number:
        leaving = v_grad - v @ (vt @ v_grad)
        result = result + u @ transposed(quotient(leaving, s[..., None, :], size, _most(v_grad)))
    return (result,)


def pinv_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``-B.mT @ g @ B.mT + (I - A @ B) @ g.mT @ B @ B.mT + B.mT @ B @ g.mT @ (I - B @ A)`` for the pseudoinverse B."""
    a, b = tensor._parents[0]._data, tensor._data
    bt, gt = transposed(b), transposed(grad)
    right = gt @ b @ bt
    left = bt @ b @ gt
    return (right - a @ (b @ right) + left - (left @ b) @ a - bt @ grad @ bt,)

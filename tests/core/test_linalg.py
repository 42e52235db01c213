"""Linear algebra where it has conventions of its own: singular and degenerate matrices, symmetry, constants, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clumsygrad.core import (
    Array,
    Tensor,
    TensorType,
    double_precision,
    functional,
    gradients,
    linalg,
    math,
    no_grad,
    parameter,
    tensor,
)

from .derivatives import check_derivatives

RNG = np.random.default_rng(11)


def matrix(*shape: int) -> Array:
    return RNG.normal(size=shape)


def grad_of(t: Tensor) -> Array:
    assert t.grad is not None
    return t.grad


# Determinants of singular matrices


SINGULAR = {
    "rank 2 of 3": np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, -1.0]]),
    "rank 1 of 3": np.outer([1.0, -2.0, 0.5], [3.0, 1.0, 2.0]),
    "zero": np.zeros((2, 2)),
    "zero, 1 by 1": np.zeros((1, 1)),
    "zero, 3 by 3": np.zeros((3, 3)),
    "a stack": np.stack([np.diag([1.0, 0.0, 2.0]), np.eye(3)]),
}


@pytest.mark.parametrize("array", SINGULAR.values(), ids=SINGULAR)
def test_derivatives_of_the_determinant_of_a_singular_matrix(array: Array) -> None:
    check_derivatives(linalg.det, array, plain=np.linalg.det)


def test_third_derivative_of_the_determinant_of_zero() -> None:
    # det is a sum of products of 3 elements: its third derivative is ±1 for each of them, at 0, too.
    def second(x: Tensor) -> Tensor:
        return functional.jacobian(functional.grad(linalg.det))(x)

    third = functional.jacobian(second)(np.zeros((3, 3)))
    assert third[0, 0, 1, 1, 2, 2].item() == pytest.approx(1)
    assert third[0, 1, 1, 0, 2, 2].item() == pytest.approx(-1)
    assert float(np.abs(third.data).sum()) == pytest.approx(36)


def test_slogdet_of_a_singular_matrix() -> None:
    a = parameter(np.zeros((2, 2)))
    sign, logabsdet = linalg.slogdet(a)
    assert sign.item() == 0
    assert logabsdet.item() == -np.inf
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        logabsdet.backward()


def test_slogdet_has_names_and_a_constant_sign() -> None:
    result = np.linalg.slogdet(parameter([[0.0, 2.0], [1.0, 0.0]]))
    found: Any = result
    assert found.sign.item() == -1
    assert found.sign.tensor_type is TensorType.INPUT
    assert found.logabsdet.item() == pytest.approx(np.log(2))


# Symmetric matrices


@pytest.mark.parametrize("function", [linalg.cholesky, lambda a: linalg.eigh(a)[0], linalg.eigvalsh])
def test_the_gradient_of_a_symmetric_matrix_is_symmetric(function: Any) -> None:
    x = matrix(4, 4)
    a = parameter(x @ x.T + np.eye(4))
    result = function(a)
    result.backward(matrix(*result.shape))
    assert np.allclose(grad_of(a), grad_of(a).T, atol=1e-5)
    assert np.abs(grad_of(a)).max() > 0.01


@pytest.mark.parametrize("triangle", ["L", "U"])
def test_one_triangle_is_read(triangle: Any) -> None:
    x = matrix(3, 3)
    symmetric = x @ x.T + np.eye(3)
    half = np.tril(symmetric) if triangle == "L" else np.triu(symmetric)
    assert np.allclose(linalg.eigh(half, triangle)[0].data, np.linalg.eigvalsh(symmetric), atol=1e-5)
    assert np.allclose(
        linalg.cholesky(half, upper=triangle == "U").data,
        np.linalg.cholesky(symmetric, upper=triangle == "U"),
        atol=1e-5,
    )


@pytest.mark.parametrize("array", [np.eye(3), np.zeros((2, 2)), np.diag([1.0, 2.0, 2.0])])
def test_equal_eigenvalues_have_the_gradient_of_their_sum(array: Array) -> None:
    a = parameter(array)
    math.sum(linalg.eigh(a).eigenvalues).backward()
    assert np.allclose(grad_of(a), np.eye(len(array)), atol=1e-6)


@pytest.mark.parametrize("basis", [np.eye(4), np.linalg.qr(matrix(4, 4))[0]], ids=["exactly", "but for rounding"])
def test_functions_that_do_not_depend_on_the_basis_at_equal_eigenvalues(basis: Array) -> None:
    # The projection on the space of the two equal eigenvalues, against a difference quotient along a direction.
    way = matrix(4, 4)
    way = way + way.T
    weights = matrix(4, 4)

    def projection(a: Any) -> Any:
        vectors = np.linalg.eigh(a)[1][:, 1:]
        return np.sum((vectors @ vectors.T) * weights)

    start = basis @ np.diag([1.0, 2.0, 2.0, 2.0]) @ basis.T
    start = (start + start.T) / 2
    with double_precision():
        found = functional.jvp(projection, (start,), (way,))[1].item()
    eps = 1e-6
    expected = (projection(start + eps * way) - projection(start - eps * way)) / (2 * eps)
    assert found == pytest.approx(expected, rel=1e-5)


def test_functions_of_the_basis_at_equal_eigenvalues_have_no_gradient() -> None:
    a = parameter(np.eye(3))
    math.sum(linalg.eigh(a).eigenvectors * matrix(3, 3)).backward()
    assert np.isnan(grad_of(a)).any()


# Singular values


def polar(a: Any) -> Any:
    """The orthogonal factor of a matrix: a smooth function of it, also where singular values are equal."""
    u, _, vt = np.linalg.svd(a, full_matrices=False)
    return u @ vt


ROTATION = np.linalg.qr(matrix(4, 4))[0]


@pytest.mark.parametrize(
    "array",
    [
        np.eye(3),
        2 * np.eye(3)[:, [1, 2, 0]],
        np.diag([1.0, 3.0, 3.0]),
        np.eye(4)[:, :2],
        2 * ROTATION,
        ROTATION[:, :3],
        ROTATION @ np.diag([1.0, 3.0, 3.0, 3.0]) @ ROTATION[::-1],
    ],
)
def test_products_of_singular_vectors_at_equal_singular_values(array: Array) -> None:
    check_derivatives(polar, array, second=False, rtol=1e-5)


def test_functions_of_the_vectors_at_equal_singular_values_have_no_gradient() -> None:
    a = parameter(np.eye(3))
    math.sum(linalg.svd(a).U * matrix(3, 3)).backward()
    assert np.isnan(grad_of(a)).any()


def test_singular_values_of_a_matrix_of_lower_rank() -> None:
    a = parameter([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    (norm,) = linalg.svd(a, compute_uv=False)[:1]
    norm.backward()
    assert grad_of(a).tolist() == [[1, 0], [0, 0], [0, 0]]
    zero = parameter(np.zeros((2, 3)))
    linalg.norm(zero, "nuc").backward()
    assert np.isfinite(grad_of(zero)).all()


@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
def test_full_matrices_have_gradients_but_for_the_additional_vectors(shape: tuple[int, int]) -> None:
    array = matrix(*shape)
    a = parameter(array)
    u, s, vh = linalg.svd(a)
    assert (u.shape, s.shape, vh.shape) == ((shape[0],) * 2, (2,), (shape[1],) * 2)
    for full, reduced in zip((u, s, vh), np.linalg.svd(array, full_matrices=True), strict=True):
        assert np.allclose(full.data, reduced, atol=1e-5)
    (found,) = gradients(math.sum(u[:, :2] @ (s[:, None] * vh[:2])), a, keep_graph=True)
    assert np.allclose(found.data, 1, atol=1e-4)
    with pytest.raises(ValueError, match="full_matrices=False"):
        gradients(math.sum((u if shape[0] > 2 else vh) * matrix(4, 4)), a)


# Factorisations are what they say


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5), (2, 4, 3), (0, 3), (3, 0)])
def test_factors_multiply_to_the_matrix(shape: tuple[int, ...]) -> None:
    a = parameter(matrix(*shape))
    q, r = linalg.qr(a)
    u, s, vh = linalg.svd(a, full_matrices=False)
    for product in (q @ r, (u * s[..., None, :]) @ vh):
        assert np.allclose(product.data, a.data, atol=1e-5)
        (found,) = gradients(math.sum(product), a) if a.size else (math.zeros_like(a),)
        assert np.allclose(found.data, 1, atol=1e-3)


def test_named_results_as_numpys() -> None:
    a = tensor([[2.0, 1.0], [1.0, 3.0]])
    assert np.linalg.eigh(a)._fields == ("eigenvalues", "eigenvectors")
    assert np.linalg.qr(a)._fields == ("Q", "R")
    assert np.linalg.svd(a)._fields == ("U", "S", "Vh")
    assert np.linalg.slogdet(a)._fields == ("sign", "logabsdet")
    assert all(part.tensor_type is TensorType.INPUT for part in linalg.svd(a))


def test_without_recording_results_are_constants() -> None:
    a = parameter([[2.0, 1.0], [1.0, 3.0]])
    with no_grad():
        parts = (*linalg.svd(a), *linalg.qr(a, "complete"), *linalg.eigh(a), *linalg.slogdet(a), linalg.inv(a))
    assert all(part.tensor_type is TensorType.INPUT for part in parts)
    q, r = linalg.qr(tensor(np.ones((3, 1))), "complete")
    assert (q.shape, r.shape) == ((3, 3), (3, 1))


# Errors


def test_what_numpy_refuses_is_refused_in_its_words() -> None:
    singular = parameter(np.zeros((2, 2)))
    wide = parameter(np.ones((2, 3)))
    for function in (linalg.inv, lambda a: linalg.solve(a, np.ones(2)), np.linalg.inv):
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            function(singular)
        with pytest.raises(np.linalg.LinAlgError, match="square"):
            function(wide)
    others: list[Any] = [linalg.det, linalg.slogdet, linalg.eigh, linalg.cholesky, lambda a: linalg.matrix_power(a, 2)]
    for other in others:
        with pytest.raises(np.linalg.LinAlgError, match="square"):
            other(wide)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        linalg.cholesky(parameter(-np.eye(2)))
    with pytest.raises(ValueError, match=r"."):
        linalg.solve(np.eye(2), parameter(np.ones(3)))


def test_arguments_that_are_refused() -> None:
    tall = parameter(np.ones((3, 1)))
    mode: Any = "raw"
    with pytest.raises(ValueError, match="'reduced', 'complete' or 'r'; received 'raw'"):
        linalg.qr(tall, mode)
    with pytest.raises(ValueError, match="has no gradient"):
        linalg.qr(tall, "complete")
    with pytest.raises(ValueError, match="two names of one bound"):
        linalg.pinv(tall, 0.1, rtol=0.1)
    with pytest.raises(ValueError, match="two factors or more"):
        linalg.multi_dot([tall])


# Values and gradients that are known


def test_pinv_leaves_out_small_singular_values() -> None:
    array = np.diag([1.0, 0.5, 0.01])
    assert np.allclose(linalg.pinv(array).data, np.diag([1, 2, 100]))
    assert np.allclose(linalg.pinv(array, 0.1).data, np.diag([1, 2, 0]))
    assert np.allclose(np.linalg.pinv(parameter(array), rtol=0.1), np.diag([1, 2, 0]))


def test_pinv_of_a_matrix_that_keeps_its_lower_rank() -> None:
    left, right = matrix(4, 2), matrix(2, 3)
    check_derivatives(lambda x, y: np.linalg.pinv(x @ y, rtol=1e-10), left, right, rtol=1e-4)


def test_least_squares_through_the_pseudoinverse() -> None:
    a, b = matrix(5, 2), matrix(5)
    with double_precision():
        x = linalg.pinv(parameter(a)) @ parameter(b)
    assert np.allclose(x.data, np.linalg.lstsq(a, b)[0])


def test_gaussian_log_likelihood_by_two_ways() -> None:
    root, x = matrix(3, 3), matrix(3)

    def by_cholesky(root: Tensor) -> Tensor:
        factor = linalg.cholesky(root @ root.T + np.eye(3))
        white = linalg.solve(factor, x)
        return -math.sum(white * white) / 2 - math.sum(math.log(math.diagonal(factor)))

    def by_inverse(root: Tensor) -> Tensor:
        cov = root @ root.T + np.eye(3)
        return -math.sum((linalg.inv(cov) @ x) * x) / 2 - linalg.slogdet(cov).logabsdet / 2

    with double_precision():
        for transform in (functional.grad, functional.hessian):
            assert np.allclose(transform(by_cholesky)(root).data, transform(by_inverse)(root).data)


def test_solve_does_no_work_for_an_input() -> None:
    a, b = tensor([[2.0, 0.0], [0.0, 4.0]]), parameter([1.0, 1.0])
    x = linalg.solve(a, b)
    assert x.grad_fn is not None
    by_matrix, by_right = x.grad_fn(x, np.ones(2, np.float32))
    assert by_matrix is None
    assert by_right is not None
    assert by_right.tolist() == [0.5, 0.25]


def test_multi_dot_takes_the_cheap_way() -> None:
    a, b, c = parameter(np.ones((50, 2))), parameter(np.ones((2, 50))), parameter(np.ones((50, 1)))
    product = linalg.multi_dot([a, b, c])
    # a @ (b @ c): 200 multiplications instead of 7,500.
    assert [parent.shape for parent in product.parents] == [(50, 2), (2, 1)]


def test_a_gradient_that_is_no_number_stays_so() -> None:
    functions: list[Any] = [lambda a: linalg.eigh(a)[1], lambda a: linalg.svd(a)[0]]
    for function in functions:
        a = parameter([[2.0, 1.0], [1.0, 3.0]])
        function(a).backward(np.full((2, 2), np.nan))
        assert np.isnan(grad_of(a)).all()

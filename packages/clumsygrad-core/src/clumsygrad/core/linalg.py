"""Linear algebra over stacks of matrices, with the names, arguments and errors of ``numpy.linalg``.

Every function takes matrices in the last two axes, of any number of stacks of them. Backward functions stand in
``grad/linalg.py`` in the same order. A matrix that has no inverse, no factor, or no convergence is a
``numpy.linalg.LinAlgError``, also when that shows only in the backward pass.

Example:
    >>> from clumsygrad.core import linalg, parameter
    >>> a = parameter([[2.0, 1.0], [1.0, 3.0]])
    >>> linalg.det(a).backward()
    >>> a.grad.round(3).tolist()
    [[3.0, -1.0], [-1.0, 2.0]]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, cast, overload

import numpy as np

from .grad.linalg import (
    cholesky_backward,
    det_backward,
    eigh_backward,
    inv_backward,
    packed,
    pieces,
    pinv_backward,
    qr_backward,
    slogdet_backward,
    solve_backward,
    svd_backward,
)
from .math.elementwise import where
from .math.matrix import matmul
from .math.reduction import norm as norm
from .math.shaping import swapaxes
from .mode import is_grad_enabled
from .registry import register
from .tensor import Tensor, as_tensor, create_node, wrap
from .tensor_type import TensorType
from .types import Array, GradFn, TensorLike

__all__ = [
    "EighResult", "QRResult", "SVDResult", "SlogdetResult", "cholesky", "det", "eigh", "eigvalsh", "inv",
    "matrix_power", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
]  # fmt: skip

_INPUT = TensorType.INPUT


class SlogdetResult(NamedTuple):
    """What :func:`slogdet` returns."""

    sign: Tensor
    logabsdet: Tensor


class EighResult(NamedTuple):
    """What :func:`eigh` returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """What :func:`qr` returns."""

    Q: Tensor
    R: Tensor


class SVDResult(NamedTuple):
    """What :func:`svd` returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def _in_pieces(x: Tensor, parts: Sequence[Array], backward: GradFn) -> list[Tensor]:
    """Record one node of several results, and return them: constants when nothing is recorded."""
    if x._tensor_type is _INPUT or not is_grad_enabled():
        return [wrap(part) for part in parts]
    stack = x._data.ndim - 2
    shapes = tuple(part.shape[stack:] for part in parts)
    node = create_node(packed(*parts, stack=stack), backward, (x,), {"shapes": shapes})
    return cast("list[Tensor]", pieces(cast("Array", node), shapes))


def inv(a: TensorLike) -> Tensor:
    r"""Return the inverse :math:`A^{-1}`.

    Args:
        a: shape (..., n, n).

    Raises:
        numpy.linalg.LinAlgError: for a singular matrix, or one that is not square.

    Example:
        >>> from clumsygrad.core import linalg
        >>> linalg.inv([[2.0, 0.0], [0.0, 4.0]]).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """
    a = as_tensor(a)
    return create_node(np.linalg.inv(a._data), inv_backward, (a,))


def solve(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the solution ``x`` of ``a @ x = b``.

    Args:
        a: shape (..., n, n).
        b: shape (n,), or (..., n, m); the stacks are broadcast.

    Returns:
        Shape (..., n) for a vector, else (..., n, m).

    Raises:
        numpy.linalg.LinAlgError: for a singular matrix, or one that is not square.

    Example:
        >>> from clumsygrad.core import linalg
        >>> linalg.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0]).tolist()
        [1.0, 0.5]
    """
    a, b = as_tensor(a), as_tensor(b)
    return create_node(np.linalg.solve(a._data, b._data), solve_backward, (a, b))


def det(a: TensorLike) -> Tensor:
    """Return the determinant. Its derivatives are right for singular matrices, too.

    Args:
        a: shape (..., n, n).

    Returns:
        Shape (...,).

    Example:
        >>> from clumsygrad.core import linalg
        >>> linalg.det([[2.0, 0.0], [0.0, 4.0]]).item()
        8.0
    """
    a = as_tensor(a)
    return create_node(np.linalg.det(a._data), det_backward, (a,))


def slogdet(a: TensorLike) -> SlogdetResult:
    """Return the sign of the determinant, which is a constant, and the logarithm of its absolute value.

    The gradient needs the inverse: in the backward pass a singular matrix is a ``numpy.linalg.LinAlgError``.

    Args:
        a: shape (..., n, n).

    Returns:
        ``(sign, logabsdet)``, both of shape (...,); (0, -inf) for a singular matrix.

    Example:
        >>> from clumsygrad.core import linalg
        >>> sign, logabsdet = linalg.slogdet([[0.0, 1.0], [1.0, 0.0]])
        >>> sign.item(), logabsdet.item()
        (-1.0, 0.0)
    """
    a = as_tensor(a)
    sign, logabsdet = np.linalg.slogdet(a._data)
    return SlogdetResult(wrap(np.asarray(sign)), create_node(logabsdet, slogdet_backward, (a,)))


def cholesky(a: TensorLike, *, upper: bool = False) -> Tensor:
    r"""Return the lower triangular L with :math:`A = L L^\top`, for a symmetric positive definite matrix.

    Of the matrix only one triangle is read. The gradient is the symmetric one, as for a matrix whose two triangles
    change together.

    Args:
        a: shape (..., n, n).
        upper: return :math:`L^\top`, from the upper triangle.

    Raises:
        numpy.linalg.LinAlgError: for a matrix that is not positive definite, or not square.

    Example:
        >>> from clumsygrad.core import linalg
        >>> linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).tolist()
        [[2.0, 0.0], [1.0, 2.0]]

    References:
        Murray, "Differentiation of the Cholesky decomposition", 2016.
    """
    a = as_tensor(a)
    if upper:
        return swapaxes(cholesky(swapaxes(a, -1, -2)), -1, -2)
    return create_node(np.linalg.cholesky(a._data), cholesky_backward, (a,))


def eigh(a: TensorLike, UPLO: Literal["L", "U"] = "L") -> EighResult:
    r"""Return the eigenvalues and eigenvectors of a symmetric matrix: :math:`A V = V \,\mathrm{diag}(w)`.

    The gradient is the symmetric one, as for a matrix whose two triangles change together. Eigenvectors are determined
    but for their sign, so that only functions that don't depend on signs have a gradient that means something. Where
    eigenvalues are equal, any basis of their space will do: a function that depends on the choice has no gradient
    there, which is NaN, and one that doesn't (of the eigenvalues, or of the projection on the space) has the right one.
    Near such a point the gradient by eigenvectors is large, as :math:`1 / (w_j - w_i)`.

    Args:
        a: shape (..., n, n).
        UPLO: the triangle that is read: lower or upper.

    Returns:
        ``(eigenvalues, eigenvectors)`` of shapes (..., n), in ascending order, and (..., n, n), in columns.

    Example:
        >>> from clumsygrad.core import linalg
        >>> linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues.tolist()
        [1.0, 2.0]

    References:
        Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
        differentiation", 2008.
    """
    a = as_tensor(a)
    values, vectors = _in_pieces(a, np.linalg.eigh(a._data, UPLO), eigh_backward)
    return EighResult(values, vectors)


def eigvalsh(a: TensorLike, UPLO: Literal["L", "U"] = "L") -> Tensor:
    """Return the eigenvalues of a symmetric matrix, in ascending order; see :func:`eigh`.

    Example:
        >>> from clumsygrad.core import linalg
        >>> linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).tolist()
        [1.0, 2.0]
    """
    return eigh(a, UPLO).eigenvalues


@overload
def qr(a: TensorLike, mode: Literal["reduced", "complete"] = "reduced") -> QRResult: ...
@overload
def qr(a: TensorLike, mode: Literal["r"]) -> Tensor: ...
def qr(a: TensorLike, mode: Literal["reduced", "complete", "r"] = "reduced") -> QRResult | Tensor:
    """Return Q with orthonormal columns and upper triangular R with ``a = Q @ R``.

    The gradient needs an R (of a wide matrix: its first m columns) that has an inverse.

    Args:
        a: shape (..., m, n).
        mode: ``"reduced"``; ``"r"`` for R alone; ``"complete"``, which is the same for m ≤ n.

    Returns:
        ``(Q, R)`` of shapes (..., m, k) and (..., k, n) with k = min(m, n).

    Raises:
        ValueError: for another mode, and for ``"complete"`` with m > n when a gradient is wanted: the additional
            columns are any basis of a space, and have none.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.core import linalg
        >>> q, r = linalg.qr([[3.0, 1.0], [4.0, 2.0]])
        >>> np.allclose(q @ r, [[3.0, 1.0], [4.0, 2.0]], atol=1e-5)
        True

    References:
        Walter and Lehmann, "Algorithmic differentiation of linear algebra functions with application in optimum
        experimental design", 2010; the wide case follows from R's columns beyond m being ``Q.mT`` times those of a.
    """
    a = as_tensor(a)
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"the mode of qr is 'reduced', 'complete' or 'r'; received {mode!r}")
    complete = mode == "complete" and a._data.shape[-2] > a._data.shape[-1]
    if complete and a._tensor_type is not _INPUT and is_grad_enabled():
        raise ValueError(
            f"the complete Q of a matrix with more rows than columns has no gradient; received shape {a._data.shape}. "
            "Use mode='reduced'"
        )
    factors = np.linalg.qr(a._data, "complete" if complete else "reduced")
    q, r = _in_pieces(a, factors, qr_backward)
    return r if mode == "r" else QRResult(q, r)


@overload
def svd(a: TensorLike, full_matrices: bool = True, compute_uv: Literal[True] = True) -> SVDResult: ...
@overload
def svd(a: TensorLike, full_matrices: bool = True, *, compute_uv: Literal[False]) -> Tensor: ...
def svd(a: TensorLike, full_matrices: bool = True, compute_uv: bool = True) -> SVDResult | Tensor:
    r"""Return the singular value decomposition :math:`A = U \,\mathrm{diag}(s)\, V^\top`.

    Singular vectors are determined but for a common sign of each pair, so that only functions that don't depend on
    signs have a gradient that means something. Where singular values are equal, or 0, a function that depends on the
    choice of their vectors has no gradient, which is NaN; one that doesn't (of the singular values, or of products such
    as :math:`U V^\top`) has the right one. Near such a point the gradient by the vectors is large.

    Args:
        a: shape (..., m, n).
        full_matrices: return square U and Vh. What is beyond the first k = min(m, n) columns of U and rows of Vh has no
            gradient.
        compute_uv: return the vectors along with the values.

    Returns:
        ``(U, S, Vh)`` of shapes (..., m, m), (..., k) in descending order, and (..., n, n); (..., m, k) and (..., k, n)
        for ``full_matrices=False``. S alone for ``compute_uv=False``.

    Raises:
        ValueError: in the backward pass, for a function of the vectors beyond the first k.

    Example:
        >>> from clumsygrad.core import linalg
        >>> linalg.svd([[3.0, 0.0], [0.0, -4.0]]).S.tolist()
        [4.0, 3.0]

    References:
        Townsend, "Differentiating the singular value decomposition", 2016, with the quotients split so that they stay
        finite for equal singular values where the gradient does.
    """
    a = as_tensor(a)
    if not compute_uv:
        full_matrices = False
    u, s, vh = _in_pieces(a, np.linalg.svd(a._data, full_matrices), svd_backward)
    return SVDResult(u, s, vh) if compute_uv else s


def svdvals(x: TensorLike) -> Tensor:
    """Return the singular values, in descending order; see :func:`svd`.

    Example:
        >>> from clumsygrad.core import linalg
        >>> linalg.svdvals([[3.0, 0.0], [0.0, -4.0]]).tolist()
        [4.0, 3.0]
    """
    return svd(x, compute_uv=False)


def pinv(a: TensorLike, rcond: float | None = None, *, rtol: float | None = None) -> Tensor:
    r"""Return the Moore-Penrose pseudoinverse :math:`A^+`.

    The gradient is that for changes which keep the rank; where the rank is less than full, the pseudoinverse itself is
    not continuous.

    Args:
        a: shape (..., m, n).
        rcond: singular values that are not above this part of the largest one count as 0; by default NumPy's.
        rtol: another name of ``rcond``.

    Returns:
        Shape (..., n, m).

    Example:
        >>> from clumsygrad.core import linalg
        >>> linalg.pinv([[2.0, 0.0], [0.0, 0.0]]).tolist()
        [[0.5, 0.0], [0.0, 0.0]]

    References:
        Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
        separate", 1973.
    """
    a = as_tensor(a)
    if rcond is not None and rtol is not None:
        raise ValueError("rcond and rtol are two names of one bound; pass one of them")
    limit = rcond if rtol is None else rtol
    data = np.linalg.pinv(a._data) if limit is None else np.linalg.pinv(a._data, limit)
    return create_node(data, pinv_backward, (a,))


def matrix_power(a: TensorLike, n: int) -> Tensor:
    """Return the product of ``n`` equal matrices: the unit matrix for 0, of inverses for negative ``n``.

    Args:
        a: shape (..., m, m).
        n: any integer.

    Raises:
        numpy.linalg.LinAlgError: for a matrix that is not square, or has no inverse where one is needed.

    Example:
        >>> from clumsygrad.core import linalg
        >>> linalg.matrix_power([[1.0, 1.0], [0.0, 1.0]], 5).tolist()
        [[1.0, 5.0], [0.0, 1.0]]
    """
    a = as_tensor(a)
    if a._data.ndim < 2 or a._data.shape[-1] != a._data.shape[-2]:
        raise np.linalg.LinAlgError(f"a power is of square matrices; received shape {a._data.shape}")
    square = inv(a) if n < 0 else a
    exponent = -n if n < 0 else n
    result: Tensor | None = None
    while exponent:
        if exponent % 2:
            result = square if result is None else matmul(result, square)
        exponent //= 2
        if exponent:
            square = matmul(square, square)
    if result is None:
        # A constant, and yet a result of the graph, as a**0 is.
        return where(True, np.eye(a._data.shape[-1]), a)
    return result


def multi_dot(arrays: Sequence[TensorLike]) -> Tensor:
    """Return the product of several matrices, multiplied in the order that needs the fewest operations.

    Args:
        arrays: two matrices or more; the first and the last may be vectors.

    Raises:
        ValueError: for fewer than two.

    Example:
        >>> from clumsygrad.core import linalg
        >>> linalg.multi_dot([[[1.0, 2.0]], [[3.0], [4.0]], [[5.0]]]).tolist()
        [[55.0]]
    """
    factors = [as_tensor(array) for array in arrays]
    if len(factors) < 2:
        raise ValueError(f"a product has two factors or more; received {len(factors)}")
    shapes = [factor._data.shape for factor in factors]
    # A vector counts as a row in front and as a column at the end.
    lengths = [1 if len(shapes[0]) == 1 else shapes[0][0]]
    lengths += [1 if index == len(shapes) - 1 and len(shape) == 1 else shape[-1] for index, shape in enumerate(shapes)]
    return _product(factors, _splits(lengths), 0, len(factors) - 1)


def _splits(lengths: list[int]) -> dict[tuple[int, int], int]:
    """Return after which factor to split each run of factors, by dynamic programming over longer and longer runs."""
    number = len(lengths) - 1
    cost = {(index, index): 0 for index in range(number)}
    split: dict[tuple[int, int], int] = {}
    for span in range(1, number):
        for first in range(number - span):
            last = first + span
            options = {
                at: cost[first, at] + cost[at + 1, last] + lengths[first] * lengths[at + 1] * lengths[last + 1]
                for at in range(first, last)
            }
            split[first, last] = min(options, key=options.__getitem__)
            cost[first, last] = options[split[first, last]]
    return split


def _product(factors: list[Tensor], split: dict[tuple[int, int], int], first: int, last: int) -> Tensor:
    if first == last:
        return factors[first]
    at = split[first, last]
    return matmul(_product(factors, split, first, at), _product(factors, split, at + 1, last))


register(inv, inv_backward, numpy=(np.linalg.inv,))
register(solve, solve_backward, numpy=(np.linalg.solve,))
register(det, det_backward, numpy=(np.linalg.det,))
register(slogdet, slogdet_backward, numpy=(np.linalg.slogdet,))
register(cholesky, cholesky_backward, numpy=(np.linalg.cholesky,))
register(eigh, eigh_backward, numpy=(np.linalg.eigh,))
register(eigvalsh, numpy=(np.linalg.eigvalsh,))
register(qr, qr_backward, numpy=(np.linalg.qr,))
register(svd, svd_backward, numpy=(np.linalg.svd,))
register(svdvals, numpy=(np.linalg.svdvals,))
register(pinv, pinv_backward, numpy=(np.linalg.pinv,))
register(matrix_power, numpy=(np.linalg.matrix_power,))
register(multi_dot, numpy=(np.linalg.multi_dot,))

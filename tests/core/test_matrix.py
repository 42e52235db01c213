"""Products: matmul of every rank, dot, outer, tensordot and einsum, with first and second derivatives."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clumsygrad.core import Array, Tensor, double_precision, gradients, math, parameter, tensor

from .derivatives import check_derivatives

SHAPES = {
    "matrix matrix": ((2, 3), (3, 4)),
    "matrix vector": ((2, 3), (3,)),
    "vector matrix": ((3,), (3, 4)),
    "vector vector": ((3,), (3,)),
    "stack matrix": ((2, 2, 3), (3, 4)),
    "matrix stack": ((2, 3), (5, 3, 4)),
    "stack stack": ((5, 2, 3), (5, 3, 4)),
    "broadcast stacks": ((5, 1, 2, 3), (4, 3, 2)),
    "stack vector": ((5, 2, 3), (3,)),
    "vector stack": ((3,), (5, 3, 2)),
    "one": ((1, 1), (1, 1)),
    "no rows": ((0, 3), (3, 4)),
    "nothing to sum": ((2, 0), (0, 4)),
    "stack, nothing to sum": ((5, 2, 0), (0, 4)),
    "empty stack": ((0, 2, 3), (3, 4)),
    "stack without columns": ((5, 2, 3), (3, 0)),
    "empty vectors": ((0,), (0,)),
}


@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
def test_matmul(shapes: tuple[tuple[int, ...], ...]) -> None:
    check_derivatives(np.matmul, *shapes)


@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("layout", ["transposed", "strided", "read-only"])
def test_matmul_of_operands_of_any_layout(shapes: tuple[tuple[int, ...], ...], layout: str) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape) for shape in shapes]

    def arranged(array: Array) -> Tensor:
        x = parameter(np.repeat(array, 2, -1) if layout == "strided" else array)
        if layout == "strided":
            return x[..., ::2]
        return x.T.reshape(x.shape[::-1]).T if layout == "transposed" else math.broadcast_to(x, x.shape)

    with double_precision():
        result = arranged(arrays[0]) @ arranged(arrays[1])
    assert np.allclose(result.data, arrays[0] @ arrays[1])


def test_matmul_does_no_work_for_an_input() -> None:
    w = parameter(np.ones((3, 2)))
    result = tensor(np.ones((4, 3))) @ w
    assert result.grad_fn is not None
    assert result.grad_fn(result, np.ones((4, 2), np.float32))[0] is None


def test_contractions_do_no_work_for_an_input() -> None:
    w, x = parameter(np.ones((3, 2))), tensor(np.ones((4, 3)))
    for result in (math.einsum("ij,jk->ik", x, w), math.tensordot(x, w, 1)):
        assert result.grad_fn is not None
        by_input, by_parameter = result.grad_fn(result, np.ones((4, 2), np.float32))
        assert by_input is None
        assert by_parameter is not None


@pytest.mark.parametrize(
    "wrong", [((2, 3), (2, 3)), ((), (2,)), ((2,), ()), ((3, 2, 2), (2, 2, 2)), ((5, 2, 3), (2, 4))]
)
def test_matmul_refuses_what_numpy_refuses(wrong: tuple[tuple[int, ...], ...]) -> None:
    x, y = (np.ones(shape) for shape in wrong)
    for function in (math.matmul, np.matmul):
        with pytest.raises(ValueError, match=r"."):
            function(x, y)


DOTS = {
    "scalars": ((), ()),
    "scalar and matrix": ((), (2, 3)),
    "matrix and scalar": ((2, 3), ()),
    "vectors": ((3,), (3,)),
    "matrix and vector": ((2, 3), (3,)),
    "matrices": ((2, 3), (3, 4)),
    "stack and matrix": ((5, 2, 3), (3, 4)),
    "vector and stack": ((3,), (5, 3, 2)),
    "stacks": ((4, 2, 3), (5, 3, 2)),
    "empty": ((2, 0), (0, 3)),
}


@pytest.mark.parametrize("shapes", DOTS.values(), ids=DOTS)
def test_dot(shapes: tuple[tuple[int, ...], ...]) -> None:
    check_derivatives(np.dot, *shapes)


@pytest.mark.parametrize("shapes", [((3,), (2,)), ((2, 3), (4,)), ((), (3,)), ((0,), (3,))])
def test_outer(shapes: tuple[tuple[int, ...], ...]) -> None:
    check_derivatives(np.outer, *shapes)


TENSORDOTS: dict[str, tuple[tuple[int, ...], tuple[int, ...], Any]] = {
    "default": ((4, 2, 3), (2, 3, 5), 2),
    "one": ((2, 3), (3, 4), 1),
    "none": ((2,), (3,), 0),
    "of scalars": ((), (), 0),
    "lists": ((2, 3, 4), (4, 2), ([0, 2], [1, 0])),
    "crossed": ((2, 3, 4), (3, 5, 2), ([1, 0], [0, 2])),
    "crossed, of the same lengths": ((3, 3, 3), (3, 3, 3), ([2, 0], [0, 1])),
    "negative": ((2, 2, 3), (3, 2), ([-1], [0])),
    "negative, several": ((2, 3, 4), (4, 3, 5), ((-1, -2), (-3, -2))),
    "single numbers": ((2, 3), (4, 3), (-1, 1)),
    "all axes": ((2, 3), (2, 3), 2),
    "no axes": ((2, 3), (4,), ([], [])),
    "nothing to sum": ((2, 0), (0, 3), 1),
}


@pytest.mark.parametrize(("x", "y", "axes"), TENSORDOTS.values(), ids=TENSORDOTS)
def test_tensordot(x: tuple[int, ...], y: tuple[int, ...], axes: Any) -> None:
    check_derivatives(lambda a, b: np.tensordot(a, b, axes), x, y)


def test_tensordot_names_what_is_wrong() -> None:
    x, y = parameter(np.ones((2, 3))), np.ones((2, 3))
    with pytest.raises(ValueError, match="the same lengths"):
        np.tensordot(x, y, 1)
    with pytest.raises(ValueError, match="the same lengths"):
        np.tensordot(x, y, ([0, 1], [0]))
    with pytest.raises(ValueError, match="repeated axis"):
        np.tensordot(x, y, ([0, 0], [0, 1]))
    with pytest.raises(np.exceptions.AxisError):
        np.tensordot(x, y, ([2], [0]))
    with pytest.raises(ValueError, match="one list of axes for each operand"):
        np.tensordot(x, y, ([0], [0], [0]))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]  # what is refused


EINSUMS: dict[str, tuple[tuple[int, ...], ...]] = {
    "ij,jk->ik": ((2, 3), (3, 4)),
    "ij,jk": ((2, 3), (3, 4)),
    "ba": ((2, 3),),
    "i->": ((3,),),
    "ij->j": ((2, 3),),
    "ii": ((3, 3),),
    "ii->i": ((3, 3),),
    "iij->ji": ((2, 2, 3),),
    "iii->i": ((2, 2, 2),),
    "ijij->ij": ((2, 3, 2, 3),),
    "ii,i->": ((3, 3), (3,)),
    "ii,jj->ij": ((2, 2), (3, 3)),
    "i,i->": ((3,), (3,)),
    "i,j->ij": ((3,), (2,)),
    "i,j->": ((3,), (2,)),
    "bij,bjk->bik": ((2, 3, 2), (2, 2, 4)),
    "bi,bi->b": ((2, 3), (2, 3)),
    "bhqd,bhkd->bhqk": ((2, 2, 3, 2), (2, 2, 4, 2)),
    "ij,ij->ij": ((2, 3), (2, 3)),
    "ij,k->i": ((2, 3), (4,)),
    "i,ij,j->": ((2,), (2, 3), (3,)),
    "ab,bc,cd,de->ae": ((2, 3), (3, 2), (2, 4), (4, 2)),
    "i,i,i->i": ((3,), (3,), (3,)),
    "...ij,...jk->...ik": ((2, 2, 3), (3, 4)),
    "...,...": ((2, 3), (3,)),
    "...i->...": ((2, 3),),
    "i...->...i": ((2, 3, 2),),
    "...ii->...i": ((2, 3, 3),),
    "...i,...i->...": ((2, 1, 3), (4, 3)),
    "... , ...j -> j...": ((), (2, 3)),
    ",ij->ij": ((), (2, 3)),
    ",": ((), ()),
    "->": ((),),
    "ij,jk->": ((0, 3), (3, 2)),
    "ik,kj->ij": ((2, 0), (0, 3)),
}


@pytest.mark.parametrize(("subscripts", "shapes"), EINSUMS.items(), ids=EINSUMS)
def test_einsum(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    check_derivatives(lambda *operands: np.einsum(subscripts, *operands), *shapes)


STRETCHED: list[tuple[str, tuple[tuple[int, ...], ...]]] = [
    ("i,i->", ((2,), (1,))),
    ("i,i->", ((1,), (2,))),
    ("i,i->i", ((1,), (3,))),
    ("i,i->i", ((1,), (1,))),
    ("ij,jk->ik", ((2, 1), (3, 4))),
    ("bij,bjk->bik", ((1, 2, 3), (5, 3, 2))),
    ("bij,bjk->ik", ((5, 2, 3), (1, 3, 2))),
    ("i,i,i->", ((3,), (1,), (3,))),
    ("i,i,i->i", ((1,), (3,), (1,))),
    ("ii,i->i", ((1, 1), (3,))),
    ("i,ij->", ((1,), (3, 2))),
]


@pytest.mark.parametrize(("subscripts", "shapes"), STRETCHED)
def test_einsum_broadcasts_indices_of_length_one(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    check_derivatives(lambda *operands: np.einsum(subscripts, *operands), *shapes)


def test_einsum_of_lists_of_axes() -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    w = parameter(x)
    assert np.allclose(math.einsum(w, [0, 1], y, [1, 2], [2, 0]).data, (x @ y).T)
    assert np.allclose(math.einsum(w, [0, 1], y, [1, 2]).data, x @ y)
    assert np.allclose(math.einsum(w, (..., 1), (1, ...)).data, x.T)
    assert np.allclose(np.einsum(w, [0, 1], [0]), x.sum(1))
    with pytest.raises(TypeError, match="followed by the list of its axes"):
        math.einsum(w, w, [0])
    with pytest.raises(ValueError, match="less than 52"):
        math.einsum(w, [0, 52])


@pytest.mark.parametrize("subscripts", [
    "ij,jk->ik", "i", "ijk", "ij->ii", "ij->k", "i1", "i.j", "...->", "i->i->i", "ii", "ij...k->..."
])  # fmt: skip
def test_einsum_refuses_what_numpy_refuses(subscripts: str) -> None:
    x = np.ones((2, 3))
    for function in (math.einsum, np.einsum):
        with pytest.raises(ValueError, match=r"."):
            function(subscripts, x)


def test_einsum_of_lengths_that_differ() -> None:
    with pytest.raises(ValueError, match=r"index 'i' of 'i,i' has several lengths.*\(2,\), \(3,\)"):
        math.einsum("i,i", np.ones(2), np.ones(3))


def test_einsum_leaves_its_operand_alone() -> None:
    x = tensor(np.ones((2, 2)))
    diagonal = math.einsum("ii->i", x)
    with pytest.raises(ValueError, match="read-only"):
        diagonal[0] = 5.0
    assert x.tolist() == [[1.0, 1.0], [1.0, 1.0]]


@given(st.data())
def test_einsum_equals_numpy_on_random_subscripts(data: st.DataObject) -> None:
    letters = "abcd"
    lengths = {letter: data.draw(st.integers(1, 3)) for letter in letters}
    terms = data.draw(st.lists(st.text(letters, max_size=3), min_size=1, max_size=3))
    used = sorted(set("".join(terms)))
    target = "".join(data.draw(st.permutations(used)))[: data.draw(st.integers(0, len(used)))]
    rng = np.random.default_rng(0)
    arrays: list[Array] = []
    for term in terms:
        # An index is of length 1 in all or none of an operand's places, which is what NumPy broadcasts.
        short = {letter for letter in term if data.draw(st.integers(0, 4)) == 0}
        arrays.append(rng.normal(size=[1 if letter in short else lengths[letter] for letter in term]))
    subscripts = f"{','.join(terms)}->{target}"
    with double_precision():
        operands = [parameter(array) for array in arrays]
        result = math.einsum(subscripts, *operands)
        expected = np.einsum(subscripts, *arrays)
        assert result.shape == expected.shape
        assert np.allclose(result.data, expected)
        weights = rng.normal(size=expected.shape)
        grads = gradients(result, operands, weights)
    # The contraction is linear in each operand: the gradient there is the value for each unit of the operand.
    for place, (grad, array) in enumerate(zip(grads, arrays, strict=True)):
        for index in itertools.product(*map(range, array.shape)):
            unit = np.zeros_like(array)
            unit[index] = 1
            value = np.einsum(subscripts, *arrays[:place], unit, *arrays[place + 1 :])
            assert np.isclose(grad.data[index], (value * weights).sum())


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x @ np.ones((3, 2)),
        lambda x: np.ones((2, 2), np.int64) @ x,
        lambda x: [[1, 2]] @ x,
        lambda x: np.dot(x, 2),
        lambda x: np.dot(x, np.float64(2)),
        lambda x: np.outer(x, [1, 2]),
        lambda x: np.tensordot(x, np.ones((2, 3), bool)),
        lambda x: np.einsum("ij,j->i", x, np.arange(3)),
        lambda x: np.einsum("ij->j", x),
    ],
)  # fmt: skip
def test_results_and_gradients_are_float32(function: Callable[[Tensor], Any]) -> None:
    x = parameter(np.ones((2, 3)))
    result = function(x)
    assert isinstance(result, Tensor)
    assert result.dtype == np.float32
    result.sum().backward()
    assert x.grad is not None
    assert x.grad.dtype == np.float32


def test_matrix_vector_products_have_the_gradients_of_their_operands() -> None:
    A, b, c = parameter([[1, 2, 3], [4, 5, 6]]), parameter([1, 0, -1]), parameter([2, -1])
    value = math.sum((A @ b) * [1.0, 10.0])
    value.backward()
    assert value.item() == -22
    assert A.grad is not None
    assert A.grad.tolist() == [[1, 0, -1], [10, 0, -10]]
    assert b.grad is not None
    assert b.grad.tolist() == [41, 52, 63]
    A.zero_grad()
    value = math.sum((c @ A) * [1.0, 2.0, 3.0])
    value.backward()
    assert value.item() == -4
    assert A.grad is not None
    assert A.grad.tolist() == [[2, 4, 6], [-1, -2, -3]]
    assert c.grad is not None
    assert c.grad.tolist() == [14, 32]


def test_stack_times_matrix_sums_the_gradient_over_the_stack() -> None:
    X, W = parameter(np.arange(8.0).reshape(2, 2, 2)), parameter([[1, 2], [3, 4]])
    value = math.sum((X @ W) * np.arange(8.0).reshape(2, 2, 2))
    value.backward()
    assert value.item() == 732
    assert X.grad is not None
    assert X.grad.tolist() == [[[2, 4], [8, 18]], [[14, 32], [20, 46]]]
    assert W.grad is not None
    assert W.grad.tolist() == [[56, 68], [68, 84]]


def test_inner_products_and_chains() -> None:
    a, b, M = parameter([1, 2]), parameter([3, -1]), parameter([[1, 2], [3, 4]])
    value = a @ b
    value.backward()
    assert value.item() == 1
    assert a.grad is not None
    assert a.grad.tolist() == [3, -1]
    assert b.grad is not None
    assert b.grad.tolist() == [1, 2]
    a.zero_grad()
    b.zero_grad()
    value = math.sum(a @ (M @ b[:, None]))
    value.backward()
    assert value.item() == 11
    assert a.grad.tolist() == [1, 5]
    assert b.grad.tolist() == [7, 10]
    assert M.grad is not None
    assert M.grad.tolist() == [[3, -1], [6, -2]]


def test_einsum_of_a_short_index_known_values() -> None:
    x, y = parameter([2, 3]), parameter([4])
    value = math.einsum("i,i->", x, y)
    value.backward()
    assert value.item() == 20
    assert x.grad is not None
    assert x.grad.tolist() == [4, 4]
    assert y.grad is not None
    assert y.grad.tolist() == [5]


def test_tensordot_over_negative_axes_known_values() -> None:
    X, Y = parameter(np.linspace(-1, 1, 12).reshape(2, 2, 3)), parameter(np.arange(1.0, 7).reshape(3, 2))
    value = math.sum(math.tensordot(X, Y, axes=([-1], [0])) * np.arange(8.0).reshape(2, 2, 2))
    value.backward()
    assert value.item() == pytest.approx(134.909088, rel=1e-6)
    assert X.grad is not None
    assert X.grad.tolist() == [[[2, 4, 6], [8, 18, 28]], [[14, 32, 50], [20, 46, 72]]]
    assert Y.grad is not None
    assert np.allclose(Y.grad, [[3.27272725, 2.5454545], [5.4545455, 5.4545455], [7.63636398, 8.36363602]], rtol=1e-6)

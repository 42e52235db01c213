from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nn.finite_difference import check_derivatives, grad_of

from clumsygrad.core import Tensor, parameter
from clumsygrad.nn import Embedding, EmbeddingBag
from clumsygrad.nn import functional as F

TABLE = np.random.default_rng(0).standard_normal((5, 3))


@pytest.mark.parametrize("ids", [2, [1, 1, 4], [[0, 2], [2, 2]], np.zeros((0,), np.int64), np.array([3], np.uint8)])
def test_rows_and_their_derivatives(ids: Any) -> None:
    np.testing.assert_allclose(F.embedding(ids, TABLE).data, TABLE[ids], rtol=1e-6)
    check_derivatives(lambda table: F.embedding(ids, table * table), TABLE)


def test_the_padding_row_starts_as_zeros_and_gets_no_gradient() -> None:
    layer = Embedding(5, 3, padding_idx=0)
    np.testing.assert_array_equal(layer.weight.data[0], 0)
    layer([[0, 1], [0, 1]]).sum().backward()
    np.testing.assert_array_equal(grad_of(layer.weight)[:, 0], [0, 2, 0, 0, 0])
    layer.weight.data -= 0.1 * grad_of(layer.weight)
    np.testing.assert_array_equal(layer.weight.data[0], [0, 0, 0])


def test_a_padding_row_counted_from_the_end() -> None:
    assert Embedding(5, 3, padding_idx=-1).padding_idx == 4
    check_derivatives(lambda table: F.embedding([4, 2, 2], table * table, padding_idx=-1)[1:], TABLE)


@pytest.mark.parametrize("ids", [5, -1, [[0, 7]], np.array([2, -3])])
@pytest.mark.parametrize("look_up", [Embedding(5, 3, padding_idx=0), EmbeddingBag(5, 3)])
def test_ids_outside_the_table_raise_and_never_wrap_around(look_up: Callable[..., Tensor], ids: Any) -> None:
    with pytest.raises(IndexError, match="between 0 and 4"):
        look_up(ids)


@pytest.mark.parametrize("ids", [[1.0], np.array([True]), parameter([1.0])])
def test_ids_are_integers(ids: Any) -> None:
    with pytest.raises(TypeError, match="integers"):
        F.embedding(ids, TABLE)


def test_a_pretrained_table_is_frozen_unless_asked() -> None:
    assert not Embedding.from_pretrained(TABLE).weight.requires_grad
    layer = Embedding.from_pretrained(TABLE, freeze=False)
    assert layer.weight.requires_grad
    np.testing.assert_allclose(layer([1]).data, TABLE[1:2], rtol=1e-6)


BAGS: list[tuple[Any, dict[str, Any], list[list[int]]]] = [
    ([[0, 1], [3, 3]], {}, [[0, 1], [3, 3]]),
    ([0, 1, 4, 4, 2], {"offsets": [0, 2, 2, 4]}, [[0, 1], [], [4, 4], [2]]),
    ([0, 1, 4], {"offsets": [0, 1, 3], "include_last_offset": True}, [[0], [1, 4]]),
    ([[0, 1], [2, 2]], {"padding_idx": 2}, [[0, 1], []]),
]


@pytest.mark.parametrize(("ids", "settings", "bags"), BAGS)
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_are_reduced_as_the_mode_says(mode: Any, ids: Any, settings: dict[str, Any], bags: Any) -> None:
    # The reductions are arrays' methods: "sum", "mean" and "max".
    expected = [getattr(TABLE[bag], mode)(axis=0) if bag else np.zeros(3) for bag in bags]
    np.testing.assert_allclose(F.embedding_bag(ids, TABLE, mode=mode, **settings).data, expected, rtol=1e-5)
    check_derivatives(lambda table: F.embedding_bag(ids, table * table, mode=mode, **settings), TABLE)


def test_weights_for_each_id_have_gradients_too() -> None:
    weights = np.array([[0.5, 2.0], [1.0, -1.0]])
    check_derivatives(
        lambda table, factors: F.embedding_bag([[0, 1], [3, 3]], table, mode="sum", per_sample_weights=factors),
        TABLE,
        weights,
    )


def test_bags_without_any_id() -> None:
    table = parameter(TABLE)
    y = F.embedding_bag(np.zeros((0,), np.int64), table, [0], mode="max")
    np.testing.assert_array_equal(y.data, [[0, 0, 0]])
    y.sum().backward()
    np.testing.assert_array_equal(grad_of(table), np.zeros_like(TABLE))


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: F.embedding([0], np.ones(3)), "weight"),
    (lambda: Embedding(5, 3, padding_idx=5), "padding_idx"),
    (lambda: F.embedding_bag([0], TABLE), "offsets"),
    (lambda: F.embedding_bag([[0]], TABLE, [0]), "offsets"),
    (lambda: F.embedding_bag([0], TABLE, [1]), "offsets"),
    (lambda: F.embedding_bag([0, 1], TABLE, [0, 2, 1]), "offsets"),
    (lambda: F.embedding_bag([[0]], TABLE, per_sample_weights=[[1.0]]), "per_sample_weights"),
    (lambda: F.embedding_bag([[0]], TABLE, mode="median"), "mode"),  # type: ignore[arg-type]  # a wrong value
]


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_what_does_not_fit_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()

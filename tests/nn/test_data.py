"""Minibatches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clumsygrad.core import random, tensor
from clumsygrad.nn import batches


@given(rows=st.integers(0, 40), size=st.integers(1, 50), shuffle=st.booleans(), drop=st.booleans())
def test_every_row_comes_once(rows: int, size: int, shuffle: bool, drop: bool) -> None:
    x, y = np.arange(rows * 2).reshape(rows, 2), np.arange(rows)
    loader = batches(x, y, batch_size=size, shuffle=shuffle, drop_last=drop, rng=np.random.default_rng(0))
    seen = list(loader)
    assert len(seen) == len(loader)
    sizes = [len(batch) for _, batch in seen]
    assert all(length == size for length in sizes[: None if drop else -1])
    order = np.concatenate([batch for _, batch in seen]) if seen else np.zeros(0, int)
    expected = rows // size * size if drop else rows
    assert len(set(order.tolist())) == len(order) == expected
    for left, right in seen:
        np.testing.assert_array_equal(left[:, 0], right * 2)


def test_each_pass_has_its_order_and_the_generator_decides_it() -> None:
    x = np.arange(100)

    def passes(seed: int) -> list[list[int]]:
        loader = batches(x, batch_size=100, shuffle=True, rng=np.random.default_rng(seed))
        return [next(iter(loader))[0].tolist() for _ in range(2)]

    first, second = passes(0)
    assert first != second
    assert passes(0) == [first, second]
    random.seed(0)
    drawn = next(iter(batches(x, batch_size=100, shuffle=True)))[0].tolist()
    random.seed(0)
    assert next(iter(batches(x, batch_size=100, shuffle=True)))[0].tolist() == drawn


def test_without_shuffling_batches_are_views() -> None:
    x = np.arange(10)
    (first,), *_ = batches(x, batch_size=4)
    assert np.shares_memory(first, x)


def test_constant_tensors() -> None:
    (batch, labels), *_ = batches(tensor([[1.0], [2.0]]), np.array([0, 1]), batch_size=2)
    assert batch.tolist() == [[1.0], [2.0]]
    assert labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("arrays", "size", "error", "message"),
    [
        ((np.ones(3), np.ones(4)), 2, ValueError, "same number of rows"),
        ((np.ones(3),), 0, ValueError, "at least 1"),
        ((np.array(3.0),), 1, ValueError, "0-d"),
        (([1, 2],), 1, TypeError, "asarray"),
        ((), 1, TypeError, "at least one"),
    ],
)
def test_errors(arrays: tuple[Any, ...], size: int, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        batches(*arrays, batch_size=size)

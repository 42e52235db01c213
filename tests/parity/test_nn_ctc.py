"""The CTC loss behind log_softmax: the same values and gradients as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as TF
from parity.nn_comparison import compare

from clumsygrad.nn import functional as F

T, N, C = 9, 3, 5
TARGETS = np.array([[1, 2, 2, 3], [4, 4, 1, 1], [3, 1, 2, 4]])


def compare_ctc(logits: Any, targets: Any, frames: Any, lengths: Any, **settings: Any) -> None:
    def theirs(x: torch.Tensor) -> torch.Tensor:
        parts = [torch.tensor(np.asarray(value)) for value in (targets, frames, lengths)]
        return TF.ctc_loss(TF.log_softmax(x, -1), *parts, **settings)

    # PyTorch has no second gradient of it.
    compare(
        lambda x: F.ctc_loss(F.log_softmax(x, -1), targets, frames, lengths, **settings),
        theirs, [logits], second=False, double_rtol=1e-8,
    )  # fmt: skip


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(
    ("frames", "lengths"),
    [([9, 9, 9], [4, 4, 4]), ([9, 7, 5], [4, 2, 1]), ([6, 8, 9], [3, 3, 0]), ([9, 9, 9], [0, 0, 0])],
)
def test_padded_targets(frames: list[int], lengths: list[int], reduction: str) -> None:
    logits = np.random.default_rng(0).normal(scale=2, size=(T, N, C))
    compare_ctc(logits, TARGETS, frames, lengths, reduction=reduction)


def test_targets_in_a_row() -> None:
    logits = np.random.default_rng(1).normal(size=(T, N, C))
    compare_ctc(logits, np.array([1, 2, 2, 4, 3, 1]), [9, 8, 7], [3, 1, 2], reduction="none")


def test_another_blank() -> None:
    logits = np.random.default_rng(2).normal(size=(T, N, C))
    compare_ctc(logits, TARGETS - 1, [9, 9, 9], [4, 3, 2], blank=4)


def test_without_a_batch() -> None:
    logits = np.random.default_rng(3).normal(size=(T, C))
    compare_ctc(logits, np.array([1, 1, 2]), 9, 3, reduction="none")


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_targets_that_do_not_fit_count_nothing_with_zero_infinity(reduction: str) -> None:
    logits = np.random.default_rng(4).normal(size=(T, N, C))
    compare_ctc(logits, TARGETS, [9, 5, 3], [4, 4, 4], reduction=reduction, zero_infinity=True)

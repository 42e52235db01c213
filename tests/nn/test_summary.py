"""The table of a model's layers."""

from __future__ import annotations

import numpy as np
import pytest

from clumsygrad.core import Tensor
from clumsygrad.nn import LSTM, Bilinear, Dropout, Embedding, Linear, Module, ReLU, Sequential, summary


def test_table() -> None:
    model = Sequential(Linear(4, 8), Sequential(ReLU(), Linear(8, 1000)))
    assert str(summary(model, (2, 4))) == (
        "layer            output shape  parameters\n"
        "-----------------------------------------\n"
        "Sequential       (2, 1000)\n"
        "  0: Linear      (2, 8)                40\n"
        "  1: Sequential  (2, 1000)\n"
        "    0: ReLU      (2, 8)\n"
        "    1: Linear    (2, 1000)          9,000\n"
        "-----------------------------------------\n"
        "9,040 parameters, of which 9,040 are trained"
    )


def test_shared_and_frozen_parameters() -> None:
    first, second = Linear(3, 3, bias=False), Linear(3, 3)
    second.weight = first.weight
    assert second.bias is not None
    second.bias.requires_grad_(False)
    table = summary(Sequential(first, second), (1, 3))
    assert [row.parameters for row in table.rows] == [0, 9, 3]
    assert (table.parameters, table.trainable) == (12, 9)


def test_leaves_the_model_as_it_was() -> None:
    model = Sequential(Dropout(0.5), Linear(2, 2).eval())
    summary(model, (1, 2))
    assert [module.training for module in model.modules()] == [True, True, False]
    with pytest.raises(ValueError, match="features"):
        summary(model, (1, 3))
    assert [module.training for module in model.modules()] == [True, True, False]
    calls: list[Tensor] = []
    model.register_forward_hook(lambda module, args, output: calls.append(output))
    summary(model, (1, 2))
    assert len(calls) == 1


def test_several_inputs_and_outputs() -> None:
    class Pair(Module):
        form: Bilinear

        def __init__(self) -> None:
            super().__init__()
            self.form = Bilinear(2, 3, 4)

        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return self.form(x, y)

    assert [row.output_shape for row in summary(Pair(), [(5, 2), (5, 3)]).rows] == ["(5, 4)", "(5, 4)"]
    (row,) = summary(LSTM(2, 3), (5, 1, 2)).rows
    assert row.output_shape == "(5, 1, 3), (1, 1, 3), (1, 1, 3)"


def test_inputs_that_are_no_tensors() -> None:
    (row,) = summary(Embedding(10, 4), None, np.zeros((2, 3), int)).rows
    assert row.output_shape == "(2, 3, 4)"
    assert row.parameters == 40


def test_without_an_input() -> None:
    table = summary(Linear(2, 3))
    assert table.rows[0].output_shape == ""
    assert table.parameters == 9


def test_either_shape_or_inputs() -> None:
    with pytest.raises(TypeError, match="both"):
        summary(Linear(2, 3), (1, 2), np.zeros((1, 2)))

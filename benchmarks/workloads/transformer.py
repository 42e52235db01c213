"""A causal transformer of two layers on 8 texts of 64 characters: loss, backward, and a step of Adam.

By hand in NumPy this would be another engine, and the others have neither layers nor fused functions for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness import Step, Workload

from .steps import Array, clumsygrad_training, fill, torch_training

_BATCH, _LENGTH, _WIDTH, _VOCABULARY, _HEADS = 8, 64, 64, 65, 4


def _data() -> tuple[Array, Array, Array, Array]:
    """Return token ids, the ids that follow, the positions, and the mask of what a position may not look at."""
    text = np.random.default_rng(1).integers(0, _VOCABULARY, (_BATCH, _LENGTH + 1))
    hidden = np.triu(np.ones((_LENGTH, _LENGTH), bool), 1)
    return text[:, :-1].copy(), text[:, 1:].copy(), np.arange(_LENGTH), hidden


def _model(nn: Any) -> Any:
    """Build the network out of the layers of either library, which have the same names."""
    layer = nn.TransformerEncoderLayer(_WIDTH, _HEADS, 4 * _WIDTH, dropout=0.0, batch_first=True, norm_first=True)
    return nn.ModuleDict(
        {
            "token": nn.Embedding(_VOCABULARY, _WIDTH),
            "position": nn.Embedding(_LENGTH, _WIDTH),
            "encoder": nn.TransformerEncoder(layer, 2),
            "norm": nn.LayerNorm(_WIDTH),
            "head": nn.Linear(_WIDTH, _VOCABULARY),
        }
    )


def _loss(nn: Any, model: Any, ids: Any, following: Any, positions: Any, hidden: Any) -> Any:
    x = model["token"](ids) + model["position"](positions)
    x = model["norm"](model["encoder"](x, mask=hidden, is_causal=True))
    return nn.functional.cross_entropy(model["head"](x).reshape(-1, _VOCABULARY), following.reshape(-1))


def clumsygrad() -> Step:
    from clumsygrad import nn

    model = _model(nn)

    def assign(parameter: Any, value: Array) -> None:
        parameter.data = value

    fill(dict(model.named_parameters()), assign)
    data = _data()
    return clumsygrad_training(model, lambda: _loss(nn, model, *data))


def torch() -> Step:
    import warnings

    import torch
    from torch import nn

    # PyTorch says that its path for inference does not apply to norm_first.
    warnings.filterwarnings("ignore", message="enable_nested_tensor")
    model = _model(nn)
    with torch.no_grad():
        fill(dict(model.named_parameters()), lambda parameter, value: parameter.copy_(torch.from_numpy(value)))
    data = [torch.from_numpy(array) for array in _data()]
    return torch_training(model, lambda: _loss(nn, model, *data))


WORKLOADS = (Workload("transformer, 2 layers", {"clumsygrad": clumsygrad, "torch": torch}, 1.0),)

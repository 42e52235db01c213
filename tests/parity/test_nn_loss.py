"""Losses: the same values, gradients and second gradients as in PyTorch, over reductions, weights and shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as TF
from parity.nn_comparison import compare

from clumsygrad.nn import functional as F

REDUCTIONS = ["none", "mean", "sum"]
RNG = np.random.default_rng(0)
NORMAL = [RNG.normal(scale=2, size=(5, 4)), RNG.normal(scale=2, size=(5, 4))]
PROBABILITIES = [RNG.uniform(0.05, 0.95, (5, 4)), RNG.uniform(0.05, 0.95, (5, 4))]
POSITIVE = [RNG.uniform(0.2, 3, (5, 4)), RNG.uniform(0.2, 3, (5, 4))]
SIGNS = RNG.choice([-1.0, 1.0], (5, 4))
ROW_SIGNS = RNG.choice([-1.0, 1.0], 5)
WEIGHTS = RNG.uniform(0.2, 2, (5, 4))


def as_torch(value: Any) -> Any:
    """Return an argument as PyTorch takes it: arrays as tensors."""
    return torch.tensor(value) if isinstance(value, np.ndarray) else value


def both(name: str, settings: dict[str, Any], *constants: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return our and PyTorch's loss of the arrays that vary, with the same constants and settings."""

    def theirs(*tensors: torch.Tensor) -> torch.Tensor:
        def convert(value: Any) -> Any:
            value = as_torch(value)
            floating = isinstance(value, torch.Tensor) and value.is_floating_point()
            return value.to(tensors[0].dtype) if floating else value

        options = {key: convert(value) for key, value in settings.items()}
        return getattr(TF, name)(*tensors, *(convert(constant) for constant in constants), **options)

    return lambda *tensors: getattr(F, name)(*tensors, *constants, **settings), theirs


# Name, the arrays that are differentiated by, the settings, and further constant arguments.
CASES: list[tuple[str, list[np.ndarray[Any, Any]], dict[str, Any], tuple[Any, ...]]] = [
    ("mse_loss", NORMAL, {}, ()),
    ("mse_loss", NORMAL, {"weight": WEIGHTS}, ()),
    ("l1_loss", NORMAL, {}, ()),
    ("smooth_l1_loss", NORMAL, {}, ()),
    ("smooth_l1_loss", NORMAL, {"beta": 0.25}, ()),
    ("smooth_l1_loss", NORMAL, {"beta": 0.0}, ()),
    ("huber_loss", NORMAL, {}, ()),
    ("huber_loss", NORMAL, {"delta": 2.5}, ()),
    ("huber_loss", NORMAL, {"delta": 0.5, "weight": WEIGHTS}, ()),
    ("binary_cross_entropy", PROBABILITIES, {}, ()),
    ("binary_cross_entropy", PROBABILITIES, {"weight": WEIGHTS}, ()),
    ("binary_cross_entropy", PROBABILITIES, {"weight": WEIGHTS[0]}, ()),
    ("binary_cross_entropy_with_logits", [NORMAL[0], PROBABILITIES[0]], {}, ()),
    ("binary_cross_entropy_with_logits", [NORMAL[0], PROBABILITIES[0]], {"weight": WEIGHTS}, ()),
    ("binary_cross_entropy_with_logits", [NORMAL[0], PROBABILITIES[0]], {"pos_weight": WEIGHTS[0]}, ()),
    (
        "binary_cross_entropy_with_logits",
        [NORMAL[0], PROBABILITIES[0]],
        {"pos_weight": WEIGHTS[1], "weight": WEIGHTS[:, :1]},
        (),
    ),
    ("kl_div", [NORMAL[0], PROBABILITIES[0]], {}, ()),
    ("kl_div", NORMAL, {"log_target": True}, ()),
    ("poisson_nll_loss", [NORMAL[0], POSITIVE[0]], {}, ()),
    ("poisson_nll_loss", [NORMAL[0], POSITIVE[0]], {"full": True}, ()),
    ("poisson_nll_loss", POSITIVE, {"log_input": False}, ()),
    ("poisson_nll_loss", POSITIVE, {"log_input": False, "full": True, "eps": 0.1}, ()),
    ("gaussian_nll_loss", [*NORMAL, POSITIVE[0]], {}, ()),
    ("gaussian_nll_loss", [*NORMAL, POSITIVE[0]], {"full": True, "eps": 1.0}, ()),
    ("gaussian_nll_loss", [*NORMAL, POSITIVE[0][:, :1]], {}, ()),
    ("gaussian_nll_loss", [*NORMAL, POSITIVE[0][:, 0]], {}, ()),
    ("hinge_embedding_loss", [POSITIVE[0]], {}, (SIGNS,)),
    ("hinge_embedding_loss", [POSITIVE[0]], {"margin": 2.0}, (SIGNS,)),
    ("margin_ranking_loss", NORMAL, {}, (SIGNS,)),
    ("margin_ranking_loss", NORMAL, {"margin": 1.5}, (SIGNS,)),
    ("cosine_embedding_loss", NORMAL, {}, (ROW_SIGNS,)),
    ("cosine_embedding_loss", NORMAL, {"margin": -0.5}, (ROW_SIGNS,)),
    ("cosine_embedding_loss", [NORMAL[0][0], NORMAL[1][0]], {}, (np.array(-1.0),)),
    ("triplet_margin_loss", [*NORMAL, POSITIVE[0]], {}, ()),
    ("triplet_margin_loss", [*NORMAL, POSITIVE[0]], {"margin": 3.0, "p": 1.0}, ()),
    ("triplet_margin_loss", [*NORMAL, POSITIVE[0]], {"margin": 3.0, "p": 3.0, "swap": True}, ()),
    ("multi_margin_loss", [NORMAL[0]], {}, (np.array([0, 3, 1, 1, 2]),)),
    ("multi_margin_loss", [NORMAL[0]], {"p": 2, "margin": 0.5, "weight": WEIGHTS[0]}, (np.array([0, 3, 1, 1, 2]),)),
    ("multi_margin_loss", [NORMAL[0][0]], {}, (np.array(2),)),
]

# Second derivatives that PyTorch does not have.
FIRST_ONLY = {"multi_margin_loss", "huber_loss", "binary_cross_entropy"}


# PyTorch announces that its mean of kl_div will become batchmean.
@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides:UserWarning")
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(("name", "arrays", "settings", "constants"), CASES)
def test_loss(
    name: str, arrays: list[Any], settings: dict[str, Any], constants: tuple[Any, ...], reduction: str
) -> None:
    ours, theirs = both(name, {**settings, "reduction": reduction}, *constants)
    compare(ours, theirs, arrays, second=name not in FIRST_ONLY)


@pytest.mark.parametrize("name", ["kl_div"])
def test_batchmean(name: str) -> None:
    ours, theirs = both(name, {"reduction": "batchmean"})
    compare(ours, theirs, [NORMAL[0], PROBABILITIES[0]])


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignore_index", [-100, 1])
@pytest.mark.parametrize("label_smoothing", [0.0, 0.2])
@pytest.mark.parametrize("shape", [(7, 4), (4,), (3, 4, 2), (2, 4, 3, 2)])
def test_cross_entropy_of_class_numbers(
    shape: tuple[int, ...], label_smoothing: float, ignore_index: int, weighted: bool, reduction: str
) -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=3, size=shape)
    target = rng.integers(0, 4, shape[:1] + shape[2:]) if len(shape) > 1 else np.array(2)
    settings = {"reduction": reduction, "ignore_index": ignore_index, "label_smoothing": label_smoothing}
    if weighted:
        settings["weight"] = WEIGHTS[0]
    ours, theirs = both("cross_entropy", settings, target)
    compare(ours, theirs, [logits])


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("label_smoothing", [0.0, 0.2])
@pytest.mark.parametrize("shape", [(7, 4), (4,), (3, 4, 2)])
def test_cross_entropy_of_probabilities(
    shape: tuple[int, ...], label_smoothing: float, weighted: bool, reduction: str
) -> None:
    rng = np.random.default_rng(0)
    logits, target = rng.normal(scale=3, size=shape), rng.random(shape)
    settings: dict[str, Any] = {"reduction": reduction, "label_smoothing": label_smoothing}
    if weighted:
        settings["weight"] = WEIGHTS[0]
    ours, theirs = both("cross_entropy", settings)
    compare(ours, theirs, [logits, target])


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignore_index", [-100, 1])
@pytest.mark.parametrize("shape", [(7, 4), (4,), (3, 4, 2), (2, 4, 3, 2)])
def test_nll_loss(shape: tuple[int, ...], ignore_index: int, weighted: bool, reduction: str) -> None:
    rng = np.random.default_rng(0)
    target = rng.integers(0, 4, shape[:1] + shape[2:]) if len(shape) > 1 else np.array(2)
    settings: dict[str, Any] = {"reduction": reduction, "ignore_index": ignore_index}
    if weighted:
        settings["weight"] = WEIGHTS[0]
    ours, theirs = both("nll_loss", settings, target)
    compare(lambda t: ours(t * t), lambda t: theirs(t * t), [rng.normal(size=shape)])


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("cosine_similarity", {"dim": 1}),
        ("cosine_similarity", {"dim": 0, "eps": 0.1}),
        ("pairwise_distance", {}),
        ("pairwise_distance", {"p": 1.0, "keepdim": True}),
        ("pairwise_distance", {"p": 2.5}),
        ("pairwise_distance", {"p": float("inf")}),
    ],
)
def test_distance(name: str, settings: dict[str, Any]) -> None:
    ours, theirs = both(name, settings)
    compare(ours, theirs, NORMAL)


@pytest.mark.parametrize("settings", [{}, {"p": 1.0}, {"p": 3.0, "dim": 0}, {"eps": 10.0}])
def test_normalize(settings: dict[str, Any]) -> None:
    ours, theirs = both("normalize", settings)
    compare(ours, theirs, NORMAL[:1])

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from nn.finite_difference import check_derivatives, grad_of

from clumsygrad.core import Tensor, ones, parameter, zeros
from clumsygrad.nn import (
    BatchNorm1d,
    BatchNorm2d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    LayerNorm,
    RMSNorm,
    Sequential,
)
from clumsygrad.nn import functional as F

# Function of input, scale and shift; the input's shape; that of the other two.
NORMS: list[tuple[Callable[..., Tensor], tuple[int, ...], tuple[int, ...]]] = [
    (lambda x, w, b: F.layer_norm(x, 4, w, b), (3, 4), (4,)),
    (lambda x, w, b: F.layer_norm(x, (2, 3), w, b, eps=0.1), (2, 2, 3), (2, 3)),
    (lambda x, w, b: F.group_norm(x, 2, w, b), (2, 4, 3), (4,)),
    (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (4, 2), (2,)),
    (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (2, 2, 2, 3), (2,)),
    (lambda x, w, b: F.batch_norm(x, ones(2), ones(2) * 3, w, b), (3, 2), (2,)),
    (lambda x, w, b: F.instance_norm(x, weight=w, bias=b), (2, 2, 4), (2,)),
    (lambda x, w, b: F.rms_norm(x, 4, w, eps=0.01) + b, (2, 4), (4,)),
]


@pytest.mark.parametrize(("function", "shape", "affine"), NORMS)
def test_first_and_second_derivatives(
    function: Callable[..., Tensor], shape: tuple[int, ...], affine: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(0)
    check_derivatives(function, rng.standard_normal(shape), rng.standard_normal(affine), rng.standard_normal(affine))


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("shifted", [True, False])
def test_scale_and_shift_are_optional_and_may_be_frozen(scaled: bool, shifted: bool) -> None:
    rng = np.random.default_rng(1)
    x, w, b = rng.standard_normal((3, 4)), rng.standard_normal(4), rng.standard_normal(4)
    whole = F.layer_norm(x, 4, w, b).data
    plain = F.layer_norm(x, 4).data
    np.testing.assert_allclose(whole, plain * w + b, rtol=1e-4, atol=1e-6)
    weight, bias = (parameter(w) if scaled else Tensor(w)), (parameter(b) if shifted else Tensor(b))
    leaf = parameter(x)
    F.layer_norm(leaf, 4, weight, bias).sum().backward()
    assert leaf.grad is not None
    assert (weight.grad is not None) == scaled
    assert (bias.grad is not None) == shifted
    check_derivatives(lambda t: F.layer_norm(t, 4, w if scaled else None, b if shifted else None), x)


def test_a_large_common_offset_does_not_cancel_the_variance() -> None:
    y = F.layer_norm(np.array([[30000, 30001, 30003, 30002], [2000, 2001, 1999, 2000]]), 4).data
    expected = [[-1.34163542, -0.447211807, 1.34163542, 0.447211807], [0, 1.41419942, -1.41419942, 0]]
    np.testing.assert_allclose(y, expected, atol=1e-3)


def test_a_constant_row_is_zero_with_a_finite_gradient() -> None:
    x = parameter([[1234.0] * 4])
    y = F.layer_norm(x, 4)
    np.testing.assert_array_equal(y.data, np.zeros((1, 4)))
    (y * np.arange(1.0, 5)).sum().backward()
    np.testing.assert_allclose(grad_of(x), [[-474.341675, -158.113892, 158.113892, 474.341675]], rtol=1e-5)


def test_running_statistics_are_unbiased_and_momentum_weighs_the_new_value() -> None:
    layer = BatchNorm1d(2, momentum=0.1)
    x = [[1.0, 10.0], [2.0, 14.0], [-6.0, 3.0]]
    y = layer(x).data
    np.testing.assert_allclose(
        y, [[0.561951265, 0.219970619], [0.842926898, 1.0998531], [-1.40487816, -1.31982372]], rtol=1e-5
    )
    assert isinstance(layer.running_mean, Tensor)
    assert isinstance(layer.running_var, Tensor)
    np.testing.assert_allclose(layer.running_mean.data, [-0.1, 0.9], rtol=1e-6)
    np.testing.assert_allclose(layer.running_var.data, [2.8, 4.0], rtol=1e-6)
    layer.eval()
    np.testing.assert_allclose(
        layer(x).data, [[0.657374561, 4.54999447], [1.25498772, 6.54999208], [-3.52591801, 1.04999876]], rtol=1e-5
    )


def test_evaluation_uses_and_keeps_the_running_statistics() -> None:
    model = Sequential(BatchNorm1d(1), Sequential(BatchNorm1d(1)))
    model.eval()
    assert [module.training for module in model.modules()] == [False] * 4
    layer = model[0]
    np.testing.assert_allclose(layer([[10.0], [20.0]]).data, [[9.99995041], [19.9999008]], rtol=1e-6)
    state = layer.state_dict()
    np.testing.assert_array_equal(state["running_mean"], [0])
    np.testing.assert_array_equal(state["running_var"], [1])
    np.testing.assert_array_equal(state["num_batches_tracked"], 0)
    model.train()
    assert all(module.training for module in model.modules())


@pytest.mark.parametrize("affine", [True, False])
def test_a_batch_without_samples_leaves_the_statistics_alone(affine: bool) -> None:
    layer = BatchNorm1d(2, affine=affine)
    before = layer.state_dict()
    assert layer(np.zeros((0, 2))).shape == (0, 2)
    for name, value in layer.state_dict().items():
        np.testing.assert_array_equal(value, before[name])


def test_momentum_none_averages_all_batches() -> None:
    layer = BatchNorm1d(1, momentum=None)
    for mean in (1.0, 2.0, 6.0):
        layer([[mean - 1], [mean + 1]])
    assert layer.running_mean is not None
    np.testing.assert_allclose(layer.running_mean.data, [3], rtol=1e-6)
    assert layer.num_batches_tracked == 3
    layer.reset_running_stats()
    assert layer.state_dict()["running_mean"].tolist() == [0]
    assert layer.num_batches_tracked == 0


def test_without_running_statistics_evaluation_uses_the_batch() -> None:
    layer = BatchNorm1d(1, track_running_stats=False).eval()
    np.testing.assert_allclose(layer([[1.0], [3.0]]).data, [[-1], [1]], atol=1e-4)
    assert list(layer.state_dict()) == ["weight", "bias"]


def test_each_norm_normalises_what_its_name_says() -> None:
    x = np.random.default_rng(2).standard_normal((4, 6, 5, 3)) * 3 + 7
    for y, axes in [
        (BatchNorm2d(6)(x).data, (0, 2, 3)),
        (InstanceNorm2d(6)(x).data, (2, 3)),
        (LayerNorm((5, 3))(x).data, (2, 3)),
        (GroupNorm(1, 6)(x).data, (1, 2, 3)),
        (GroupNorm(6, 6)(x).data, (2, 3)),
    ]:
        np.testing.assert_allclose(y.mean(axes), 0, atol=1e-5)
        np.testing.assert_allclose(y.var(axes), 1, atol=1e-4)
    y = RMSNorm(3)(x).data
    np.testing.assert_allclose((y * y).mean(-1), 1, rtol=1e-5)


def test_instance_norm_keeps_running_statistics_when_asked() -> None:
    layer = InstanceNorm1d(2, track_running_stats=True, momentum=0.5)
    layer(np.stack([np.arange(8.0).reshape(2, 4), np.arange(8.0).reshape(2, 4) + 2]))
    assert layer.running_mean is not None
    np.testing.assert_allclose(layer.running_mean.data, [1.25, 3.25])
    layer.eval()
    y = layer(np.full((2, 4), 1.25)).data
    np.testing.assert_allclose(y[0], 0, atol=1e-6)


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: LayerNorm(4)(zeros((2, 3))), "last axes"),
    (lambda: F.layer_norm(zeros((2, 3)), 3, zeros(2)), "weight"),
    (lambda: BatchNorm1d(3)(zeros((2, 4))), "channels"),
    (lambda: BatchNorm1d(3)(zeros((2, 3, 4, 4))), "axes"),
    (lambda: BatchNorm2d(3)(zeros((2, 3))), "axes"),
    (lambda: BatchNorm1d(3)(zeros((1, 3))), "more than one value"),
    (lambda: F.batch_norm(zeros((2, 3)), None, None), "running_mean"),
    (lambda: F.batch_norm(zeros((2, 3)), zeros(2), ones(2)), "running"),
    (lambda: F.batch_norm(zeros((2, 3)), zeros(2), ones(2), training=True), "running"),
    (lambda: GroupNorm(2, 3), "multiple"),
    (lambda: GroupNorm(3, 3)(zeros((2, 4))), "channels"),
    (lambda: F.group_norm(zeros((2, 3)), 2), "multiple"),
    (lambda: InstanceNorm1d(3)(zeros((2, 3, 1))), "more than one position"),
]


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_what_does_not_fit_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()

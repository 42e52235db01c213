from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nn.finite_difference import check_derivatives, grad_of

from clumsygrad.core import Tensor, parameter
from clumsygrad.nn import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d
from clumsygrad.nn import functional as F

# Function, input shape, weight shape, settings.
CONVOLUTIONS: list[tuple[Callable[..., Tensor], tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    (F.conv1d, (2, 2, 5), (3, 2, 2), {}),
    (F.conv1d, (2, 5), (3, 2, 3), {"padding": "same"}),
    (F.conv1d, (1, 1, 7), (1, 1, 3), {"stride": 2, "padding": 2, "dilation": 3}),
    (F.conv2d, (2, 2, 4, 3), (2, 2, 2, 2), {"padding": 1}),
    (F.conv2d, (1, 2, 4, 5), (4, 1, 3, 2), {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2), "groups": 2}),
    (F.conv2d, (1, 2, 3, 4), (2, 2, 2, 1), {"padding": "same", "dilation": (2, 1)}),
    (F.conv3d, (1, 1, 2, 3, 2), (2, 1, 2, 2, 1), {"stride": (1, 2, 1), "padding": (0, 1, 0)}),
    (F.conv_transpose1d, (2, 2, 3), (2, 1, 2), {"stride": 2, "output_padding": 1}),
    (F.conv_transpose2d, (1, 2, 2, 3), (2, 1, 2, 2), {"stride": 2, "padding": 1, "groups": 2, "output_padding": 1}),
    (F.conv_transpose2d, (2, 2, 2), (2, 2, 2, 1), {"dilation": 2}),
]  # fmt: skip


def by_definition(
    x: np.ndarray[Any, Any], w: np.ndarray[Any, Any], stride: int, padding: int, dilation: int, groups: int
) -> np.ndarray[Any, Any]:
    """A convolution of images by loops over its indices."""
    samples, _, height, width = x.shape
    outputs, channels, rows, columns = w.shape
    high = (height + 2 * padding - dilation * (rows - 1) - 1) // stride + 1
    wide = (width + 2 * padding - dilation * (columns - 1) - 1) // stride + 1
    y = np.zeros((samples, outputs, high, wide))
    for n, o, i, j, c, k, m in np.ndindex(samples, outputs, high, wide, channels, rows, columns):
        row, column = stride * i + dilation * k - padding, stride * j + dilation * m - padding
        if 0 <= row < height and 0 <= column < width:
            y[n, o, i, j] += w[o, c, k, m] * x[n, c + o // (outputs // groups) * channels, row, column]
    return y


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_convolution_is_what_its_formula_says(stride: int, padding: int, dilation: int, groups: int) -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((3, 4, 6, 7)), rng.standard_normal((6, 4 // groups, 3, 2))
    y = F.conv2d(x, w, stride=stride, padding=padding, dilation=dilation, groups=groups)
    np.testing.assert_allclose(y.data, by_definition(x, w, stride, padding, dilation, groups), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("function", "x_shape", "w_shape", "settings"), CONVOLUTIONS)
def test_first_and_second_derivatives(
    function: Callable[..., Tensor], x_shape: tuple[int, ...], w_shape: tuple[int, ...], settings: dict[str, Any]
) -> None:
    rng = np.random.default_rng(1)
    channels = w_shape[0] if function in {F.conv1d, F.conv2d, F.conv3d} else w_shape[1] * settings.get("groups", 1)
    check_derivatives(
        lambda x, w, b: function(x, w, b, **settings),
        rng.standard_normal(x_shape),
        rng.standard_normal(w_shape),
        rng.standard_normal(channels),
    )


def test_stride_and_dilation_are_not_confused_when_both_are_more_than_one() -> None:
    x, k = parameter([[[1.0, 2, 3, 4, 5, 6, 7]]]), parameter([[[1.0, -1, 2]]])
    y = F.conv1d(x, k, padding=2, stride=2, dilation=3)
    assert y.shape == (1, 1, 3)
    loss = (y * np.arange(1.0, 4)).sum()
    loss.backward()
    assert loss.item() == 21
    np.testing.assert_allclose(grad_of(x), [[[2, -1, 3, -2, 2, -3, 4]]])
    np.testing.assert_allclose(grad_of(k), [[[11, 28, 19]]])


def test_grouped_convolution_with_different_settings_for_each_axis() -> None:
    x = parameter(np.linspace(-1, 1, 40).reshape(1, 2, 4, 5))
    k = parameter(np.linspace(-0.5, 1, 24).reshape(4, 1, 3, 2))
    y = F.conv2d(x, k, padding=(1, 0), stride=(2, 1), dilation=(1, 2), groups=2)
    assert y.shape == (1, 4, 2, 3)
    loss = (y * np.arange(1.0, 25).reshape(1, 4, 2, 3) / 10).sum()
    loss.backward()
    np.testing.assert_allclose(loss.item(), 42.1360092, rtol=1e-5)
    np.testing.assert_allclose(
        grad_of(x),
        [
            [
                [
                    [-0.0217391308, -0.0565217398, -0.0608695708, 0.00869565643, -0.0130434725],
                    [-0.226086959, -0.295652181, -0.447826087, -0.126086965, -0.169565216],
                    [-0.126086965, -0.160869569, -0.23043479, -0.0565217286, -0.0782608613],
                    [0.0565217286, 0.0478260815, 0.186956495, 0.152173907, 0.156521738],
                ],
                [
                    [2.06521726, 2.18695641, 4.5826087, 2.4086957, 2.54347825],
                    [4.41739178, 4.6608696, 9.77826118, 5.14347839, 5.41304398],
                    [2.4304347, 2.55217385, 5.35217381, 2.81304336, 2.94782615],
                    [2.9260869, 3.0739131, 6.39565229, 3.3347826, 3.4956522],
                ],
            ]
        ],
        rtol=1e-4,
    )
    np.testing.assert_allclose(
        grad_of(k),
        [
            [[[-1.02820516, -0.874359012], [-1.20256424, -0.987179518], [-0.664102554, -0.448717982]]],
            [[[-2.27435923, -1.93589759], [-3.6948719, -3.11025667], [-2.23333335, -1.648718]]],
            [[[1.71025646, 2.23333335], [3.35128236, 4.30512857], [5.73589706, 6.68974352]]],
            [[[2.31025648, 3.01794863], [4.55128241, 5.87435913], [7.85897446, 9.1820507]]],
        ],
        rtol=1e-4,
    )


def test_more_samples_than_a_block_holds() -> None:
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((37, 8, 14, 14)), rng.standard_normal((5, 8, 3, 3))
    whole = F.conv2d(x, w, padding=1).data
    single = np.stack([F.conv2d(sample, w, padding=1).data for sample in x])
    np.testing.assert_allclose(whole, single, rtol=1e-4, atol=1e-5)


def test_an_empty_batch_has_an_empty_result_and_gradients_of_zero() -> None:
    x, layer = parameter(np.zeros((0, 2, 5, 5))), Conv2d(2, 3, 3)
    y = layer(x)
    assert y.shape == (0, 3, 3, 3)
    y.sum().backward()
    assert grad_of(x).shape == x.shape
    np.testing.assert_array_equal(grad_of(layer.weight), np.zeros(layer.weight.shape))


def test_padding_modes_repeat_mirror_and_wrap() -> None:
    sums = {}
    for mode in ("zeros", "reflect", "replicate", "circular"):
        layer = Conv1d(1, 1, 3, padding=1, bias=False, padding_mode=mode)
        layer.weight.data = np.ones((1, 1, 3), np.float32)
        sums[mode] = layer([[[1.0, 2.0, 4.0]]]).data.ravel().tolist()
    assert sums == {
        "zeros": [3, 7, 6], "reflect": [5, 7, 8], "replicate": [4, 7, 10], "circular": [7, 7, 7],
    }  # fmt: skip


def test_no_work_for_an_input_that_needs_no_gradient() -> None:
    layer = Conv2d(1, 2, 3)
    y = layer(np.ones((1, 1, 4, 4)))
    assert y.grad_fn is not None
    assert y.grad_fn(y, np.ones_like(y.data))[0] is None


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_derivatives_of_padding_modes(mode: Any) -> None:
    rng = np.random.default_rng(3)
    layer = Conv2d(1, 1, 3, padding=(1, 2), padding_mode=mode, rng=rng)
    check_derivatives(layer, rng.standard_normal((1, 1, 3, 4)))


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: F.conv2d(np.ones((3, 3)), np.ones((1, 1, 2, 2))), "shape"),
    (lambda: F.conv2d(np.ones((1, 3, 4, 4)), np.ones((1, 2, 2, 2))), "channels"),
    (lambda: F.conv2d(np.ones((1, 1, 4, 4)), np.ones((2, 1, 2, 2)), np.ones(3)), "bias"),
    (lambda: F.conv2d(np.ones((1, 1, 2, 2)), np.ones((1, 1, 3, 3))), "larger"),
    (lambda: F.conv2d(np.ones((1, 1, 4, 4)), np.ones((1, 1, 2, 2)), stride=0), "stride"),
    (lambda: F.conv2d(np.ones((1, 1, 4, 4)), np.ones((1, 1, 2, 2)), stride=2, padding="same"), "same"),
    (lambda: F.conv2d(np.ones((1, 1, 4, 4)), np.ones((1, 1, 2, 2)), stride=(1, 1, 1)), "stride"),
    (lambda: F.conv_transpose1d(np.ones((1, 1, 4)), np.ones((1, 1, 2)), output_padding=1), "output_padding"),
    (lambda: Conv2d(3, 4, 3, groups=2), "groups"),
    (lambda: Conv1d(2, 2, 3, padding_mode="mirror"), "padding_mode"),  # type: ignore[arg-type]  # a wrong value
    (lambda: Conv1d(1, 1, 9, padding=4, padding_mode="reflect")(np.ones((1, 1, 4))), "reflect"),
]


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_what_does_not_fit_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_parameters_have_pytorchs_shapes_and_range() -> None:
    rng = np.random.default_rng(4)
    assert Conv3d(2, 4, (1, 2, 3), groups=2, rng=rng).weight.shape == (4, 1, 1, 2, 3)
    assert ConvTranspose1d(2, 4, 3, groups=2, rng=rng).weight.shape == (2, 2, 3)
    assert ConvTranspose2d(2, 4, 3, bias=False, rng=rng).bias is None
    weight = Conv2d(8, 64, 3, rng=rng).weight.data
    assert 0.95 / np.sqrt(72) < np.abs(weight).max() <= 1 / np.sqrt(72)


def test_repr_names_the_settings() -> None:
    assert repr(Conv2d(1, 2, 3, padding="same")) == ("Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1), padding='same')")

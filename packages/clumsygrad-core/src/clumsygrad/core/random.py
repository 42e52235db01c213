"""Random tensors, from a generator that is passed or from the default one.

Example:
    >>> from clumsygrad.core import random
    >>> random.seed(0)
    >>> random.rand((2, 3)).shape
    (2, 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import cast

import numpy as np
import numpy.typing as npt

from .creation import ShapeLike
from .mode import precision
from .tensor import Tensor, check_leaf_type, wrap
from .tensor_type import TensorType

_INPUT = TensorType.INPUT

__all__ = ["default_generator", "integers", "normal", "permutation", "rand", "randn", "seed", "uniform"]


def seed(n: int) -> None:
    """Start the default generator anew, so that what is drawn from it comes again.

    Example:
        >>> from clumsygrad.core import random
        >>> random.seed(7)
        >>> first = random.rand(3).tolist()
        >>> random.seed(7)
        >>> first == random.rand(3).tolist()
        True
    """
    default_generator().bit_generator.state = np.random.default_rng(n).bit_generator.state


@cache
def default_generator() -> np.random.Generator:
    """Return the generator that is used when none is passed: always the same, which :func:`seed` sets back.

    Example:
        >>> from clumsygrad.core import random
        >>> random.default_generator() is random.default_generator()
        True
    """
    # Made when it is first needed: numpy.random takes as long to import as all of this package.
    return np.random.default_rng()


def rand(shape: ShapeLike = (), *, tensor_type: TensorType = _INPUT, rng: np.random.Generator | None = None) -> Tensor:
    """Return numbers drawn evenly from [0, 1).

    Args:
        shape: the shape of the result.
        tensor_type: INPUT for data, PARAMETER for a leaf to train.
        rng: the generator to draw from; the default one when None.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.core import random
        >>> random.rand((2,), rng=np.random.default_rng(0)).shape
        (2,)
    """
    check_leaf_type(tensor_type)
    return wrap(_generator(rng).random(_size(shape), precision.get().type), tensor_type)


def randn(shape: ShapeLike = (), *, tensor_type: TensorType = _INPUT, rng: np.random.Generator | None = None) -> Tensor:
    """Return numbers drawn from the normal distribution of mean 0 and standard deviation 1.

    Args:
        shape: the shape of the result.
        tensor_type: INPUT for data, PARAMETER for a leaf to train.
        rng: the generator to draw from; the default one when None.

    Example:
        >>> from clumsygrad.core import TensorType, random
        >>> random.randn((2, 3), tensor_type=TensorType.PARAMETER).requires_grad
        True
    """
    check_leaf_type(tensor_type)
    return wrap(_generator(rng).standard_normal(_size(shape), precision.get().type), tensor_type)


def uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: ShapeLike = (),
    *,
    tensor_type: TensorType = _INPUT,
    rng: np.random.Generator | None = None,
) -> Tensor:
    """Return numbers drawn evenly from [low, high).

    Args:
        low: the lower bound.
        high: the upper bound.
        shape: the shape of the result.
        tensor_type: INPUT for data, PARAMETER for a leaf to train.
        rng: the generator to draw from; the default one when None.

    Raises:
        ValueError: when ``high`` is below ``low``.

    Example:
        >>> from clumsygrad.core import random
        >>> x = random.uniform(-1, 1, (100,))
        >>> bool((x >= -1).all() and (x <= 1).all())
        True
    """
    if not high >= low:
        raise ValueError(f"uniform draws between low and high, in this order; received {low} and {high}")
    return _scaled(rand(shape, tensor_type=tensor_type, rng=rng), high - low, low)


def normal(
    mean: float = 0.0,
    std: float = 1.0,
    shape: ShapeLike = (),
    *,
    tensor_type: TensorType = _INPUT,
    rng: np.random.Generator | None = None,
) -> Tensor:
    """Return numbers drawn from a normal distribution.

    Args:
        mean: its mean.
        std: its standard deviation.
        shape: the shape of the result.
        tensor_type: INPUT for data, PARAMETER for a leaf to train.
        rng: the generator to draw from; the default one when None.

    Raises:
        ValueError: when ``std`` is negative.

    Example:
        >>> from clumsygrad.core import random
        >>> random.normal(5.0, 0.0, (2,)).tolist()
        [5.0, 5.0]
    """
    if not std >= 0:
        raise ValueError(f"a standard deviation is not negative; received {std}")
    return _scaled(randn(shape, tensor_type=tensor_type, rng=rng), std, mean)


def integers(
    low: int, high: int | None = None, shape: ShapeLike = (), *, rng: np.random.Generator | None = None
) -> npt.NDArray[np.int64]:
    """Return integers drawn evenly from ``low`` up to, not including, ``high``: a NumPy array, to index with.

    Args:
        low: the lower bound; the upper one, above 0, when ``high`` is None.
        high: the upper bound.
        shape: the shape of the result.
        rng: the generator to draw from; the default one when None.

    Example:
        >>> from clumsygrad.core import random
        >>> random.integers(0, 1, (3,))
        array([0, 0, 0])
    """
    return np.asarray(_generator(rng).integers(low, high, _size(shape)))


def permutation(n: int, *, rng: np.random.Generator | None = None) -> npt.NDArray[np.int64]:
    """Return the integers from 0 to n - 1 in random order: a NumPy array, to index with.

    Args:
        n: how many.
        rng: the generator to draw from; the default one when None.

    Example:
        >>> from clumsygrad.core import random
        >>> sorted(random.permutation(4).tolist())
        [0, 1, 2, 3]
    """
    return _generator(rng).permutation(n)


def _generator(rng: np.random.Generator | None) -> np.random.Generator:
    if rng is None:
        return default_generator()
    if not isinstance(cast("object", rng), np.random.Generator):
        raise TypeError(f"rng is a numpy.random.Generator; received {rng!r}. Make one by np.random.default_rng(seed)")
    return rng


def _size(shape: ShapeLike) -> tuple[int, ...]:
    return tuple(int(length) for length in shape) if isinstance(shape, Sequence) else (int(shape),)


def _scaled(drawn: Tensor, scale: float, shift: float) -> Tensor:
    values = drawn._data
    values *= scale
    values += shift
    return drawn

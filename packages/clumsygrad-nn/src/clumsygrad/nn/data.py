"""Minibatches of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVarTuple, cast

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from clumsygrad.core import Tensor

from ._random import generator

Arrays = TypeVarTuple("Arrays")


class Batches(Generic[*Arrays]):
    """The minibatches of some arrays; each iteration passes over all of the data. See :func:`batches`."""

    batch_size: int
    shuffle: bool
    drop_last: bool

    def __init__(
        self,
        arrays: tuple[*Arrays],
        batch_size: int,
        *,
        shuffle: bool = False,
        drop_last: bool = False,
        rng: Generator | None = None,
    ) -> None:
        if not arrays:
            raise TypeError("batches takes at least one array")
        lengths = [_length(array) for array in cast("tuple[object, ...]", arrays)]
        if len(set(lengths)) != 1:
            raise ValueError(f"the arrays of a batch have the same number of rows; received {lengths}")
        if batch_size < 1:
            raise ValueError(f"batch_size is at least 1; received {batch_size}")
        self._arrays = cast("tuple[npt.NDArray[Any], ...]", arrays)
        self._rows = lengths[0]
        self._rng = rng
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.drop_last = drop_last

    def __len__(self) -> int:
        whole, rest = divmod(self._rows, self.batch_size)
        return whole if self.drop_last or not rest else whole + 1

    def __iter__(self) -> Iterator[tuple[*Arrays]]:
        order = generator(self._rng).permutation(self._rows) if self.shuffle else None
        for start in range(0, len(self) * self.batch_size, self.batch_size):
            rows: Any = slice(start, start + self.batch_size)
            if order is not None:
                rows = order[rows]
            yield cast("tuple[*Arrays]", tuple(array[rows] for array in self._arrays))


def _length(array: object) -> int:
    if not isinstance(array, (np.ndarray, Tensor)):
        raise TypeError(
            f"batches takes NumPy arrays, or constant Tensors; received a {type(array).__name__}. "
            "Use np.asarray on a list"
        )
    if not array.ndim:
        raise ValueError("batches divides the first axis of its arrays; received a 0-d array")
    return len(cast("Tensor", array))


def batches(
    *arrays: *Arrays, batch_size: int, shuffle: bool = False, drop_last: bool = False, rng: Generator | None = None
) -> Batches[*Arrays]:
    """Return the minibatches of some arrays, to iterate over as often as there are epochs.

    Args:
        arrays: arrays of the same number of rows; batches have the same types.
        batch_size: the number of rows in a batch.
        shuffle: take the rows in a new random order each time; a batch then is a copy, else a view.
        drop_last: leave out a last batch that is smaller.
        rng: what draws the order; the default generator when None.

    Returns:
        An iterable of tuples with a batch of each array. It has a length, the number of batches, for progress bars.

    Raises:
        ValueError: for different numbers of rows, and a batch size below 1.
        TypeError: for what isn't an array, or no array at all.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.nn import batches
        >>> [len(x) for x, y in batches(np.zeros((5, 2)), np.arange(5), batch_size=2)]
        [2, 2, 1]
    """
    return Batches(arrays, batch_size, shuffle=shuffle, drop_last=drop_last, rng=rng)

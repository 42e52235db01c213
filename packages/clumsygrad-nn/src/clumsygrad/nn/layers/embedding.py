"""Tables of vectors that token ids look up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from clumsygrad.core import Array, GradientTuple, Tensor, TensorLike, as_tensor, create_node
from clumsygrad.core.grad import scatter

from .. import init
from ..module import Module, Parameter

Ids: TypeAlias = npt.NDArray[np.integer[Any]] | Sequence[Any] | int
"""Integers, in an array or in (nested) lists."""

BagMode: TypeAlias = Literal["sum", "mean", "max"]


def as_ids(name: str, ids: Ids, count: int) -> npt.NDArray[np.intp]:
    """Return ids as an array of indices.

    Raises:
        TypeError: for anything but integers.
        IndexError: for an id below 0, or not below ``count``.
    """
    given = cast("object", ids)
    array = np.asarray(ids)
    if isinstance(given, Tensor) or (array.dtype.kind not in "iu" and array.size):
        kind = "a Tensor" if isinstance(given, Tensor) else f"dtype {array.dtype}"
        raise TypeError(f"{name} are integers, in a NumPy array or a list; received {kind}. Use ids.astype(np.int64)")
    if array.size and (int(array.min()) < 0 or int(array.max()) >= count):
        raise IndexError(
            f"{name} are between 0 and {count - 1}, for a table of {count} rows; received values from {array.min()} "
            f"to {array.max()}"
        )
    return array.astype(np.intp, copy=False)


def _row_number(padding_idx: int | None, count: int) -> int | None:
    if padding_idx is None:
        return None
    if not -count <= padding_idx < count:
        raise ValueError(f"padding_idx is a row of the table, which has {count}; received {padding_idx}")
    return padding_idx % count


def embedding(input: Ids, weight: TensorLike, padding_idx: int | None = None) -> Tensor:
    """Return the rows of ``weight`` that the ids name, as one node.

    Args:
        input: integers, of any shape (*).
        weight: the table, of shape (num_embeddings, embedding_dim).
        padding_idx: a row that gets no gradient.

    Returns:
        Shape (*, embedding_dim).

    Raises:
        IndexError: for an id that is negative or not below num_embeddings.
        TypeError: for ids that are not integers.

    Example:
        >>> from clumsygrad.nn.functional import embedding
        >>> embedding([2, 0], [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]).tolist()
        [[4.0, 5.0], [0.0, 1.0]]
    """
    table = as_tensor(weight)
    if table.ndim != 2:
        raise ValueError(f"embedding takes a weight of shape (num_embeddings, embedding_dim); received {table.shape}")
    ids = as_ids("ids", input, table.shape[0])
    extra = {"ids": ids, "padding_idx": _row_number(padding_idx, table.shape[0])}
    return create_node(table.data[ids], embedding_backward, (table,), extra)


def embedding_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient added up at the rows that were read, but for the padding's."""
    ids: npt.NDArray[np.intp] = tensor.extra["ids"]
    padding_idx: int | None = tensor.extra["padding_idx"]
    if padding_idx is not None:
        grad = grad * (ids != padding_idx)[..., np.newaxis].astype(grad.dtype)
    return (scatter(grad, ids, tensor.parents[0].shape),)


def embedding_bag(
    input: Ids,
    weight: TensorLike,
    offsets: Ids | None = None,
    *,
    mode: BagMode = "mean",
    per_sample_weights: TensorLike | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Return the sum, mean or maximum of the rows that each bag of ids names; zeros for an empty bag.

    Args:
        input: shape (B, L) for B bags of equal length; or (T,) with ``offsets``.
        weight: the table, of shape (num_embeddings, embedding_dim).
        offsets: where each bag begins in a flat ``input``; the first is 0.
        mode: "sum", "mean" or "max".
        per_sample_weights: a factor for each id, of ``input``'s shape; for "sum" only.
        include_last_offset: whether ``offsets`` ends with the length of ``input``.
        padding_idx: an id that counts as absent.

    Returns:
        Shape (B, embedding_dim).

    Raises:
        IndexError: for an id that is negative or not below num_embeddings.
        ValueError: for shapes, offsets or a mode that don't fit.

    Example:
        >>> from clumsygrad.nn.functional import embedding_bag
        >>> embedding_bag([[0, 1], [1, 1]], [[1.0], [3.0]]).tolist()
        [[2.0], [3.0]]
    """
    table = as_tensor(weight)
    if table.ndim != 2:
        raise ValueError(
            f"embedding_bag takes a weight of shape (num_embeddings, embedding_dim); received {table.shape}"
        )
    if mode not in {"sum", "mean", "max"}:
        raise ValueError(f"mode is 'sum', 'mean' or 'max'; received {mode!r}")
    ids = as_ids("ids", input, table.shape[0])
    bags, count = _bags(ids, offsets, include_last_offset)
    factors: Tensor | None = None
    if per_sample_weights is not None:
        factors = as_tensor(per_sample_weights)
        if mode != "sum" or factors.shape != ids.shape:
            raise ValueError(
                f"per_sample_weights has the ids' shape {ids.shape} and goes with mode='sum'; received "
                f"{factors.shape} with mode={mode!r}"
            )
        factors = factors.reshape(ids.size)
    ids = ids.reshape(-1)
    padding = _row_number(padding_idx, table.shape[0])
    if padding is not None:
        kept = np.flatnonzero(ids != padding)
        ids, bags = ids[kept], bags[kept]
        factors = None if factors is None else factors[kept]
    rows = embedding(ids, table)
    shape = (count, table.shape[1])
    if mode == "max":
        return _bag_maxima(rows, bags, shape)
    if factors is not None:
        rows = rows * factors.reshape(ids.size, 1)
    # Given a Tensor, scatter is an operation of the graph as any other.
    total = cast("Tensor", scatter(cast("Array", rows), bags, shape))
    if mode == "sum":
        return total
    lengths = np.maximum(np.bincount(bags, minlength=count), 1)
    return total * (1 / lengths).reshape(count, 1)


def _bags(
    ids: npt.NDArray[np.intp], offsets: Ids | None, include_last_offset: bool
) -> tuple[npt.NDArray[np.intp], int]:
    """Return the number of each id's bag, and how many bags there are."""
    if ids.ndim == 2:
        if offsets is not None:
            raise ValueError("bags of equal length, shape (B, L), take no offsets; received both")
        count, length = int(ids.shape[0]), int(ids.shape[1])
        return np.repeat(np.arange(count), length), count
    if ids.ndim != 1 or offsets is None:
        raise ValueError(f"embedding_bag takes ids of shape (B, L), or (T,) with offsets; received {ids.shape}")
    starts = as_ids("offsets", offsets, ids.size + 1)
    if starts.ndim != 1 or not starts.size or starts[0] != 0 or (np.diff(starts) < 0).any():
        raise ValueError(f"offsets begin with 0 and never fall; received {starts}")
    if include_last_offset:
        starts = starts[:-1]
    bags = np.searchsorted(starts, np.arange(ids.size), side="right") - 1
    return bags, starts.size


def _bag_maxima(rows: Tensor, bags: npt.NDArray[np.intp], shape: tuple[int, int]) -> Tensor:
    found: list[npt.NDArray[np.intp]] = []
    filled: list[int] = []
    ends = np.searchsorted(bags, np.arange(shape[0] + 1))
    for bag in range(shape[0]):
        start, stop = int(ends[bag]), int(ends[bag + 1])
        if stop > start:
            found.append(rows.data[start:stop].argmax(axis=0) + start)
            filled.append(bag)
    if not found:
        return rows.sum() * np.zeros(shape)
    chosen = rows[np.stack(found), np.arange(shape[1])]
    return cast("Tensor", scatter(cast("Array", chosen), np.array(filled), shape))


class Embedding(Module):
    """A table of vectors, of which ids name rows: :func:`~clumsygrad.nn.functional.embedding`.

    Args:
        num_embeddings: how many rows there are.
        embedding_dim: the length of each.
        padding_idx: a row that starts as zeros and gets no gradient.
        rng: what draws the initial values; the default generator when None.

    Shapes:
        ids (*) to (*, embedding_dim); ``weight`` (num_embeddings, embedding_dim), standard normal.

    Example:
        >>> from clumsygrad.nn import Embedding
        >>> Embedding(10, 3)([[1, 2], [4, 9]]).shape
        (2, 2, 3)
    """

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Tensor

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
        rng: Generator | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _row_number(padding_idx, num_embeddings)
        self.weight = Parameter(np.empty((num_embeddings, embedding_dim)))
        self.reset_parameters(rng=rng)

    @classmethod
    def from_pretrained(cls, embeddings: TensorLike, freeze: bool = True, padding_idx: int | None = None) -> Self:
        """Return a layer with the given table, which is not trained unless ``freeze`` is False."""
        table = as_tensor(embeddings).data
        if table.ndim != 2:
            raise ValueError(f"embeddings have shape (num_embeddings, embedding_dim); received {table.shape}")
        layer = cls(table.shape[0], table.shape[1], padding_idx)
        layer.register_parameter("weight", Parameter(table, requires_grad=not freeze))
        return layer

    def reset_parameters(self, *, rng: Generator | None = None) -> None:
        """Draw the initial values anew."""
        init.normal_(self.weight, rng=rng)
        _clear_row(self.weight, self.padding_idx)

    def forward(self, ids: Ids) -> Tensor:
        """Return the rows that the ids name."""
        return embedding(ids, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """Return the settings."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


def _clear_row(weight: Tensor, row: int | None) -> None:
    if row is not None:
        values = weight.data.copy()
        values[row] = 0
        weight.data = values


class EmbeddingBag(Module):
    """The sum, mean or maximum of the rows that bags of ids name: :func:`~clumsygrad.nn.functional.embedding_bag`.

    Args:
        num_embeddings: how many rows the table has.
        embedding_dim: the length of each.
        mode: "sum", "mean" or "max".
        include_last_offset: whether offsets end with the number of ids.
        padding_idx: an id that counts as absent; its row starts as zeros.
        rng: what draws the initial values; the default generator when None.

    Example:
        >>> from clumsygrad.nn import EmbeddingBag
        >>> EmbeddingBag(10, 3, mode="sum")([1, 2, 4, 5, 4], [0, 3]).shape
        (2, 3)
    """

    num_embeddings: int
    embedding_dim: int
    mode: BagMode
    include_last_offset: bool
    padding_idx: int | None
    weight: Tensor

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        *,
        mode: BagMode = "mean",
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        rng: Generator | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.mode = mode
        self.include_last_offset = include_last_offset
        self.padding_idx = _row_number(padding_idx, num_embeddings)
        self.weight = Parameter(np.empty((num_embeddings, embedding_dim)))
        self.reset_parameters(rng=rng)

    def reset_parameters(self, *, rng: Generator | None = None) -> None:
        """Draw the initial values anew."""
        init.normal_(self.weight, rng=rng)
        _clear_row(self.weight, self.padding_idx)

    def forward(self, ids: Ids, offsets: Ids | None = None, per_sample_weights: TensorLike | None = None) -> Tensor:
        """Return one row for each bag."""
        return embedding_bag(
            ids,
            self.weight,
            offsets,
            mode=self.mode,
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
            padding_idx=self.padding_idx,
        )

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"{self.num_embeddings}, {self.embedding_dim}, mode={self.mode!r}"

"""Selecting elements by position; backward functions in ``grad/indexing.py`` in the same order."""

from __future__ import annotations

from typing import cast

from ..grad.indexing import getitem_backward
from ..registry import register
from ..tensor import Tensor, create_node, plain_key
from ..types import TensorLike
from .shaping import view


def getitem(x: TensorLike, key: object) -> Tensor:
    """Return ``x[key]`` for integers, slices, None, Ellipsis, masks, integer arrays, and Tensors of whole numbers.

    An element that is read twice gets the gradient of both.

    Raises:
        IndexError: as NumPy's, for a key out of range or of the wrong kind.

    Example:
        >>> from clumsygrad.core import Tensor
        >>> Tensor([1.0, 2.0, 3.0])[[2, 0, 2]].tolist()
        [3.0, 1.0, 3.0]
    """
    x = cast("Tensor", x)
    plain = plain_key(key)
    data = x._data[plain]
    if getattr(data, "base", None) is not None:
        view(data)
    return create_node(data, getitem_backward, (x,), {"key": plain})


register(getitem, getitem_backward, methods=("__getitem__",))

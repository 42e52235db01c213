"""The three roles a tensor can have in a graph."""

from __future__ import annotations

from enum import Enum


class TensorType(Enum):
    """The role of a tensor in the graph.

    Example:
        >>> from clumsygrad.core import TensorType, parameter
        >>> parameter([1.0]).tensor_type is TensorType.PARAMETER
        True
    """

    INPUT = "input"
    """Data: never needs a gradient."""

    PARAMETER = "parameter"
    """A leaf to train: ``backward`` adds to its ``grad``."""

    INTERMEDIATE = "intermediate"
    """Made by an operation from something that needs a gradient."""

"""Padding that repeats, mirrors or wraps what it is put around."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from clumsygrad.core import Shape, Tensor

PaddingMode: TypeAlias = Literal["zeros", "reflect", "replicate", "circular"]
"""What stands beyond the edge: zeros, the mirrored input, its last element, or its other end."""


def pad_spatial(x: Tensor, before: Shape, after: Shape, mode: PaddingMode) -> Tensor:
    """Return ``x`` with its last axes padded by a mode other than zeros.

    Raises:
        ValueError: when there is less to mirror or to wrap than the padding needs.
    """
    for number, (front, back) in enumerate(zip(before, after, strict=True)):
        if not front and not back:
            continue
        axis = x.ndim - len(before) + number
        length = x.shape[axis]
        limit = {"reflect": length - 1, "circular": length}.get(mode, max(front, back) if length else 0)
        if max(front, back) > limit:
            raise ValueError(
                f"padding_mode={mode!r} finds at most {limit} elements for an axis of {length}; received padding "
                f"{front} and {back}"
            )
        positions = np.arange(length)
        if mode == "reflect":
            positions = np.pad(positions, (front, back), "reflect")
        elif mode == "replicate":
            positions = np.pad(positions, (front, back), "edge")
        else:
            positions = np.pad(positions, (front, back), "wrap")
        x = x[(slice(None),) * axis + (positions,)]
    return x

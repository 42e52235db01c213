"""Fit curves to measurements by exact gradients."""

from .curve import Fit as Fit
from .curve import fit as fit

__all__ = ["Fit", "fit"]

"""A finite-difference gradient checker for clumsygrad-core."""

__version__ = "0.3.0"

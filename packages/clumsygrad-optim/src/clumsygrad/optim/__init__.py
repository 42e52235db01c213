"""Optimizers, schedules and gradient clipping for clumsygrad-core, with PyTorch's names and numbers."""

__version__ = "0.3.0"

"""Neural-network layers, losses and saving for clumsygrad-core, with PyTorch's names and numbers."""

__version__ = "0.3.0"

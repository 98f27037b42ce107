"""Finds what keeps a PyTorch GPU training script from running well on a TPU, and rewrites it for torch_xla."""

from __future__ import annotations

__version__ = "0.1.0"

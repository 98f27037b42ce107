"""Mixed precision of a training."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from tpulint_runtime.backend import Backend


def autocast(bf16: bool, backend: Backend) -> AbstractContextManager[Any]:
    """Around the forward pass: bfloat16 where it pays, on XLA and CUDA. On the CPU nothing is cast."""
    return backend.autocast(True, torch.bfloat16, None) if bf16 else nullcontext()

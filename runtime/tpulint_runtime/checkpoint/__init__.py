"""Checkpoints from which a killed training continues as if it had not been killed."""

from __future__ import annotations

from tpulint_runtime.checkpoint.checkpoints import Checkpoints
from tpulint_runtime.checkpoint.errors import CheckpointError, CheckpointWarning
from tpulint_runtime.checkpoint.preemption import Preempted

__all__ = ["CheckpointError", "CheckpointWarning", "Checkpoints", "Preempted"]

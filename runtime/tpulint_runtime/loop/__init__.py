"""The training loop, and what it is made of."""

from __future__ import annotations

from tpulint_runtime.loop.callbacks import Callback
from tpulint_runtime.loop.device_batches import device_batches
from tpulint_runtime.loop.early_stopping import EarlyStopping
from tpulint_runtime.loop.evaluation import Evaluation, evaluate
from tpulint_runtime.loop.history import History, Record
from tpulint_runtime.loop.loop import Loop
from tpulint_runtime.loop.optimizer_numbers import VaryingNumbers
from tpulint_runtime.loop.optimizer_state import make_state
from tpulint_runtime.loop.progress import Progress

__all__ = [
    "Callback",
    "EarlyStopping",
    "Evaluation",
    "History",
    "Loop",
    "Progress",
    "Record",
    "VaryingNumbers",
    "device_batches",
    "evaluate",
    "make_state",
]

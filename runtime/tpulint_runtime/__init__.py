"""What rewritten training code imports where one call of torch_xla is not enough, or where it is to run without.

Importing this package loads torch, never torch_xla: the backend is loaded by the first call that needs it.
"""

from __future__ import annotations

from tpulint_runtime import backend
from tpulint_runtime.backend import Backend, Counts, current
from tpulint_runtime.collate import Buckets, PadLastBatch, PadToLength, PadToMultiple
from tpulint_runtime.recompile import BudgetExceeded, BudgetWarning, RecompileGuard
from tpulint_runtime.report import HostSync, InputChange, Layout, Recompilation, Report

__all__ = [
    "Backend",
    "Buckets",
    "BudgetExceeded",
    "BudgetWarning",
    "Counts",
    "HostSync",
    "InputChange",
    "Layout",
    "PadLastBatch",
    "PadToLength",
    "PadToMultiple",
    "Recompilation",
    "RecompileGuard",
    "Report",
    "backend",
    "current",
]

"""What rewritten training code imports where one call of torch_xla is not enough, or where it is to run without.

Importing this package loads torch, never torch_xla: the backend is loaded by the first call that needs it.
"""

from __future__ import annotations

from tpulint_runtime import backend
from tpulint_runtime.backend import Backend, Counts, current
from tpulint_runtime.buckets import BucketPlan, measure_buckets, plan_buckets
from tpulint_runtime.checkpoint import CheckpointError, Checkpoints, CheckpointWarning, Preempted
from tpulint_runtime.collate import Buckets, PadToLength, PadToMultiple
from tpulint_runtime.divergences import kl_divergence
from tpulint_runtime.epochs import EpochBatchSampler
from tpulint_runtime.frozen_norms import support_frozen_batch_norm
from tpulint_runtime.gru_gradients import support_gru_gradients
from tpulint_runtime.last_batch import PadLastBatch
from tpulint_runtime.loop import Callback, EarlyStopping, Evaluation, History, Loop, Progress, Record, evaluate
from tpulint_runtime.masked import (
    RunningMean,
    Tally,
    masked_accuracy,
    masked_cross_entropy,
    masked_mean,
    masked_perplexity,
    tally,
    tally_correct,
    tally_cross_entropy,
)
from tpulint_runtime.mesh import Mesh, plan_shards
from tpulint_runtime.meters import defer_updates
from tpulint_runtime.mixed_models import autocast_model
from tpulint_runtime.norms import divide_norms
from tpulint_runtime.operations import cdist, grid_sample, weight_norm
from tpulint_runtime.ownership import Line
from tpulint_runtime.packed import pack_padded_sequence, pad_packed_sequence
from tpulint_runtime.packing import PackedDataset, PackedStream, plan_rows
from tpulint_runtime.placement import move_inputs
from tpulint_runtime.processes import call_once, launch, print_once
from tpulint_runtime.recompile import BudgetExceeded, BudgetWarning, RecompileGuard
from tpulint_runtime.recurrent import run_padded
from tpulint_runtime.reduction import broadcast_parameters, reduce_gradients, sum_over_processes
from tpulint_runtime.report import Difference, HostSync, InputChange, Layout, Recompilation, Report, Wait
from tpulint_runtime.sampling import BucketBatchSampler
from tpulint_runtime.segments import (
    next_token_labels,
    segment_mask,
    segment_starts,
    shifted_labels,
)
from tpulint_runtime.shared_buffers import renew_tensors
from tpulint_runtime.shared_norms import synchronize_batch_norms
from tpulint_runtime.ties import keep_ties
from tpulint_runtime.unpadding import unpad

__all__ = [
    "Backend",
    "BucketBatchSampler",
    "BucketPlan",
    "Buckets",
    "BudgetExceeded",
    "BudgetWarning",
    "Callback",
    "CheckpointError",
    "CheckpointWarning",
    "Checkpoints",
    "Counts",
    "Difference",
    "EarlyStopping",
    "EpochBatchSampler",
    "Evaluation",
    "History",
    "HostSync",
    "InputChange",
    "Layout",
    "Line",
    "Loop",
    "Mesh",
    "PackedDataset",
    "PackedStream",
    "PadLastBatch",
    "PadToLength",
    "PadToMultiple",
    "Preempted",
    "Progress",
    "Recompilation",
    "RecompileGuard",
    "Record",
    "Report",
    "RunningMean",
    "Tally",
    "Wait",
    "autocast_model",
    "backend",
    "broadcast_parameters",
    "call_once",
    "cdist",
    "current",
    "defer_updates",
    "divide_norms",
    "evaluate",
    "grid_sample",
    "keep_ties",
    "kl_divergence",
    "launch",
    "masked_accuracy",
    "masked_cross_entropy",
    "masked_mean",
    "masked_perplexity",
    "measure_buckets",
    "move_inputs",
    "next_token_labels",
    "pack_padded_sequence",
    "pad_packed_sequence",
    "plan_buckets",
    "plan_rows",
    "plan_shards",
    "print_once",
    "reduce_gradients",
    "renew_tensors",
    "run_padded",
    "segment_mask",
    "segment_starts",
    "shifted_labels",
    "sum_over_processes",
    "support_frozen_batch_norm",
    "support_gru_gradients",
    "synchronize_batch_norms",
    "tally",
    "tally_correct",
    "tally_cross_entropy",
    "unpad",
    "weight_norm",
]

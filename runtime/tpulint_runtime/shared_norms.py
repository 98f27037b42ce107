"""Batch normalisations over the batches of all processes, as ``SyncBatchNorm`` computes them on GPUs.

That layer raises on XLA as soon as a process group is joined. The one of torch_xla (2.9) computes each channel by
operations of its own, and has neither ``affine`` nor ``track_running_stats``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tpulint_runtime import backend
from tpulint_runtime.norms import WrittenBatchNorm


def synchronize_batch_norms(model: nn.Module) -> nn.Module:
    """Lets the ``BatchNorm`` and ``SyncBatchNorm`` layers of ``model`` normalise by the mean and the variance of the
    batches of all processes while they train, and returns ``model``: what ``convert_sync_batchnorm`` does on GPUs.

    Two sums over the processes for each layer and step, and two backwards. All processes have to call the model, with
    batches of the same shape. Parameters, buffers, hooks and names stay. In evaluation, and with one process, layers
    are torch's own. Layers of derived classes are left alone.

    .. code-block:: python

        model = DistributedDataParallel(synchronize_batch_norms(model).to(device))
    """
    for module in model.modules():
        if type(module) in _SYNCHRONIZED:
            module.__class__ = _SYNCHRONIZED[type(module)]
    return model


class _SynchronizedBatchNorm(WrittenBatchNorm):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if self.training and self.shares(input) > 1:
            return super().forward(input)
        result: torch.Tensor = nn.modules.batchnorm._BatchNorm.forward(self, input)
        return result

    def shared(self, mean: torch.Tensor) -> torch.Tensor:
        total: torch.Tensor = _Sum.apply(mean)  # type: ignore[no-untyped-call, unused-ignore]
        return total / self.shares(mean)

    def shares(self, batch: torch.Tensor) -> int:
        return backend.current(batch).place().processes


class SynchronizedBatchNorm1d(_SynchronizedBatchNorm, nn.BatchNorm1d):  # type: ignore[misc, unused-ignore]
    """``nn.BatchNorm1d`` over the batches of all processes."""


class SynchronizedBatchNorm2d(_SynchronizedBatchNorm, nn.BatchNorm2d):  # type: ignore[misc, unused-ignore]
    """``nn.BatchNorm2d`` over the batches of all processes."""


class SynchronizedBatchNorm3d(_SynchronizedBatchNorm, nn.BatchNorm3d):  # type: ignore[misc, unused-ignore]
    """``nn.BatchNorm3d`` over the batches of all processes."""


class SynchronizedSyncBatchNorm(_SynchronizedBatchNorm, nn.SyncBatchNorm):  # type: ignore[misc, unused-ignore]
    """``nn.SyncBatchNorm`` where torch's own has no operation for the device."""


_SYNCHRONIZED: dict[type[nn.Module], type[nn.Module]] = {
    nn.BatchNorm1d: SynchronizedBatchNorm1d,
    nn.BatchNorm2d: SynchronizedBatchNorm2d,
    nn.BatchNorm3d: SynchronizedBatchNorm3d,
    nn.SyncBatchNorm: SynchronizedSyncBatchNorm,
}


class _Sum(torch.autograd.Function):
    """The sum over all processes; its gradient is the sum of theirs."""

    @staticmethod
    def forward(ctx: Any, values: torch.Tensor) -> torch.Tensor:
        return _summed(values)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override, unused-ignore]
        return _summed(gradient)


def _summed(values: torch.Tensor) -> torch.Tensor:
    total = values.clone()
    backend.current(total).add_up([total])
    return total

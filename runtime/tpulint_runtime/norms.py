"""Normalisations that a mesh can divide by rows.

torch_xla computes these layers by the batch normalisation of XLA, which is not divided: every device is sent the
activations of all the others, and does all their work. Written out, a layer or group normalisation needs nothing from
other devices, and a batch normalisation two numbers for each channel.

Outside a mesh the layers of torch are the faster ones.
"""

from __future__ import annotations

import torch
from torch import nn


def divide_norms(model: nn.Module) -> int:
    """Lets the ``LayerNorm``, ``GroupNorm`` and ``BatchNorm`` layers of ``model`` compute so that rows can be divided.
    Returns how many there are. Their parameters, buffers, hooks and names stay; results differ by rounding only. Layers
    of derived classes are left alone. Shapes and dtypes are those of the layers: half precision is normalised in
    float32, and returned as it came. :meth:`Mesh.shard_model` calls it."""
    found = [module for module in model.modules() if type(module) in _DIVIDED]
    for module in found:
        module.__class__ = _DIVIDED[type(module)]
    return len(found)


class DividedLayerNorm(nn.LayerNorm):  # type: ignore[misc, unused-ignore]
    """``nn.LayerNorm``, of each row by itself. Half precision is normalised in float32, and returned as it came."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        dims = tuple(range(-len(self.normalized_shape), 0))
        normal = _normal(input, dims, self.eps)
        if self.weight is not None:
            normal = normal * self.weight
        if self.bias is not None:
            normal = normal + self.bias
        return normal.to(input.dtype)


class DividedGroupNorm(nn.GroupNorm):  # type: ignore[misc, unused-ignore]
    """``nn.GroupNorm``, of each row by itself."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        groups = input.reshape(input.size(0), self.num_groups, -1)
        normal = _normal(groups, (-1,), self.eps).reshape(input.shape)
        return _scaled(normal, self.weight, self.bias).to(input.dtype)


class WrittenBatchNorm(nn.modules.batchnorm._BatchNorm):  # type: ignore[misc, unused-ignore]
    """A batch normalisation made of operations, with the numbers of torch's."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        self._check_input_dim(input)  # type: ignore[no-untyped-call, unused-ignore]
        shape = [1, -1, *[1] * (input.dim() - 2)]
        wide = input.to(_wide(input))
        if self.training or self.running_mean is None or self.running_var is None:
            dims = [dim for dim in range(input.dim()) if dim != 1]
            mean = self.shared(wide.mean(dims))
            variance = self.shared((wide - mean.view(shape)).square().mean(dims))
            if self.training and self.running_mean is not None and self.running_var is not None:
                count = self.shares(input) * (input.numel() // input.size(1))
                self._remember(mean.detach(), variance.detach(), count)
        else:
            mean, variance = self.running_mean, self.running_var
        normal = (wide - mean.view(shape)) * torch.rsqrt(variance.view(shape) + self.eps)
        return _scaled(normal, self.weight, self.bias).to(input.dtype)

    def shared(self, mean: torch.Tensor) -> torch.Tensor:
        """The mean over all that are normalised together, of the mean of this batch."""
        return mean

    def shares(self, batch: torch.Tensor) -> int:
        """How many batches are normalised together with this one."""
        return 1

    def _remember(self, mean: torch.Tensor, variance: torch.Tensor, count: int) -> None:
        """Adds the statistics of a batch, without gradient, to those that evaluation uses."""
        if count < 2:
            raise ValueError(f"{count} value per channel when training: a batch normalisation needs more")
        assert self.num_batches_tracked is not None and self.running_mean is not None and self.running_var is not None
        self.num_batches_tracked.add_(1)
        # Without a momentum, the mean over all batches: by a number that stays on the device.
        share = 1.0 / self.num_batches_tracked if self.momentum is None else self.momentum
        self.running_mean.add_((mean - self.running_mean) * share)
        self.running_var.add_((variance * (count / (count - 1)) - self.running_var) * share)


class DividedBatchNorm1d(WrittenBatchNorm, nn.BatchNorm1d):  # type: ignore[misc, unused-ignore]
    """``nn.BatchNorm1d`` over the rows of all devices."""


class DividedBatchNorm2d(WrittenBatchNorm, nn.BatchNorm2d):  # type: ignore[misc, unused-ignore]
    """``nn.BatchNorm2d`` over the rows of all devices."""


class DividedBatchNorm3d(WrittenBatchNorm, nn.BatchNorm3d):  # type: ignore[misc, unused-ignore]
    """``nn.BatchNorm3d`` over the rows of all devices."""


_DIVIDED: dict[type[nn.Module], type[nn.Module]] = {
    nn.LayerNorm: DividedLayerNorm,
    nn.GroupNorm: DividedGroupNorm,
    nn.BatchNorm1d: DividedBatchNorm1d,
    nn.BatchNorm2d: DividedBatchNorm2d,
    nn.BatchNorm3d: DividedBatchNorm3d,
}


def _normal(values: torch.Tensor, dims: tuple[int, ...], eps: float) -> torch.Tensor:
    """Mean 0 and variance 1 along ``dims``."""
    wide = values.to(_wide(values))
    centred = wide - wide.mean(dims, keepdim=True)
    return centred * torch.rsqrt(centred.square().mean(dims, keepdim=True) + eps)


def _scaled(normal: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None) -> torch.Tensor:
    """By a weight and a bias for each channel, the second dimension."""
    shape = [1, -1, *[1] * (normal.dim() - 2)]
    if weight is not None:
        normal = normal * weight.view(shape)
    return normal if bias is None else normal + bias.view(shape)


def _wide(values: torch.Tensor) -> torch.dtype:
    return torch.float64 if values.dtype == torch.float64 else torch.float32

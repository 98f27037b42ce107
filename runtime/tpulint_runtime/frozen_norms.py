"""Gradients through batch normalisations that use their running statistics: layers in evaluation mode.

torch_xla has no backward pass for them: ``backward()`` raises "The size of mean should be compatible with feature
count" (measured on 2.9; https://github.com/pytorch/xla/issues/3361). Frozen layers are trained through like that, and
attacks and images that are optimised go through a network that is only looked at.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

_batch_norm: Any = F.batch_norm


def support_frozen_batch_norm() -> None:
    """Lets gradients pass batch normalisations in evaluation mode on XLA, for the whole process.

    There they are computed from operations that have gradients; results differ by rounding. All others, and all on
    other devices, are left to torch. Call it once, before the model runs; again does no harm."""
    F.batch_norm = _batch_norm_with_gradient


def _batch_norm_with_gradient(
    input: torch.Tensor,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    training: bool = False,
    momentum: float | None = 0.1,
    eps: float = 1e-5,
) -> torch.Tensor:
    if training or running_mean is None or running_var is None or not _needs_gradient(input, weight, bias):
        result: torch.Tensor = _batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
        return result
    shape = [1, -1, *[1] * (input.dim() - 2)]
    # Half precision is normalised in the precision of the statistics, and returned as it came, as torch does.
    wide = input.to(torch.promote_types(input.dtype, running_var.dtype))
    normal = (wide - running_mean.view(shape)) * torch.rsqrt(running_var + eps).view(shape)
    if weight is not None:
        normal = normal * weight.view(shape)
    if bias is not None:
        normal = normal + bias.view(shape)
    return normal.to(input.dtype)


def _needs_gradient(input: torch.Tensor, *parameters: torch.Tensor | None) -> bool:
    if input.device.type != "xla" or not torch.is_grad_enabled():
        return False
    return input.requires_grad or any(item is not None and item.requires_grad for item in parameters)

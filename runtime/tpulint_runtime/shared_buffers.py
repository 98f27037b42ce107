"""Buffers on the device that two tensors share after a copy, of which an update in place deletes the other.

On torch_xla ``a.copy_(b)`` copies nothing when ``b`` has been computed already and has the dtype of ``a`` (measured on
2.9; see ``tpulint rule TPU322``). An averaged model is filled so, and then updated in place: what of the model has not
changed since is gone. What is still to be computed is not shared.
"""

from __future__ import annotations

import torch
from torch import nn


def renew_tensors(model: nn.Module) -> None:
    """Lets the next copy of a model on XLA have buffers of its own, whatever of the model stays as it is.

    To be called in front of each update of an averaged model: ``AveragedModel.update_parameters``, ``EMA.update`` of
    ``ema_pytorch``. Every parameter and buffer, of any shape and dtype, is multiplied by 1 in place, which changes no
    value. It is part of the graph of the update: it costs no program and no transfer. Gradients are left alone, and so
    are tensors on other devices."""
    for tensor in (*model.parameters(), *model.buffers()):
        if tensor.device.type != "xla":
            continue
        # Through `data` it is no change for autograd: between a forward pass and its backward pass it is allowed, too.
        if tensor.dtype == torch.bool:
            tensor.data.bitwise_or_(False)
        else:
            tensor.data.mul_(1)

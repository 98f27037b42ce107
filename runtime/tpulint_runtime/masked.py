"""Losses and metrics over what is real: the same numbers, and the same gradients, with padding and without.

Everything is computed where the tensors are, in shapes that follow from those of the arguments alone: on XLA nothing is
read and nothing compiled again. Results are tensors without dimensions; read them after the step boundary.

A ``mask`` is bool, True where there is data, and of the shape of what it masks, or of its first dimensions: ``(B,)``,
the mask of rows, serves for ``(B, P)``. What is masked may be anything, infinite and NaN included: it takes no part in
the result, and its gradient is 0. What was computed before is another matter: a NaN that a model is given as *input*
reaches the gradients of its weights, and so does the infinite slope of an ``exp``, since 0 times NaN is NaN. Pad inputs
with finite numbers.

Over no data at all, sums and means are 0, where torch has NaN: a batch that is all padding changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F

Reduction = Literal["mean", "sum", "none"]


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """A sum, and over how many: what batches of different size, steps and processes are added up in. A mean of means
    would weigh a token of a short batch more.

    Raises TypeError for a count that is no whole number: of weights that add up to less than 1, it is wrong.
    """

    total: torch.Tensor
    """Without dimensions, floating."""
    count: torch.Tensor
    """Without dimensions, int64."""

    def __post_init__(self) -> None:
        dtype = getattr(self.count, "dtype", None)
        if dtype is None or dtype.is_floating_point or dtype.is_complex:
            raise TypeError(f"count is {dtype or repr(self.count)}: give how many, in a tensor of whole numbers")

    def mean(self) -> torch.Tensor:
        """``total / count``; 0 if there is nothing."""
        return self.total / self.count.clamp(min=1)


class RunningMean:
    """A mean over many batches, kept on the device: of a loss, or of correct answers.

    .. code-block:: python

        loss = RunningMean(device)
        for ids, labels, mask in loader:
            loss.add(tally_cross_entropy(model(ids), labels, mask))
            torch_xla.sync()
        print(loss.mean().item(), loss.mean().exp().item())     # once; the second is the perplexity

    To add up processes, reduce ``total``, float32, and ``count``, int64, both of shape ``(1,)``, not the mean.

    device
        Where both are kept, that of the tallies; None for the CPU.
    """

    def __init__(self, device: torch.device | str | None = None) -> None:
        # Shape (1,), and sent from the host: on XLA a number without dimensions, or one made there, is a constant of
        # the first graph, and the second is then another one.
        self.total = torch.zeros(1, dtype=torch.float32).to(device)
        self.count = torch.zeros(1, dtype=torch.int64).to(device)

    def add(self, tally: Tally) -> None:
        """Adds what a batch had. Gradients are not kept."""
        self.total = self.total + tally.total.detach().to(torch.float32)
        self.count = self.count + tally.count

    def mean(self) -> torch.Tensor:
        """The mean so far, without dimensions; 0 if nothing was added."""
        return Tally(self.total, self.count).mean().squeeze(0)


def tally(values: torch.Tensor, mask: torch.Tensor | None = None) -> Tally:
    """Sum and number of the entries of ``values`` that ``mask`` keeps; of all without a mask.

    values
        Any shape, floating or whole numbers. Of half precision and whole numbers the sum is a float32.
    mask
        Bool, of the shape of ``values`` or of its first dimensions.

    Raises ValueError for a mask that is not bool or does not fit."""
    kept = _fit(mask, values)
    return Tally(_sum(_blank(values, kept)), kept.sum())


def masked_mean(values: torch.Tensor, mask: torch.Tensor | None = None, dim: int | None = None) -> torch.Tensor:
    """The mean of the entries of ``values`` that ``mask`` keeps; along ``dim``, or over all of them. Half precision is
    summed, and returned, as float32, and so are whole numbers.

    values, mask
        As with :func:`tally`.
    dim
        The dimension that the result has not; None for a result without dimensions.

    Raises ValueError for a mask that is not bool or does not fit."""
    kept = _fit(mask, values)
    if dim is None:
        return Tally(_sum(_blank(values, kept)), kept.sum()).mean()
    return _sum(_blank(values, kept), dim) / kept.sum(dim).clamp(min=1)


def masked_cross_entropy(
    logits: torch.Tensor,
    targets: torch.Tensor,
    mask: torch.Tensor | None = None,
    *,
    weight: torch.Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: Reduction = "mean",
) -> torch.Tensor:
    """``torch.nn.functional.cross_entropy`` over the targets that ``mask`` keeps and that are not ``ignore_index``.

    logits
        ``(*, C)``, floating: the classes are the *last* dimension, whatever the others are.
    targets
        ``(*)``, int64: numbers of classes. Those left out may be any number.
    weight, label_smoothing
        As there; ``weight`` is ``(C,)``.
    reduction
        ``mean`` (by weight) and ``sum`` give float32 for half precision. ``none`` gives ``(*)``, 0 where left out.

    Raises ValueError for shapes or a mask that do not fit, and for targets that are probabilities.
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction is {reduction!r}, not mean, sum or none")
    kept = _kept(logits.shape[:-1], targets, mask, ignore_index)
    losses = _losses(logits, targets, kept, weight, label_smoothing)
    if reduction == "none":
        return losses
    total = _sum(losses)
    if reduction == "sum":
        return total
    if weight is None:
        return Tally(total, kept.sum()).mean()
    weights = _sum(_blank(weight[targets.masked_fill(~kept, 0)], kept))
    return total / torch.where(weights == 0, torch.ones_like(weights), weights)


def tally_cross_entropy(
    logits: torch.Tensor, targets: torch.Tensor, mask: torch.Tensor | None = None, *, ignore_index: int = -100
) -> Tally:
    """The sum of the losses, with its gradient, and the number of targets. ``logits`` are ``(*, C)``, floating, and
    ``targets`` ``(*)``, int64; the rest, and what is raised, is as with :func:`masked_cross_entropy`."""
    kept = _kept(logits.shape[:-1], targets, mask, ignore_index)
    return Tally(_sum(_losses(logits, targets, kept, None, 0.0)), kept.sum())


def tally_correct(
    predictions: torch.Tensor,
    targets: torch.Tensor,
    mask: torch.Tensor | None = None,
    *,
    ignore_index: int = -100,
) -> Tally:
    """How many targets are right, and of how many. ``predictions`` are logits ``(*, C)``, the largest of which counts,
    or numbers of classes ``(*)``; ``targets`` are ``(*)``, int64. The sum is a float32, without a gradient.

    Raises ValueError for shapes or a mask that do not fit, and for targets that are probabilities."""
    if predictions.dim() == targets.dim() + 1:
        predictions = predictions.argmax(-1)
    kept = _kept(predictions.shape, targets, mask, ignore_index)
    return Tally(((predictions == targets) & kept).sum().to(torch.float32), kept.sum())


def masked_accuracy(
    predictions: torch.Tensor,
    targets: torch.Tensor,
    mask: torch.Tensor | None = None,
    *,
    ignore_index: int = -100,
) -> torch.Tensor:
    """The share of targets that are right, from 0 to 1: a float32 without dimensions. Arguments and errors are
    those of :func:`tally_correct`."""
    return tally_correct(predictions, targets, mask, ignore_index=ignore_index).mean()


def masked_perplexity(
    logits: torch.Tensor, targets: torch.Tensor, mask: torch.Tensor | None = None, *, ignore_index: int = -100
) -> torch.Tensor:
    """``exp`` of the mean cross entropy of one batch, without dimensions: float64 of such logits, else float32. That of
    a data set is not the mean of these: add up :func:`tally_cross_entropy` in a :class:`RunningMean`, and take ``exp``
    of its mean. Arguments and errors are those of :func:`tally_cross_entropy`."""
    return tally_cross_entropy(logits, targets, mask, ignore_index=ignore_index).mean().exp()


def _fit(mask: torch.Tensor | None, values: torch.Tensor) -> torch.Tensor:
    """The mask in the shape of ``values``."""
    if mask is None:
        return torch.ones_like(values, dtype=torch.bool)
    if mask.dtype != torch.bool:
        raise ValueError(f"a mask is bool, not {mask.dtype}: give mask.bool(), or mask != 0")
    if mask.shape != values.shape[: mask.dim()]:
        raise ValueError(f"a mask of shape {tuple(mask.shape)} does not fit {tuple(values.shape)}")
    return mask.reshape(*mask.shape, *[1] * (values.dim() - mask.dim())).expand(values.shape)


def _kept(shape: torch.Size, targets: torch.Tensor, mask: torch.Tensor | None, ignore_index: int) -> torch.Tensor:
    """Which targets count."""
    if targets.is_floating_point() or targets.shape != shape:
        raise ValueError(
            f"targets are {tuple(targets.shape)} {targets.dtype}: for logits (*, C) they are numbers of classes, "
            f"{tuple(shape)}"
        )
    return _fit(mask, targets) & (targets != ignore_index)


def _losses(
    logits: torch.Tensor, targets: torch.Tensor, kept: torch.Tensor, weight: torch.Tensor | None, smoothing: float
) -> torch.Tensor:
    # Blanked before as well as after: the gradient of what is blanked only after would be 0 times that of a logarithm
    # of nothing, and so NaN.
    classes = int(logits.size(-1))
    losses = F.cross_entropy(
        _blank(logits, kept.unsqueeze(-1)).reshape(-1, classes),
        targets.masked_fill(~kept, 0).reshape(-1),
        weight=weight,
        label_smoothing=smoothing,
        reduction="none",
    )
    return _blank(losses.reshape(targets.shape), kept)


def _blank(values: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """0 where not kept. A product with the mask would keep what is infinite or NaN."""
    return values.masked_fill(~kept, 0)


def _sum(values: torch.Tensor, dim: int | None = None) -> torch.Tensor:
    """In float32 at least."""
    dtype = values.dtype if values.dtype in (torch.float32, torch.float64) else torch.float32
    return values.sum(dtype=dtype) if dim is None else values.sum(dim, dtype=dtype)

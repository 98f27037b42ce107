"""The way back from a padded batch, such as one of predictions, to samples of the length they had."""

from __future__ import annotations

from typing import Any

import torch

from tpulint_runtime.nested import is_leaf, items, rebuild, show


def unpad(batch: Any, mask: Any, rows: torch.Tensor | None = None, *, dim: int = 0) -> list[Any]:
    """The samples of a batch, on the host: what :class:`PadToMultiple` and its like return becomes what they were given
    again.

    batch
        Of the structure of ``mask``: its tensors with a mask are ``(B, *)``, ``P`` long in dimension ``dim + 1``; of
        everything else, each sample gets its entry, numbers as tensors without dimensions.
    mask
        As the collate function made it. Each mask is ``(B, P)``, bool; None where nothing was padded.
    rows
        The mask of rows of :class:`PadLastBatch`, ``(B,)``, bool: rows that are not real are left out.

    For a tensor that lives on a device, this reads it: call it after the step boundary. The lengths become shapes, so
    nothing of this is for the step itself.

    Raises ValueError for a tensor that its mask does not fit, and if neither a mask nor ``rows`` tells how many samples
    there are.
    """
    # Host reads, deliberate: lists of samples have the shapes that the masks hold as data.
    counts = {int(leaf.size(0)) for leaf in _masks(mask)} | (set() if rows is None else {int(rows.size(0))})
    if len(counts) != 1:
        raise ValueError(f"masks have {sorted(counts)} rows: one number is needed")
    (count,) = counts
    kept = range(count) if rows is None else torch.nonzero(rows.cpu()).flatten().tolist()
    batch, mask = _to_host(batch), _to_host(mask)
    return [_sample(batch, mask, row, dim, ()) for row in kept]


def _masks(mask: Any) -> list[torch.Tensor]:
    if not is_leaf(mask):
        return [found for _, child in items(mask) for found in _masks(child)]
    return [] if mask is None else [mask]


def _to_host(value: Any) -> Any:
    if is_leaf(value):
        return value.cpu() if isinstance(value, torch.Tensor) else value
    return rebuild(value, [_to_host(child) for _, child in items(value)])


def _sample(batch: Any, mask: Any, row: int, dim: int, path: tuple[Any, ...]) -> Any:
    if not is_leaf(mask):
        pairs = zip(items(batch), items(mask), strict=True)
        return rebuild(batch, [_sample(child, masks, row, dim, (*path, key)) for (key, child), (_, masks) in pairs])
    if batch is None or mask is None:
        return None if batch is None else batch[row]
    if batch.dim() <= dim + 1 or (batch.size(0), batch.size(dim + 1)) != tuple(mask.shape):
        raise ValueError(f"{show(path)} is {tuple(batch.shape)}, its mask {tuple(mask.shape)}")
    return batch[row].movedim(dim, 0)[mask[row]].movedim(0, dim)

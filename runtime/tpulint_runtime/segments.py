"""Rows that hold several sequences: what may see what, and which token is to be predicted from which.

Everything here is computed where the tensors are, with shapes that follow from those of the arguments alone: on XLA
nothing is read and nothing compiled again. ``B`` is the number of rows, ``P`` their length. ``segment_ids`` has shape
``(B, P)`` or ``(P,)``, an integer dtype, and is 0 in padding; the sequences of a row are numbered from 1.
"""

from __future__ import annotations

import torch


def segment_mask(segment_ids: torch.Tensor, *, causal: bool = True) -> torch.Tensor:
    """Who may attend to whom in rows ``(B, P)`` (or ``(P,)``): ``(B, 1, P, P)`` (or ``(1, P, P)``), bool, True where
    the query, in the third dimension, sees the key, in the fourth. For ``scaled_dot_product_attention(attn_mask=...)``.

    Sequences do not see each other. With ``causal``, tokens see those before them and themselves only. A token of
    padding sees itself: a softmax over nothing is NaN, and a NaN spreads through gradients even of masked losses.
    """
    queries, keys = segment_ids.unsqueeze(-1), segment_ids.unsqueeze(-2)
    length = int(segment_ids.size(-1))
    places = torch.arange(length, device=segment_ids.device)
    seen = (queries == keys) & (queries != 0)
    if causal:
        seen = seen & (places[:, None] >= places[None, :])
    return (seen | (places[:, None] == places[None, :])).unsqueeze(-3)


def segment_starts(segment_ids: torch.Tensor) -> torch.Tensor:
    """The first token of each sequence: bool, of the shape of ``segment_ids``, ``(B, P)`` or ``(P,)``, integers."""
    before = torch.cat([torch.zeros_like(segment_ids[..., :1]), segment_ids[..., :-1]], -1)
    return (segment_ids != before) & (segment_ids != 0)


def next_token_labels(ids: torch.Tensor, segment_ids: torch.Tensor, *, ignore_index: int = -100) -> torch.Tensor:
    """The token that follows each one in its own sequence; ``ignore_index`` for the last of a sequence and for padding.
    Shape and dtype of ``ids``; both are ``(B, P)`` or ``(P,)``, integers. For losses that compare logits and labels of
    one place, as ``cross_entropy`` does."""
    follower = torch.cat([ids[..., 1:], ids[..., :1]], -1)
    segments = torch.cat([segment_ids[..., 1:], torch.zeros_like(segment_ids[..., :1])], -1)
    kept = (segments == segment_ids) & (segment_ids != 0)
    return torch.where(kept, follower, torch.full_like(ids, ignore_index))


def shifted_labels(labels: torch.Tensor, segment_ids: torch.Tensor, *, ignore_index: int = -100) -> torch.Tensor:
    """``labels`` without those that would be predicted from another sequence: the first of each, and padding. Shape and
    dtype of ``labels``; both are ``(B, P)`` or ``(P,)``, integers. For losses that shift the labels themselves, as the
    models of Transformers do."""
    kept = (segment_ids != 0) & ~segment_starts(segment_ids)
    return torch.where(kept, labels, torch.full_like(labels, ignore_index))

"""Divergences of distributions that torch writes by masks, ``t[q.probs == 0] = inf``, each of which the host reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.distributions import Distribution, kl

_Divergence = Callable[[Any, Any], torch.Tensor]


def kl_divergence(p: Distribution, q: Distribution) -> torch.Tensor:
    """``torch.distributions.kl_divergence``, the same numbers and gradients, without a read on XLA.

    Of two Bernoulli, categorical (one-hot, too) or uniform distributions, and of those in ``Independent``. Of all
    others it is torch's own, and so it is where a class registered one for itself."""
    chosen = kl._dispatch_kl(type(p), type(q))  # type: ignore[no-untyped-call]
    is_of_torch = getattr(chosen, "__module__", None) == kl.__name__
    own = _OWN.get(chosen.__name__) if is_of_torch else None
    return kl.kl_divergence(p, q) if own is None else own(p, q)


def _of_independent(p: Any, q: Any) -> torch.Tensor:
    count = p.reinterpreted_batch_ndims
    if count != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    each = kl_divergence(p.base_dist, q.base_dist)
    return each.sum(dim=tuple(range(-count, 0))) if count else each


def _of_bernoulli(p: Any, q: Any) -> torch.Tensor:
    softplus = torch.nn.functional.softplus
    ones = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    zeros = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return _limited(ones, q.probs == 0, p.probs == 0) + _limited(zeros, q.probs == 1, p.probs == 1)


def _of_categorical(p: Any, q: Any) -> torch.Tensor:
    return _limited(p.probs * (p.logits - q.logits), q.probs == 0, p.probs == 0).sum(-1)


def _of_onehot(p: Any, q: Any) -> torch.Tensor:
    return _of_categorical(p._categorical, q._categorical)


def _of_uniform(p: Any, q: Any) -> torch.Tensor:
    ratio = ((q.high - q.low) / (p.high - p.low)).log()
    return torch.where((q.low > p.low) | (q.high < p.high), torch.inf, ratio)


def _limited(terms: torch.Tensor, infinite: torch.Tensor, zero: torch.Tensor) -> torch.Tensor:
    return terms.masked_fill(infinite, torch.inf).masked_fill(zero, 0.0)


_OWN: dict[str, _Divergence] = {
    "_kl_independent_independent": _of_independent,
    "_kl_bernoulli_bernoulli": _of_bernoulli,
    "_kl_categorical_categorical": _of_categorical,
    "_kl_onehotcategorical_onehotcategorical": _of_onehot,
    "_kl_uniform_uniform": _of_uniform,
}
"""By the name of torch's function that it would have run."""

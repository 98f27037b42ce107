"""Divergences without masks that the host reads: the numbers and gradients of torch's own, in one graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import distributions as d
from tpulint_runtime import kl_divergence
from tpulint_runtime.backend import XlaBackend

pytestmark = [pytest.mark.xla, pytest.mark.usefixtures("xla_started")]

_Pair = Callable[[torch.Tensor, torch.Tensor], tuple[Any, Any]]


def make(kind: Any, **options: Any) -> _Pair:
    """Two distributions of a class, each of its own scores."""
    return lambda a, b: tuple(
        kind(**{name: value(x) for name, value in options.items()}, validate_args=False) for x in (a, b)
    )


PAIRS: dict[str, tuple[_Pair, int]] = {
    "Bernoulli": (make(d.Bernoulli, logits=lambda x: x), 8),
    "Bernoulli of probabilities": (make(d.Bernoulli, probs=lambda x: x.clamp(0, 1)), 8),
    "Categorical": (make(d.Categorical, logits=lambda x: x), 4),
    "Categorical of probabilities": (make(d.Categorical, probs=lambda x: x.clamp(min=0.0)), 4),
    "OneHotCategorical": (make(d.OneHotCategorical, logits=lambda x: x), 4),
    "Uniform": (make(d.Uniform, low=lambda x: x - 1, high=lambda x: x.abs() + 1), 2),
    "Independent": (make(lambda base, validate_args: d.Independent(d.Bernoulli(logits=base), 1), base=lambda x: x), 8),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_numbers_and_gradients_are_those_of_torch(name: str) -> None:
    pair, _ = PAIRS[name]
    torch.manual_seed(0)
    # Two Bernoulli have to be of one shape for torch's masks; a prior of one row serves for all of a batch.
    scores = [torch.randn(3, 5), torch.randn(1 if name in ("Categorical", "Uniform") else 3, 5)]
    results = []
    for function in (kl_divergence, d.kl_divergence):
        given = [one.clone().requires_grad_() for one in scores]
        found = function(*pair(*given))
        torch.where(found.isfinite(), found, 0.0).square().sum().backward()
        results.append([found.detach(), *(one.grad for one in given)])
    for mine, other in zip(*results, strict=True):
        torch.testing.assert_close(mine, other, rtol=0, atol=0, equal_nan=True)
    assert ("of prob" not in name and name != "Uniform") or results[0][0].isinf().any()


@pytest.mark.parametrize("name", ["Bernoulli", "Categorical", "Uniform"])
def test_the_host_reads_nothing(name: str) -> None:
    """How often it reads in torch's own is what the rule says."""
    backend = XlaBackend()
    pair, reads = PAIRS[name]
    for function, expected in ((kl_divergence, 0), (d.kl_divergence, reads)):
        given = [torch.randn(3, 5).to(backend.device()).requires_grad_() for _ in range(2)]
        backend.sync(wait=True)
        before = backend.counts()
        function(*pair(*given)).sum().backward()
        backend.sync(wait=True)
        counted = backend.counts().since(before)
        assert counted.reads == expected
        assert (counted.launches == 1) is (expected == 0)


def test_others_are_torchs_own() -> None:
    pairs: list[tuple[Any, Any]] = [
        (d.Normal(torch.zeros(2), 1.0), d.Normal(torch.ones(2), 2.0)),
        (d.Uniform(torch.zeros(2), 1.0), d.Normal(torch.ones(2), 2.0)),
    ]
    for p, q in pairs:
        assert torch.equal(kl_divergence(p, q), d.kl_divergence(p, q))
    with pytest.raises(NotImplementedError):
        kl_divergence(d.Categorical(torch.ones(2)), d.Normal(0.0, 1.0))
    with pytest.raises(NotImplementedError):
        kl_divergence(d.Independent(d.Normal(torch.zeros(2), 1.0), 1), d.Independent(d.Normal(torch.zeros(2), 1.0), 0))


def test_class_with_a_divergence_of_its_own() -> None:
    class Own(d.Categorical):
        pass

    @d.register_kl(Own, Own)
    def _of_own(p: Own, q: Own) -> torch.Tensor:
        return torch.tensor(7.0)

    assert kl_divergence(Own(torch.ones(2)), Own(torch.ones(2))) == 7.0

"""Losses and metrics under a mask: padding changes neither a number nor a gradient, whatever it holds."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from tpulint_runtime import (
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

pytestmark = [pytest.mark.xla, pytest.mark.usefixtures("xla_started")]

CLASSES = 5
RUBBISH = [0.0, 1e30, float("inf"), -float("inf"), float("nan")]
lengths_of_samples = st.lists(st.integers(0, 6), min_size=1, max_size=4)


def padded(samples: list[torch.Tensor], length: int, value: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The samples in rows, with ``value`` in what is left, and the mask."""
    batch = samples[0].new_full((len(samples) + 1, length, *samples[0].shape[1:]), value)
    mask = torch.zeros(len(samples) + 1, length, dtype=torch.bool)
    for row, sample in enumerate(samples):
        batch[row, : len(sample)], mask[row, : len(sample)] = sample, True
    return batch, mask


class Case:
    """The same targets and logits, plain and padded."""

    def __init__(self, lengths: list[int], rubbish: float, seed: int = 0) -> None:
        generator = torch.Generator().manual_seed(seed)
        samples = [torch.randn(length, CLASSES, generator=generator) for length in lengths]
        targets = [torch.randint(0, CLASSES, (length,), generator=generator) for length in lengths]
        self.plain = torch.cat(samples).requires_grad_()
        self.plain_targets = torch.cat(targets)
        self.logits, self.mask = padded(samples, 7, rubbish)
        self.logits.requires_grad_()
        self.targets, _ = padded(targets, 7, 12345)
        self.empty = not sum(lengths)

    def check(self, plain: torch.Tensor, result: torch.Tensor) -> None:
        """One number, and one gradient."""
        if self.empty:
            plain = self.plain.sum() * 0
        torch.testing.assert_close(result, plain, rtol=1e-5, atol=1e-6)
        (expected,) = torch.autograd.grad(plain, self.plain)
        (gradient,) = torch.autograd.grad(result, self.logits)
        torch.testing.assert_close(gradient[self.mask], expected, rtol=1e-5, atol=1e-6)
        assert not gradient[~self.mask].any(), "padding has a gradient"


cases = st.builds(Case, lengths_of_samples, st.sampled_from(RUBBISH))


@given(cases, st.booleans(), st.sampled_from([0.0, 0.1]), st.sampled_from(["mean", "sum"]))
def test_cross_entropy_is_that_without_padding(case: Case, weighted: bool, smoothing: float, reduction: Any) -> None:
    settings: dict[str, Any] = {
        "weight": torch.linspace(0.5, 2, CLASSES) if weighted else None,
        "label_smoothing": smoothing,
        "reduction": reduction,
    }
    plain = F.cross_entropy(case.plain, case.plain_targets, **settings)
    case.check(plain, masked_cross_entropy(case.logits, case.targets, case.mask, **settings))


@given(cases)
def test_losses_of_single_targets(case: Case) -> None:
    losses = masked_cross_entropy(case.logits, case.targets, case.mask, reduction="none")
    plain = F.cross_entropy(case.plain, case.plain_targets, reduction="none")
    assert losses.shape == case.targets.shape and not losses[~case.mask].any()
    torch.testing.assert_close(losses[case.mask], plain)


@given(cases)
def test_ignored_targets_count_as_padding(case: Case) -> None:
    """Without a mask, but with labels of -100: what the collate functions leave."""
    labels = case.targets.masked_fill(~case.mask, -100)
    case.check(F.cross_entropy(case.plain, case.plain_targets), masked_cross_entropy(case.logits, labels))
    both = labels.masked_fill(case.targets == 0, -100)
    ignored = case.plain_targets.masked_fill(case.plain_targets == 0, -100)
    result = tally_cross_entropy(case.logits, both, case.mask)
    assert result.count == (ignored != -100).sum()
    torch.testing.assert_close(result.total, F.cross_entropy(case.plain, ignored, reduction="sum"))


@given(cases)
def test_mean_is_that_without_padding(case: Case) -> None:
    case.check(case.plain.mean(), masked_mean(case.logits, case.mask))
    case.check(case.plain.sum(), tally(case.logits, case.mask).total)
    assert tally(case.logits, case.mask).count == case.plain.numel()


@given(cases)
def test_mean_of_each_row(case: Case) -> None:
    means = masked_mean(case.logits, case.mask, dim=1)
    assert means.shape == (len(case.mask), CLASSES) and means.isfinite().all()
    for mean, row, kept in zip(means, case.logits, case.mask, strict=True):
        torch.testing.assert_close(mean, row[kept].mean(0) if kept.any() else torch.zeros(CLASSES))


@given(cases)
def test_correct_answers_are_those_of_real_targets(case: Case) -> None:
    correct = (case.plain.argmax(-1) == case.plain_targets).sum()
    for predictions in (case.logits, case.logits.argmax(-1)):
        result = tally_correct(predictions, case.targets, case.mask)
        assert (result.total, result.count) == (correct, len(case.plain_targets))
        assert result.count.dtype == torch.int64
    share = 0.0 if case.empty else correct / len(case.plain_targets)
    assert masked_accuracy(case.logits, case.targets, case.mask) == pytest.approx(float(share))


@given(cases)
def test_perplexity_is_that_without_padding(case: Case) -> None:
    expected = torch.ones(()) if case.empty else F.cross_entropy(case.plain, case.plain_targets).exp()
    torch.testing.assert_close(masked_perplexity(case.logits, case.targets, case.mask), expected)


@given(st.lists(lengths_of_samples, min_size=1, max_size=4), st.sampled_from(RUBBISH))
def test_mean_of_batches_is_that_of_all_their_tokens(batches: list[list[int]], rubbish: float) -> None:
    """Whatever is in which batch."""
    made = [Case(lengths, rubbish, seed) for seed, lengths in enumerate(batches)]
    loss, accuracy = RunningMean(), RunningMean("cpu")
    for case in made:
        loss.add(tally_cross_entropy(case.logits, case.targets, case.mask))
        accuracy.add(tally_correct(case.logits, case.targets, case.mask))
    logits, targets = torch.cat([case.plain for case in made]), torch.cat([case.plain_targets for case in made])
    if not len(targets):
        assert loss.mean() == accuracy.mean() == 0
        return
    assert loss.mean().shape == () and not loss.mean().requires_grad
    torch.testing.assert_close(loss.mean(), F.cross_entropy(logits, targets).detach())
    torch.testing.assert_close(accuracy.mean(), (logits.argmax(-1) == targets).float().mean())


def test_mask_of_rows_serves_for_what_they_hold() -> None:
    values, rows = torch.tensor([[1.0, 2.0], [3.0, float("nan")]]), torch.tensor([True, False])
    assert masked_mean(values, rows) == 1.5
    flags = tally(torch.tensor([True, False]), torch.tensor([True, True]))
    assert (flags.total, flags.count, flags.mean()) == (1, 2, 0.5)
    logits = torch.zeros(2, 3, CLASSES)
    assert tally_cross_entropy(logits, torch.zeros(2, 3, dtype=torch.int64), rows).count == 3


def test_half_precision_is_summed_in_float32() -> None:
    ones = torch.ones(5000, dtype=torch.bfloat16)
    result = tally(ones, ones > 0)
    assert result.total == 5000 and result.total.dtype == masked_mean(ones).dtype == torch.float32
    logits = torch.zeros(5000, CLASSES, dtype=torch.bfloat16)
    assert masked_cross_entropy(logits, torch.zeros(5000, dtype=torch.int64)).dtype == torch.float32
    assert tally(ones.double()).total.dtype == torch.float64


TARGETS = torch.zeros(2, 3, dtype=torch.int64)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: masked_mean(torch.ones(2), torch.ones(2)), "a mask is bool, not torch.float32"),
        (lambda: masked_mean(torch.ones(2, 3), torch.ones(3, dtype=torch.bool)), r"shape \(3,\) does not fit \(2, 3\)"),
        (lambda: masked_cross_entropy(torch.ones(2, CLASSES, 3), TARGETS), r"for logits \(\*, C\)"),
        (lambda: masked_cross_entropy(torch.ones(2, 3, CLASSES), torch.ones(2, 3)), "numbers of classes"),
        (lambda: tally_correct(torch.ones(2, 4), TARGETS), "numbers of classes"),
        (lambda: masked_cross_entropy(torch.ones(2, 3, 5), TARGETS, reduction="max"), "not mean, sum or none"),  # type: ignore[arg-type]
    ],
)
def test_what_does_not_fit_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_weights_are_no_count() -> None:
    with pytest.raises(TypeError, match=r"count is torch\.float32: give how many"):
        Tally(torch.tensor(0.3), torch.tensor(0.5))

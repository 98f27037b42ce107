"""Divergences that the host reads: which distributions these are of, and what is written for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

LOOP = """\
import torch
from torch import nn, distributions as d
from torch.distributions import kl_divergence

model = nn.Linear(16, 10).{place}
optimizer = torch.optim.Adam(model.parameters())


def build(scores):
    return d.Independent(d.Bernoulli(logits=scores), 1)


for x in loader:
    scores = model(x.{place})
    loss = {divergence}.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("divergence", "told"),
    [
        ("kl_divergence(d.Categorical(logits=scores), d.Categorical(logits=x))", "two `Categorical`"),
        ("d.kl.kl_divergence(d.OneHotCategorical(logits=scores), prior)", "two `OneHotCategorical`"),
        ("d.kl_divergence(p=old, q=d.Uniform(scores, scores + 1))", "two `Uniform`"),
        ("kl_divergence(build(scores), build(x))", "two `Bernoulli`"),
        ("kl_divergence(d.Normal(scores, 1.0), d.Normal(0.0, 1.0))", ""),
        ("kl_divergence(d.Uniform(scores, scores + 1), d.Normal(scores, 1.0))", ""),
        ("kl_divergence(old, new)", ""),
        ("d.Categorical(logits=scores).entropy()", ""),
    ],
)
def test_classes(divergence: str, told: str) -> None:
    settings = Settings(select=("TPU146",), fix=True)
    text = LOOP.format(place="cuda()", divergence=divergence)
    found = lint(SourceFile.from_text(text), Settings(select=("TPU146",)), load()).findings
    assert [told in finding.message for finding in found] == [True] * bool(told)
    ported = lint(SourceFile.from_text(text), settings, load()).text
    assert ("tpulint_runtime.kl_divergence(" in ported) is bool(told)
    host = LOOP.format(place="cpu()", divergence=divergence)
    assert not lint(SourceFile.from_text(host), Settings(select=("TPU146",)), load()).findings


def test_reads_of_the_divergence_are_told_behind_the_fix() -> None:
    text = LOOP.format(
        place="cuda()", divergence="kl_divergence(d.Categorical(logits=scores), d.Categorical(logits=x))"
    )
    text = text.replace("    loss.backward()", "    print(loss.item())\n    loss.backward()")
    settings = Settings(select=("TPU146", "TPU101"), fix=True)
    assert "TPU101" in [finding.code for finding in lint(SourceFile.from_text(text), settings, load()).findings]


def test_divergence_in_the_step_of_another_file(tmp_path: Path) -> None:
    agree(
        tmp_path,
        "TPU146,TPU101",
        losses="""\
            from torch.distributions import Categorical, kl_divergence

            def divergence(old, scores):
                return kl_divergence(old, Categorical(logits=scores)).mean()  # TPU146

            def shown(old, scores):
                return kl_divergence(old, Categorical(logits=scores)).mean()
            """,
        train="""\
            import torch
            from losses import divergence, shown

            model = torch.nn.Linear(4, 2).cuda()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x, old in batches:
                loss = divergence(old, model(x.cuda()))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print(shown(old, model(x.cuda())))
            """,
    )

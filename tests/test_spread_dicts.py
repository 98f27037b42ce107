"""Dictionaries that are spread into another which a function of another file is given, ``{**batch, **out}``.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

STEPS = (
    SETUP
    + """
    from goals import goal

    def step(batch, count):
        out = {}
        for key, value in batch.items():
            batch[key] = value.to(device)
        out["logits"] = model(batch["x"])
        loss = goal(GIVEN, count)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    count = 0
    for batch in loader:
        step(batch, count)
        count += 1
    """
)
GOALS = """\
    import torch
    import torch.nn.functional as F

    def goal(batch, count):
        losses = F.cross_entropy(batch["logits"], batch["y"], reduction="none")
        share = 1 - count / 1000
        print(batch["logits"].mean().item())  # READ
        print(batch["size"].item())
        return torch.topk(losses, int(losses.numel() * share))[0].mean()  # SIZE
    """


@pytest.mark.parametrize(
    ("given", "is_known"),
    [("{**batch, **out}", True), ("{'weight': 1.0, **out, **batch}", True), ("{**batch}", False)],
)
def test_what_is_under_a_key_of_a_spread_dictionary(tmp_path: Path, given: str, is_known: bool) -> None:
    """Of ``batch["size"]`` nothing is known."""
    read, size = ("TPU101", "TPU202") if is_known else ("", "")
    goals = GOALS.replace("READ", read).replace("SIZE", size)
    agree(tmp_path, "TPU101,TPU202", main=STEPS.replace("GIVEN", given), goals=goals)


@pytest.mark.parametrize(("base", "told"), [("{'a': model(x.cuda()).mean()}", True), ("read(x)", False)])
def test_any_element_of_a_spread_dictionary(tmp_path: Path, base: str, told: bool) -> None:
    program = f"""
    for x, y in loader:
        loss = F.mse_loss(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        more = {base}
        for value in {{**more, "loss": loss}}.values():
            print(value.item())  # {"TPU101" if told else ""}
    """
    agree(tmp_path, "TPU101", main=SETUP + program)

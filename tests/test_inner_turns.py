"""Numbers that a loop within the step reads, and that nothing needs in front of the step boundary."""

from __future__ import annotations

import pytest
from test_host_sync_rules import SETUP, port

STEP = """
for x, y in loader:
    x, y = x.to(device), y.to(device)
    optimizer.zero_grad()
    for turn in range(3):
        output = model(x)
        loss, size = F.cross_entropy(output, y), output.abs()
        loss.backward()
        if turn == 0:
            first = loss.item()
            share = size.mean().item() / 2
    optimizer.step()
    torch_xla.sync()
    print(first, share)
"""
FETCHED = """    step_values = torch.stack((first, share))
    torch_xla.sync()
    first, share = step_values.tolist()
    print(first, share)
"""


def test_numbers_of_the_first_inner_turn_are_fetched_behind_the_boundary() -> None:
    ported = port(SETUP + STEP, select=("TPU101",))
    assert "            first = loss.detach()\n            share = size.mean().detach() / 2\n" in ported.text
    assert FETCHED in ported.text
    assert not ported.findings


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("turn == 0", "turn == 3 - 1"),
        ("    print(first, share)", "    if share > 2:\n        print(first)"),
        ("    for turn in range(3)", "    last = first if seen else None\n    for turn in range(3)"),
    ],
)
def test_other_inner_turns_and_uses(old: str, new: str) -> None:
    text = STEP.replace(old, new)
    assert text != STEP
    assert FETCHED.partition("    print")[0] in port(SETUP + text, select=("TPU101",)).text


def test_numbers_of_the_last_inner_turn_that_the_next_step_looks_at() -> None:
    text = STEP.replace("        if turn == 0:\n", "").replace("            first", "        first")
    text = text.replace("            share", "        share")
    text = text.replace(
        "    optimizer.zero_grad()\n", "    optimizer.zero_grad()\n    log(first, share) if seen else None\n"
    )
    assert FETCHED in port(SETUP + text, select=("TPU101",)).text


def test_one_number_is_read_by_itself() -> None:
    text = STEP.replace("            share = size.mean().item() / 2\n", "").replace(", share", "")
    ported = port(SETUP + text, select=("TPU101",))
    assert "    torch_xla.sync()\n    first = first.item()\n    print(first)\n" in ported.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("turn == 0", "turn == 1"),  # there may be none
        ("turn == 0", "turn == 0 and model.training"),
        ("range(3)", "range(1, 3)"),
        ("turn == 0", "turn == n - 1"),
        ("        loss.backward()\n", "        if loss.isnan():\n            break\n        loss.backward()\n"),
        ("    optimizer.step()\n", "    print(first, share)\n    optimizer.step()\n"),  # needed earlier
        (
            "        output = model(x)\n",
            "        if turn:\n            print(first, share)\n        output = model(x)\n",
        ),
        ("    optimizer.zero_grad()\n", "    optimizer.zero_grad()\n    first = share = None\n"),  # two values
        (
            "        if turn == 0:\n",
            "        if turn == 5:\n            pass\n        elif turn == 0:\n",
        ),
        ("        loss.backward()\n", ""),  # turns that train are there, others may not be
        ("    print(first, share)\n", "    show = lambda: print(first, share)\n"),
    ],
)
def test_numbers_that_may_be_missing_or_needed_earlier_stay(old: str, new: str) -> None:
    text = STEP.replace(old, new)
    assert text != STEP
    if "loss.backward()" not in text:
        text = text.replace("    optimizer.step()", "    F.cross_entropy(model(x), y).backward()\n    optimizer.step()")
    ported = port(SETUP + text, select=("TPU101",)).text
    assert "first = loss.item()" in ported
    assert "torch.stack" not in ported


def test_whole_numbers_are_not_stacked() -> None:
    text = STEP.replace("size.mean().item() / 2", "(output > 0).sum().item()")
    ported = port(SETUP + text, select=("TPU101",)).text
    assert "            share = (output > 0).sum().item()\n" in ported
    assert "    torch_xla.sync()\n    first = first.item()\n" in ported

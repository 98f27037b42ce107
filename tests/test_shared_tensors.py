"""What is kept of a tensor that another variable changes in place: ``loss = part`` and ``loss += other``."""

from __future__ import annotations

import ast

import pytest
from test_host_sync_rules import becomes

from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile

BEHIND = (
    "history = [value for at in range(0, len(history), 64) for value in torch.stack(history[at : at + 64]).tolist()]\n"
)
TURN = """
history = []
def combine(a, b):
    a += b
    return a
for x in loader:
    part = model(x.to(device)).mean()
    other = model(x.to(device)).abs().mean()
    parts = {"first": part, "second": other}
    READ
    CHANGED
    loss.backward()
    optimizer.step()
    torch_xla.sync()
print(sum(history))
"""


def turn(read: str, changed: str) -> str:
    return TURN.replace("READ", read).replace("CHANGED", changed.replace("\n", "\n    "))


@pytest.mark.parametrize(
    ("read", "changed"),
    [
        ("part", "loss = part\nloss += other"),
        ("other", "loss = part\nother /= 2"),
        ("part", "losses = [part, other]\nloss = losses[0]\nfor more in losses[1:]:\n    loss += more"),
        ('parts["first"]', 'loss = parts["first"]\nloss += parts["second"]'),
        ("part", "loss = combine(part, other)"),
        ("part", "loss = part.detach() if x is None else part\nloss.mul_(2)"),
    ],
)
def test_another_name_of_what_is_kept_is_changed(read: str, changed: str) -> None:
    text = turn(f"history.append({read}.item())", changed)
    becomes(text, text.replace(f"{read}.item()", f"{read}.detach().clone()").replace("print(", BEHIND + "print("))


@pytest.mark.parametrize(
    "changed",
    [
        "loss = part + other\nloss /= 2",
        "loss = part.clone()\nloss += other",
        'loss = part + other\nparts["second"] += other',
        "losses = []\nlosses += [part]\nloss = sum(losses)",
    ],
)
def test_another_tensor_is_changed(changed: str) -> None:
    text = turn("history.append(part.item())", changed)
    becomes(text, text.replace("part.item()", "part.detach()").replace("print(", BEHIND + "print("))


def test_what_a_caller_changes_afterwards() -> None:
    text = "def log(loss):\n    keep(loss)\n\n\ndef step(loss):\n    log(loss)\n    loss /= 4\n    keep(loss)\n"
    index = SemanticIndex(SourceFile.from_text(text), ast.parse(text))
    kept = [
        call.args[0] for call in index.tree.nodes_in(index.tree.module, ast.Call) if index.text(call) == "keep(loss)"
    ]
    assert {index.tree.start(node): index.shared_tensors.is_changed_behind(node) for node in kept} == {
        text.index("loss)", text.index("keep")): True,
        text.rindex("loss)"): False,
    }


@pytest.mark.parametrize(("changed", "moves"), [("loss = part\nloss += other", False), ("loss = part + other", True)])
def test_a_line_that_reads_stays_in_front_of_the_change(changed: str, moves: bool) -> None:
    text = turn("print(part.item())", changed)
    line = "    print(part.item())\n"
    behind = text.replace(line, "").replace("torch_xla.sync()\n", f"torch_xla.sync()\n{line}")
    becomes(text, behind if moves else text, left=() if moves else ("TPU101",))

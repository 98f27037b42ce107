"""Tensors that grow in a loop and are joined once behind it."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

SETTINGS, CATALOGUE = Settings(fix=True, unsafe_fixes=True, select=("TPU205",)), load()
CODE = """\
import torch
import torch_xla
from samples import net, loader, show, pool

device = torch_xla.device()
kept = torch.zeros(0, 4).to(device)
net.eval()
with torch.no_grad():
    for x, y in loader:
        out = net(x.to(device))
        label = y.to(device)
        {row}
        torch_xla.sync()
show(kept)
"""
TOLD = "kept = torch.cat({joined})"


def fixed(code: str) -> tuple[str, list[str]]:
    result = lint(SourceFile.from_text(code, "evaluate.py"), SETTINGS, CATALOGUE)
    return result.text, [finding.code for finding in result.findings]


@pytest.mark.parametrize(
    ("joined", "part", "behind"),
    [
        ("(kept, out)", "out", "(kept, *kept_parts)"),
        ("[kept, out.softmax(1)], 0", "out.softmax(1)", "[kept, *kept_parts], 0"),
        ("(kept, net(x.to(device))), dim=-1", "net(x.to(device))", "(kept, *kept_parts), dim=-1"),
    ],
)
def test_a_tensor_that_is_only_joined(joined: str, part: str, behind: str) -> None:
    text, left = fixed(CODE.replace("{row}", TOLD.format(joined=joined)))
    kept = CODE.replace("    for x", "    kept_parts = []\n    for x").replace("{row}", f"kept_parts.append({part})")
    assert text == kept.replace("show(kept)", f"    {TOLD.format(joined=behind)}\nshow(kept)") and not left


def test_several_of_one_loop() -> None:
    rows = "kept = torch.cat((kept, out))\n        marks = torch.cat((marks, label))"
    text, _ = fixed(CODE.replace("{row}", rows).replace("net.eval()", "marks = torch.zeros(0).to(device)\nnet.eval()"))
    assert "kept_parts.append(out)\n        marks_parts.append(label)\n" in text
    assert "    kept = torch.cat((kept, *kept_parts))\n    marks = torch.cat((marks, *marks_parts))\n" in text


@pytest.mark.parametrize(
    "rows",
    [
        ["kept = torch.cat((kept, out))", "show(kept.mean())"],  # each turn looks at it
        ["kept = torch.cat((kept, out))", "out.clamp_(0)"],
        ["kept = torch.cat((kept, out))", "out[0] = 1"],
        ["out += 1", "kept = torch.cat((kept, out))"],
        ["kept = torch.cat((kept, out), dim=show(x))"],
        ["kept = torch.cat((out, kept))"],
        ["kept = torch.vstack((kept, out))"],
        ["for part in out:", "    kept = torch.cat((kept, part))", "    show(kept)"],
    ],
)
def test_what_a_loop_looks_at_or_changes_stays(rows: list[str]) -> None:
    code = CODE.replace("{row}", "\n        ".join(rows))
    assert fixed(code)[0] == code


KEEPER = """\
import torch
import torch_xla

device = torch_xla.device()


class Evaluation:
    def __init__(self, net):
        self.net = net.to(device)
        self.scores = torch.zeros(0, 4, device=device)

    def count(self):
        return {counted}

    def note(self):
        self.noted = self.count()

    def run(self, loader):
        self.net.eval()
        with torch.no_grad():
            for x, y in loader:
                out = self.net(x.to(device))
                {row}
                torch_xla.sync()
        return self.scores
"""
JOINED = "self.scores = torch.cat((self.scores, out))"


@pytest.mark.parametrize(
    ("row", "counted", "is_joined_behind"),
    [
        (JOINED, "len(self.scores)", True),
        (f"{JOINED}\n                self.note()", "len(self.scores)", False),
        (f"{JOINED}\n                self.note()", "0", True),
        (f"{JOINED}\n                show(self.scores)", "0", False),
        (f"{JOINED}\n                if len(x) < 8:\n                    return None", "0", False),
    ],
)
def test_a_tensor_that_an_object_keeps(row: str, counted: str, is_joined_behind: bool) -> None:
    """A function that the loop runs may look at it; what another does is behind the loop."""
    text, left = fixed(KEEPER.format(row=row, counted=counted))
    assert ("scores_parts.append(out)\n" in text) is is_joined_behind
    assert ("            self.scores = torch.cat((self.scores, *scores_parts))\n" in text) is is_joined_behind
    assert (left == ["TPU205"]) is not is_joined_behind

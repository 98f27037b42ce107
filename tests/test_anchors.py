"""The quick search for anchors finds what a plain search finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpulint.anchors import Anchors
from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.semantic.cuda.cuda_branches import CudaBranches
from tpulint.source import SourceFile

ANCHORS = sorted({anchor for rule in load().rules for anchor in rule.anchors})
LONGER = [anchor for anchor in ANCHORS if not anchor.replace("_", "").isalnum()]
PRESENT = Anchors(ANCHORS)


def searched(text: str) -> set[str]:
    return {anchor for anchor in ANCHORS if anchor in text}


@given(st.lists(st.sampled_from([*ANCHORS, *LONGER, "x", "é", ".", "(", " ", "\n", "_", "\ud800", "torch", "import"])))
def test_anchors_are_found_wherever_they_stand(parts: list[str]) -> None:
    text = "".join(parts)
    assert PRESENT.present(text) == searched(text)


@given(st.sampled_from(LONGER), st.data())
def test_anchor_with_another_sign_in_it_is_another(anchor: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(anchor) - 1))
    text = anchor[:at] + data.draw(st.sampled_from("x. \n(")) + anchor[at + 1 :]
    assert PRESENT.present(text) == searched(text)


def test_branches_are_not_looked_for_where_no_device_is(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[object] = []
    look = CudaBranches._look
    monkeypatch.setattr(CudaBranches, "_look", lambda self: (looks.append(self), look(self))[1])
    text = "import torch\n# cuda\nif torch.ones(1).sum() > 0:\n    print(1)\n"
    for device, count in (("", 0), ('device = torch.device("cuda")\n', 1)):
        result = lint(SourceFile.from_text(text + device), Settings(), load())
        assert not result.error
        assert (len(looks) > 0) == bool(count)

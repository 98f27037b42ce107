"""Batches that a function takes apart and moves, whatever they are, and what an unknown function makes of them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint

PROGRAM = """\
    import torch
    from goals import goal
    from unpacking import unpack

    device = torch.device("cuda")
    model = torch.nn.Linear(4, 4).to(device)

    def test(loader):
        model.eval()
        total = 0
        with torch.no_grad():
            for batch in loader:
                data = unpack(batch, DEVICE)
                loss = -goal(model, data)
                total += loss.item()
        print(total)
"""
HEAD = "def unpack(batch, device):\n    if isinstance(batch, list):\n        return "


@pytest.mark.parametrize(
    ("first", "second", "device", "told"),
    [
        ("batch[0].to(device)", "batch.to(device)", "device", True),
        ("batch[0].to(device), batch[1]", "[x.to(device) for x in batch]", "device", True),
        ("tuple(x.to(device) for x in batch)", "{k: v.to(device) for k, v in batch.items()}", "device", True),
        ("batch[0].to(device)", "batch.to(device)", "'cpu'", False),
        ("batch[0].to(device)", "batch.to(device)", "torch.device('cpu')", False),
        ("batch[0].float()", "batch.float()", "device", False),
        ("batch[0].to(device)", "batch.float()", "device", False),  # not all of them move
    ],
)
@pytest.mark.parametrize("is_elsewhere", [True, False])
def test_numbers_of_unpacked_batches(
    tmp_path: Path, first: str, second: str, device: str, told: bool, is_elsewhere: bool
) -> None:
    function = f"{HEAD}{first}\n    return {second}\n"
    text = dedent(PROGRAM).replace("DEVICE", device)
    if is_elsewhere:
        (tmp_path / "unpacking.py").write_text(function)
    else:
        text = text.replace("from unpacking import unpack\n", f"\n{function}")
    (tmp_path / "train.py").write_text(text)
    found = tpulint("check", ".", "--select", "TPU101,TPU104", "--output-format", "concise", cwd=tmp_path)
    assert ("TPU10" in found.out) is told


@pytest.mark.parametrize(("default", "told"), [("cuda", True), ("cpu", False)])
def test_the_device_that_is_not_given(tmp_path: Path, default: str, told: bool) -> None:
    function = f"{HEAD}batch[0].to(device)\n    return batch.to(device)\n"
    function = function.replace("device)", f"device='{default}')", 1)
    text = dedent(PROGRAM).replace(", DEVICE", "")
    (tmp_path / "unpacking.py").write_text(function)
    (tmp_path / "train.py").write_text(text)
    (tmp_path / "alone.py").write_text(text.replace("from unpacking import unpack\n", f"\n{function}"))
    found = tpulint("check", ".", "--select", "TPU101,TPU104", "--output-format", "concise", cwd=tmp_path)
    assert [name in found.out for name in ("train.py", "alone.py")] == [told, told]


def test_numbers_that_are_read_at_once(tmp_path: Path) -> None:
    (tmp_path / "unpacking.py").write_text(f"{HEAD}batch[0].to(device)\n    return batch.to(device)\n")
    text = dedent(PROGRAM).replace("DEVICE", "device").replace("total += loss.item()", "total += loss")
    (tmp_path / "train.py").write_text(text.replace("-goal(model, data)", "-goal(model, data).item()"))
    found = tpulint("check", ".", "--select", "TPU101,TPU104,TPU302", "--output-format", "concise", cwd=tmp_path)
    assert "`goal(model, data)` is copied" in found.out
    assert "only its reads run the batches" in found.out

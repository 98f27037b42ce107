"""The boundary of an evaluation stands behind the loss that a criterion of another file or a parameter computes."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint

PROGRAM = """\
    import torch
    from losses import Distance

    device = torch.device("cuda")


    def test(model, loader, measure):
        model.eval()
        total = 0.0
        with torch.no_grad():
            for x, y in loader:
                output = model(x.to(device))
                loss = LOSS
                total += loss.item()
        return total / len(loader)
    """
MODULE = """\
    import torch.nn as nn


    class Distance(nn.Module):
        def forward(self, a, b):
            return (a - b).abs().mean()
    """
PLAIN = """\
    class Distance:
        def __init__(self):
            print("measures")

        def __call__(self, a, b):
            return (a - b).abs().mean()
    """


def ported(folder: Path, loss: str, losses: str) -> list[str]:
    """The lines of the loop, without their indentation."""
    path = folder / "program.py"
    path.write_text(dedent(PROGRAM.replace("LOSS", loss)))
    (folder / "losses.py").write_text(dedent(losses))
    tpulint("--fix", "--unsafe-fixes", "--select", "ALL", str(path), cwd=folder)
    lines = [line.strip() for line in path.read_text().splitlines()]
    return lines[lines.index("for x, y in loader:") + 1 : lines.index("return total / len(loader)")]


@pytest.mark.parametrize(("loss", "added"), [
    ("Distance()(output, y.to(device))", "loss"),
    ("measure(output, y.to(device))", "loss"),
])  # fmt: skip
def test_boundary_behind_what_is_added_up(loss: str, added: str, tmp_path: Path) -> None:
    assert ported(tmp_path, loss, MODULE) == [
        "output = model(x.to(device))",
        f"loss = {loss}",
        f"total += {added}",
        "torch_xla.sync()",
        "total = total.item()",
    ]


def test_what_an_object_does_as_it_is_made_may_need_what_ran_before(tmp_path: Path) -> None:
    """A class that is no module prints: the boundary stays in front."""
    lines = ported(tmp_path, "Distance()(output, y.to(device))", PLAIN)
    assert lines.index("torch_xla.sync()") < lines.index("loss = Distance()(output, y.to(device))")


def test_a_number_that_is_added_to_a_total_of_the_device(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        dedent("""\
        import torch

        device = torch.device("xla")


        def test(model, loader):
            model.eval()
            total = torch.zeros(1).to(device)
            count = 0
            with torch.no_grad():
                for x in loader:
                    output = model(x.to(device))
                    total += len(x)
                    count += 1
            return total / count
        """)
    )
    tpulint("--fix", "--select", "TPU302", str(path), cwd=tmp_path)
    lines = [line.strip() for line in path.read_text().splitlines()]
    at = lines.index("torch_xla.sync()")
    assert lines[at - 1 : at + 2] == ["total += len(x)", "torch_xla.sync()", "count += 1"]


@pytest.mark.parametrize(("test", "is_behind"), [
    ("LooseVersion(torch.__version__) < LooseVersion('0.3')", True),
    ("version.parse(torch.__version__) < version.parse('0.3')", True),
    ("tuple(int(x) for x in torch.__version__.split('.')[:2]) < (0, 3)", True),
    ("stamp(a) < 3", False),  # who knows
])  # fmt: skip
def test_a_loss_that_asks_for_a_version(test: str, is_behind: bool, tmp_path: Path) -> None:
    losses = f"""\
    import torch
    from distutils.version import LooseVersion
    from packaging import version
    from stamps import stamp


    def Distance(a, b):
        if {test}:
            return (a - b).abs().sum() / a.numel()
        return (a - b).abs().mean()
    """
    lines = ported(tmp_path, "Distance(output, y.to(device))", losses)
    assert (lines.index("torch_xla.sync()") > lines.index("loss = Distance(output, y.to(device))")) is is_behind

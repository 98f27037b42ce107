"""Dicts of numbers that a function of the step returns: which can hold tensors until they are looked at."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from command import tpulint, write

PROGRAM = """\
    import torch
    import torch.nn.functional as F
    import torch_xla

    device = torch_xla.device()
    model = torch.nn.Linear(4, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


    def losses_of(x, y):
        output = model(x)
        fit, size = F.cross_entropy(output, y), output.pow(2).mean()
    RETURNED


    for step, (x, y) in enumerate(loader):
        CALLED
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    SHOWN
    """
RETURNED = 'return fit + size, {"fit": fit.item(), "size": 0.1 * size.item()}'
KEPT = 'return fit + size, {"fit": fit.detach(), "size": 0.1 * size.detach()}'
CALLED = "loss, parts = losses_of(x.to(device), y.to(device))"
READ = "parts = {key: float(value) for key, value in parts.items()}"


def _fixed(folder: Path, returned: str, called: str, shown: str) -> str:
    text = dedent(PROGRAM).replace("RETURNED", indent(returned, " " * 4)).replace("CALLED", called)
    path = write(folder / "main.py", text.replace("SHOWN", indent(shown, " " * 4)))
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", "main.py", cwd=folder)
    fixed = path.read_text()
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", "main.py", cwd=folder)
    assert path.read_text() == fixed
    return fixed


@pytest.mark.parametrize(
    ("returned", "kept"),
    [
        (RETURNED, KEPT),
        (
            "return fit + size, dict(fit=fit.item(), size=float(size))",
            "return fit + size, dict(fit=fit.detach(), size=size.detach())",
        ),
        (
            'found = {"fit": fit.item()}\nreturn fit + size, found',
            'found = {"fit": fit.detach()}\nreturn fit + size, found',
        ),
    ],
)
@pytest.mark.parametrize(
    "shown",
    [
        "if step % 10 == 0:\n    print(parts)",
        'if step % 10 == 0:\n    for key, value in parts.items():\n        print("%s: %.4f" % (key, value))',
    ],
)
def test_dicts_that_hold_tensors(tmp_path: Path, returned: str, kept: str, shown: str) -> None:
    fixed = _fixed(tmp_path, returned, CALLED, shown)
    assert indent(kept, " " * 4) in fixed
    first, rest = shown.split("\n", 1)
    assert indent(f"{first}\n    {READ}\n{rest}", " " * 4) in fixed


@pytest.mark.parametrize(
    ("returned", "called", "shown"),
    [
        # looked at in every step, or elsewhere as well
        (RETURNED, CALLED, 'print(parts["fit"])'),
        (RETURNED, CALLED, "if step % 10 == 0:\n    print(parts)\nhistory.append(parts)"),
        (RETURNED, CALLED, "if step % 10 == 0 and parts:\n    print(parts)"),
        # the result has no name of its own, or is handed on
        (RETURNED, "loss, *parts = losses_of(x.to(device), y.to(device))", "if step % 10 == 0:\n    print(parts)"),
        (
            RETURNED,
            "result = losses_of(x.to(device), y.to(device)); loss = result[0]",
            "if step % 10 == 0:\n    print(result)",
        ),
        # not all of it are numbers of the device
        ('return fit + size, {"fit": fit.item(), "count": len(x)}', CALLED, "if step % 10 == 0:\n    print(parts)"),
        ('return fit + size, {"fit": fit.item(), **size}', CALLED, "if step % 10 == 0:\n    print(parts)"),
        ("return fit + size, Parts(fit=fit.item())", CALLED, "if step % 10 == 0:\n    print(parts)"),
        # another way out gives another dict
        ('if size is None:\n    return fit, {"fit": 0.0}\n' + RETURNED, CALLED, "if step % 10 == 0:\n    print(parts)"),
        # the function itself looks at it
        (
            'found = {"fit": fit.item()}\nprint(found)\nreturn fit + size, found',
            CALLED,
            "if step % 10 == 0:\n    print(parts)",
        ),
    ],
)
def test_dicts_that_stay(tmp_path: Path, returned: str, called: str, shown: str) -> None:
    fixed = _fixed(tmp_path, returned, called, shown)
    assert READ not in fixed and '{"fit": fit.detach()' not in fixed


def test_methods(tmp_path: Path) -> None:
    text = """\
        import torch


        class Trainer:
            def __init__(self, model):
                self.model = model.cuda()
                self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

            def losses_of(self, x, y):
                loss = torch.nn.functional.cross_entropy(self.model(x.cuda()), y.cuda())
                return loss, {"loss": loss.item()}

            def train(self, loader):
                for step, (x, y) in enumerate(loader):
                    loss, parts = self.losses_of(x, y)
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
                    if step % 10 == 0:
                        print(parts["loss"])


        Trainer(torch.nn.Linear(4, 2)).train(batches)
        """
    path = write(tmp_path / "main.py", dedent(text))
    tpulint("--isolated", "--no-cache", "--fix", "--unsafe-fixes", "main.py", cwd=tmp_path)
    assert 'return loss, {"loss": loss.detach()}' in path.read_text() and READ in path.read_text()

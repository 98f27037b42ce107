"""Scalers and autocasts that go by the name of a device which other files give."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from command import tpulint

SCALED = """\
    import torch


    class Trainer:
        def __init__(self, model, device, half):
            self.device, self.half = device, half
            self.model = model.to(device)
            self.optimizer = torch.optim.Adam(model.parameters())

        def train(self, loader):
            scaler = torch.cuda.amp.GradScaler() if TEST else None
            for x in loader:
                self.optimizer.zero_grad()
                if scaler is not None:
                    with torch.cuda.amp.autocast():
                        loss = self.model(x.to(self.device)).mean()
                    scaler.scale(loss).backward()
                    scaler.step(self.optimizer)
                    scaler.update()
                else:
                    self.model(x.to(self.device)).mean().backward()
                    self.optimizer.step()
    """
SWITCHED = """\
    import torch


    def step(model, optimizer, x, device, half):
        with torch.autocast("cuda", enabled=TEST):
            loss = model(x.to(device)).mean()
        loss.backward()
        optimizer.step()
    """


def fixed(folder: Path, text: str) -> str:
    path = folder / "trainer.py"
    path.write_text(dedent(text))
    tpulint("--fix", "--unsafe-fixes", "--select", "TPU401", str(path), cwd=folder)
    return path.read_text()


@pytest.mark.parametrize(("test", "asked"), [
    ("'cuda' in str(self.device) and self.half", "'xla' in str(self.device) and self.half"),
    ("self.half and self.device.type == 'cuda'", "self.half and self.device.type == 'xla'"),
    ('self.device in ("cuda", "mps")', 'self.device in ("xla", "mps")'),
    ('str(self.device).startswith("cuda")', 'str(self.device).startswith("xla")'),
    ("str(self.device) == 'cuda'", "str(self.device) == 'cuda'"),  # there is a number in the text of XLA's
    ("self.backend == 'cuda'", "self.backend == 'cuda'"),  # no device
    ("self.device.type != 'cuda'", "self.device.type != 'cuda'"),
])  # fmt: skip
def test_there_is_a_scaler_for_the_device_of_xla(test: str, asked: str, tmp_path: Path) -> None:
    text = fixed(tmp_path, SCALED.replace("TEST", test))
    assert f'scaler = torch.amp.GradScaler("xla", enabled=False) if {asked} else None\n' in text


def test_an_autocast_is_on_for_the_device_of_xla(tmp_path: Path) -> None:
    text = fixed(tmp_path, SWITCHED.replace("TEST", 'half and device.type == "cuda"'))
    assert 'torch.autocast("xla", dtype=torch.bfloat16, enabled=half and device.type == "xla"):\n' in text


@pytest.mark.parametrize(("beside", "asked"), [
    ("", "xla"),
    ("torch.cuda.set_device(0)", "cuda"),  # what else stands there is CUDA's
])  # fmt: skip
def test_a_scaler_that_is_made_under_a_condition(beside: str, asked: str, tmp_path: Path) -> None:
    made = f"if 'cuda' in str(self.device):\n            {beside}\n            scaler = torch.cuda.amp.GradScaler()\n"
    scaled = SCALED.replace("scaler = torch.cuda.amp.GradScaler() if TEST else None", "scaler = None\n            MADE")
    text = fixed(tmp_path, scaled.replace("MADE", indent(made, "    ").strip()))
    assert f"if '{asked}' in str(self.device):\n" in text
    assert 'scaler = torch.amp.GradScaler("xla", enabled=False)\n' in text


CHOSEN = """\
    import torch


    def train(model, optimizer, loader, args):
        DTYPE
        SCALER
        for x in loader:
            optimizer.zero_grad()
            with torch.autocast(device_type=args.device, dtype=dtype):
                loss = model(x.to("cuda")).mean()
            BACKWARD
    """
SCALING = "scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()"


@pytest.mark.parametrize(
    ("dtype", "is_scaled", "becomes"),
    [
        ("dtype = torch.float16 if args.half else torch.bfloat16", True, True),
        ("dtype = torch.bfloat16\n        if args.half:\n            dtype = torch.half", True, True),
        ("dtype = torch.float32 if args.whole else torch.bfloat16", True, False),
        ("dtype = torch.float16 if args.half else torch.bfloat16", False, False),  # it trains in float32
    ],
)
def test_a_dtype_that_branches_choose(tmp_path: Path, dtype: str, is_scaled: bool, becomes: bool) -> None:
    """Its scaler goes, and float16 with it: XLA has no autocast of that."""
    text = CHOSEN.replace("DTYPE", dtype).replace("SCALER", "scaler = torch.amp.GradScaler()" if is_scaled else "pass")
    text = text.replace("BACKWARD", SCALING if is_scaled else "loss.backward(); optimizer.step()")
    ported = fixed(tmp_path, text)
    assert ("dtype=torch.bfloat16 if dtype == torch.float16 else dtype)" in ported) is becomes
    assert "scaler.step" not in ported
    assert fixed(tmp_path, ported) == ported

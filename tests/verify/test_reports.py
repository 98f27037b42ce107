"""Reports: costs joined with what predicted them, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.report.style import Style
from tpulint.verification import json_report, text_report
from tpulint.verification.costs import Cost
from tpulint.verification.environment import Interpreter
from tpulint.verification.failures import Failure
from tpulint.verification.losses import Comparison, Tolerance
from tpulint.verification.predictions import ELSEWHERE, Predictions
from tpulint.verification.records import Line, Optimizer, ProcessRecords
from tpulint.verification.verification import Numbers, Verification, Wishes

PAGE = Path(__file__).parent.parent.parent / "docs" / "verify.md"

SCRIPT = """\
import torch
import torch.nn.functional as F
import torch_xla
from net import Net, loader

device = torch_xla.device()
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x.to(device)), y.to(device))
    loss.backward()
    print(
        "loss",
        loss.item(),
    )
    optimizer.step()
    torch_xla.sync()
torch.cuda.synchronize()
"""


def verification(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Verification, Predictions]:
    """A failed one, with a bit of everything."""
    monkeypatch.chdir(folder)
    path = folder / "train.py"
    path.write_text(SCRIPT)

    def cost(row: int, kind: str, times: int, steps: tuple[int, ...], text: str) -> Cost:
        return Cost(Line(str(path), row, "<module>"), kind, times, steps, text, launches=times)

    done = Verification(
        Wishes("train.py", ("--epochs", "1"), against="train_gpu.py"),
        Interpreter("/usr/bin/python3", (3, 11, 7), "2.9.0", "2.9.0"),
        "stopped",
        12.3456,
        ProcessRecords(
            1, steps=5, backwards=(("xla", 0),) * 5,
            optimizers=(Optimizer("SGD", 5, 4, 100, ("xla",), 3, 4, 2, float("inf")),),
        ),
        (
            cost(11, "compile", 2, (3, 5), "input f32[8] became f32[4]"),
            cost(15, "sync", 5, (0, 1, 2, 3, 4), "a number was read before the step boundary"),
            cost(19, "cuda", 1, (), "torch.cuda.synchronize was called"),
        ),
        (
            Failure("losses", "losses differ", None),
            Failure("not-settled", "the graph does not settle", Line(str(path), 18, "f")),
        ),
        ("something else",),
        Numbers(4, 1), Numbers(5, 2), Numbers(5, 2),
        Comparison((1.0, float("nan")), (1.0, 0.5), Tolerance(2e-3), (1, 2), 1, 1, 0.25),
        (),
    )  # fmt: skip
    return done, Predictions(Settings(), load())


def test_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(text_report.render(*verification(tmp_path, monkeypatch), Style(False)))
    assert (
        text
        == """\
train.py on XLA (CPU, torch_xla 2.9.0): 5 steps and stopped there

train.py:11  loss = F.mse_loss(model(x.to(device)), y.to(device))
    compile   input f32[8] became f32[4], 2 times, in 2 of 5 steps  [not predicted]

train.py:15  loss.item(),
    sync      a number was read before the step boundary, 5 times, in every step  [predicted: TPU101 \
tensor-read-in-step-loop]

train.py:19  torch.cuda.synchronize()
    cuda      torch.cuda.synchronize was called, 1 time  [predicted: TPU010 cuda-runtime-call]

compilations: 4 (1 after step 3, 0.50 per step)
host syncs: 5 (2 after step 3, 1.00 per step)
transfers to the host: 5 (2 after step 3, 1.00 per step)
optimizer: SGD, 5 steps, 4 parameters on xla, 3 of 4 had a gradient, 2 of 4 changed
losses: 2 compared with train_gpu.py, different (largest relative difference 0.25, allowed 0.002)
note: something else

failed
  - losses differ
  - the graph does not settle (train.py:18)
"""
    )


def test_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = json.loads(json_report.render(*verification(tmp_path, monkeypatch)))
    assert report["format"] == 1
    assert report["costs"][1] == {
        "filename": "train.py", "row": 15, "function": "<module>", "source": "loss.item(),", "kind": "sync",
        "message": "a number was read before the step boundary", "count": 5, "steps": [0, 1, 2, 3, 4], "launches": 5,
        "reads": 0, "compilations": 0,
        "predicted_by": [
            {
                "code": "TPU101", "name": "tensor-read-in-step-loop", "row": 15,
                "message": report["costs"][1]["predicted_by"][0]["message"],
            }
        ],
    }  # fmt: skip
    assert report["costs"][0]["predicted_by"] == []
    assert report["losses"]["original"] == [1.0, "nan"]
    assert report["optimizers"][0]["checksum"] == "inf"


def keys(value: object) -> set[str]:
    """All keys of objects in a JSON value, at any depth."""
    if isinstance(value, dict):
        return set(value) | {key for part in value.values() for key in keys(part)}
    return {key for part in value for key in keys(part)} if isinstance(value, list) else set()


def test_format_is_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = json.loads(json_report.render(*verification(tmp_path, monkeypatch)))
    page = PAGE.read_text(encoding="utf-8")
    assert {key for key in keys(report) if f"`{key}`" not in page} == set()


def test_finding_elsewhere_predicts_what_changed(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    loader = "loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)\n"
    text = SCRIPT.replace("import Net, loader", "import Net, data")
    path.write_text(text.replace("device =", f"{loader}device =", 1))
    predictions = Predictions(Settings(), load())
    line = Line(str(path), 12, "<module>")
    changed = Cost(line, "compile", 1, (4,), "", causes=("input",))
    assert [(one.name, one.row) for one in predictions.of(changed)] == [("partial-last-batch", 6)]
    assert predictions.of(changed._replace(causes=("constant",))) == ()
    assert predictions.of(changed._replace(kind="sync", causes=())) == ()


def test_rules_that_predict_from_elsewhere_exist() -> None:
    names = {rule.name for rule in load().rules}
    assert {name for kind in ELSEWHERE.values() for name in kind} <= names


def test_colours_are_for_terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done, predictions = verification(tmp_path, monkeypatch)
    assert "\x1b[" in "".join(text_report.render(done, predictions, Style(True)))

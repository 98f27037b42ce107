"""Changes planted in the steps of one training: the guard names what changed and the line, and is silent without any.

A *knob* is a value that the step takes from a dictionary. Each case turns one, for one step; the line that it comes in
at is marked with its name. The learning rate and a weight of the loss change in every step: they are inputs of the
graph.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
import torch.nn.functional as F
from tpulint_runtime import RecompileGuard, Report
from tpulint_runtime.backend import XlaBackend

pytestmark = pytest.mark.xla

XLA = XlaBackend()
WIDTH = 37
WARMUP = 4

KNOBS: dict[str, Any] = {
    "columns": 4, "row": 2, "length": 5, "padding": 1, "k": 3, "resized": 6, "diagonal": 0, "shift": 1, "classes": 5,
    "noise": 3, "start": 1, "rows": 4, "terms": 2, "amp": False, "precision": torch.float32, "counted": torch.int64,
    "scale": 0.5, "step": 7, "exponent": 2, "eps": 1e-5, "smoothing": 0.0, "p": 0.25, "dropping": True, "dim": 1,
    "end": 2.0, "unbiased": True, "approximate": "none", "smooth": True, "auxiliary": 0.5, "filled": 0.5,
    "decay": 0.0, "reads": False,
}  # fmt: skip


class Training:
    """A small model, and a step with many knobs."""

    def __init__(self, parts: str) -> None:
        torch.manual_seed(WIDTH)
        self.parts = parts
        self.device = XLA.device()
        self.model = torch.nn.Linear(WIDTH, 8).to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.steps = 0
        XLA.sync()

    def batch(self) -> dict[str, Any]:
        return {
            "x": torch.rand(8, WIDTH), "labels": torch.arange(8) % 8, "tokens": torch.rand(4, 7),
            "ids": torch.arange(6), "extra": {"mask": torch.ones(8, 6, dtype=torch.bool)},
            "views": [torch.rand(2, 3), torch.rand(2, 3)], "pair": (torch.rand(3), 1),
            "weights": torch.rand(6), "image": torch.zeros(2, 4, 4, dtype=torch.uint8), "bonus": torch.rand(2),
        }  # fmt: skip

    def given(self, batch: dict[str, Any]) -> torch.Tensor:
        total = batch["tokens"].to(self.device).float().mean()  # tokens
        total = total + batch["ids"].to(self.device).float().sum()  # ids
        total = total + batch["extra"]["mask"].to(self.device).float().sum()  # mask
        total = total + batch["views"][1].to(self.device).sum()  # views
        total = total + batch["pair"][0].to(self.device).sum()  # pair
        total = total + batch["weights"].to(self.device).sum()  # weights
        total = total + batch["image"].to(self.device).float().sum()  # image
        if "bonus" in batch:
            total = total + batch["bonus"].to(self.device).sum()  # bonus
        return total

    def shaped(self, x: torch.Tensor, hidden: torch.Tensor, knobs: dict[str, Any]) -> torch.Tensor:
        total = hidden[:, : knobs["columns"]].sum()  # columns
        total = total + hidden[knobs["row"]].sum()  # row
        total = total + torch.arange(knobs["length"], device=self.device).sum()  # length
        total = total + F.pad(x, (0, knobs["padding"])).sum()  # padding
        total = total + hidden.topk(knobs["k"]).values.sum()  # k
        total = total + F.interpolate(x[None, None], size=(knobs["resized"], 4)).sum()  # resized
        total = total + torch.tril(hidden, diagonal=knobs["diagonal"]).sum()  # diagonal
        total = total + (hidden * torch.roll(hidden, knobs["shift"], 0)).sum()  # shift
        total = total + F.one_hot(hidden.argmax(1) % 4, knobs["classes"]).sum()  # classes
        total = total + torch.rand(knobs["noise"], device=self.device).sum()  # noise
        total = total + hidden.narrow(0, knobs["start"], 2).sum()  # start
        total = total + sum(
            (hidden * 3).mean()  # terms
            for _ in range(knobs["terms"])
        )
        return total + x.reshape(knobs["rows"], -1).sum(1).norm()  # rows

    def constants(self, hidden: torch.Tensor, labels: torch.Tensor, knobs: dict[str, Any]) -> torch.Tensor:
        total = hidden.to(knobs["precision"]).sum().float()  # precision
        total = total + torch.zeros(2, dtype=knobs["counted"], device=self.device).sum()  # counted
        total = total + (hidden * knobs["scale"]).sum()  # scale
        total = total + (hidden + knobs["step"]).sum()  # step
        total = total + (hidden ** knobs["exponent"]).sum()  # exponent
        total = total + F.layer_norm(hidden, (8,), eps=knobs["eps"]).sum()  # eps
        total = total + F.cross_entropy(hidden, labels, label_smoothing=knobs["smoothing"])  # smoothing
        total = total + F.dropout(hidden, knobs["p"]).sum()  # p
        total = total + F.dropout(hidden, 0.125, knobs["dropping"]).mean()  # dropping
        total = total + hidden.softmax(knobs["dim"]).std()  # dim
        total = total + torch.linspace(0, knobs["end"], 5, device=self.device).sum()  # end
        total = total + hidden.std(unbiased=knobs["unbiased"])  # unbiased
        total = total + F.gelu(hidden, approximate=knobs["approximate"]).sum()  # approximate
        total = total + torch.full((2,), knobs["filled"], device=self.device).sum()  # filled
        if knobs["smooth"]:
            total = total + F.silu(hidden).sum()
        else:
            total = total + F.relu(hidden).sum()  # smooth
        return total + knobs["auxiliary"] * hidden.abs().sum()  # auxiliary

    def step(self, batch: dict[str, Any], knobs: dict[str, Any]) -> None:
        self.steps += 1
        self.optimizer.param_groups[0]["lr"] = 0.01 + 0.3 / (self.steps + 3)
        self.optimizer.param_groups[0]["weight_decay"] = knobs["decay"]
        x, labels = batch["x"].to(self.device), batch["labels"].to(self.device)
        with torch.autocast("xla", dtype=torch.bfloat16, enabled=knobs["amp"]):
            hidden = self.model(x)  # amp
        hidden = hidden.float()
        free = 0.3 + 0.0137 * self.steps  # never another number of this step: equal ones are one input
        loss = free * F.cross_entropy(hidden, labels)
        hidden = hidden.detach()  # a smaller graph
        if "shapes" in self.parts:
            loss = loss + self.given(batch) + self.shaped(x, hidden, knobs)
        if "constants" in self.parts:
            loss = loss + self.constants(hidden, labels, knobs)
        if knobs["reads"]:
            loss.item()  # reads
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()  # decay
        XLA.sync()


class Planted(NamedTuple):
    """What is changed in one step, and what is to be said of it."""

    what: str
    """The name on the line."""
    now: Any
    said: str

    def turn(self, batch: dict[str, Any], knobs: dict[str, Any]) -> None:
        if self.what in KNOBS:
            knobs[self.what] = self.now
        elif self.what == "mask":
            batch["extra"]["mask"] = self.now
        elif self.what == "views":
            batch["views"][1] = self.now
        elif self.what == "pair":
            batch["pair"] = (self.now, 1)
        elif self.now is None:
            del batch[self.what]
        else:
            batch[self.what] = self.now


SHAPES = [
    Planted("tokens", torch.rand(4, 9), "batch['tokens'] was (4, 7) float32, now (4, 9) float32"),
    Planted("mask", torch.ones(8, 5, dtype=torch.bool), "batch['extra']['mask'] was (8, 6) bool, now (8, 5) bool"),
    Planted("views", torch.rand(4, 3), "batch['views'][1] was (2, 3) float32, now (4, 3) float32"),
    Planted("pair", torch.rand(4), "batch['pair'][0] was (3,) float32, now (4,) float32"),
    Planted("weights", torch.rand(6, 1), "batch['weights'] was (6,) float32, now (6, 1) float32"),
    Planted("tokens", torch.rand(4, 7).double(), "batch['tokens'] was (4, 7) float32, now (4, 7) float64"),
    Planted("ids", torch.arange(6).int(), "batch['ids'] was (6,) int64, now (6,) int32"),
    Planted("mask", torch.ones(8, 6), "batch['extra']['mask'] was (8, 6) bool, now (8, 6) float32"),
    Planted("image", torch.zeros(2, 4, 4), "batch['image'] was (2, 4, 4) uint8, now (2, 4, 4) float32"),
    Planted("columns", 5, "index :, :4 became :, :5 in Tensor.__getitem__"),
    Planted("row", 3, "index 2 became 3 in Tensor.__getitem__"),
    Planted("length", 6, "argument 0 5 became 6 in torch.arange"),
    Planted("padding", 2, "argument 1 (0, 1) became (0, 2) in F.pad"),
    Planted("k", 2, "argument 1 3 became 2 in Tensor.topk"),
    Planted("resized", 5, "size (6, 4) became (5, 4) in F.interpolate"),
    Planted("diagonal", 1, "diagonal 0 became 1 in torch.tril"),
    Planted("shift", 2, "argument 1 1 became 2 in torch.roll"),
    Planted("classes", 6, "argument 1 5 became 6 in F.one_hot"),
    Planted("noise", 4, "argument 0 3 became 4 in torch.rand"),
    Planted("start", 2, "argument 2 1 became 2 in Tensor.narrow"),
    Planted("rows", 2, "argument 1 4 became 2 in Tensor.reshape"),
    Planted("terms", 3, "Tensor.mul is new"),
    Planted("bonus", None, "batch['bonus'] is missing, was (2,) float32"),
]
CONSTANTS = [
    Planted("amp", True, "F.linear (8, 8) float32 became (8, 8) bfloat16"),
    Planted("precision", torch.float64, "argument 1 float32 became float64 in Tensor.to"),
    Planted("counted", torch.int32, "dtype int64 became int32 in torch.zeros"),
    Planted("scale", 1.0, "argument 1 0.5 became 1.0 in Tensor.mul"),
    Planted("step", 1, "argument 1 7 became 1 in Tensor.add"),
    Planted("exponent", 3, "argument 1 2 became 3 in Tensor.__pow__"),
    Planted("eps", 1e-3, "eps 1e-05 became 0.001 in F.layer_norm"),
    Planted("smoothing", 0.1, "label_smoothing 0.0 became 0.1 in F.cross_entropy"),
    Planted("p", 0.0, "p 0.25 became 0.0 in F.dropout"),
    Planted("dropping", False, "training True became False in F.dropout"),
    Planted("dim", 0, "argument 1 1 became 0 in Tensor.softmax"),
    Planted("end", 1.0, "argument 1 2.0 became 1.0 in torch.linspace"),
    Planted("unbiased", False, "unbiased True became False in Tensor.std"),
    Planted("approximate", "tanh", "approximate 'none' became 'tanh' in F.gelu"),
    Planted("smooth", False, "F.relu instead of F.silu"),
    Planted("auxiliary", 1.0, "argument 1 0.5 became 1.0 in Tensor.mul"),
    Planted("filled", 1.0, "argument 1 0.5 became 1.0 in torch.full"),
    Planted("decay", 0.01, "weight_decay 0.0 became 0.01 in SGD.step"),
    Planted("reads", True, "Tensor.item is new"),
]


def line_of(name: str) -> int:
    """The line that is marked with a name."""
    marked = [
        row
        for row, line in enumerate(Path(__file__).read_text().splitlines(), 1)
        if re.search(rf"\S  # {re.escape(name)}$", line)
    ]
    assert len(marked) == 1, (name, marked)
    return marked[0]


def run(parts: str, changes: list[Planted]) -> Report:
    """A run in which every third step, from the second after warm-up on, is one with a change."""
    training = Training(parts)
    with RecompileGuard(warmup=WARMUP, mode="record", lines=True) as guard:
        for number in range(WARMUP + 3 * len(changes)):
            batch, knobs = training.batch(), dict(KNOBS)
            if number >= WARMUP and number % 3 == WARMUP % 3 + 1:
                changes[(number - WARMUP) // 3].turn(batch, knobs)
            guard.step(batch)
            training.step(batch, knobs)
    return guard.report()


@pytest.fixture(scope="module")
def shapes() -> Report:
    return run("shapes", SHAPES)


@pytest.fixture(scope="module")
def constants() -> Report:
    return run("constants", CONSTANTS)


def steps_of(changes: list[Planted]) -> list[int]:
    """The steps that they are planted in."""
    return [WARMUP + 3 * number + 2 for number in range(len(changes))]


def check(change: Planted, step: int, report: Report) -> None:
    (event,) = (event for event in report.recompilations if event.step == step)
    assert event.cause.startswith(change.said), event.cause
    assert event.line is not None and (event.line.path, event.line.row) == (__file__, line_of(change.what)), event.cause


@pytest.mark.parametrize("number", range(len(SHAPES)), ids=lambda number: f"{number}-{SHAPES[number].what}")
def test_changed_shape_is_named_with_its_line(number: int, shapes: Report) -> None:
    check(SHAPES[number], steps_of(SHAPES)[number], shapes)


@pytest.mark.parametrize("number", range(len(CONSTANTS)), ids=lambda number: f"{number}-{CONSTANTS[number].what}")
def test_changed_constant_is_named_with_its_line(number: int, constants: Report) -> None:
    check(CONSTANTS[number], steps_of(CONSTANTS)[number], constants)


def test_nothing_else_is_found(shapes: Report, constants: Report) -> None:
    assert len(SHAPES) + len(CONSTANTS) >= 30
    assert [event.step for event in shapes.recompilations] == steps_of(SHAPES)
    assert [event.step for event in constants.recompilations] == steps_of(CONSTANTS)
    assert not shapes.host_syncs
    (event,) = constants.host_syncs
    assert event.step == steps_of(CONSTANTS)[-1]
    assert [(wait.call, wait.line and wait.line.row) for wait in event.calls] == [("Tensor.item", line_of("reads"))]


def test_clean_run_of_a_thousand_steps_reports_nothing() -> None:
    training = Training("shapes and constants")
    with RecompileGuard(warmup=WARMUP, mode="raise", lines=True) as guard:
        for _ in range(1000):
            batch = training.batch()
            guard.step(batch)
            training.step(batch, KNOBS)
    report = guard.report()
    assert (report.steps, report.compiles, report.waits) == (1000, 0, 0)
    assert not report.recompilations and not report.host_syncs and report.within_budget

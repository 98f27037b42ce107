"""Turns that go on before their end, ``if step % n != 0: continue``: what stands behind that does not run in each.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint, write
from marked_files import SETUP, agree

TRAINING = (
    SETUP
    + """
    def train(batches, shown, interval, rank):
        step = 0
        for step, x in enumerate(batches):
            FIRST
            optimizer.zero_grad()
            loss = F.mse_loss(model(x.to(device)), x.to(device))
            loss.backward()
            optimizer.step()
            show = step % interval == 0
            SKIP
            shown.send(loss.item())MARK
"""
)


@pytest.mark.parametrize(
    "condition",
    [
        "step % 100 != 0",
        "step % 100",
        "(step + 1) % interval > 0",
        "not step % 100 == 0",
        "not show",
        "step != 0",
        "step % 100 != 0 or rank > 0",
        "step % 100 != interval - 1",
    ],
)
def test_what_most_turns_do_not_come_to_is_no_read_in_every_step(tmp_path: Path, condition: str) -> None:
    skip = f"if {condition}: continue"
    agree(tmp_path, main=TRAINING.replace("FIRST", "pass").replace("SKIP", skip).replace("MARK", ""))


@pytest.mark.parametrize(
    "skip",
    [
        "if step % 100 == 0: continue",
        "if step % rank != rank: continue",
        "if len(x) % 4 != 0: continue",
        "if x.shape[0] % 4 != 0: continue",
        "if step % 100 != 0 and rank > 0: continue",
        "if rank != 0: continue",
        "if step % 100 != 0: print(step)",
        "for name in batches:\n                if step % 100 != 0: continue",
    ],
)
def test_what_most_turns_come_to_is_one(tmp_path: Path, skip: str) -> None:
    text = TRAINING.replace("FIRST", "pass").replace("SKIP", skip).replace("MARK", "  # TPU101")
    agree(tmp_path, "TPU101", main=text)


@pytest.mark.parametrize("test", ["step % 4 != 0", "not step % 4 == 0"])
def test_turns_without_a_step_do_not_count(tmp_path: Path, test: str) -> None:
    """All of the step stands behind the ``continue``: each step reads."""
    text = TRAINING.replace("FIRST", f"if {test}: continue").replace("SKIP", "").replace("MARK", "  # TPU101")
    agree(tmp_path, "TPU101", main=text)


ACCUMULATION = (
    SETUP
    + """
    def train(batches, shown, count):
        for step, x in enumerate(batches):
            loss = F.mse_loss(model(x.to(device)), x.to(device))
            loss.backward()
            if (step + 1) % count == 0:
                optimizer.step()
                optimizer.zero_grad()
                shown.send(loss.item())  # TPU101
            if (step + 1) % 100 == 0:
                shown.send(loss.item())
"""
)


def test_turns_that_only_add_to_gradients_do_not_count(tmp_path: Path) -> None:
    agree(tmp_path, "TPU101", main=ACCUMULATION)


FUNCTION = (
    SETUP
    + """
    def show(loss, step, shown):
        if CONDITION: return
        shown.send(loss.item())MARK

    def train(batches, shown):
        for step, x in enumerate(batches):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x.to(device)), x.to(device))
            loss.backward()
            optimizer.step()
            show(loss, step, shown)
"""
)


@pytest.mark.parametrize(("condition", "is_read"), [("step % 100 != 0", False), ("step % 100 == 0", True)])
def test_function_that_returns_early(tmp_path: Path, condition: str, is_read: bool) -> None:
    text = FUNCTION.replace("CONDITION", condition).replace("MARK", "  # TPU101" if is_read else "")
    agree(tmp_path, "TPU101", main=text)


EVALUATION = (
    SETUP
    + """
    @torch.no_grad()
    def evaluate(batches, shown):
        model.eval()
        for number, x in enumerate(batches):
            FIRST
            output = model(x.to(device))
            SKIP
            shown.send(F.mse_loss(output, x.to(device)).item())MARK
"""
)
FEW = "if number % 4 != 0: continue"


@pytest.mark.parametrize(("first", "skip", "mark"), [(FEW, "", "  # TPU101"), ("", FEW, "")])
def test_batches_that_are_left_out_of_an_evaluation_do_not_count(
    tmp_path: Path, first: str, skip: str, mark: str
) -> None:
    text = EVALUATION.replace("FIRST", first).replace("SKIP", skip).replace("MARK", mark)
    agree(tmp_path, "TPU101", main=text)


PORTED = """\
    import torch
    import torch_xla
    import torch.nn.functional as F

    device = torch_xla.device()
    model = torch.nn.Linear(4, 4).to(device)
    optimizer = torch.optim.Adam(model.parameters())


    def train(batches, shown, is_quiet):
        for step, x in enumerate(batches):
            optimizer.zero_grad()
            output = model(x.to(device))
            loss = F.mse_loss(output, x.to(device))
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            FIRST
            if CONDITION:
                EXIT
            shown.send(loss.item())
            print(step, SHOWN)
    """


def _fetched(folder: Path, **parts: str) -> list[str]:
    """The lines behind the boundary, where values are fetched together."""
    text = dedent(PORTED)
    for name, part in parts.items():
        text = text.replace(name.upper(), part)
    path = write(folder / "main.py", text)
    tpulint("--isolated", "--preview", "--fix", "--unsafe-fixes", "--select", "TPU106", "main.py", cwd=folder)
    lines = [line.strip() for line in path.read_text().splitlines()]
    return lines[lines.index("torch_xla.sync()") + 1 :]


def test_what_few_turns_read_is_not_fetched_in_every_step(tmp_path: Path) -> None:
    """Twice in some steps, at most once in most of them: fetched behind the boundary it was a read in each."""
    first = "if step % 100 == 0: print(loss.item())"
    lines = _fetched(tmp_path, first=first, condition="step % 1000 != 0", exit="continue", shown="step")
    assert lines[:2] == [first, "if step % 1000 != 0:"]
    assert lines[-2] == "shown.send(loss.item())"


@pytest.mark.parametrize("exit_", ["continue", "return"])
def test_values_are_fetched_behind_what_ends_turns(tmp_path: Path, exit_: str) -> None:
    """Nobody knows how many turns end there: those that do read nothing."""
    lines = _fetched(tmp_path, first="pass", condition="is_quiet", exit=exit_, shown="output.mean().item()")
    assert lines == [
        "pass",
        "if is_quiet:",
        exit_,
        "loss_value, output_value = step_values.tolist()",
        "shown.send(loss_value)",
        "print(step, output_value)",
    ]


@pytest.mark.parametrize(("first", "exit_"), [("pass", "break"), ("print(loss.item())", "continue")])
def test_values_are_fetched_once_where_every_turn_reads(tmp_path: Path, first: str, exit_: str) -> None:
    lines = _fetched(tmp_path, first=first, condition="is_quiet", exit=exit_, shown="output.mean().item()")
    assert lines[0] == "loss_value, output_value = step_values.tolist()"

"""Guards that let few turns through, however they are written, and handlers of what went wrong.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree, fill

LOOP = (
    SETUP
    + """
    def train(loader, args, state, shown):
        count = 0
        for i, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            GUARD
    """
)


def check(folder: Path, guard: str, is_told: bool) -> None:
    text = fill(LOOP, GUARD=guard.replace("READ", "shown.send(loss.item())" + "  # TPU101" * is_told))
    agree(folder, "TPU101", main=text)


@pytest.mark.parametrize(
    "guard",
    [
        "shown.send(loss.item() if i % 10 == 0 else None)",
        "shown.send(None if i % 10 else loss.item())",
        "if i % 10 != 0:\n    pass\nelse:\n    READ",
        "match i % 10:\n    case 0:\n        READ",
        "if i in (0, 100, 1000):\n    READ",
        "if i & 127 == 0:\n    READ",
        "count += 1\nif count >= 100:\n    READ\n    count = 0",
        "import random\nif random.random() < 0.01:\n    READ",
        "state.step += 1\nif state.step % 100 == 0 or state.step == args.total:\n    READ",
        "state['step'] += 1\nif state['step'] % 100 == 0 or state['step'] == args.total:\n    READ",
        "try:\n    x = x + 1\nexcept RuntimeError:\n    READ",
        "try:\n    x = x + 1\nexcept (torch.cuda.OutOfMemoryError, RuntimeError):\n    READ",
    ],
)
def test_guards_that_let_few_turns_through(tmp_path: Path, guard: str) -> None:
    check(tmp_path, guard, is_told=False)


@pytest.mark.parametrize(
    "guard",
    [
        "if i % 10 == 0:\n    pass\nelse:\n    READ",
        "if i in (0, 1, 2):\n    READ",
        "if i & 96 == 0:\n    READ",
        "count += 1\nif count >= 100:\n    READ",
        "count += 1\nif count >= 1:\n    READ\n    count = 0",
        "import random\nif random.random() < 0.9:\n    READ",
        "if state.step % 100 == 0 or state.step == args.total:\n    READ",
        "try:\n    shown.send(loss.name)\nexcept AttributeError:\n    READ",
        "try:\n    shown.send(x.numpy())\nexcept Exception:\n    READ",
    ],
)
def test_guards_that_let_most_turns_through_or_nobody_knows(tmp_path: Path, guard: str) -> None:
    check(tmp_path, guard, is_told=True)


STEP = (
    SETUP
    + """
    def step(x, y, log=False):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        note(loss, log)
        if log:
            print(loss.item())MARK
        return loss.item() if log else None  # OTHER

    def note(loss, verbose):
        if not verbose:
            return
        print(loss.item())MARK
    """
)
CALLS = """
    def train(loader, interval, args):
        for i, (x, y) in enumerate(loader):
            CALL
    """


@pytest.mark.parametrize(
    ("call", "is_told"),
    [
        ("step(x, y, log=i % interval == 0)", False),
        ("show = (i + 1) % interval == 0\nstep(x, y, show)", False),
        ("step(x, y, log=i % interval != 0)", True),
        ("step(x, y, args.log)", True),
        ("step(x, y, log=i % interval == 0)\nstep(x, y, True)", True),
        ("step(x, y, log=i % interval == 0)\nargs.run(step)", True),
        ("if i % interval == 0:\n    step(x, y, True)", True),
    ],
)
@pytest.mark.parametrize("is_imported", [False, True])
def test_guards_that_calls_give(tmp_path: Path, call: str, is_told: bool, is_imported: bool) -> None:
    mark = "  # TPU101" if is_told else ""
    step = STEP.replace("MARK", mark).replace("  # OTHER", mark)
    loop = fill(CALLS, CALL=call)
    if is_imported:
        agree(tmp_path, "TPU101", step=step, main="    from step import step\n" + loop)
    else:
        agree(tmp_path, "TPU101", main=step + loop)


def test_a_call_that_stands_behind_a_guard_gives_it(tmp_path: Path) -> None:
    step = STEP.replace("MARK", "").replace("  # OTHER", "")
    agree(tmp_path, "TPU101", main=step + fill(CALLS, CALL="step(x, y)\nif i % interval == 0:\n    step(x, y, True)"))


ONCE = (
    SETUP
    + """
    class Reporter:
        def __init__(self):
            self.done = False
            self.busy = False

        def start(self, loss):
            print(loss.item())  # START
            self.done = True

        def report(self, loss):
            METHOD

        def begin(self):
            self.busy = False

    def once(function):
        done = False
        def wrapper(loss):
            nonlocal done
            WRAPPER
        return wrapper

    @once
    def note(loss):
        pass

    def train(loader, reporter: Reporter):
        first = True
        for epoch in range(3):
            EPOCH
            for x, y in loader:
                BEGIN
                optimizer.zero_grad()
                loss = F.mse_loss(model(x.to(device)), y.to(device))
                loss.backward()
                optimizer.step()
                reporter.report(loss)
                note(loss)
                TURN

    train(batches, Reporter())
    """
)


@pytest.mark.parametrize(
    ("place", "guard"),
    [
        ("TURN", "if first:\n    READ\n    first = False"),
        ("TURN", "if first and loader:\n    READ\n    first = False"),
        ("TURN", "if not first:\n    continue\nREAD\nfirst = False"),
        ("METHOD", "if not self.done:\n    READ\n    self.done = True"),
        ("METHOD", "if self.done:\n    return\nREAD\nself.done = True"),
        ("METHOD", "if not self.done:\n    self.start(loss)"),
        ("WRAPPER", "if not done:\n    READ\n    done = True"),
        ("WRAPPER", "if done:\n    return\nREAD\ndone = True"),
    ],
)
def test_what_runs_in_the_first_turn_only(tmp_path: Path, place: str, guard: str) -> None:
    check_once(tmp_path, place, guard, is_told=False, epoch="first = True")


@pytest.mark.parametrize(
    ("place", "guard", "begin"),
    [
        ("TURN", "if first:\n    READ\n    first = False", "first = True"),  # in every turn anew
        ("TURN", "if first:\n    READ\nelse:\n    first = True", "pass"),
        ("TURN", "if first:\n    READ\n    first = False\nelse:\n    first = True", "pass"),  # every other one
        ("TURN", "if first:\n    READ\n    first = loader.done", "pass"),
        ("METHOD", "if not self.busy:\n    READ\n    self.busy = True", "reporter.begin()"),
        ("METHOD", "if not self.done:\n    READ", "pass"),
        ("METHOD", "done = False\nif not done:\n    READ\n    done = True", "pass"),
        ("WRAPPER", "done = False\nif not done:\n    READ\n    done = True", "pass"),
    ],
)
def test_flags_that_every_turn_may_find_as_they_were(tmp_path: Path, place: str, guard: str, begin: str) -> None:
    check_once(tmp_path, place, guard, is_told=True, begin=begin)


def check_once(
    folder: Path, place: str, guard: str, *, is_told: bool, begin: str = "pass", epoch: str = "pass"
) -> None:
    parts = {"METHOD": "pass", "WRAPPER": "pass", "TURN": "pass", "BEGIN": begin, "EPOCH": epoch}
    parts[place] = guard.replace("READ", "print(loss.item())" + "  # TPU101" * is_told)
    if "start" not in guard:
        parts["print(loss.item())  # START"] = "pass"
    agree(folder, "TPU101", main=fill(ONCE, **parts).replace("  # START", ""))

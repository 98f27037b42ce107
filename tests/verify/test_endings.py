"""However a script ends, ``tpulint verify`` tells it in a sentence, with what was seen until then."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from verifying import verify

pytestmark = [pytest.mark.xla, pytest.mark.slow]

TRAINING = """\
import os, signal, sys
import torch
import torch.nn.functional as F
import torch_xla

torch.manual_seed(0)
rate = 0.1
net = torch.nn.Linear(6, 1).to(torch_xla.device())
optimizer = torch.optim.SGD(net.parameters(), lr=rate)
for step in range(1, 9):
    x, y = torch.rand(8, 6).to(torch_xla.device()), torch.rand(8, 1).to(torch_xla.device())
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    print("loss", loss.item())
    if step == 5:
        pass
"""
READ_ROW = TRAINING.splitlines().index('    print("loss", loss.item())') + 1
LAST_ROW = len(TRAINING.splitlines())


def script(folder: Path, at_step_5: str = "pass") -> str:
    """A training of 8 steps that does something after the fifth."""
    folder.joinpath("train.py").write_text(TRAINING.replace("        pass\n", f"        {at_step_5}\n"))
    return "train.py"


def assert_saw_reads(report: dict, steps: int) -> None:
    """The reads until the end are told, with the finding that predicted none of them."""
    (cost,) = [one for one in report["costs"] if one["row"] == READ_ROW]
    assert (cost["kind"], cost["count"], cost["filename"]) == ("transfer", steps, "train.py")


def test_to_the_end(tmp_path: Path) -> None:
    answer = verify(script(tmp_path), "--json", cwd=tmp_path, warm=True)
    assert answer.status == 0, answer.out + answer.err
    report = answer.report
    assert (report["passed"], report["ending"], report["steps"], report["backwards"]) == (True, "finished", 8, 8)
    assert report["compilations"] == {"total": 1, "after_warm_up": 0}
    assert report["host_syncs"] == {"total": 0, "after_warm_up": 0}
    assert report["optimizers"][0]["devices"] == ["xla"]
    assert report["optimizers"][0]["changed"] == 2
    assert_saw_reads(report, 8)
    assert answer.err == ""


def test_limit_of_steps_and_arguments(tmp_path: Path) -> None:
    path = script(tmp_path, "print(sys.argv, __name__, sys.path[0]); os.remove('mark')")
    (tmp_path / "mark").touch()
    answer = verify(path, "--max-steps", "6", "--show-output", "--", "--epochs", "--json", cwd=tmp_path)
    assert answer.status == 0, answer.out + answer.err
    assert f"['train.py', '--epochs', '--json'] __main__ {tmp_path.resolve()}" in answer.err
    assert not (tmp_path / "mark").exists()
    assert "train.py on XLA (CPU, torch_xla 2.9.0): 6 steps and stopped there" in answer.out
    assert answer.out.endswith("\npassed\n")


def test_exception(tmp_path: Path) -> None:
    answer = verify(script(tmp_path, "raise ValueError('no more data')"), "--json", cwd=tmp_path, warm=True)
    assert answer.status == 1
    (failure,) = answer.report["failures"]
    assert failure == {
        "kind": "script", "message": "the script failed: ValueError: no more data", "filename": "train.py",
        "row": LAST_ROW,
    }  # fmt: skip
    assert answer.report["ending"] == "failed"
    assert_saw_reads(answer.report, 5)


def test_exception_shows_what_was_printed(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('here we go')\nraise ValueError('no more data')\n")
    answer = verify("train.py", cwd=tmp_path)
    assert answer.status == 1
    printed = ("here we go", "Traceback (most recent call last):", '  File "train.py", line 2, in <module>')
    assert "".join(f"    {line}\n" for line in printed) in answer.out
    assert answer.out.endswith("failed\n  - the script failed: ValueError: no more data (train.py:2)\n")


def test_syntax_error(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nfor x in\n")
    answer = verify("train.py", cwd=tmp_path, warm=True)
    assert answer.status == 1
    assert "the script failed: SyntaxError: invalid syntax (train.py, line 2)" in answer.out


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("sys.exit(3)", "the script left with exit status 3"),
        ("sys.exit('out of data')", "the script left with exit status 1: out of data"),
        ("os._exit(4)", "the script left with exit status 4"),
    ],
)
def test_exit(tmp_path: Path, call: str, message: str) -> None:
    (tmp_path / "train.py").write_text(f"import os, sys\n{call}\n")
    answer = verify("train.py", "--json", cwd=tmp_path)
    assert answer.status == 1
    assert [one["message"] for one in answer.report["failures"]] == [message]


def test_exit_without_complaint_in_the_middle(tmp_path: Path) -> None:
    answer = verify(script(tmp_path, "sys.exit()"), "--json", cwd=tmp_path, warm=True)
    assert answer.status == 0, answer.out
    assert (answer.report["steps"], answer.report["ending"]) == (5, "finished")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_crash(tmp_path: Path) -> None:
    answer = verify(script(tmp_path, "os.kill(os.getpid(), signal.SIGSEGV)"), "--json", cwd=tmp_path)
    assert answer.status == 1
    assert [one["message"] for one in answer.report["failures"]] == ["the process was killed by SIGSEGV"]
    assert answer.report["steps"] == 5
    assert_saw_reads(answer.report, 5)


def test_hang(tmp_path: Path) -> None:
    hang = "open('pid', 'w').write(str(os.getpid())); import time; time.sleep(1000)"
    answer = verify(script(tmp_path, hang), "--json", "--timeout", "20", cwd=tmp_path, warm=True)
    assert answer.status == 1
    (failure,) = answer.report["failures"]
    assert (failure["kind"], failure["filename"], failure["row"]) == ("timeout", "train.py", LAST_ROW)
    assert failure["message"].startswith("still running after 2")
    assert_saw_reads(answer.report, 5)
    pid = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists(), "the process outlived its report"


def test_torch_xla_is_missing(tmp_path: Path) -> None:
    script(tmp_path)
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')  # without site packages
    bare.chmod(0o755)
    answer = verify("train.py", cwd=tmp_path, python=str(bare))
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err == (
        f'error: torch and torch_xla are not installed for {bare}: run `{bare} -m pip install "torch==2.9.*" '
        "torch_xla==2.9.0`, or name a Python that has them with --python\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.py"], "error: command line: there is no file missing.py\n"),
        (["train.py", "--against", "missing.py"], "error: command line: there is no file missing.py\n"),
        (["train.py", "--python", "no/such/python"], "error: cannot run no/such/python: No such file or directory\n"),
        (["train.py", "--python", "/bin/true"], "error: /bin/true does not behave like Python\n"),
    ],
)
def test_wrong_usage(tmp_path: Path, arguments: list[str], message: str) -> None:
    script(tmp_path)
    answer = verify(*arguments, cwd=tmp_path)
    assert (answer.status, answer.out, answer.err) == (2, "", message)

"""Logs of past runs: what torch_xla 2.9 wrote itself, and what becomes of it among other output."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from command import tpulint

from tpulint.xla_logs.events import Blocks, Event, Frame
from tpulint.xla_logs.files import lines_of
from tpulint.xla_logs.summary import Summary, find_source, kind_of, own_frames

LOGS = Path(__file__).parent / "xla_logs"
SCRIPT = LOGS / "train.py"
LOG = LOGS / "level2.log"
"""Written by torch_xla 2.9 with PT_XLA_DEBUG_LEVEL=2; the folders are others."""

RULER = "=" * 80


def block(kind: str, graph: str, row: int, cause: str = "user torch_xla.sync", before: str = "") -> str:
    """What torch_xla writes for one graph."""
    lines = [
        RULER, f"{kind} Cause", f"  {cause}", "Graph Info: ", f"  Graph Hash: {graph}", "  Number of Graph Inputs: 3",
        "  Number of Graph Outputs: 1", "Python Frame Triggered Execution: ",
        "  sync (/venv/lib/python3.11/site-packages/torch_xla/torch_xla.py:87)",
        f"  <module> (/project/train.py:{row})",
        "-" * 80, RULER,
    ]  # fmt: skip
    return "\n" + "".join(f"{before}{kind} Analysis: {line}\n" for line in lines)


def events(text: str) -> list[Event]:
    return list(Blocks().events(text.splitlines(keepends=True)))


def told(text: str) -> list[tuple[str, int]]:
    """Hash and row of every event."""
    return [(event.graph, event.frames[-1].row) for event in events(text)]


# ------------------------------------------------------------------------ what torch_xla wrote


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("project")
    done = tpulint("xla-log", "--source", str(LOGS), "--output-format", "json", str(LOG), cwd=folder)
    assert done.status == 1, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def place(answer: dict[str, Any], text: str, kind: str) -> dict[str, Any]:
    (found,) = (one for one in answer["places"] if text in one["source"] and one["kind"] == kind)
    assert isinstance(found, dict)
    return found


def test_graphs_are_counted(answer: dict[str, Any]) -> None:
    text = LOG.read_text()
    assert answer["compilations"] == text.count("Compilation Cause")
    assert answer["runs"] == text.count("Execution Cause")
    hashes = {line.split()[-1] for line in text.splitlines() if "Graph Hash:" in line}
    assert {one["hash"] for one in answer["graphs"]} == hashes
    assert sum(one["compilations"] for one in answer["graphs"]) == answer["compilations"]
    assert sum(one["runs"] for one in answer["places"]) == answer["runs"]
    assert {one["name"] for one in answer["graphs"]} == {None, "evaluate", "evaluate_clear_pending"}


def test_every_place_has_its_cause_and_line(answer: dict[str, Any]) -> None:
    assert place(answer, "total += loss.item()", "read")["compilations"] == 5
    assert place(answer, "torch_xla.sync()", "boundary")["compilations"] == 5
    assert place(answer, "kept = x[x > 0.5]", "read")["runs"] == 1
    assert place(answer, 'print(f"{kept.sum()}")', "read")["frames"][0]["function"] == "__format__"
    assert place(answer, "evaluate(x)", "compile")["runs"] == 3
    assert place(answer, "evaluate(x)", "cleared")["runs"] == 1
    assert place(answer, "for x in MpDeviceLoader", "loader")["runs"] == 3
    (dynamo,) = (one for one in answer["places"] if one["kind"] == "dynamo")
    assert (dynamo["compilations"], dynamo["runs"], dynamo["filename"]) == (1, 2, None), "eight frames, all of torch"


def test_rules_explain(answer: dict[str, Any]) -> None:
    read = place(answer, "total += loss.item()", "read")["explained_by"]
    assert [one["name"] for one in read] == ["running-total-on-host", "changing-index"]
    changing = place(answer, "torch_xla.sync()", "boundary")["explained_by"]
    assert [(one["name"], one["row"]) for one in changing] == [("changing-index", 6)]
    assert "x[:, :n]" in SCRIPT.read_text().splitlines()[5]


def test_only_what_comes_again_is_costly(answer: dict[str, Any]) -> None:
    costly = [(one["source"], one["kind"]) for one in answer["places"] if one["costly"]]
    assert sorted(costly) == [("torch_xla.sync()", "boundary"), ("total += loss.item()", "read")]


def test_report_for_people(tmp_path: Path) -> None:
    done = tpulint("xla-log", "--source", ".", str(LOG), cwd=Path(shutil.copytree(LOGS, tmp_path / "project")))
    assert done.out.splitlines()[0] == "16 graphs, 16 compilations, 21 runs"
    assert "/home/user/project/train.py:19  total += loss.item()\n    read " in done.out
    assert "step boundary, the graph keeps changing: 5 graphs, compiled 5 times, run 5 times" in done.out
    assert "TPU201 changing-index (train.py:6): " in done.out
    assert (done.status, done.err) == (1, "")


def test_rules_explain_functions_that_the_loop_of_another_file_calls(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\n"
        "import torch_xla\n"
        "from torch import nn\n"
        "from parts import log_loss, shrink\n"
        "device = torch_xla.device()\n"
        "model = nn.Linear(4, 2).to(device)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for step in range(6):\n"
        "    x, y = torch.randn(8, 4).to(device), torch.randn(8, 2).to(device)\n"
        "    optimizer.zero_grad()\n"
        "    loss = nn.functional.mse_loss(model(shrink(x, step)), shrink(y, step))\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    log_loss(loss)\n"
        "    torch_xla.sync()\n"
    )
    (tmp_path / "parts.py").write_text(
        "def shrink(x, step):\n    return x[: 8 - step]\n\n\ndef log_loss(loss):\n    print(loss.item())\n"
    )
    read = "user code trying to access tensor value before torch_xla.sync"
    reads = [block("Compilation", f"{at}0", 6, read).replace("train.py", "parts.py") for at in range(3)]
    boundaries = [block("Compilation", f"{at}1", 15) for at in range(3)]
    (tmp_path / "train.log").write_text("".join(reads + boundaries))
    done = tpulint("xla-log", "--output-format", "json", "train.log", cwd=tmp_path)
    explained = {
        one["source"]: {(found["name"], Path(found["path"]).name, found["row"]) for found in one["explained_by"]}
        for one in json.loads(done.out)["places"]
    }
    shrinking = ("changing-index", "parts.py", 2)
    assert explained == {
        "print(loss.item())": {("tensor-read-in-step-loop", "parts.py", 6), shrinking},
        "torch_xla.sync()": {shrinking},
    }


def test_without_the_source_rules_are_pointed_to(tmp_path: Path) -> None:
    done = tpulint("xla-log", str(LOG), cwd=tmp_path)
    assert "no finding of the linter explains it; see its rules about host sync and recompile" in done.out


@pytest.mark.xla
def test_log_of_the_installed_torch_xla(tmp_path: Path) -> None:
    """Fails when a version of torch_xla writes another form."""
    python = os.environ.get("TPULINT_XLA_PYTHON")
    if python is None:
        pytest.importorskip("torch_xla")
        python = sys.executable
    script = tmp_path / "small.py"
    script.write_text(
        "import torch, torch_xla\n"
        "x = torch.ones(3, 5).to(torch_xla.device())\n"
        "for n in range(1, 4):\n"
        "    y = x[:, :n] * 2\n"
        "    torch_xla.sync()\n"
        "(y.sum() * 3).item()\n"
    )
    log = tmp_path / "log"
    environment = {**os.environ, "PJRT_DEVICE": "CPU", "PT_XLA_DEBUG_LEVEL": "2", "PT_XLA_DEBUG_FILE": str(log)}
    subprocess.run([python, str(script)], env=environment, capture_output=True, check=True, timeout=300)
    summary = Summary()
    for event in Blocks().events(lines_of(str(log))):
        summary.add(event)
    found = {(one.place.kind, one.place.frame and one.place.frame.row): one for one in summary.tallies}
    assert set(found) == {("boundary", 5), ("read", 6)}
    assert (found["boundary", 5].compiles, found["boundary", 5].runs) == (3, 3)
    assert found["boundary", 5].is_costly and not found["read", 6].is_costly


# ------------------------------------------------------------------------ among other output


def test_other_output_does_not_matter() -> None:
    text = block("Compilation", "aa", 20).replace("Graph Info", "epoch 1  \x1b[32m 20%|##\x1b[0m\nGraph Info")
    assert told("Epoch 1\n" + text + "loss 0.3\n") == [("aa", 20)]
    noisy = "".join(f"loss: 0.1\n{line}\n" for line in block("Execution", "aa", 20).splitlines())
    assert told(noisy) == [("aa", 20)]
    assert told(block("Execution", "aa", 20, before="\r 20%|##   | 3/9 ")) == [("aa", 20)]
    assert told(block("Execution", "aa", 20, before="2024-05-01T10:00:03.1 stderr F ")) == [("aa", 20)]
    assert told(block("Execution", "aa", 20).replace("\n", "\r\n")) == [("aa", 20)]


def test_processes_are_told_apart_by_what_launchers_write() -> None:
    for form in ("[rank{}]: ", "{}: ", "(worker {}) "):
        first, second = (
            block("Compilation", name, row, before=form.format(number)).splitlines(keepends=True)
            for number, name, row in ((0, "aa", 20), (1, "bb", 30))
        )
        mixed = "".join(line for pair in zip(first, second, strict=True) for line in pair)
        assert sorted(told(mixed)) == [("aa", 20), ("bb", 30)], form


def test_blocks_of_two_kinds_may_be_mixed() -> None:
    first, second = (
        block(kind, name, 20).splitlines(keepends=True) for kind, name in (("Compilation", "aa"), ("Execution", "bb"))
    )
    mixed = "".join(line for pair in zip(first, second, strict=True) for line in pair)
    assert sorted((event.graph, event.is_compilation) for event in events(mixed)) == [("aa", True), ("bb", False)]


def test_torn_blocks_are_not_mixed_up() -> None:
    whole = block("Compilation", "bb", 30)
    for cut in range(2, 13):
        torn = "\n".join(block("Compilation", "aa", 20).splitlines()[:cut]) + "\n"
        (found,) = (event for event in events(torn + whole) if event.graph == "bb")
        assert [frame.row for frame in found.frames] == [87, 30], cut
    blocks = Blocks()
    headless = "\n".join(block("Compilation", "aa", 20).splitlines()[:4]) + "\n"
    assert len(list(blocks.events((headless + whole).splitlines()))) == 1
    assert blocks.torn == 1


def test_log_that_ends_amid_a_block_keeps_it() -> None:
    text = "\n".join(block("Compilation", "aa", 20).splitlines()[:11])
    assert told(text) == [("aa", 20)]


def test_execution_that_ended_the_program() -> None:
    text = block("Execution", "aa", 20).replace("Execution Analysis", "Unexpected Execution Analysis")
    (event,) = events(text)
    assert event.is_forbidden and not event.is_compilation


def test_causes_of_older_versions_are_known() -> None:
    kinds = {
        "user mark_step": "boundary", "user torch_xla.sync": "boundary",
        "mark_step in parallel loader at step end": "loader",
        "most likely user code trying to access tensor value before mark_step": "read",
        "mark_step when dynamo processing input graphs": "dynamo", "torch_xla.compile": "compile",
        "torch_xla.compile\n": "compile", "torch_xla.sync when exiting a profiler StepTrace region": "boundary",
        "something new": "other",
    }  # fmt: skip
    assert {cause: kind_of(cause) for cause in kinds} == kinds


def test_own_frame_is_the_first_outside_of_torch() -> None:
    torch = Frame("item", "/venv/lib/python3.11/site-packages/torch/_tensor.py", 5)
    library = Frame("log", "/venv/lib/python3.11/site-packages/lightning/loop.py", 6)
    own = Frame("fit", "/home/me/torch/train.py", 7)
    assert own_frames((torch, library, own)) == [own]
    assert own_frames((torch, library)) == [library]
    assert own_frames((torch, Frame("forward", "<eval_with_key>.2", 5))) == []
    assert own_frames((Frame("sync", "/home/me/xla/torch_xla/torch_xla.py", 87), own)) == [own]


def test_source_is_found_below_another_folder(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    file = tmp_path / "pkg" / "train.py"
    file.write_text("")
    assert find_source("/elsewhere/project/pkg/train.py", str(tmp_path)) == str(file)
    assert find_source("C:\\project\\pkg\\train.py", str(tmp_path)) == str(file)
    assert find_source("/elsewhere/other.py", str(tmp_path)) == ""


# ------------------------------------------------------------------------ files


def test_compressed_log_and_standard_input(tmp_path: Path) -> None:
    text = (block("Compilation", "aa", 20) + block("Execution", "aa", 20)).encode()
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(text))
    for arguments, stdin in ((["xla-log", str(packed)], b""), (["xla-log", "-"], text)):
        done = tpulint(*arguments, cwd=tmp_path, stdin=stdin)
        assert (done.status, done.out.splitlines()[0]) == (0, "1 graph, 1 compilation, 1 run"), done.err


def test_compressed_log_that_is_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    text = "".join(block("Compilation", f"{number:032x}", number) + os.urandom(200).hex() for number in range(300))
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(text.encode())[:-3000])
    done = tpulint("xla-log", str(packed), cwd=tmp_path)
    assert "graphs" in done.out and "is cut off" in done.out
    assert 100 < int(done.out.split()[0]) < 300


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"hello\n", "holds nothing that torch_xla writes with PT_XLA_DEBUG"),
        (b"", "holds nothing"),
        (os.urandom(100_000).replace(b"\x1f\x8b", b""), "holds nothing"),
        (None, "No such file or directory"),
    ],
    ids=["other text", "empty", "binary", "missing"],
)
def test_other_files_are_refused(content: bytes | None, said: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    if content is not None:
        file.write_bytes(content)
    done = tpulint("xla-log", str(file), cwd=tmp_path)
    assert done.status == 2 and said in done.err and len(done.err.splitlines()) == 1
    assert done.out == ""


def test_long_log_is_not_held_in_memory(tmp_path: Path) -> None:
    log = tmp_path / "log"
    one = block("Execution", "aa", 20)
    with open(log, "w") as file:
        for _ in range(4000):
            file.write(one)
        file.write("x" * 3_000_000 + "\n" + one)
    size = log.stat().st_size
    summary = Summary()
    tracemalloc.start()
    for event in Blocks().events(lines_of(str(log))):
        summary.add(event)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert summary.runs == 4001
    assert peak < 1_000_000 < size

"""The process of the compiler, with fakes in its place: answers, failures, the cache; and what is left behind."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

import pytest

from tpulint.planning.compiled import Argument, Compilation, Program, Tensor
from tpulint.planning.compiler_messages import failure_of
from tpulint.planning.compilers import TOPOLOGIES, Compiler, find
from tpulint.planning.compiling import Compiling, compile_program
from tpulint.planning.data import load_hardware
from tpulint.verification.environment import CannotRun

GENERATIONS = load_hardware().generations
GOOD = '{"memory": [100, 50, 40, 30, 5], "flops": 7.0, "bytes_accessed": 9.0, "seconds": 0.1}'
START = """\
import json, os, subprocess, sys, time
request = json.load(open(sys.argv[1]))
def answer(text):
    with open(request["answer"], "w") as file:
        file.write(text)
"""
OUT_OF_MEMORY = (
    "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO "
    "temporaries (107.34G) exceeds available HBM (15.75G). HLO module: IrToHlo.4.\\nSee https://openxla.org/xla/errors"
)


def program(code: bytes = b"code") -> Program:
    arguments = tuple(Argument(Tensor("f32", (2,)), role) for role in ("state", "input", "state", "kept"))
    return Program(code.decode(), "", code, arguments, (Tensor("f32", (2,)),), 1, None)


def compiling(folder: Path, body: str, timeout: float = 30.0, cache: bool = False) -> Compiling:
    process = folder / "fake.py"
    process.write_text(START + body)
    (folder / "work").mkdir(exist_ok=True)
    compiler = Compiler(sys.executable, "1", "2")
    return Compiling(compiler, str(folder / "work"), timeout, str(folder / "cache") if cache else "", str(process))


def ask(folder: Path, body: str, timeout: float = 30.0, cache: bool = False, code: bytes = b"code") -> Compilation:
    how = compiling(folder, body, timeout, cache)
    return compile_program(program(code), GENERATIONS["v5e"], str(folder / "train.py"), how)


def test_answer(tmp_path: Path) -> None:
    body = f"assert request['donated'] == [0, 2] and request['topology'] == 'v5e:2x2'\nanswer({GOOD!r})"
    found = ask(tmp_path, body)
    assert found.failure is None and found.memory is not None
    assert found.memory.undonated == 100 + 50 + 30 + 5
    assert found.memory.total == found.memory.undonated - 40
    assert (found.flops, found.bytes_accessed, found.is_cached) == (7.0, 9.0, False)


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ("os.abort()", "crash", "killed by SIGABRT"),
        ("print('Check failed: x == y', file=sys.stderr); sys.exit(3)", "crash", "exit status 3.*Check failed"),
        ("pass", "crash", "exit status 0 and gave no answer"),
        ("answer('nonsense')", "crash", "gave no answer"),
        ("answer('[]')", "crash", "gave no answer"),
        ('answer(\'{"memory": [1, 2], "flops": 1, "bytes_accessed": 1}\')', "crash", "gave no answer"),
        ('answer(\'{"memory": [1, 2, 3, 4, "5"], "flops": 1, "bytes_accessed": 1}\')', "crash", "gave no answer"),
        (
            f'answer(\'{{"error": "{OUT_OF_MEMORY}", "stage": "compile"}}\')',
            "out-of-memory",
            "Ran out of memory on HBM",
        ),
        ('answer(\'{"error": "no such name", "stage": "topology"}\')', "topology", "no such name"),
        ('answer(\'{"error": "INTERNAL: oh", "stage": "compile"}\')', "compiler", "INTERNAL: oh"),
    ],
)
def test_failures_are_answers(tmp_path: Path, body: str, kind: str, message: str) -> None:
    found = ask(tmp_path, body.replace("\\n", "\\\\n"))
    assert found.failure is not None and found.memory is None
    assert found.failure.kind == kind
    assert re.search(message, found.failure.message)


def test_hanging_compiler_is_ended_with_all_it_started(tmp_path: Path) -> None:
    child = "import time; time.sleep(600)"
    body = (
        f"process = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(process.pid))\ntime.sleep(600)"
    )
    started = time.monotonic()
    found = ask(tmp_path, body, timeout=3.0)
    assert found.failure is not None and found.failure.kind == "timeout"
    assert "3 s" in found.failure.message
    assert time.monotonic() - started < 30
    pid = int((tmp_path / "pid").read_text())
    for _ in range(50):
        if not Path(f"/proc/{pid}").exists() or "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
            break
        time.sleep(0.1)
    else:
        pytest.fail("the process that it started still runs")


def test_a_compiler_that_dies_is_asked_for_the_program_as_it_was_printed(tmp_path: Path) -> None:
    found = ask(tmp_path, f"os.abort() if request['leave_out'] else answer({GOOD!r})")
    assert found.failure is None and found.flops == 7.0 and found.as_printed
    assert ask(tmp_path, "os.abort()").as_printed is False


def test_unknown_generation_is_not_asked_for(tmp_path: Path) -> None:
    how = compiling(tmp_path, "os.abort()")
    found = compile_program(program(), GENERATIONS["a100"], "train.py", how)
    assert found.failure is not None and found.failure.kind == "topology"


def test_all_tpus_have_a_topology() -> None:
    assert set(TOPOLOGIES) == {name for name, one in GENERATIONS.items() if one.kind == "tpu"}


# ------------------------------------------------------------------------ the cache


def test_answers_are_kept_by_content(tmp_path: Path) -> None:
    first = ask(tmp_path, f"answer({GOOD!r})", cache=True)
    again = ask(tmp_path, "os.abort()", cache=True)
    assert again == first._replace(is_cached=True)
    other = ask(tmp_path, "os.abort()", cache=True, code=b"other code")
    assert other.failure is not None


def test_that_the_compiler_had_died_is_kept(tmp_path: Path) -> None:
    ask(tmp_path, f"os.abort() if request['leave_out'] else answer({GOOD!r})", cache=True)
    again = ask(tmp_path, "os.abort()", cache=True)
    assert again.is_cached and again.as_printed


def test_what_only_waits_is_no_part_of_the_content(tmp_path: Path) -> None:
    """A queue of a loader is fuller at one time than at another."""
    how = compiling(tmp_path, f"answer({GOOD!r})", cache=True)
    once = program()
    compile_program(once, GENERATIONS["v5e"], "train.py", how)
    waits = Argument(Tensor("f32", (2,)), "unread")
    fuller = once._replace(arguments=(waits, *once.arguments), code=b"another code")
    assert compile_program(fuller, GENERATIONS["v5e"], "train.py", how).is_cached
    given_away = once._replace(arguments=tuple(Argument(one.tensor, "state") for one in once.arguments))
    assert not compile_program(given_away, GENERATIONS["v5e"], "train.py", how).is_cached


def test_failures_that_name_lines_are_not_kept(tmp_path: Path) -> None:
    refused = 'answer(\'{"error": "Custom emitter for kernel not found", "stage": "compile"}\')'
    first = ask(tmp_path, refused, cache=True)
    assert first.failure is not None and first.failure.kind == "operator"
    assert ask(tmp_path, f"answer({GOOD!r})", cache=True).failure is None


def test_refusals_are_kept_and_crashes_are_not(tmp_path: Path) -> None:
    refused = f'answer(\'{{"error": "{OUT_OF_MEMORY}", "stage": "compile"}}\')'.replace("\\n", "\\\\n")
    assert ask(tmp_path, refused, cache=True).is_cached is False
    assert ask(tmp_path, "os.abort()", cache=True).is_cached is True
    crashed = ask(tmp_path, "os.abort()", cache=True, code=b"1")
    assert crashed.failure is not None and crashed.failure.kind == "crash"
    assert ask(tmp_path, f"answer({GOOD!r})", cache=True, code=b"1").failure is None


@pytest.mark.parametrize("damage", ["", "{}", "[1]", "null", '{"error": 1}'])
def test_damaged_cache_counts_as_none(tmp_path: Path, damage: str) -> None:
    ask(tmp_path, f"answer({GOOD!r})", cache=True)
    (kept,) = (tmp_path / "cache" / "compiled").iterdir()
    kept.write_text(damage)
    assert ask(tmp_path, f"answer({GOOD!r})", cache=True).is_cached is False


def test_folder_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert ask(tmp_path, f"answer({GOOD!r})", cache=True).failure is None


# ------------------------------------------------------------------------ messages


def test_memory_of_a_refusal() -> None:
    found = failure_of(OUT_OF_MEMORY, "compile", "train.py")
    assert found.used == 107.34 * 2**30 and found.limit == 15.75 * 2**30


def test_operator_and_line_of_a_refusal(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    text = (
        "UNIMPLEMENTED: While rewriting computation to not contain X{64|128} element types, XLA encountered an HLO for "
        "which this rewriting is not implemented: %dot.14 = f64[256,256]{1,0} dot(%a, %b), "
        'metadata={op_name="aten__linalg_eigh" source_file="/usr/lib/site-packages/torch/x.py" source_line=7}\n\n'
        f"Suspected Python Code Location:\n  /usr/lib/python3/site-packages/torch/x.py:7\n  {script}:22:24 [main]\n"
    )
    found = failure_of(text, "compile", str(script))
    assert found.kind == "operator"
    assert found.operator == "aten::linalg_eigh (dot)"
    assert found.place is not None and (found.place.path, found.place.row) == (str(script), 22)


def test_invalid_operand_names_the_operation() -> None:
    text = "INVALID_ARGUMENT: during context [pre-optimization]: Unexpected operand type for FFT: c128[256,256]{1,0}"
    assert failure_of(text, "compile", "train.py").operator == "FFT"


# ------------------------------------------------------------------------ the Python of the compiler


def test_missing_compiler_is_told_with_what_to_do(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!{sys.executable}\nprint(\'[[3, 12], "", ""]\')\n')
    bare.chmod(0o755)
    with pytest.raises(CannotRun, match=r"-m pip install jax==\S+ libtpu==\S+` \(the extra `plan`\)"):
        find((str(bare),))


def test_first_python_that_has_it_is_taken(tmp_path: Path) -> None:
    paths = []
    for name, libtpu in (("a", ""), ("b", "0.0.51")):
        path = tmp_path / name
        path.write_text(f'#!{sys.executable}\nprint(\'[[3, 12], "0.10.2", "{libtpu}"]\')\n')
        path.chmod(0o755)
        paths.append(str(path))
    assert find(tuple(paths)) == Compiler(paths[1], "0.10.2", "0.0.51")


def test_python_that_is_not_there() -> None:
    with pytest.raises(CannotRun, match="cannot run"):
        find((os.path.join("no", "such", "python"),))

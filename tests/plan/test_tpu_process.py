"""The real process of the compiler: what it says of a program that works, and of those that do not."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from planning_runs import COMPILER_PYTHON, HERE

from tpulint.planning.compiled import Argument, Compilation, Program
from tpulint.planning.compilers import TOPOLOGIES, environment, find
from tpulint.planning.compiling import Compiling, compile_program
from tpulint.planning.data import load_hardware
from tpulint.planning.tensors import Tensor

pytestmark = [pytest.mark.compiler, pytest.mark.slow]

MATRIX = 256 * 256 * 4
"""Bytes of one in f32."""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with programs."""
    folder = tmp_path_factory.mktemp("programs")
    done = subprocess.run(
        [COMPILER_PYTHON, "-P", str(HERE / "make_programs.py"), str(folder)], env=environment(), capture_output=True,
        text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def ask(programs: Path, name: str, folder: Path, role: str = "state") -> Compilation:
    tensor = Tensor("f32", (256, 256))
    program = Program(name, "", (programs / name).read_bytes(), (Argument(tensor, role),), (tensor,), 1, None)
    how = Compiling(find((COMPILER_PYTHON,)), str(folder), 200.0)
    return compile_program(program, load_hardware().generations["v5e"], str(programs / "train.py"), how)


@pytest.mark.parametrize(("role", "aliased"), [("state", MATRIX), ("input", 0)])
def test_only_state_is_donated(programs: Path, tmp_path: Path, role: str, aliased: int) -> None:
    found = ask(programs, "fits", tmp_path, role)
    assert found.failure is None and found.memory is not None
    assert (found.memory.arguments, found.memory.outputs, found.memory.aliased) == (MATRIX, MATRIX, aliased)
    assert found.flops == 256 * 256  # one addition for each number
    assert found.seconds > 0


def test_what_only_waits_on_the_device_is_no_part_of_the_program(programs: Path, tmp_path: Path) -> None:
    """57 GB are returned as they came: no program that torch_xla runs does so."""
    found = ask(programs, "waiting", tmp_path, "input")
    assert found.failure is None and found.memory is not None
    assert (found.memory.arguments, found.memory.outputs, found.memory.aliased) == (MATRIX, MATRIX, 0)


def test_too_large_in_the_words_of_the_compiler(programs: Path, tmp_path: Path) -> None:
    failure = ask(programs, "large", tmp_path).failure
    assert failure is not None and failure.kind == "out-of-memory"
    assert re.search("Ran out of memory .*exceeds available HBM", failure.message)
    assert failure.used is not None and failure.limit is not None
    # 16 GB less what the system keeps.
    assert 15e9 < failure.limit < 17.2e9 and failure.used > 2 * 120_000**2 * 4 * 0.99


@pytest.mark.parametrize(
    ("name", "operator"),
    [("whole_numbers", "aten::mm (dot)"), ("spectrum", "aten::mm (FFT)"), ("kernel", "aten::mm (a_gpu_kernel)")],
)
def test_refused_operators_are_explained(programs: Path, tmp_path: Path, name: str, operator: str) -> None:
    failure = ask(programs, name, tmp_path).failure
    assert failure is not None and failure.kind == "operator"
    assert failure.operator == operator
    assert failure.place == (str(programs / "train.py"), 22)


@pytest.mark.parametrize(("topology", "message"), [("v5e:3x5", "not divisible"), ("v9:2x2", "Invalid TPU")])
def test_wrong_topology(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topology: str, message: str
) -> None:
    monkeypatch.setitem(TOPOLOGIES, "v5e", (topology, {}))
    failure = ask(programs, "fits", tmp_path).failure
    assert failure is not None and failure.kind == "topology" and message in failure.message


def test_what_is_no_program(programs: Path, tmp_path: Path) -> None:
    (programs / "nonsense").write_bytes(b"nonsense")
    failure = ask(programs, "nonsense", tmp_path).failure
    assert failure is not None and failure.kind == "compiler" and failure.place is None

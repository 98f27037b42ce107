"""What is captured of a script's step, on real torch_xla; no TPU compiler is needed."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from planning_runs import SCRIPTS, XLA_PYTHON

from tpulint.planning import capturing
from tpulint.planning.capturing import CannotCapture, Settings, capture
from tpulint.planning.compiled import Capture, Program, Variant
from tpulint.planning.data import load_hardware
from tpulint.planning.steps_on_chips import assemble
from tpulint.verification.environment import find

pytestmark = [pytest.mark.xla, pytest.mark.slow, pytest.mark.usefixtures("warm_python_for_scripts")]
DEAR = pytest.mark.compiler
"""Each run starts torch_xla anew, 6 s of CPU. What says little that the others do not say runs only where plans are
worked on: where the compiler is installed, too."""


def take(
    script: str, folder: Path, *arguments: str, variant: Variant | None = None, timeout: float = 200.0,
    execute: bool = False,
) -> Capture:  # fmt: skip
    settings = Settings(find(XLA_PYTHON), str(folder), timeout, execute)
    return capture(str(SCRIPTS / script), arguments, variant or Variant(), settings)


def roles(program: Program) -> Counter[str]:
    return Counter(one.role for one in program.arguments)


@pytest.mark.parametrize("execute", [False, pytest.param(True, marks=DEAR)], ids=["traced", "run"])
def test_state_is_what_outputs_replace(tmp_path: Path, execute: bool) -> None:
    found = take("mlp.py", tmp_path, "--width", "64", "--batch-size", "8", execute=execute)
    (program,) = found.programs
    # Weights and biases of three layers, and a momentum for each.
    assert roles(program)["state"] == 12
    inputs = {one.tensor.shape for one in program.arguments if one.role == "input"} - {()}
    assert inputs == {(8, 256), (8,)}
    assert found.params == 256 * 64 + 64 + 64 * 64 + 64 + 64 * 128 + 128
    assert program.runs == 1 and program.place is not None
    assert (SCRIPTS / "mlp.py").read_text().splitlines()[program.place.row - 1].strip() == "torch_xla.sync()"
    assert not found.notes
    assert "bf16" not in program.text


def test_kept_and_early_reads(tmp_path: Path) -> None:
    found = take("reads_early.py", tmp_path)
    (program,) = found.programs
    # The weight of the frozen layer is read in the backward pass, its bias only for the loss.
    assert roles(program)["kept"] == 2
    assert roles(program)["state"] == 4
    # Weight, bias, momenta, the loss, and gradients twice: torch_xla computes what a gradient is a view of, too.
    # What is only read is no result: it would take its memory twice.
    assert len(program.outputs) == 9
    (note,) = found.notes
    assert "reads_early.py:13" in note and "before the step boundary" in note


def test_batches_that_wait_in_a_loader_are_inputs(tmp_path: Path) -> None:
    """Those of later steps are no arguments, the one that is read is not kept."""
    (program,) = take("prefetches.py", tmp_path).programs
    assert roles(program)["state"] == 2 and not roles(program)["kept"]
    inputs = [one.tensor.shape for one in program.arguments if one.role == "input" and one.tensor.shape]
    assert sorted(inputs) == [(8,), (8, 4)]
    # Weight, bias, two gradients, the loss.
    assert len(program.outputs) == 5


def test_bf16_and_checkpointing_change_the_graph(tmp_path: Path) -> None:
    found = take("transformer.py", tmp_path, "--f32", variant=Variant(bf16=True, checkpointing=True))
    text = found.programs[0].text
    assert re.search(r"dot_general.*bf16", text)
    assert "optimization_barrier" in text
    assert found.notes == ("checkpointing: 2 modules Block are computed again in the backward pass",)


@DEAR
@pytest.mark.parametrize("script", ["data_dependent.py", "scaler.py"])
def test_what_cannot_be_traced_is_run(tmp_path: Path, script: str) -> None:
    found = take(script, tmp_path)
    assert found.notes and "it was run on the CPU" in found.notes[0]


@DEAR
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("never_trains.py", "never reached a training step"),
        ("no_boundary.py", "no step boundary"),
    ],
)
def test_scripts_without_a_step(tmp_path: Path, script: str, message: str) -> None:
    with pytest.raises(CannotCapture, match=message):
        take(script, tmp_path)


@DEAR
def test_hanging_script_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SCRIPTS)
    with pytest.raises(CannotCapture, match=r"still running after \d+ s.*hangs\.py:5"):
        take("hangs.py", tmp_path, timeout=40)
    assert os.listdir(tmp_path) == ["capture-0"]


def test_failing_script_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(CannotCapture, match="unrecognized arguments: --depth"):
        take("mlp.py", tmp_path, "--depth", "3")


def test_every_micro_step_computes_gradients(tmp_path: Path) -> None:
    found = take("micro_steps.py", tmp_path)
    # Two products each: forward, and the gradient of the weight.
    assert [one.text.count("stablehlo.dot_general") for one in found.programs] == [2, 2, 2]
    assert sum(one.runs for one in found.programs) == 3
    # The first makes the gradient, the second adds to it, the third takes it in and writes the weight.
    assert sorted(roles(one)["state"] for one in found.programs) == [0, 1, 2]
    step = assemble(found, load_hardware().generations["v5e"], ())
    assert step.inputs >= 3 * 8 * 32 * 4


def test_workers_of_loaders_find_a_short_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ("long" * 25)
    folder.mkdir()
    with tempfile.TemporaryDirectory() as short:
        monkeypatch.setattr(capturing, "_SHORT_FOLDER", short)
        (program,) = take("loader_with_workers.py", folder, timeout=120).programs
        assert not os.listdir(short), "temporary files were left behind"
    assert {one.tensor.shape for one in program.arguments if one.role == "input"} >= {(8, 4), (8,)}

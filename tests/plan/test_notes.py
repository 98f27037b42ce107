"""What a plan says beside its numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tpulint.planning import compiled_json, compiled_text, script_plan
from tpulint.planning.capturing import Settings
from tpulint.planning.compiled import Argument, Capture, Compilation, Memory, Program, Variant
from tpulint.planning.compilers import Compiler
from tpulint.planning.compiling import Compiling
from tpulint.planning.data import load_hardware, load_prices
from tpulint.planning.generations import Generation
from tpulint.planning.script_plan import Wishes
from tpulint.planning.tensors import Tensor
from tpulint.verification.environment import Interpreter

GENERATIONS = load_hardware().generations
WISHES = Wishes("train.py", (), (GENERATIONS["v5e"], GENERATIONS["v6e"]), (), load_prices())


def test_a_step_that_was_compiled_with_what_waits_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = Tensor("f32", (2,))
    program = Program("digest", "", b"", (Argument(tensor, "state"),), (tensor,), 2, None)

    def capture(script: str, arguments: tuple[str, ...], variant: Variant, settings: Settings) -> Capture:
        return Capture(script, arguments, variant, (program, program._replace(digest="other")), 3, 2, (), 1.0)

    def compile_program(wanted: Program, generation: Generation, *others: Any) -> Compilation:
        memory = Memory(1, 1, 1, 1, 1)
        return Compilation(
            wanted.digest, generation.name, "", memory, 1.0, 1.0, None, 1.0, False, generation.name == "v6e"
        )

    monkeypatch.setattr(script_plan, "capture", capture)
    monkeypatch.setattr(script_plan, "compile_program", compile_program)
    settings = Settings(Interpreter("python", (3, 11, 0), "2.9", "2.9"), str(tmp_path))
    plan = script_plan.make(WISHES, settings, Compiling(Compiler("python", "1", "2"), "", 1.0), lambda what: None)
    (note,) = plan.notes
    assert note.startswith("v6e: the compiler died of the step alone") and "HBM counts these, too" in note
    assert f"note: {note}\n" in list(compiled_text.render(plan))
    told = json.loads(compiled_json.render(plan))
    assert told["notes"] == [note]
    assert [[each["as_printed"] for each in one["compilations"]] for one in told["steps"]] == [[False] * 2, [True] * 2]

"""What the guide to the training loop shows, on XLA:CPU: as many programs as it says, and no read that is not meant."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent.parent
ELSEWHERE = os.environ.get("TPULINT_XLA_PYTHON", sys.executable)

RUN = """
import json, train_llama
history, sizes, work = train_llama.main(40)
print(json.dumps({
    "compiles": work.compiles, "reads": work.reads, "extra": work.extra_launches, "shapes": len(sizes),
    "records": len(history.records), "evaluations": len(history.evaluations), "loss": history.column("loss"),
    "fallbacks": dict(work.fallbacks), "rates": history.column("lr"),
}))
"""


def has(*packages: str) -> bool:
    if sys.executable == ELSEWHERE:
        return all(importlib.util.find_spec(package) is not None for package in packages)
    imports = f"import importlib.util as u; assert all(u.find_spec(p) for p in {packages!r})"
    return subprocess.run([ELSEWHERE, "-c", imports], capture_output=True, check=False).returncode == 0


def run(code: str) -> str:
    """What it prints, in an interpreter with torch_xla."""
    folders = [str(REPOSITORY / "runtime"), str(REPOSITORY / "examples")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "PJRT_DEVICE": "CPU"}
    done = subprocess.run(
        [ELSEWHERE, "-c", code], env=environment, capture_output=True, text=True, check=False, cwd=REPOSITORY
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


COUNTED = """
work = backend.own().counts()
print(__import__("json").dumps({
    "compiles": work.compiles, "reads": work.reads, "loss": history.column("loss"),
    "accuracy": history.evaluated("accuracy"),
}))
"""


needs_xla = pytest.mark.skipif(not has("torch_xla"), reason="torch_xla is not installed (extra xla)")
needs_transformers = pytest.mark.skipif(not has("transformers"), reason="transformers is not installed")


@pytest.mark.xla
@pytest.mark.slow
@needs_xla
def test_the_loop_of_the_guide_compiles_each_shape_once_and_learns() -> None:
    page = (REPOSITORY / "docs" / "runtime.md").read_text(encoding="utf-8")
    example = page.partition("## A training loop")[2].partition("```python\n")[2].partition("```")[0]
    found = json.loads(run(example + COUNTED).splitlines()[-1])
    assert found["compiles"] == 2 * 2, "training and evaluation, each of two shapes once"
    assert found["reads"] == len(found["loss"]) + 3
    assert len(found["accuracy"]) == 3 and found["accuracy"][-1] > 0.9, "numbers that count up are easily learned"


@pytest.mark.xla
@pytest.mark.slow
@needs_xla
@needs_transformers
def test_llama_of_transformers_compiles_each_shape_once_and_learns() -> None:
    found = json.loads(run(RUN).splitlines()[-1])
    assert found["compiles"] == 2 * found["shapes"], "training and evaluation, each shape once"
    assert found["reads"] == found["records"] + found["evaluations"]
    assert found["extra"] == 0 and not found["fallbacks"]
    assert found["loss"][-1] < 0.8 * found["loss"][0]

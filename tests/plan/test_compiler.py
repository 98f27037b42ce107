"""What libtpu's compiler says, for scripts whose arithmetic is known."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from planning_runs import REPOSITORY, SCRIPTS, plan

from tpulint.planning.compilers import TOPOLOGIES

pytestmark = [pytest.mark.xla, pytest.mark.compiler, pytest.mark.slow]

MLP = 512 * (6 * (1024 * 1024 + 1024 * 128) + 4 * 256 * 1024)
"""A product forward, two backward; the first layer needs no gradient of its input. Two FLOPs for each weight."""
CNN = 32 * (4 * 14 * 14 * 9 * 64 * 128 + 6 * 12 * 12 * 9 * 128 * 128 + 6 * 128 * 12 * 12 * 128)
_TOKENS, _HIDDEN, _SEQUENCE, _WORDS, _LAYERS = 8 * 128, 256, 128, 1024, 1
TRANSFORMER = _TOKENS * 6 * (_LAYERS * (12 * _HIDDEN**2 + 2 * _SEQUENCE * _HIDDEN) + _HIDDEN * _WORDS)
"""Attention multiplies every token with all others of its sequence, twice."""


@pytest.mark.parametrize(
    ("script", "arguments", "flops"),
    [("mlp.py", (), MLP), ("cnn.py", (), CNN), ("transformer.py", ("--layers", "1"), TRANSFORMER)],
    ids=["mlp", "cnn", "transformer"],
)
def test_flops_agree_with_the_analytic_count(
    tmp_path: Path, script: str, arguments: tuple[str, ...], flops: int
) -> None:
    answer = plan(script, "--tpu", "v5e", "--output-format", "json", "--", *arguments, folder=tmp_path)
    assert answer.status == 0, answer.err
    (step,) = answer.data["steps"]
    assert step["flops"] == pytest.approx(flops, rel=0.05)
    memory = step["memory"]
    assert memory["aliased"] > 0 and memory["total"] == memory["without_donation"] - memory["aliased"]
    assert memory["arguments"] >= step["state_bytes"] + step["input_bytes"]
    assert answer.data["chosen"]["slice"]["type"] == "v5litepod-1"
    assert any(f"python3 {script}" in one["line"] for one in answer.data["commands"])


def test_every_generation_compiles_a_port(tmp_path: Path) -> None:
    """A script that was written for CUDA, with a scaler and a loader, ported by this linter."""
    with tempfile.TemporaryDirectory() as folder:  # with a short name: workers of a loader open sockets in it
        port = Path(folder, "train.py")
        shutil.copy(REPOSITORY / "examples" / "train_gpu.py", port)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(REPOSITORY / name) for name in (".", "rules"))}
        fix = [
            sys.executable,
            "-m",
            "tpulint",
            "--isolated",
            "--no-cache",
            "--exit-zero",
            "--fix",
            "--unsafe-fixes",
            str(port),
        ]
        subprocess.run(fix, env=environment, check=True, capture_output=True, timeout=120)
        generations = ",".join(TOPOLOGIES)
        answer = plan(port, "--tpu", generations, "--output-format", "json", folder=Path(folder))
    assert answer.status == 0, answer.err
    steps = answer.data["steps"]
    assert [one["name"] for one in steps] == list(TOPOLOGIES)
    assert [one["failure"] for one in steps] == [None] * len(TOPOLOGIES)
    # They count elementwise arithmetic in ways of their own, and products alike.
    flops = [one["flops"] for one in steps]
    assert max(flops) < 1.2 * min(flops)
    assert all(one["memory"]["total"] < 0.01 * one["capacity"] for one in steps)


def test_batch_that_is_too_large_is_refused_by_the_compiler(tmp_path: Path) -> None:
    """The hidden numbers of a sample take 32 kB: 16 GB hold no million of them."""
    arguments = (
        "--tpu", "v5e", "--batch", "auto", "--batch-multiple", "131072", "--output-format", "json", "--",
        "--batch-size", "262144", "--width", "4096", "--inputs", "8",
    )  # fmt: skip
    answer = plan("mlp.py", *arguments, folder=tmp_path)
    assert answer.status == 0, answer.err
    (search,) = answer.data["batch_searches"]
    assert search["ended_by"] == "exact"
    assert search["refused"] - search["largest"] == 131072
    by_batch = {one["variant"]["batch"]: one for one in search["probes"]}
    refused = by_batch[search["refused"]]
    assert refused["failure"]["kind"] == "out-of-memory" and "HBM" in refused["failure"]["message"]
    assert refused["failure"]["used"] > refused["failure"]["limit"]
    fitting = [one["memory"]["total"] for batch, one in sorted(by_batch.items()) if batch <= search["largest"]]
    assert len(fitting) >= 2 and fitting == sorted(fitting) and fitting[0] < fitting[-1]
    # The batch of the search, alone: it is not compiled again.
    alone = ("--tpu", "v5e", "--output-format", "json", "--batch", str(search["largest"]), *arguments[8:])
    (again,) = plan("mlp.py", *alone, folder=tmp_path).data["steps"]
    assert again["memory"] == by_batch[search["largest"]]["memory"]
    assert all(one["cached"] for one in again["compilations"])


def test_operator_that_the_compiler_refuses(tmp_path: Path) -> None:
    """A product of whole numbers: the plan says which operator, and on which line."""
    answer = plan("refused.py", "--tpu", "v5e", "--output-format", "json", folder=tmp_path)
    assert answer.status == 1, answer.err
    failure = answer.data["steps"][0]["failure"]
    assert failure["kind"] == "operator" and failure["operator"].startswith("aten::mm")
    line = (SCRIPTS / "refused.py").read_text().splitlines()[failure["place"]["row"] - 1]
    assert line.strip() == "counts = words @ words"


def test_layers_are_computed_again(tmp_path: Path) -> None:
    """The forward pass of the layers runs twice, but for the last product of each, which no gradient asks for.

    Of memory nothing is expected: what two small layers keep lies outside of HBM.
    """
    answer = plan(
        "transformer.py", "--tpu", "v5e", "--variants", "checkpointing", "--output-format", "json", folder=tmp_path
    )
    assert answer.status == 0, answer.err
    (base,), (again,) = answer.data["steps"], answer.data["variants"]
    assert again["variant"]["checkpointing"] and again["failure"] is None
    twice = 2 * 2 * _TOKENS * (8 * _HIDDEN**2 + 2 * _SEQUENCE * _HIDDEN)  # of both layers
    assert again["flops"] - base["flops"] == pytest.approx(twice, rel=0.1)

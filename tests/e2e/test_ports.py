"""Whole scripts in the forms met in the wild: fixed by the linter, run on XLA, compared with the original.

The scripts are ours and synthetic. No parameter in them has a gradient that is zero but for rounding (a bias before a
normalisation, a bias of attention keys): an optimizer such as Adam would turn that noise into steps. What a port may
cost is written down per script, with the reason; each bound was reached by a port written by hand.
"""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest
from harness import HERE, REPOSITORY, Case, fix, has_xla, measure, measure_elsewhere

SCRIPTS = HERE / "scripts"

CASES = (
    Case(
        SCRIPTS / "accelerator_signals.py",
        transfers_per_step=0.3,
        because="prints the loss in 3 of the 12 steps of an epoch",
    ),
    Case(
        SCRIPTS / "module_level_amp.py",
        transfers_per_step=0.35,
        because="prints the loss every 4th step; 3 of the 10 judged steps do",
        backwards_per_step=2,
        relative_tolerance=1e-2,
    ),
    Case(
        SCRIPTS / "legacy_gan.py",
        transfers_per_step=0.65,
        because="prints two losses in 3 of the 10 steps of an epoch; 5 of the 16 judged steps do",
        backwards_per_step=2,
    ),
    Case(
        SCRIPTS / "trainer_class.py",
        transfers_per_step=0.0,
        because="prints no loss; saving is not charged to a training step",
    ),
    Case(
        SCRIPTS / "ddp_spawn.py",
        transfers_per_step=0.0,
        because="prints no loss; saving is not charged to a training step",
    ),
    Case(
        SCRIPTS / "progress_bar_checkpoint.py",
        transfers_per_step=1.0,
        because="the progress bar shows the loss of every step",
    ),
    Case(
        SCRIPTS / "tied_language_model.py",
        transfers_per_step=0.25,
        because="prints the mean loss of every 3 steps",
        may_drop_last=True,
    ),
    Case(
        SCRIPTS / "meter_images.py",
        transfers_per_step=1.1,
        because="every 5th step shows value and mean of two meters; these start every epoch from a Python 0, with "
        "which the first step of the second epoch is another program than the others",
        compiles=1,
    ),
    Case(
        SCRIPTS / "sliced_language_model.py",
        transfers_per_step=0.0,
        because="prints one number, at the end; all slices have one length",
    ),
    Case(
        SCRIPTS / "packed_tagger.py",
        transfers_per_step=0.2,
        because="prints the mean loss of 8 steps at the end of each epoch",
    ),
    Case(
        SCRIPTS / "rising_focus.py",
        transfers_per_step=0.0,
        because="prints one number, at the end; all batches have one size",
    ),
    Case(
        SCRIPTS / "averaged_denoiser.py",
        transfers_per_step=0.0,
        because="prints one number, at the end; the count of averages stays on the host",
        prints_alike=True,
    ),
    Case(
        SCRIPTS / "numpy_gan.py",
        transfers_per_step=1.1,
        because="prints two losses and an accuracy in every step, fetched together; the counter lags behind by a step",
        backwards_per_step=2,
        prints_alike=True,
    ),
    Case(
        SCRIPTS / "trainer_history.py",
        transfers_per_step=2.2,
        because="keeps the best loss of every step; every 4th prints 4 values more, and an epoch ends with 2 lists",
        compiles=3,
        prints_alike=True,
    ),
    Case(
        REPOSITORY / "examples" / "train_gpu.py",
        transfers_per_step=0.2,
        because="prints the loss in 2 of the 12 steps of an epoch",
        arguments=("--epochs", "2", "--samples", "384", "--batch-size", "32"),
        relative_tolerance=1e-2,
    ),
)

needs_xla = pytest.mark.skipif(not has_xla(), reason="torch_xla is not installed (extra xla)")


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    chosen = request.param
    assert isinstance(chosen, Case)
    return chosen


@pytest.fixture
def copy(case: Case, tmp_path: Path) -> Path:
    """The original, where the linter may write."""
    return Path(shutil.copy(case.script, tmp_path))


def test_every_script_is_measured() -> None:
    assert {case.script for case in CASES} >= set(SCRIPTS.glob("*.py"))


def test_second_fix_changes_nothing(case: Case, copy: Path) -> None:
    once = fix(copy)
    assert once != case.script.read_text(encoding="utf-8"), "nothing was ported"
    ast.parse(once)
    assert fix(copy) == once


@pytest.mark.xla
@pytest.mark.slow
@needs_xla
def test_port_trains_like_the_original(case: Case, copy: Path, tmp_path: Path) -> None:
    port = fix(copy)
    complaints = measure(case, port, tmp_path)
    assert not complaints, "\n".join([*complaints, "", port])


def test_portable_port_does_not_name_torch_xla(case: Case, copy: Path) -> None:
    once = fix(copy, "--portable")
    ast.parse(once)
    assert "torch_xla" not in once
    assert "tpulint_runtime" in once
    assert fix(copy, "--portable") == once


@pytest.mark.xla
@pytest.mark.slow
@needs_xla
def test_portable_port_trains_like_the_original(case: Case, copy: Path, tmp_path: Path) -> None:
    port = fix(copy, "--portable")
    complaints = [*measure_elsewhere(case, port, tmp_path), *measure(case, port, tmp_path)]
    assert not complaints, "\n".join([*complaints, "", port])

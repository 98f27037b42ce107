"""The guard's bookkeeping, on a backend that does what the test says. What XLA does is in ``test_on_xla``."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
import tpulint_runtime
from tpulint_runtime import (
    BudgetExceeded,
    BudgetWarning,
    Counts,
    Difference,
    HostSync,
    Line,
    Recompilation,
    RecompileGuard,
    Report,
    Wait,
    current,
)
from tpulint_runtime.recompile import Mode
from tpulint_runtime.step_numbers import show_numbers

pytestmark = pytest.mark.xla  # where torch is, torch_xla is

READ = {"aten::_local_scalar_dense": 1}


class Scripted:
    """A backend whose counters the test moves."""

    name = "scripted"
    counts_work = True

    def __init__(self) -> None:
        self.now = Counts(compiles=7, launches=40, boundaries=40, reads=3, fallbacks={"aten::nonzero": 2})

    def works(self, **counts: Any) -> None:
        self.now = self.now.plus(Counts(**counts))

    def one_step(self, **counts: Any) -> None:
        """A step with one boundary and one launch, and what else ``counts`` says."""
        self.works(launches=1, boundaries=1)
        self.works(**counts)

    def reset(self) -> None:
        self.now = Counts()

    def device(self) -> torch.device:
        return torch.device("cpu")

    def sync(self, wait: bool = False) -> None: ...

    def counts(self) -> Counts:
        return self.now

    def activity(self) -> Callable[[], object]:
        return lambda: self.now

    def compile_count(self) -> int:
        return self.now.compiles

    def graph_hash(self, tensors: Iterable[torch.Tensor]) -> str | None:
        return None


def batch(length: int, dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
    return {"x": torch.zeros(4, length, dtype=dtype), "y": torch.zeros(4)}


def test_quiet_run_is_reported_as_such() -> None:
    backend = Scripted()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with RecompileGuard(mode="raise", backend=backend) as guard:
            for step in range(6):
                guard.step(batch(8))
                backend.one_step(compiles=int(step < 3), compile_seconds=0.5 * (step < 3), reads=int(step < 3))
    report = guard.report()
    assert (report.steps, report.warmup_compiles, report.compiles, report.waits, report.layouts) == (6, 3, 0, 0, 1)
    assert report.compile_seconds == 1.5
    assert not report.recompilations and not report.host_syncs
    assert report.within_budget


def test_what_follows_the_call_belongs_to_the_step() -> None:
    backend = Scripted()
    backend.works(compiles=5, reads=5)
    with RecompileGuard(warmup=0, mode="record", backend=backend) as guard:
        backend.works(compiles=5, reads=5)  # before the first step: the loader's start, say
        for compiles in (0, 2, 0, 1):
            guard.step()
            backend.one_step(compiles=compiles)
        assert guard.report().steps == 3, "the last step has not ended"
    backend.works(compiles=5, reads=5)
    events = guard.report().recompilations
    assert [(event.step, event.compiles) for event in events] == [(2, 2), (4, 1)]
    assert all("pass the batch to step()" in event.cause for event in events)
    assert guard.report().waits == 0


def causes(*batches: Any) -> list[str]:
    """What the guard says of a run in which every step compiles."""
    backend = Scripted()
    with RecompileGuard(warmup=0, mode="record", backend=backend) as guard:
        for one in batches:
            guard.step(one)
            backend.one_step(compiles=1)
    return [event.cause for event in guard.report().recompilations]


def test_changed_input_is_named() -> None:
    said = causes(batch(8), batch(9), batch(9, torch.float64))
    assert said[1:] == [
        "batch['x'] was (4, 8) float32, now (4, 9) float32",
        "batch['x'] was (4, 9) float32, now (4, 9) float64",
    ]
    assert said[0] == "batch['x'] is new, (4, 8) float32; batch['y'] is new, (4,) float32"


def test_input_that_came_back_is_not_blamed() -> None:
    assert causes(batch(8), batch(9), batch(8))[2].startswith("no input has a new shape or dtype")


def test_new_combination_of_known_inputs_is_named() -> None:
    short, long = torch.zeros(2), torch.zeros(5)
    said = causes([short, short], [long, long], [long, short])
    assert said[2] == "batch[1] was (5,) float32, now (2,) float32"


def test_input_that_is_new_is_named_without_the_known_ones_that_differ() -> None:
    short, long, longest = torch.zeros(2), torch.zeros(5), torch.zeros(9)
    said = causes([short, short], [long, long], [longest, short])
    assert said[2] == "batch[0] was (5,) float32, now (9,) float32"


def test_input_that_comes_or_goes_is_named() -> None:
    x, y = torch.zeros(2), torch.zeros(3)
    said = causes({"x": x}, {"x": x, "y": y}, {"y": y})
    assert said[1:] == ["batch['y'] is new, (3,) float32", "batch['x'] is missing, was (2,) float32"]


def test_values_of_python_numbers_are_not_inputs() -> None:
    assert causes((torch.zeros(2), 1), (torch.zeros(2), 2))[1].startswith("no input has a new shape or dtype")


@pytest.mark.parametrize(
    ("work", "waits", "cause"),
    [
        ({"reads": 1, "launches": 1, "fallbacks": READ}, 1, "a number read"),
        ({"reads": 1, "fallbacks": READ}, 1, "a number read"),
        ({"reads": 3}, 3, "a copy to the host"),
        ({"reads": 1, "launches": 1, "fallbacks": {"aten::nonzero": 1}}, 1, "aten::nonzero ran on the host"),
        ({"launches": 2}, 2, "a copy to the host"),
        ({"boundaries": 4}, 0, ""),
    ],
)
def test_host_syncs_are_counted_and_named(work: dict[str, Any], waits: int, cause: str) -> None:
    backend = Scripted()
    with RecompileGuard(warmup=1, mode="record", backend=backend) as guard:
        for step in range(3):
            guard.step()
            backend.one_step(**(work if step == 1 else {}))
    assert guard.report().waits == waits
    assert [(event.step, event.waits) for event in guard.report().host_syncs] == ([(2, waits)] if waits else [])
    assert all(cause in event.cause for event in guard.report().host_syncs)


def test_boundaries_with_nothing_to_run_do_not_pay_for_other_steps() -> None:
    backend = Scripted()
    with RecompileGuard(warmup=0, mode="record", backend=backend) as guard:
        for work in ({"boundaries": 5}, {"launches": 2}):
            guard.step()
            backend.one_step(**work)
    assert guard.report().extra_launches == 2


def test_budget_allows_that_many() -> None:
    def run(mode: Mode) -> RecompileGuard:
        backend = Scripted()
        with RecompileGuard(budget=2, sync_budget=1, warmup=0, mode=mode, backend=backend) as guard:
            for step in range(5):
                guard.step(batch(step))
                backend.one_step(compiles=int(step < allowed), reads=int(step == 4))
        return guard

    allowed = 2
    assert run("raise").report().within_budget
    allowed = 3
    with pytest.raises(BudgetExceeded, match=r"step 3: 1 compilation .*\(4, 2\) float32.*3 after warm-up, budget 2"):
        run("raise")
    assert not run("record").report().within_budget


def test_no_budget_is_no_limit() -> None:
    backend = Scripted()
    with RecompileGuard(budget=None, sync_budget=None, warmup=0, mode="raise", backend=backend) as guard:
        for _ in range(3):
            guard.step()
            backend.one_step(compiles=1, reads=1)
    assert guard.report().within_budget and guard.report().compiles == guard.report().waits == 3


def test_exception_carries_the_report() -> None:
    backend = Scripted()
    with pytest.raises(BudgetExceeded) as caught, RecompileGuard(warmup=0, mode="raise", backend=backend) as guard:
        guard.step()
        backend.one_step(compiles=1)
    assert caught.value.report.recompilations[0].step == 1


def test_exception_of_the_script_is_not_replaced() -> None:
    backend = Scripted()
    with pytest.raises(KeyError), RecompileGuard(warmup=0, mode="raise", backend=backend) as guard:
        guard.step()
        backend.one_step(compiles=1)
        raise KeyError
    assert guard.report().compiles == 1


def test_each_cause_is_warned_of_once_at_the_call() -> None:
    backend = Scripted()
    with pytest.warns(BudgetWarning) as caught, RecompileGuard(warmup=0, backend=backend) as guard:
        for step in range(6):
            guard.step(batch(step))
            backend.one_step(compiles=1, reads=1, fallbacks=READ if step % 2 else {"aten::nonzero": 1})
    messages = [str(warning.message) for warning in caught]
    assert [message.split(":")[0] for message in messages] == ["step 1", "step 1", "step 2", "step 2"]
    assert {warning.filename for warning in caught} == {__file__}
    assert guard.report().compiles == 6


def test_what_is_expected_is_left_out() -> None:
    backend = Scripted()
    with RecompileGuard(warmup=0, mode="raise", backend=backend) as guard:
        for _ in range(3):
            guard.step()
            with guard.expected():
                backend.works(compiles=1, launches=1, reads=4, fallbacks=READ)
            backend.one_step()
    assert guard.report().waits == guard.report().compiles == 0
    with guard:
        guard.step()
        with guard.expected():
            backend.works(reads=1)
        with pytest.raises(BudgetExceeded, match="step 4: 1 read"):
            backend.one_step(reads=1)
            guard.step()


def test_guard_entered_again_goes_on() -> None:
    backend = Scripted()
    guard = RecompileGuard(warmup=2, mode="record", backend=backend)
    for _ in range(2):
        with guard:
            for _ in range(2):
                guard.step(batch(8))
                backend.one_step(compiles=1)
        backend.works(compiles=9, reads=9)  # an evaluation between two epochs
    report = guard.report()
    assert (report.steps, report.warmup_compiles, report.compiles, report.waits) == (4, 2, 2, 0)


def test_counters_that_start_again_do_no_harm() -> None:
    backend = Scripted()
    with RecompileGuard(warmup=0, mode="record", backend=backend) as guard:
        guard.step()
        backend.reset()  # as torch.compile with the backend openxla does
        backend.one_step(compiles=1)
    assert guard.report().compiles == 1 and guard.report().waits == 0


def test_only_the_first_hundred_events_are_kept() -> None:
    backend = Scripted()
    with RecompileGuard(warmup=0, mode="record", backend=backend) as guard:
        for _ in range(130):
            guard.step()
            backend.one_step(compiles=1, reads=1)
    report = guard.report()
    assert report.compiles == report.waits == 130
    assert len(report.recompilations) == len(report.host_syncs) == 100
    assert str(report).splitlines().count("  and 95 more such steps: 6-100, and later ones") == 2


def test_steps_that_are_not_told_one_by_one_are_named_by_their_lines() -> None:
    here, there = Line("/project/train.py", 40, "step"), Line("/project/train.py", 52, "step")

    def compiled(step: int, line: Line | None) -> Recompilation:
        return Recompilation(step, 1, 0.25, (), line and Difference("setting", "k became 4", line))

    def waited(step: int, *lines: Line) -> HostSync:
        return HostSync(step, len(lines), 0, (), tuple(Wait("Tensor.item", line) for line in lines))

    report = Report(
        "xla", True, 999, 3, 1, None, 2, 10, 1.5, 36, 0, 36, 0, 0,
        (*(compiled(step, here) for step in range(4, 12)), compiled(20, None), compiled(21, there)),
        (*(waited(n, here) for n in range(10, 260, 10)), waited(301, here, there), waited(303, there, here, here)),
    )  # fmt: skip
    text = str(report)
    assert "  and 5 more such steps: 9-11 (/project/train.py:40); 20; 21 (/project/train.py:52)\n" in text
    both = "(/project/train.py:40) (/project/train.py:52)"
    behind = "303 (/project/train.py:52) (/project/train.py:40), and later ones"
    assert text.endswith(f"and 22 more such steps: 60-250 every 10 (/project/train.py:40); 301 {both}; {behind}")


def test_numbers_of_steps_in_few_words() -> None:
    assert show_numbers([7]) == "7" and show_numbers([7, 8]) == "7, 8"
    assert show_numbers([3, 7, 8, 9, 11, 20, 30, 40]) == "3, 7-9, 11, 20-40 every 10"
    assert show_numbers([n * n for n in range(1, 14)]) == "1, 4, 9, 16, 25, 36, 49, 64, 81, 100 and 3 others"


def test_report_can_be_read_and_stored() -> None:
    backend = Scripted()
    with RecompileGuard(warmup=1, mode="record", backend=backend) as guard:
        for length in (8, 9):
            guard.step(batch(length))
            backend.one_step(compiles=1, compile_seconds=0.25, reads=1, launches=1, fallbacks=READ)
    report = guard.report()
    assert str(report).splitlines() == [
        "2 steps on scripted (1 of warm-up)",
        "compilations: 1 after warm-up (budget 0), 1 in it, 0.5 s in all",
        "host syncs: 1 after warm-up (budget 0), 1 read",
        "  step 2: 1 compilation (0.25 s): batch['x'] was (4, 8) float32, now (4, 9) float32",
        "  step 2: 1 read, 1 extra launch: a number read (.item(), float(), print, if)",
    ]
    stored = json.loads(json.dumps(report.to_dict()))
    assert stored["within_budget"] is False
    assert stored["recompilations"][0]["changes"] == [
        {
            "where": "batch['x']",
            "before": {"shape": [4, 8], "dtype": "float32"},
            "after": {"shape": [4, 9], "dtype": "float32"},
        }
    ]
    assert stored["host_syncs"][0]["fallbacks"] == ["aten::_local_scalar_dense"]


def test_without_xla_nothing_is_counted_and_the_report_says_so() -> None:
    with RecompileGuard(mode="raise", backend=current("cpu")) as guard:
        for length in (1, 2, 1, 2, 3):
            guard.step(batch(length))
    report = guard.report()
    assert not report.counted and report.steps == 5 and report.layouts == 3
    assert str(report) == "5 steps on cpu, where nothing is counted; 3 input layouts seen"


def test_step_outside_of_the_block_is_refused() -> None:
    guard = RecompileGuard(backend=Scripted())
    with pytest.raises(RuntimeError, match="inside of the guard's"):
        guard.step()
    with guard, pytest.raises(RuntimeError, match="entered already"):
        guard.__enter__()


@pytest.mark.parametrize(
    "settings", [{"budget": -1}, {"sync_budget": -1}, {"warmup": -1}, {"mode": "loud"}], ids=lambda it: next(iter(it))
)
def test_wrong_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        RecompileGuard(**settings)


# ------------------------------------------------------------------------ as a callback, in tests, on terminals


def test_loop_that_calls_hooks() -> None:
    backend = Scripted()
    guard = RecompileGuard(warmup=2, mode="record", backend=backend)
    guard.on_train_begin(object())
    for _ in range(2):
        for _ in range(3):
            guard.on_step_begin(batch(8))
            backend.one_step(compiles=1)
        with guard.expected():
            backend.works(compiles=5, reads=5)
        guard.on_epoch_end()
        backend.works(compiles=9, reads=9)  # between two epochs
    guard.on_train_end()
    backend.works(compiles=9, reads=9)
    report = guard.report()
    assert (report.steps, report.warmup_compiles, report.compiles, report.waits) == (6, 2, 4, 0)


def test_end_of_training_fails_for_its_last_step_but_hides_no_exception() -> None:
    backend = Scripted()
    guard = RecompileGuard(warmup=0, backend=backend, mode="raise")
    for error in (BudgetExceeded, KeyError):
        with pytest.raises(error):
            try:
                guard.on_train_begin()
                guard.on_step_begin()
                backend.one_step(compiles=1)
                if error is KeyError:
                    raise KeyError
            finally:
                guard.on_train_end()


def test_report_as_json() -> None:
    backend = Scripted()
    with RecompileGuard(warmup=0, mode="record", backend=backend) as guard:
        guard.step(batch(8))
        backend.one_step(compiles=1)
    assert json.loads(guard.report().to_json()) == guard.report().to_dict()
    assert guard.report().to_json(indent=2).startswith("{\n  ")


def test_report_as_tables() -> None:
    console = pytest.importorskip("rich.console")
    line = Line("/project/train.py", 40, "step")
    report = Report(
        "xla", True, 9, 3, 1, None, 2, 1, 1.5, 1, 0, 1, 0, 0,
        (Recompilation(5, 1, 0.25, (), Difference("setting", "k [3] became 4 in Tensor.topk", line)),),
        (HostSync(6, 1, 0, (), (Wait("Tensor.item", line),)), HostSync(7, 2, 0, ())),
    )  # fmt: skip
    output = console.Console(width=120, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    output.print(report)
    text = output.export_text()
    rows = [" ".join(row.split()) for row in text.splitlines()]
    assert "9 steps on xla (3 of warm-up)" in rows
    assert "5 1 0.25 k [3] became 4 in Tensor.topk /project/train.py:40" in rows
    assert "6 1 Tensor.item /project/train.py:40" in rows
    assert "7 2 a copy to the host (.cpu(), .tolist(), saving)" in rows
    assert "compilations 1 0 2" in rows
    many = tuple(HostSync(step, 1, 0, (), (Wait("Tensor.item", line),)) for step in range(1, 25))
    output.print(dataclasses.replace(report, host_syncs=many, waits=24))
    assert "and 4 more such steps: 21-24 (/project/train.py:40)" in output.export_text()


TESTS = """
import pytest
from scripted import backend

@pytest.mark.recompile_guard(backend=backend, warmup=0)
def test_beyond(recompile_guard):
    recompile_guard.step()
    backend.works(compiles=1)

@pytest.mark.recompile_guard(backend=backend, warmup=0, budget=1)
def test_within(recompile_guard):
    recompile_guard.step()
    backend.works(compiles=1)

@pytest.mark.recompile_guard(backend=backend, warmup=0)
def test_fails_itself(recompile_guard):
    recompile_guard.step()
    backend.works(compiles=1)
    assert False, "its own"

def test_without():
    pass

@pytest.mark.recompile_guard(1, 2)
def test_settings_without_names(recompile_guard):
    pass

@pytest.mark.recompile_guard(budget=1)
def test_without_fixture():
    pass

@pytest.mark.recompile_guard(backend=backend)
def test_without_a_step(recompile_guard):
    pass

@pytest.mark.recompile_guard(backend=backend, warmup=0)
class TestMarkedClass:
    def test_that_trains_nothing(self):
        pass

    @pytest.fixture
    def loop(self, recompile_guard):
        return recompile_guard.on_step_begin

    def test_by_another_fixture(self, loop):
        loop()
        backend.works(compiles=1)
"""


def test_fixture_fails_the_test_and_not_its_end(tmp_path: Path) -> None:
    source = Path(__file__).read_text()
    scripted = source[source.index("class Scripted") : source.index("def batch")]
    head = "from __future__ import annotations\nfrom typing import *\nimport torch\n"
    (tmp_path / "scripted.py").write_text(
        f"{head}from tpulint_runtime import Counts\n{scripted}\nbackend = Scripted()\n"
    )
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tpulint_runtime.pytest_plugin"]\n')
    (tmp_path / "test_training.py").write_text(TESTS)
    runtime = Path(tpulint_runtime.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--strict-markers", "-rA", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(runtime), str(tmp_path)])},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "4 failed, 3 passed, 2 errors" in done.stdout, done.stdout + done.stderr
    assert "test_without_fixture is marked recompile_guard and guards nothing: take the fixture" in done.stdout
    assert "recompile_guard was told of no step and guarded nothing" in done.stdout
    assert "PASSED test_training.py::TestMarkedClass::test_that_trains_nothing" in done.stdout
    assert "FAILED test_training.py::TestMarkedClass::test_by_another_fixture - tpulint" in done.stdout
    assert "FAILED test_training.py::test_beyond - tpulint_runtime" in done.stdout
    assert "BudgetExceeded: step 1: 1 compilation" in done.stdout
    assert "recompile_guard(1, 2): name the settings, as in recompile_guard(budget=1)" in done.stdout
    assert "FAILED test_training.py::test_fails_itself - AssertionError: its own" in done.stdout
    assert "compilations: 1 after warm-up (budget 0)" in done.stdout, "the report of the guard is shown"

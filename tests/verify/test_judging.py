"""What counts as a failure, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tpulint.verification.costs import costs
from tpulint.verification.failures import Failure, failures
from tpulint.verification.losses import Tolerance, compare
from tpulint.verification.process import Run
from tpulint.verification.records import (
    Ending,
    Line,
    Optimizer,
    ProcessRecords,
    Reader,
    Recording,
    Work,
)
from tpulint.verification.stacks import line_of_stack

SYNC = Line("/p/train.py", 20, "<module>")
READ = Line("/p/train.py", 18, "<module>")
FINISHED = Ending("finished", 0, "", None, True)
SGD = Optimizer("SGD", 8, 2, 10, ("xla",), 2, 2, 2, 1.5)


def boundary(step: int, compiles: int = 0) -> Work:
    """The step boundary after a step."""
    return Work(1, SYNC, True, step, step, 1, 1, compiles, 0, 0, (), ())


def recorded(*works: Work, steps: int = 8, **fields: object) -> ProcessRecords:
    """A training on XLA."""
    process = ProcessRecords(
        1, works, steps=steps, backwards=tuple(("xla", step) for step in range(steps)), ending=FINISHED,
        optimizers=(SGD,),
    )  # fmt: skip
    return process._replace(**fields)


def run_of(process: ProcessRecords, status: int = 0, timed_out: bool = False, stack: str = "") -> Run:
    return Run(Recording("", (process,), 1), status, timed_out, 12.0, "", stack)


def kinds(process: ProcessRecords, **fields: object) -> list[str]:
    return [one.kind for one in failures(run_of(process, **fields), [], "/p")]


def with_compiles(*flags: int) -> ProcessRecords:
    """A training whose boundary compiles in some of its steps."""
    return recorded(*(boundary(step, flag) for step, flag in enumerate(flags, 1)), steps=len(flags))


@pytest.mark.parametrize(
    ("flags", "settles"),
    [
        ((1, 0, 0, 0, 0, 0, 0, 0), True),
        ((1, 1, 0, 0, 0, 0, 0, 0), True),
        ((1, 1, 0, 0, 0, 0, 0, 1), True),  # an incomplete last batch
        ((1, 1, 1, 1, 0, 0, 0, 0), True),  # some lengths, all met early
        ((1, 1, 1, 1, 1, 1, 1, 1), False),
        ((1, 0, 1, 0, 1, 0, 1, 0, 1, 0), False),
        ((1, 1, 1), True),  # too few to say
    ],
)
def test_settling(flags: tuple[int, ...], settles: bool) -> None:
    assert kinds(with_compiles(*flags)) == ([] if settles else ["not-settled"])


def test_text_about_a_graph_that_does_not_settle() -> None:
    (failure,) = failures(run_of(with_compiles(*[1] * 8)), [], "/p")
    assert failure == Failure(
        "not-settled",
        "the graph does not settle: its step boundary still compiles in 3 of the last 3 steps that it ran in",
        SYNC,
    )


def test_no_step_boundary() -> None:
    read = Work(1, READ, False, 1, 1, 1, 0, 1, 1, 1, (), ())
    assert kinds(recorded(read)) == ["no-step-boundary"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"devices": ("cpu",), "with_gradient": 0, "changed": 0}, "holds only parameters on cpu"),
        ({"devices": ("cpu",), "with_gradient": 1}, "holds only parameters on cpu"),
        ({"devices": ("cpu", "xla")}, "holds some parameters on cpu"),
        ({"with_gradient": 0}, "never saw a gradient"),
        ({"changed": 0}, "do not change"),
    ],
)
def test_optimizer_that_trains_nothing(changes: dict[str, object], words: str) -> None:
    process = recorded(boundary(1), optimizers=(SGD._replace(**changes),))
    (failure,) = failures(run_of(process), [], "/p")
    assert failure.kind == "optimizer" and words in failure.text


@pytest.mark.parametrize(
    "changes", [{}, {"changed": None}, {"changed": 1}, {"with_gradient": 1}, {"devices": ("cpu",)}]
)
def test_optimizer_that_trains_something(changes: dict[str, object]) -> None:
    assert kinds(recorded(boundary(1), optimizers=(SGD._replace(**changes),))) == []


def test_training_on_the_host() -> None:
    on_host = recorded(backwards=(("cpu", 0), ("cpu", 1)))
    assert kinds(on_host) == ["not-trained-on-xla"]
    assert kinds(recorded(boundary(1), backwards=(("cpu", 0), ("xla", 1)))) == []
    assert kinds(recorded(backwards=())) == ["not-trained-on-xla"]


def test_a_script_that_fails_early_is_told_once() -> None:
    failing = ProcessRecords(1, ending=Ending("exception", 1, "KeyError: 'x'", READ, False))
    (failure,) = failures(run_of(failing, status=1), [], "/p")
    assert failure == Failure("script", "the script failed: KeyError: 'x'", READ)
    assert kinds(ProcessRecords(1), status=-11) == ["script"]


@pytest.mark.parametrize(
    "error",
    [
        "RuntimeError: Check failed: !buffer->IsDeleted(): buffer with shape f32[4] on device CPU:0 is deleted",
        "RuntimeError: ToLiteral() called on deleted or donated buffer: INVALID_ARGUMENT: Buffer has been deleted",
        "RuntimeError: Check failed: handle->HasValue(): Trying to access XLA data for tensor with ID 2 while an async",
    ],
)
def test_a_deleted_buffer_is_explained(error: str) -> None:
    failing = ProcessRecords(1, ending=Ending("exception", 1, error, READ, False))
    (failure,) = failures(run_of(failing, status=1), [], "/p")
    assert failure.text.startswith(f"the script failed: {error}. ")
    assert "`tpulint rule TPU322`" in failure.text


def test_parent_of_a_process_that_was_stopped_may_fail() -> None:
    stopped = recorded(boundary(1), ending=Ending("max-steps", 0, "", None, True))._replace(pid=2)
    parent = ProcessRecords(1, ending=Ending("exception", 1, "BrokenProcessPool", READ, True))
    run = Run(Recording("", (parent, stopped), 1), 1, False, 1.0, "", "")
    assert failures(run, [], "/p") == []


def test_time_limit_names_the_line() -> None:
    stack = (
        'Timeout (0:00:58)!\nThread 0x1 (most recent call first):\n  File "/usr/lib/threading.py", line 1 in wait\n'
        '\nThread 0x2 (most recent call first):\n  File "/usr/lib/python3/socket.py", line 7 in read\n'
        '  File "train.py", line 31 in load\n  File "train.py", line 40 in <module>\n'
    )
    assert line_of_stack(stack, "/p") == Line("/p/train.py", 31, "load")
    assert line_of_stack("", "/p") is None


# ------------------------------------------------------------------------ losses


def test_losses() -> None:
    original, port = recorded(losses=(1.0, 0.5, 0.25)), recorded(losses=(1.0, 0.5004, 0.3))
    exact = compare(original, port, Tolerance(2e-3))
    assert exact is not None and not exact.is_equal
    assert (exact.first_difference, exact.differing) == (2, 1)
    loose = compare(original, port, Tolerance(0.5))
    assert loose is not None and loose.is_equal


def test_what_differs_without_incomplete_batches_is_told_of_equal_numbers() -> None:
    port, tolerance = recorded(losses=(1.0, 0.6)), Tolerance(2e-3)
    whole = compare(recorded(losses=(1.0, 0.5, 0.4)), port, tolerance)
    dropped = compare(recorded(losses=(1.0, 0.5)), port, tolerance, drops_last=True)
    equal = compare(recorded(losses=(1.0, 0.6)), port, tolerance, drops_last=True)
    assert whole is not None and dropped is not None and equal is not None
    assert equal.is_nearer(dropped) and dropped.is_nearer(whole)
    assert not whole.is_nearer(dropped) and not dropped.is_nearer(dropped)


def test_losses_of_another_number() -> None:
    found = compare(recorded(losses=(1.0, 0.5)), recorded(losses=(1.0,)), Tolerance(2e-3))
    assert found is not None
    assert found.problems() == ["1 backward passes, the original has 2"]


def test_parameters_that_end_elsewhere() -> None:
    port = recorded(losses=(1.0,), optimizers=(SGD._replace(checksum=1.6),))
    found = compare(recorded(losses=(1.0,)), port, Tolerance(2e-3))
    assert found is not None
    assert "checksum: 1.6, originally 1.5" in found.problems()[0]


def test_parameters_without_the_gradient_of_the_original() -> None:
    original = recorded(losses=(1.0,), optimizers=(SGD._replace(parameters=4, with_gradient=3),))
    for own, problems in ((2, ["2 parameters of optimizer 1 had a gradient, in the original 3"]), (3, []), (4, [])):
        port = recorded(losses=(1.0,), optimizers=(SGD._replace(parameters=4, with_gradient=own),))
        found = compare(original, port, Tolerance(2e-3))
        assert found is not None and found.problems() == problems


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (float("nan"), float("nan"), True), (1.0, float("nan"), False), (None, None, True), (None, 1.0, False),
        (float("inf"), float("inf"), True), (0.0, 5e-5, True), (100.0, 100.19, True), (100.0, 100.21, False),
    ],
)  # fmt: skip
def test_tolerance(a: float | None, b: float | None, equal: bool) -> None:
    assert Tolerance(2e-3).allows(a, b) is equal


# ------------------------------------------------------------------------ records


def test_records_of_a_process_that_died_while_it_wrote(tmp_path: Path) -> None:
    lines = [
        '{"event":"start","pid":7,"parent":1}',
        '{"event":"backward","device":"xla","step":0}',
        '{"event":"step","number":1,"seconds":0.5}',
        '{"event":"work","line":["/p/train.py",18,"f"],"boundary":false,"step":1,"backward":1,"fallbacks":{},'
        '"graphs":[],"launches":1,"boundaries":0,"compiles":1,"reads":1,"scalars":1}',
        '{"event":"work","line":["/p/tr',
    ]
    file = tmp_path / "events-7.jsonl"
    file.write_text("\n".join(lines[:2]) + "\n" + lines[2][:10])
    reader = Reader(str(tmp_path))
    assert reader.tally().steps == 0
    file.write_text("\n".join(lines))
    assert reader.tally() == (1, 1, 1, False)
    recording = reader.read()._replace(main_pid=7)
    assert recording.training.steps == 1
    assert recording.main.ending is None
    (cost,) = costs(recording, [])
    assert (cost.kind, cost.line.row, cost.times, cost.steps) == ("sync", 18, 1, (1,))


def test_step_of_work_between_two_steps() -> None:
    before_first = Work(1, READ, False, 0, 0, 1, 0, 0, 1, 1, (), (), False)
    in_second = Work(1, READ, False, 1, 2, 1, 0, 0, 1, 1, (), (), True)
    after_second = Work(1, READ, False, 2, 2, 1, 0, 0, 1, 1, (), (), False)
    assert [work.in_step for work in (before_first, in_second, after_second)] == [0, 2, 2]


def test_fallback_is_told_once() -> None:
    work = Work(1, READ, False, 1, 1, 1, 0, 0, 2, 0, (("aten::nonzero", 1),), ())
    (cost,) = costs(Recording("", (recorded(work),), 1), [])
    assert (cost.kind, cost.text) == ("fallback", "aten::nonzero ran on the host")

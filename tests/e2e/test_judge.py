"""The judge of the ports is judged: it must accept a good port and notice every kind of bad one."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import HERE, Case, Optimizer, Recording, cost, has_xla, judge, measure

CASE = Case(
    HERE / "scripts" / "trainer_class.py",
    transfers_per_step=0.0,
    because="prints no loss",
    arguments=("--total_epochs", "2"),
)

BOUNDARY = ("        self.optimizer.step()\n", "        self.optimizer.step()\n        torch_xla.sync()\n")
KEPT_PARAMETERS = (
    "    torch.manual_seed(5)\n",
    "    torch.manual_seed(5)\n    torch.__future__.set_swap_module_params_on_conversion(True)\n",
)
GOOD_PORT = (
    ("import torch\n", "import torch\nimport torch_xla\n"),
    ("device = 0  # shorthand for cuda:0\n", "device = torch_xla.device()\n"),
    KEPT_PARAMETERS,
    BOUNDARY,
)
"""What a person changes in the script, as replacements. The optimizer is built before the model moves, hence the
flag that makes a move keep the parameters."""


def rewrite(*replacements: tuple[str, str]) -> str:
    """The script with each replacement made, each of which must apply exactly once."""
    text = CASE.script.read_text(encoding="utf-8")
    for old, new in replacements:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@pytest.mark.xla
@pytest.mark.slow
@pytest.mark.skipif(not has_xla(), reason="torch_xla is not installed (extra xla)")
class TestRealRuns:
    """Ports written by hand: one good, the others spoilt in one place each."""

    def test_good_port_passes(self, tmp_path: Path) -> None:
        assert measure(CASE, rewrite(*GOOD_PORT), tmp_path) == []

    def test_optimizer_that_trains_nothing_is_noticed(self, tmp_path: Path) -> None:
        port = rewrite(*(change for change in GOOD_PORT if change != KEPT_PARAMETERS))
        complaints = "\n".join(measure(CASE, port, tmp_path))
        assert "an optimizer holds parameters on ['cpu']" in complaints
        assert "losses differ, first that of backward 1" in complaints
        assert "parameters end at checksum" in complaints

    def test_missing_step_boundary_is_noticed(self, tmp_path: Path) -> None:
        port = rewrite(*(change for change in GOOD_PORT if change != BOUNDARY))
        assert "a step boundary is missing" in "\n".join(measure(CASE, port, tmp_path))

    def test_read_in_every_step_is_noticed(self, tmp_path: Path) -> None:
        read = ("        loss.backward()\n", "        loss.backward()\n        self.last = loss.item()\n")
        complaints = measure(CASE, rewrite(*GOOD_PORT, read), tmp_path)
        assert len(complaints) == 1
        assert complaints[0].startswith("1.00 device-to-host transfers per step")

    def test_port_that_stays_on_the_cpu_is_noticed(self, tmp_path: Path) -> None:
        stay = ("device = 0  # shorthand for cuda:0\n", 'device = "cpu"\n')
        complaints = "\n".join(measure(CASE, rewrite(stay), tmp_path))
        assert "losses on ['cpu'], not on XLA alone" in complaints


STEPS = 10


def recording(**changes: object) -> Recording:
    """A run of ``STEPS`` steps with one program compiled in the first and none later; ``changes`` spoil it."""
    counts = tuple(
        {"UncachedCompile": min(step, 1), "ExecuteTime": step, "MarkStep": step, "TransferFromDeviceTime": 0}
        for step in range(STEPS)
    )
    good = Recording(
        exit_code=0,
        output="",
        losses=tuple(1.0 / (step + 1) for step in range(STEPS)),
        devices=("xla",) * STEPS,
        counts=counts,
        aside=(False,) * STEPS,
        optimizers=(Optimizer(("xla",), 353, 40.0),),
    )
    return good._replace(**changes)  # type: ignore[arg-type]


def counting(name: str, values: list[int]) -> tuple[dict[str, int], ...]:
    """The counters of a good run, with those called ``name`` replaced."""
    return tuple({**counts, name: value} for counts, value in zip(recording().counts, values, strict=True))


def test_equal_runs_pass() -> None:
    assert judge(CASE, recording(), recording()) == []


@pytest.mark.parametrize(
    ("port", "complaint"),
    [
        (recording(exit_code=1, output="Traceback"), "does not run (exit code 1):\nTraceback"),
        (recording(losses=()), "does not run"),
        (recording(devices=("xla",) * 9 + ("cpu",)), "losses on ['cpu', 'xla']"),
        (recording(losses=recording().losses[:-1]), "9 backwards, the original has 10"),
        (recording(losses=(*recording().losses[:-1], 0.11)), "1 losses differ, first that of backward 9"),
        (recording(losses=(*recording().losses[:-1], float("nan"))), "1 losses differ"),
        (recording(optimizers=(Optimizer(("cpu", "xla"), 353, 40.0),)), "holds parameters on ['cpu', 'xla']"),
        (recording(optimizers=(Optimizer(("xla",), 353, 41.0),)), "end at checksum 41.0, originally 40.0"),
        (recording(optimizers=(Optimizer(("xla",), 401, 40.0),)), "holds 401 numbers, originally 353"),
        (recording(optimizers=()), "0 optimizers step, the original has 1"),
        (recording(counts=counting("UncachedCompile", list(range(STEPS)))), "6 compiles in plain steps"),
        (recording(counts=counting("TransferFromDeviceTime", list(range(STEPS)))), "1.00 device-to-host transfers"),
        (recording(counts=counting("ExecuteTime", [0] * STEPS)), "a step boundary is missing"),
        (recording(aside=(True,) * STEPS), "only 0 plain training steps"),
    ],
)
def test_every_fault_is_named(port: Recording, complaint: str) -> None:
    complaints = judge(CASE, recording(), port)
    assert any(complaint in line for line in complaints), complaints


def test_steps_next_to_an_evaluation_are_not_charged() -> None:
    reads = counting("TransferFromDeviceTime", [0] * 6 + [20] * 4)
    evaluated_before_step_6 = tuple(step == 6 for step in range(STEPS))
    assert judge(CASE, recording(), recording(counts=reads, aside=evaluated_before_step_6)) == []
    assert cost(recording(counts=reads), 1).transfers_per_step == pytest.approx(20 / 6)


def test_backwards_of_one_step_are_added_up() -> None:
    reads = counting("TransferFromDeviceTime", [3 * backward for backward in range(STEPS)])
    paid = cost(recording(counts=reads), 2)
    assert (paid.steps, paid.transfers_per_step) == (1, 6.0)


@pytest.mark.parametrize(
    ("printed", "complaint"),
    [
        ("step 1 loss 0.5001\nend\n", ""),
        ("UserWarning: slow\nnote\nstep 1 loss 0.5\nend\n", ""),
        ("step 1 loss 0.25\nend\n", "printed 'step 1 loss 0.25', originally 'step 1 loss 0.5'"),
        ("step 1 loss tensor(0.5)\nend\n", "printed 'step 1 loss tensor(0.5)'"),
        ("end\n", "1 lines printed, the original prints 2"),
    ],
)
def test_what_is_printed_is_compared_where_asked(printed: str, complaint: str) -> None:
    reference, port = recording(output="step 1 loss 0.5\nend\n"), recording(output=printed)
    complaints = judge(CASE._replace(prints_alike=True), reference, port)
    assert [line for line in complaints if complaint and complaint in line] or (not complaint and not complaints)
    assert judge(CASE, reference, port) == []

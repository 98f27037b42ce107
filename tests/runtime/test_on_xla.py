"""The backend and the guard on real XLA. Every test has a width of its own, for programs are cached by the process.

torch_xla is imported by the tests, not by the module: collecting it costs nothing. No test of this folder runs
``backward`` on the CPU: torch sets up its autograd threads at the first one, for the devices there are, and a backward
on XLA fails if XLA's runtime starts only after that.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import tpulint_runtime
from torch.utils.data import DataLoader, default_collate
from tpulint_runtime import Buckets, BudgetExceeded, PadLastBatch, RecompileGuard, Report, current
from tpulint_runtime.backend import XlaBackend

pytestmark = pytest.mark.xla

XLA = XlaBackend()

ROWS = 8


def device_loader(batches: Iterable[Any]) -> Iterator[Any]:
    """The batches on the device, with a step boundary before each and after the last."""
    from torch_xla.distributed.parallel_loader import MpDeviceLoader

    return iter(MpDeviceLoader(batches, XLA.device()))


class Training:
    """A regression whose input is ``width`` wide, trained a batch at a time."""

    def __init__(self, width: int) -> None:
        torch.manual_seed(width)
        self.width = width
        self.device = XLA.device()
        self.model = torch.nn.Sequential(torch.nn.Linear(width, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
        self.model.to(self.device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        XLA.sync()

    def batch(self, rows: int = ROWS, dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
        return {"x": torch.rand(rows, self.width, dtype=dtype), "y": torch.rand(rows, 1)}

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        batch = {name: tensor.to(self.device) for name, tensor in batch.items()}
        return F.mse_loss(self.model(batch["x"].float()), batch["y"])

    def update(self, loss: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def run(training: Training, batches: list[dict[str, torch.Tensor]], read: str = "", **settings: Any) -> Report:
    """Trains under a guard; ``read`` says when the 6th step reads the loss: ``before`` or ``after`` the boundary."""
    with RecompileGuard(mode="record", **settings) as guard:
        for number, batch in enumerate(batches, start=1):
            guard.step(batch)
            loss = training.forward(batch)
            training.update(loss)
            if read == "before" and number == 6:
                loss.item()
            XLA.sync()
            if read == "after" and number == 6:
                loss.item()
    return guard.report()


def test_clean_run_is_quiet() -> None:
    training = Training(11)
    with RecompileGuard(mode="raise") as guard:
        for _ in range(300):
            batch = training.batch()
            guard.step(batch)
            training.update(training.forward(batch))
            XLA.sync()
    report = guard.report()
    assert report.backend == "xla" and report.counted
    assert (report.steps, report.compiles, report.waits, report.reads, report.extra_launches) == (300, 0, 0, 0, 0)
    assert report.warmup_compiles == 2, "the first graph, and the one with the optimizer's state as input"
    assert report.compile_seconds > 0


def test_changed_shape_is_seen_and_named() -> None:
    training = Training(12)
    batches = [training.batch(ROWS - 3 if step == 7 else ROWS) for step in range(1, 11)]
    report = run(training, batches)
    (event,) = report.recompilations
    assert (event.step, event.compiles) == (7, 1)
    assert event.cause == "; ".join(
        [
            "batch['x'] was (8, 12) float32, now (5, 12) float32",
            "batch['y'] was (8, 1) float32, now (5, 1) float32",
        ]
    )
    assert report.waits == 0


def test_changed_dtype_is_seen_and_named() -> None:
    training = Training(13)
    batches = [training.batch(dtype=torch.float64 if step == 8 else torch.float32) for step in range(1, 11)]
    report = run(training, batches)
    (event,) = report.recompilations
    assert (event.step, event.compiles) == (8, 1)
    assert event.cause == "batch['x'] was (8, 13) float32, now (8, 13) float64"


def test_python_number_in_the_graph_is_not_blamed_on_the_inputs() -> None:
    training = Training(14)
    with RecompileGuard(mode="record") as guard:
        for number in range(1, 9):
            batch = training.batch()
            guard.step(batch)
            loss = training.forward(batch)
            training.update(loss ** (3 if number == 6 else 2))
            XLA.sync()
    (event,) = guard.report().recompilations
    assert event.step == 6 and event.cause.startswith("no input has a new shape or dtype")


def test_read_before_the_boundary_runs_the_step_twice() -> None:
    training = Training(15)
    report = run(training, [training.batch() for _ in range(10)], read="before")
    (event,) = report.host_syncs
    assert (event.step, event.reads, event.extra_launches, event.waits) == (6, 1, 1, 1)
    assert event.fallbacks == ("aten::_local_scalar_dense",)
    assert [event.step for event in report.recompilations] == [6], "the graph of the read is a new one"


def test_read_after_the_boundary_costs_a_transfer_only() -> None:
    training = Training(16)
    report = run(training, [training.batch() for _ in range(10)], read="after")
    (event,) = report.host_syncs
    assert (event.step, event.reads, event.extra_launches, event.waits) == (6, 1, 0, 1)
    assert report.compiles == 0


def test_operation_on_the_host_is_named() -> None:
    training = Training(17)
    with RecompileGuard(mode="record", budget=None) as guard:
        for number in range(1, 7):
            batch = training.batch()
            guard.step(batch)
            loss = training.forward(batch)
            if number == 5:
                values = batch["x"].to(training.device)
                loss = loss + values[values > 0.5].mean()
            training.update(loss)
            XLA.sync()
    (event,) = guard.report().host_syncs
    assert event.step == 5 and event.waits >= 1
    assert event.fallbacks == ("aten::nonzero",)


def test_expected_read_is_left_out() -> None:
    training = Training(18)
    with RecompileGuard(mode="raise") as guard:
        for _ in range(8):
            batch = training.batch()
            guard.step(batch)
            loss = training.forward(batch)
            training.update(loss)
            XLA.sync()
            with guard.expected():
                assert loss.item() > 0
                (loss * 3).cpu()
    assert guard.report().waits == guard.report().compiles == 0


def test_planted_change_stops_the_run() -> None:
    training = Training(19)
    with pytest.raises(BudgetExceeded, match=r"step 5: 1 compilation .*now \(3, 19\) float32"):  # noqa: SIM117
        with RecompileGuard(mode="raise") as guard:
            for rows in (8, 8, 8, 8, 3, 8, 8):
                batch = training.batch(rows)
                guard.step(batch)
                training.update(training.forward(batch))
                XLA.sync()
    assert guard.report().steps == 5


def test_loader_with_the_boundary_is_charged_to_the_right_step() -> None:
    training = Training(20)
    rows = [8, 8, 8, 8, 8, 6, 8]
    loader = device_loader([training.batch(count) for count in rows])
    with RecompileGuard(mode="record") as guard:
        for batch in loader:
            guard.step(batch)
            training.update(training.forward(batch))
    (event,) = guard.report().recompilations
    assert event.step == 6 and "now (6, 20) float32" in event.cause
    assert guard.report().waits == 0


def test_compiled_step_is_clean() -> None:
    training = Training(21)

    import torch_xla

    @torch_xla.compile
    def train_step(batch: dict[str, torch.Tensor]) -> None:
        training.update(training.forward(batch))

    with RecompileGuard(mode="raise") as guard:
        for _ in range(8):
            batch = training.batch()
            guard.step(batch)
            train_step(batch)
    assert guard.report().steps == 8


def sentences() -> list[torch.Tensor]:
    """Of many lengths, and 29 of them: the last batch of 8 has 5."""
    return [torch.arange(1, 2 + (7 * index) % 23) for index in range(29)]


def text_batches(collate: Any) -> Iterator[Any]:
    yield from DataLoader(sentences(), batch_size=8, collate_fn=collate)  # type: ignore[arg-type]


def longest(samples: list[torch.Tensor]) -> torch.Tensor:
    return torch.nn.utils.rnn.pad_sequence(samples, batch_first=True)


def test_padded_batches_need_one_program_where_the_longest_sample_needs_several() -> None:
    torch.manual_seed(22)
    model = torch.nn.Embedding(64, 22).to(XLA.device())
    XLA.sync()

    def passes(collate: Any, padded: bool) -> tuple[int, float]:
        """Compilations of an epoch, and the sum over all real tokens."""
        total = torch.zeros((), device=XLA.device())
        XLA.sync()
        with RecompileGuard(mode="record", warmup=0) as guard:
            for batch in device_loader(text_batches(collate)):
                guard.step(batch)
                (ids, mask), _rows = batch if padded else ((batch, batch != 0), None)
                assert ids.device.type == mask.device.type == "xla"
                with torch.no_grad():
                    total += (model(ids) * mask[..., None]).sum()
        assert guard.report().waits == 0
        return guard.report().compiles, total.item()

    compiles, expected = passes(longest, padded=False)
    assert compiles >= 2
    compiles, total = passes(PadLastBatch(8, collate=Buckets([24])), padded=True)
    assert compiles == 1
    assert total == pytest.approx(expected, rel=1e-4)


def test_labels_of_filled_rows_do_not_change_the_loss() -> None:
    device = XLA.device()
    torch.manual_seed(25)
    samples = [(torch.randn(25), label) for label in (0, 2, 1)]
    model = torch.nn.Linear(25, 3).to(device)
    results = []
    for images, labels in (default_collate(samples), PadLastBatch(8, values={1: -100})(samples)[0]):
        model.zero_grad()
        loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        loss.backward()
        XLA.sync()
        assert model.weight.grad is not None
        results.append((loss.item(), model.weight.grad.cpu()))
    assert len(labels) == 8
    torch.testing.assert_close(results[0], results[1])


# ------------------------------------------------------------------------ backend


def test_compilations_follow_the_graph_hash() -> None:
    """Fails loudly when a version of torch_xla has the private function no longer, or means something else by it."""
    backend = XLA
    hashes, new, compiled = set(), [], []
    for rows in (4, 4, 4, 4, 5, 4, 5, 6):
        before = backend.compile_count()
        result = (torch.ones(rows, 23).to(XLA.device()) * 2).sum(0)
        identity = backend.graph_hash([result])
        assert identity is not None and len(bytes.fromhex(identity)) >= 8
        new.append(identity not in hashes)
        hashes.add(identity)
        assert backend.compile_count() == before, "asking for the hash compiled"
        backend.sync()
        compiled.append(backend.compile_count() > before)
    assert new == compiled == [True, False, False, False, True, False, False, True]


def test_graph_hash_refuses_what_would_end_the_process() -> None:
    with pytest.raises(TypeError, match="on XLA, not on cpu"):
        XLA.graph_hash([torch.ones(2)])
    with pytest.raises(ValueError, match="at least one tensor"):
        XLA.graph_hash([])


def test_counting_runs_nothing() -> None:
    backend = XLA
    pending = torch.ones(24, 2, device=XLA.device()) * 3
    before = backend.counts()
    work = backend.counts().since(before)
    assert (work.compiles, work.launches, work.boundaries, work.reads) == (0, 0, 0, 0)
    backend.sync(wait=True)
    work = backend.counts().since(before)
    assert (work.compiles, work.launches, work.boundaries, work.reads) == (1, 1, 1, 0)
    assert pending.cpu().sum() == 144
    assert backend.counts().since(before).reads == 1


def test_backend_is_that_of_what_is_used() -> None:
    on_xla = torch.ones(1, device=XLA.device())
    for using in (on_xla, on_xla.device, "xla", "xla:0", [{"x": on_xla}], torch.nn.Linear(1, 1).to("xla"), None):
        assert current(using).name == "xla", using
    for using in (torch.ones(1), torch.device("cpu"), "cpu", {"x": torch.ones(1)}, torch.nn.Linear(1, 1)):
        assert current(using).name == "cpu", using
    assert current("cuda").name == "cuda"
    assert current(on_xla).device().type == "xla"


IMPORTED_LATE = """
import sys
import torch
import tpulint_runtime
from tpulint_runtime import PadToMultiple, RecompileGuard, current

with RecompileGuard(mode="raise") as guard:
    for _ in range(5):
        batch, mask = PadToMultiple(4)([torch.ones(3)])
        guard.step(batch)
        current(batch).sync(wait=True)
assert current().name in ("cpu", "cuda"), current().name
assert not guard.report().counted
assert current(batch).graph_hash([batch]) is None
loaded = {name.partition(".")[0] for name in sys.modules} & {"torch_xla", "_XLAC"}
assert not loaded, loaded
"""


def test_without_xla_tensors_torch_xla_is_not_imported() -> None:
    path = os.path.dirname(os.path.dirname(tpulint_runtime.__file__))
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED_LATE], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------- what rewritten code calls


@pytest.fixture
def chosen() -> Iterator[Any]:
    """The backend as a script sees it that is the first to ask."""
    from tpulint_runtime import backend

    backend.own.cache_clear()
    yield backend
    backend.own.cache_clear()


def test_xla_is_chosen_where_there_is_no_gpu(chosen: Any) -> None:
    assert chosen.device_type() == "xla"
    assert chosen.device() == chosen.device(1) == XLA.device()
    assert chosen.is_available() and chosen.is_bf16_supported()
    assert torch.device(chosen.device_type()).type == "xla"


def test_bfloat16_stands_in_for_float16(chosen: Any) -> None:
    layer, x = torch.nn.Linear(25, 2).to(XLA.device()), torch.ones(1, 25).to(XLA.device())
    for dtype in (None, torch.float16, torch.bfloat16):
        with chosen.autocast(dtype=dtype):
            assert layer(x).dtype is torch.bfloat16
    with chosen.autocast(enabled=False, dtype=torch.float16):
        assert layer(x).dtype is torch.float32


def test_scaler_that_is_off_reads_nothing(chosen: Any) -> None:
    training = Training(26)
    scaler = torch.amp.GradScaler("cuda", enabled=torch.cuda.is_available())
    before = None
    for number in range(6):
        loss = training.forward(training.batch())
        training.optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(training.optimizer)
        scaler.step(training.optimizer)
        scaler.update()
        chosen.sync()
        if number == 2:
            before = XLA.counts()
    assert before is not None
    grown = XLA.counts().since(before)
    assert (grown.reads, grown.compiles, grown.launches) == (0, 0, 3)


def test_seed_reaches_the_device(chosen: Any) -> None:
    def draw() -> list[float]:
        chosen.manual_seed(27)
        return torch.nn.functional.dropout(torch.ones(27, device=XLA.device())).tolist()

    assert draw() == draw()


def test_saved_state_is_of_the_host(chosen: Any, tmp_path: Any) -> None:
    chosen.save({"x": torch.ones(28, device=XLA.device())}, tmp_path / "state.pt")
    assert torch.load(tmp_path / "state.pt")["x"].device.type == "cpu"


def test_checkpoint_computes_again(chosen: Any) -> None:
    layer = torch.nn.Linear(29, 2).to(XLA.device())
    x = torch.ones(1, 29, requires_grad=True).to(XLA.device())
    chosen.checkpoint(lambda x: layer(x).sum(), x, use_reentrant=False).backward()
    plain = layer.weight.grad.tolist()
    layer.zero_grad()
    layer(x).sum().backward()
    assert layer.weight.grad.tolist() == plain


def test_compilation_that_is_off_gives_the_module_back() -> None:
    module = torch.nn.Linear(2, 2)
    assert torch.compile(module, disable=not torch.cuda.is_available()) is module

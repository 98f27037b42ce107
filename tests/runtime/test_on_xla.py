"""The backend and the guard on real XLA. Every test has a width of its own, for programs are cached by the process.

torch_xla is imported by the tests, not by the module: collecting it costs nothing. No test of this folder runs
``backward`` on the CPU without the fixture ``xla_started``: torch sets up its autograd threads at the first one, for
the devices there are, and a backward on XLA fails if XLA's runtime starts only after that.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import tpulint_runtime
from torch.utils.data import DataLoader, default_collate
from tpulint_runtime import (
    BucketBatchSampler,
    Buckets,
    BudgetExceeded,
    Callback,
    Checkpoints,
    PackedDataset,
    PadLastBatch,
    PadToMultiple,
    RecompileGuard,
    Report,
    RunningMean,
    current,
    masked_cross_entropy,
    masked_mean,
    next_token_labels,
    plan_buckets,
    segment_mask,
    shifted_labels,
    tally,
    tally_correct,
    tally_cross_entropy,
)
from tpulint_runtime.backend import XlaBackend
from tpulint_runtime.loop import Loop

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


def test_lines_of_reads_are_told() -> None:
    training = Training(131)
    with RecompileGuard(mode="record", lines=True) as guard:
        for number in range(1, 8):
            batch = training.batch()
            guard.step(batch)
            loss = training.forward(batch)
            training.update(loss)
            if number == 5:
                assert loss > 0
            XLA.sync()
            if number == 6:
                print(f"{loss:.2f}", loss.tolist())
            with guard.expected():
                loss.item()
    before, behind = guard.report().host_syncs
    first = test_lines_of_reads_are_told.__code__.co_firstlineno
    assert [(wait.call, wait.line and wait.line.row - first, wait.times) for wait in before.calls] == [
        ("Tensor.__bool__", 9, 1)
    ]
    assert [(wait.call, wait.line and wait.line.row - first, wait.times) for wait in behind.calls] == [
        ("Tensor.__format__", 12, 1),
        ("Tensor.tolist", 12, 1),
    ]
    assert (before.extra_launches, behind.extra_launches, behind.reads) == (1, 0, 2)


def test_guard_is_a_callback_of_the_loop() -> None:
    training = Training(133)
    numbers = iter([2, 2, 2, 2, 3, 2, 2, 2])

    def loss_of(model: torch.nn.Module, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return ((model(batch["x"]) - batch["y"]) ** next(numbers)).mean()

    guard = RecompileGuard(mode="record", lines=True)
    loop = Loop(training.model, training.optimizer, loss_of, callbacks=[guard], log_every=3)
    loop.train([training.batch() for _ in range(4)], epochs=2)
    report = guard.report()
    (event,) = report.recompilations
    assert (report.steps, report.waits, event.step) == (8, 0, 5), "values that are logged are expected"
    assert report.graphs == 2 and event.graph is not None
    row = loss_of.__code__.co_firstlineno + 1
    assert event.cause.startswith("argument 1 2 became 3 in Tensor.__pow__")
    assert event.line is not None and (event.line.path, event.line.row) == (__file__, row)


def test_a_loop_tells_the_graph_of_each_of_its_boundaries() -> None:
    training = Training(134)
    told: list[str | None] = []

    class Graphs(Callback):
        def on_boundary(self, *computed: Any) -> None:
            told.append(guard._graph)

    def loss_of(model: torch.nn.Module, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        return F.mse_loss(model(batch["x"]), batch["y"])

    guard = RecompileGuard(mode="record", warmup=2)
    loop = Loop(training.model, training.optimizer, loss_of, accumulate=2, callbacks=[guard, Graphs()])
    loop.train([training.batch(rows) for rows in (8, 8, 8, 8, 8, 8, 8, 5, 8, 8)], epochs=1)
    report = guard.report()
    (event,) = report.recompilations
    assert event.step == 4 and report.graphs == 3, "of the batches of two shapes, and of the update"
    known, new, update = told[9:12]
    assert event.graph == new == update != known, "of several graphs of a step, the one that is new"


def test_graph_of_every_step_is_told() -> None:
    training = Training(132)
    with RecompileGuard(mode="record") as guard:
        for rows in (8, 8, 8, 8, 5, 8):
            batch = training.batch(rows)
            guard.step(batch)
            loss = training.forward(batch)
            training.update(loss)
            guard.hash_graph(loss, training.model)
            XLA.sync()
    report = guard.report()
    (event,) = report.recompilations
    assert event.step == 5 and event.graph is not None and len(bytes.fromhex(event.graph)) >= 8
    assert report.graphs == report.warmup_compiles + report.compiles == 3
    assert "graphs of steps: 3" in str(report)


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


@pytest.mark.parametrize("options", [{"use_reentrant": False}, {"use_reentrant": True}])
def test_checkpoint_that_need_not_be_reentrant_gives_gradients_for_inputs_without(
    chosen: Any, options: dict[str, Any]
) -> None:
    layer, x = torch.nn.Linear(3, 1).to("xla"), torch.ones(2, 3, device="xla")
    out = chosen.checkpoint(layer, x, **options)
    assert out.requires_grad is not options["use_reentrant"]
    assert not x.requires_grad
    numbers = torch.ones(2, dtype=torch.long, device="xla")
    assert chosen.checkpoint(lambda given, rows: given[rows], x, numbers, use_reentrant=False).requires_grad


def test_compilation_that_is_off_gives_the_module_back() -> None:
    module = torch.nn.Linear(2, 2)
    assert torch.compile(module, disable=not torch.cuda.is_available()) is module


# ------------------------------------------------------------------------ ragged data


class Speaker(torch.nn.Module):
    """A small model of next tokens."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(64, width)
        self.attention = torch.nn.Linear(width, 3 * width)
        self.head = torch.nn.Linear(width, 64)

    def forward(self, ids: torch.Tensor, seen: torch.Tensor | None = None) -> torch.Tensor:
        hidden = self.embedding(ids)
        q, k, v = self.attention(hidden).unsqueeze(1).chunk(3, -1)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=seen, is_causal=seen is None)
        logits: torch.Tensor = self.head(hidden + attended.squeeze(1))
        return logits


def speaker(width: int) -> Speaker:
    torch.manual_seed(width)
    return Speaker(width)


def ragged() -> list[torch.Tensor]:
    """101 sentences of 2 to 61 tokens."""
    return [(torch.arange(2 + index * 37 % 60) * 7 + index) % 63 + 1 for index in range(101)]


def test_ragged_data_compiles_once_for_each_bucket_and_reads_nothing() -> None:
    data = ragged()
    lengths = [len(sentence) for sentence in data]
    plan = plan_buckets(lengths, 3, multiple=8)
    sampler = BucketBatchSampler(lengths, plan.sizes, plan.rows(256))
    collate = PadLastBatch(sampler.rows, collate=Buckets(plan.sizes))
    loader = DataLoader(data, batch_sampler=sampler, collate_fn=collate)  # type: ignore[arg-type]
    device = XLA.device()
    model = speaker(30).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    XLA.sync()
    losses, correct = RunningMean(device), RunningMean(device)
    with RecompileGuard(mode="record", warmup=0) as guard:
        for epoch in range(3):
            sampler.set_epoch(epoch)
            for batch in device_loader(loader):
                guard.step(batch)
                (ids, mask), _rows = batch
                logits = model(ids[:, :-1])
                loss = tally_cross_entropy(logits, ids[:, 1:], mask[:, 1:])
                optimizer.zero_grad()
                loss.mean().backward()
                optimizer.step()
                losses.add(loss)
                correct.add(tally_correct(logits, ids[:, 1:], mask[:, 1:]))
    report = guard.report()
    assert report.steps == 3 * len(sampler) and len(plan.sizes) == 3
    assert report.compiles == len(plan.sizes), str(report)
    assert (report.waits, report.reads, report.extra_launches) == (0, 0, 0), str(report)
    assert int(losses.count.item()) == 3 * sum(length - 1 for length in lengths)
    assert 0 < correct.mean().item() < 1 and losses.mean().item() < 4.2, "a guess costs log 64, 4.16"


def test_packed_rows_compile_once_and_lose_as_their_sentences_do() -> None:
    data = ragged()
    packed = PackedDataset(data, [len(sentence) for sentence in data], 64)
    loader = DataLoader(packed, batch_size=4, collate_fn=PadLastBatch(4, values={"segment_ids": 0}))
    device = XLA.device()
    model = speaker(31)
    total, count = 0.0, 0
    with torch.no_grad():
        for sentence in data:
            loss = F.cross_entropy(model(sentence[None, :-1])[0], sentence[1:], reduction="sum")
            total, count = total + float(loss), count + len(sentence) - 1
    model = model.to(device)
    XLA.sync()
    losses = RunningMean(device)
    with RecompileGuard(mode="record", warmup=0) as guard, torch.no_grad():
        for batch in device_loader(loader):
            guard.step(batch)
            rows, _real = batch
            ids, segments = rows["input_ids"], rows["segment_ids"]
            logits = model(ids, segment_mask(segments))
            losses.add(tally_cross_entropy(logits, next_token_labels(ids, segments)))
    report = guard.report()
    assert report.steps == len(loader) > 1
    assert (report.compiles, report.waits, report.reads) == (1, 0, 0), str(report)
    assert int(losses.count.item()) == count
    assert losses.mean().item() == pytest.approx(total / count, rel=1e-4)


def test_labels_and_means_are_computed_on_the_device() -> None:
    packed = PackedDataset(ragged(), [len(sentence) for sentence in ragged()], 72)
    rows = default_collate([packed[row] for row in range(3)])
    ids, segments = rows["input_ids"], rows["segment_ids"]
    device_ids, device_segments = ids.to(XLA.device()), segments.to(XLA.device())
    before = XLA.counts()
    labels = shifted_labels(device_ids, device_segments)
    mean = masked_mean(device_ids, device_segments != 0, dim=1)
    XLA.sync()
    work = XLA.counts().since(before)
    assert (work.compiles, work.reads, work.launches) == (1, 0, 1) and not any(work.fallbacks.values())
    assert torch.equal(labels.cpu(), shifted_labels(ids, segments))
    torch.testing.assert_close(mean.cpu(), masked_mean(ids, segments != 0, dim=1))


def test_padding_of_any_content_changes_no_loss_and_no_gradient_on_xla() -> None:
    device = XLA.device()
    torch.manual_seed(32)
    plain, targets = torch.randn(6, 32), torch.randint(0, 32, (6,))
    results = []
    for rubbish in (None, 0.0, float("nan"), float("inf")):
        extra = 0 if rubbish is None else 2
        logits = torch.cat([plain, torch.full((extra, 32), rubbish or 0.0)]).to(device).requires_grad_()
        mask = (torch.arange(6 + extra) < 6).to(device)
        loss = masked_cross_entropy(logits, torch.cat([targets, torch.full((extra,), 99)]).to(device), mask)
        loss.backward()
        XLA.sync()
        assert logits.grad is not None
        results.append((loss.item(), logits.grad.cpu()[:6], logits.grad.cpu()[6:].abs().sum()))
    for result in results:
        torch.testing.assert_close(result, results[0])
        assert result[2] == 0


def test_running_mean_starts_as_it_goes_on() -> None:
    """The first graph is that of all steps, even if nothing was run before it."""
    mean = RunningMean(XLA.device())
    before = XLA.compile_count()
    for number in range(4):
        mean.add(tally(torch.full((34,), float(number)).to(XLA.device())))
        XLA.sync()
    assert XLA.compile_count() == before + 1
    assert mean.mean().item() == 1.5


@dataclass
class Sentence:
    ids: torch.Tensor
    length: int


def test_device_loader_takes_dataclasses() -> None:
    samples = [Sentence(torch.ones(length), length) for length in (3, 33)]
    loader = DataLoader(samples, batch_size=2, collate_fn=PadToMultiple(33))  # type: ignore[arg-type]
    ((batch, mask),) = device_loader(loader)
    assert isinstance(batch, Sentence) and batch.ids.device.type == mask.ids.device.type == "xla"
    assert (batch.ids * mask.ids).sum().item() == 36


# ---------------------------------------------------------------- checkpoints


def test_checkpoint_behind_the_boundary_is_one_transfer_and_no_graph(tmp_path: Path) -> None:
    training = Training(127)
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(model=training.model, optimizer=training.optimizer)
        for number in range(6):
            training.update(training.forward(training.batch()))
            XLA.sync()
            if number == 3:
                before = XLA.counts()
                checkpoints.save(number)
                work = XLA.counts().since(before)
                assert (work.compiles, work.launches, work.boundaries, work.reads) == (0, 0, 0, 1)
        work = XLA.counts().since(before)
        assert (work.compiles, work.reads) == (0, 1), "the steps after it are other graphs"


def test_resumed_step_is_the_graph_of_any_step(tmp_path: Path) -> None:
    first = Training(128)
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(model=first.model, optimizer=first.optimizer)
        for _ in range(3):
            first.update(first.forward(first.batch()))
            XLA.sync()
        checkpoints.save(2)
    other = Training(128)
    with Checkpoints(tmp_path) as checkpoints:
        assert checkpoints.resume(model=other.model, optimizer=other.optimizer) == 3
        before = XLA.counts()
        for _ in range(2):
            other.update(other.forward(other.batch()))
            XLA.sync()
        assert XLA.counts().since(before).compiles == 0
    assert next(other.model.parameters()).device.type == "xla"
    assert {id(key) for key in other.optimizer.state} == {id(parameter) for parameter in other.model.parameters()}


@pytest.mark.parametrize("seed", [5, 2**63 + 11, 2**64 - 1])
@pytest.mark.parametrize("amid", [False, True], ids=["behind the boundary", "amid a step"])
def test_random_numbers_of_the_device_go_on(seed: int, amid: bool, tmp_path: Path) -> None:
    def draw() -> list[float]:
        drawn = []
        for _ in range(3):
            numbers = torch.rand(2, 129, device=XLA.device())
            XLA.sync()
            drawn += numbers.cpu().reshape(-1).tolist()
        return drawn

    model = torch.nn.Linear(129, 2).to(XLA.device())
    XLA.seed(seed)
    draw()
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(model=model)
        pending = torch.rand(129, device=XLA.device()) if amid else None
        checkpoints.save(0)
        expected = draw()
        XLA.seed(3)
    assert draw() != expected
    with Checkpoints(tmp_path) as checkpoints:
        checkpoints.resume(model=model)
        assert draw() == expected
    del pending


def test_fetched_tensors_are_copies_of_their_own() -> None:
    on_host, on_device = torch.ones(130), torch.ones(130, device=XLA.device())
    XLA.sync()
    fetched = XLA.fetch([on_device, on_host, on_device * 2])
    on_host += 1
    on_device += 1
    XLA.sync()
    assert [tensor.device.type for tensor in fetched] == ["cpu"] * 3
    assert [tensor.sum().item() for tensor in fetched] == [130, 130, 260]
    assert XLA.fetch([]) == []
    assert XLA.place() == (0, 1) and XLA.gather("a") == ["a"] and not XLA.fetches_together()

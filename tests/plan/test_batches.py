"""Which option sets the batch, and how the largest is searched, with chips made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpulint.planning.batches import BatchOption, Limits, find_option, search, with_batch
from tpulint.planning.compiled import (
    Argument,
    Capture,
    Compilation,
    CompileFailure,
    Memory,
    Program,
    StepOnChip,
    Tensor,
    Variant,
)
from tpulint.planning.data import load_hardware
from tpulint.planning.program_text import content_of, signature_of, what_is_computed, with_roles
from tpulint.planning.steps_on_chips import assemble

V5E = load_hardware().generations["v5e"]
OPTION = BatchOption("--batch-size", 8)


def step(batch: int, fits: bool, flops: float, traffic: float, kind: str = "out-of-memory") -> StepOnChip:
    argument = Argument(Tensor("f32", (batch, 4)), "input")
    program = Program(str(batch), "", b"", (argument,), (argument.tensor,), 1, None)
    capture = Capture("train.py", (), Variant(batch=batch), (program,), 3, 10, (), 1.0)
    failure = None if fits else CompileFailure(kind, "Ran out of memory")
    memory = Memory(1, 1, 1, 1, 1) if fits else None
    done = Compilation(program.digest, "v5e", "v5e:2x2", memory, flops, traffic, failure, 1.0, False)
    return assemble(capture, V5E, (done,))


@given(most=st.integers(0, 3000), start=st.integers(1, 500), unit=st.sampled_from([1, 8]))
def test_largest_and_refused_are_neighbours(most: int, start: int, unit: int) -> None:
    limits = Limits(compiles=200, multiple=unit)
    found = search(V5E, OPTION, start, lambda batch: step(batch, batch <= most, 1.0, 1.0), limits)
    assert found.ended_by == "exact"
    assert found.largest == (most // unit * unit or None)
    assert found.refused == (most // unit + 1) * unit
    batches = [one.capture.variant.batch for one in found.probes]
    assert {found.largest or found.refused, found.refused} <= set(batches)
    assert len(batches) <= 2 * 12


@given(bound_from=st.integers(1, 400), start=st.integers(1, 63))
def test_smallest_compute_bound(bound_from: int, start: int) -> None:
    """Traffic of the state stays, arithmetic grows: at the ridge both take the same time."""
    assert V5E.peak and V5E.memory_bandwidth
    ridge = V5E.peak / V5E.memory_bandwidth

    def probe(batch: int) -> StepOnChip:
        return step(batch, batch <= 300, ridge * batch, float(bound_from))

    found = search(V5E, OPTION, start, probe, Limits(compiles=200))
    assert found.compute_bound == (bound_from if bound_from <= 300 else None)


def test_search_ends_at_its_limits() -> None:
    found = search(V5E, OPTION, 1, lambda batch: step(batch, batch <= 1000, 1.0, 1.0), Limits(compiles=4))
    assert (found.ended_by, found.largest, found.refused, len(found.probes)) == ("compiles", 8, None, 4)
    found = search(V5E, OPTION, 1, lambda batch: step(batch, True, 1.0, 1.0), Limits(seconds=-1))
    assert (found.ended_by, found.largest) == ("time", None)


def test_another_failure_ends_the_search() -> None:
    found = search(V5E, OPTION, 8, lambda batch: step(batch, batch < 16, 1.0, 1.0, "crash"), Limits())
    assert found.largest == 8 and found.refused is None
    assert "another reason than memory" in found.ended_by


# ------------------------------------------------------------------------ the option

SOURCE = """
parser.add_argument("-b", "--batch-size", type=int, default=32)
parser.add_argument("--eval_batch", default=4)
parser.add_argument("path")
"""


@pytest.mark.parametrize(
    ("source", "arguments", "name", "expected"),
    [
        (SOURCE, (), "", BatchOption("--batch-size", 32)),
        (SOURCE, ("--batch-size", "64"), "", BatchOption("--batch-size", 64)),
        (SOURCE, ("--batch-size=64",), "", BatchOption("--batch-size", 64)),
        (SOURCE, ("-b", "16"), "", BatchOption("--batch-size", 16)),
        (SOURCE, (), "--eval_batch", BatchOption("--eval_batch", 4)),
        (SOURCE, ("--size", "3"), "--size", BatchOption("--size", 3)),
        (SOURCE, (), "--size", BatchOption("--size", None)),
        ('p.add_argument("--per_device_train_batch_size")', (), "", BatchOption("--per_device_train_batch_size", None)),
        ('p.add_argument("--bs", default=SIZE)', (), "", BatchOption("--bs", None)),
        ('p.add_argument("--batches", default=3)', (), "", None),
        ("BATCH_SIZE = 32", (), "", None),
        ("def broken(", (), "", None),
    ],
)
def test_option(source: str, arguments: tuple[str, ...], name: str, expected: BatchOption | None) -> None:
    assert find_option(source, arguments, name) == expected


def test_last_value_counts() -> None:
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("-b", "--batch-size", type=int)
    assert parser.parse_args(with_batch(("-b", "3"), OPTION, 7)).batch_size == 7


# ------------------------------------------------------------------------ what was captured


def test_signature_with_names_and_places() -> None:
    text = (
        "#loc1 = /a/main(b).py:3:0\n"
        'module @IrToHlo.340 attributes {mhlo.input_output_alias = []} {\n  func.func @main(%arg0: tensor<32xi64> '
        '"xla__device_data"(#loc52), %arg1: tensor<f32> "xla__device_data"(#loc9), %arg2: tensor<4x1xcomplex<f32>>) '
        "-> (tensor<f32>, tensor<10x128xbf16>) {\n"
    )  # fmt: skip
    arguments, outputs = signature_of(text)
    assert arguments == [Tensor("i64", (32,)), Tensor("f32", ()), Tensor("complex<f32>", (4, 1))]
    assert outputs == [Tensor("f32", ()), Tensor("bf16", (10, 128))]


def test_what_only_lives_is_neither_read_nor_computed() -> None:
    text = (
        "module @m attributes {a = {}} {\n  func.func @main(%arg0: tensor<f32>, %arg1: tensor<f32>, "
        "%arg10: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {\n"
        "    %0 = call @f(%arg10) : (tensor<f32>) -> tensor<f32>\n"
        "    return %arg0, %0, %arg10 : tensor<f32>, tensor<f32>, tensor<f32>\n  }\n"
        "  func.func private @f(%arg1: tensor<f32>) -> tensor<f32> {\n    return %arg1 : tensor<f32>\n  }\n}\n"
    )  # fmt: skip
    assert what_is_computed(text) == ({10}, [False, True, False])


def waiting(before: int, rows: int = 3, calls: str = "negate") -> str:
    """A program as it is printed with so many values that wait, on some line of a script."""
    count = before + 1
    arguments = [*(f'%arg{number}: tensor<8xf32> "data"(#loc{rows})' for number in range(before)),
                 f"%arg{before}: tensor<f32>"]  # fmt: skip
    results = ", ".join([*(f"%arg{number}" for number in range(before)), "%1"])
    return (
        f"#loc{rows} = /a/train.py:{rows}:0\nmodule @IrToHlo.{before} attributes {{}} {{\n"
        f"  func.func @main({', '.join(arguments)}) -> (tensor<f32>) {{\n"
        f'    %0 = stablehlo.{calls} %arg{before} : tensor<f32> "aten__neg"(#loc{rows})\n'
        f'    %1 = "stablehlo.all_reduce"(%0) ({{\n    ^bb0(%arg{count}: tensor<f32>):\n'
        f'      stablehlo.return %arg{count} : tensor<f32> "aten__neg.{before}"\n    }}) : tensor<f32> [unknown]\n'
        f"    return {results} : tensor<f32> [unknown]\n  }} [unknown]\n"
        "  func.func private @f(%arg0: tensor<f32>) -> tensor<f32> {\n    return %arg0 : tensor<f32>\n  }\n}\n"
    )


def content(before: int, rows: int = 3, calls: str = "negate") -> str:
    tensors = [*(Argument(Tensor("f32", (8,)), "unread") for _ in range(before)), Argument(Tensor("f32", ()), "input")]
    return content_of(waiting(before, rows, calls), tensors)


def test_programs_are_the_same_by_what_is_compiled() -> None:
    assert content(0) == content(1) == content(5) == content(5, rows=7)
    assert content(0) != content(0, calls="abs")
    other = content_of(waiting(0), [Argument(Tensor("f32", (2,)), "input")])
    assert content(0) != other


def test_roles_need_the_same_shapes() -> None:
    arguments = [Tensor("f32", (2, 3)), Tensor("f32", ())]
    assert [one.role for one in with_roles(arguments, [[[2, 3], "state"], [[], "kept"]])] == ["state", "kept"]
    assert [one.role for one in with_roles(arguments, [[[3, 2], "state"], [[], "kept"]])] == ["input", "input"]
    assert [one.role for one in with_roles(arguments, [[[2, 3], "state"]])] == ["input", "input"]

"""The text of a graph is read, and of two graphs the first difference that explains the others is told."""

from __future__ import annotations

import pytest
from tpulint_runtime.graphs import Cause, Graph, Operation, Place, explain, nearest, parse

pytestmark = pytest.mark.xla  # where torch is, torch_xla is

DUMP = """\
TensorsGraphInfo:
  sync (/lib/torch_xla/torch_xla.py:87)
  <module> (train.py:20)

Root Hashes: (67b0, 3c95)

## BEGIN_GRAPH
HloModule IrToHlo.9, entry_computation_layout={(f32[], f32[16,4]{1,0})->(f32[16,1]{1,0})}

%AddComputation.18 (x.19: f32[], y.20: f32[]) -> f32[] {
  %x.19 = f32[] parameter(0)
  ROOT %add.21 = f32[] add(f32[] %x.19, f32[] %x.19)
}

ENTRY %IrToHlo.9 (p0.1: f32[], p1.2: f32[16,4]) -> (f32[16,1]) {
  %constant.52 = s32[] constant(16), metadata={op_type="aten__sum" op_name="aten__sum"}
  %p1.2 = f32[16,4]{1,0} parameter(1), metadata={op_type="xla__device_data" source_file="train.py" source_line=16}
  %slice.3 = f32[16,1]{1,0} slice(f32[16,4]{1,0} %p1.2), slice={[0:16], [0:1]}, metadata={op_type="xla__select" \
op_name="xla__select" source_file="train.py" source_line=10}
  %p0.1 = f32[] parameter(0), metadata={op_type="xla__device_data" op_name="xla__device_data"}
  %reduce.22 = f32[] reduce(f32[16,1]{1,0} %slice.3, f32[] %p0.1), dimensions={0,1}, to_apply=%AddComputation.18
  ROOT %tuple.60 = (f32[16,1]{1,0}, /*index=1*/f32[]) tuple(f32[16,1]{1,0} %slice.3, f32[] %reduce.22)
}

Graph Hash: 450601ee9f44106b574aa0d63802c34e
"""

OPTIMIZER = Place("/site-packages/torch/optim/adam.py", 400)


def given(shape: str, row: int = 1) -> Operation:
    return Operation("parameter", shape, (), "xla::device_data", Place("train.py", row))


def operation(opcode: str, shape: str = "f32[8]", settings: str = "", row: int = 2) -> Operation:
    return Operation(opcode, shape, (("", settings),) if settings else (), f"aten::{opcode}", Place("train.py", row))


def graph(*operations: Operation) -> Graph:
    return Graph(
        tuple(one for one in operations if one.opcode == "parameter"),
        tuple(one for one in operations if one.opcode != "parameter"),
    )


def test_dump_is_read_in_the_order_of_tracing() -> None:
    read = parse(DUMP)
    assert read is not None
    assert [one.shape for one in read.inputs] == ["f32[]", "f32[16,4]"]
    assert read.inputs[1].place == Place("train.py", 16)
    assert [one.opcode for one in read.operations] == ["slice", "reduce", "constant", "tuple"]
    assert read.operations[0] == Operation(
        "slice", "f32[16,1]", (("slice", "{[0:16], [0:1]}"),), "xla::select", Place("train.py", 10)
    )
    assert read.operations[2].settings == (("", "16"),)
    assert read.operations[3].shape == "(f32[16,1], f32[])"


def test_names_of_operations_do_not_matter() -> None:
    first, second = parse(DUMP), parse(DUMP.replace("AddComputation.18", "AddComputation.77"))
    assert first == second


def test_other_text_is_no_graph() -> None:
    assert parse("IR {\n  %0 = f32[] prim::Constant()\n}\n") is None
    assert parse("") is None


def test_setting() -> None:
    after = parse(DUMP.replace("slice={[0:16], [0:1]}", "slice={[0:16], [0:2]}"))
    before = parse(DUMP)
    assert before is not None and after is not None
    assert explain(before, after) == Cause(
        "setting", "slice [0:1] became [0:2] in xla::select", (Place("train.py", 10),)
    )


def test_constant() -> None:
    before, after = (graph(operation("mul"), operation("constant", "f32[]", value)) for value in ("0.1", "0.09"))
    assert explain(before, after) == Cause(
        "constant", "constant 0.1 became 0.09 in aten::constant", (Place("train.py", 2),)
    )


def test_shape_of_an_input_explains_all_that_follows() -> None:
    before = graph(given("f32[32,784]", 5), given("s64[32]", 6), operation("sum", "f32[32]"))
    after = graph(given("f32[16,784]", 5), given("s64[16]", 6), operation("sum", "f32[16]"))
    assert explain(before, after) == Cause(
        "input", "input f32[32,784] became f32[16,784], input s64[32] became s64[16]",
        (Place("train.py", 5), Place("train.py", 6)),
    )  # fmt: skip


def test_shape_of_an_operation() -> None:
    before, after = (graph(operation("arange", f"s64[{size}]", "iota_dimension=0")) for size in (4, 5))
    assert explain(before, after).text == "aten::arange s64[4] became s64[5]"


def test_state_of_the_optimizer() -> None:
    weight = given("f32[4]")
    state = given("f32[4]")._replace(place=OPTIMIZER)
    before = graph(weight, operation("constant", "f32[4]", "0"), operation("add"))
    after = graph(state, weight, state, operation("add"))
    cause = explain(before, after)
    assert (cause.kind, cause.text) == ("state", "2 inputs more: state that the optimizer made")


def test_inputs_that_come_and_go() -> None:
    before, after = graph(given("f32[4]"), operation("add")), graph(given("f32[4]"), given("f32[]"), operation("add"))
    assert (explain(before, after).kind, explain(before, after).text) == ("added", "1 input more (f32[])")
    assert (explain(after, before).kind, explain(after, before).text) == ("inputs", "1 input fewer (f32[])")
    other = graph(given("f32[4]"), given("s64[7,1]"), operation("add"))
    assert explain(after, other).text == "1 input more and 1 input fewer (s64[7,1])"


def test_inputs_in_another_order_are_no_change() -> None:
    before = graph(given("f32[4]"), given("f32[8,4]"), operation("add"))
    after = graph(given("f32[8,4]"), given("f32[4]"), operation("sub"))
    assert explain(before, after).text == "aten::sub instead of aten::add"


def test_growing_graph() -> None:
    before, after = graph(operation("add")), graph(operation("add"), operation("mul"))
    assert explain(before, after).text == "1 operations became 2 in aten::mul"


def test_operation_that_came_or_went() -> None:
    cut, kept = graph(operation("add"), operation("sum", row=3)), graph(operation("add"), operation("item", row=9))
    longer = graph(operation("add"), operation("item", row=9), operation("sum", "f32[4]", row=3))
    place = (Place("train.py", 9),)
    assert explain(cut, longer) == Cause("operations", "aten::item is new", place)
    assert explain(longer, cut) == Cause("operations", "aten::item is missing", place)
    assert explain(cut, kept) == Cause("operations", "aten::item instead of aten::sum", place)


def test_nearest_is_the_most_similar() -> None:
    small = graph(given("f32[8]"), operation("add"))
    large = graph(given("f32[8]"), operation("add"), operation("mul"), operation("sum"))
    new = graph(given("f32[9]"), operation("add"), operation("mul"), operation("sum"))
    assert nearest(new, [large, small]) is large
    assert nearest(small, [small, large]) is small
    again = graph(*small.inputs, *small.operations)
    assert nearest(small, [small, again]) is again

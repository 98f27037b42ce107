"""The graph of a step from its text: counts against those reasoned from shapes, padding, wide numbers, odd calls."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from counted_work import growth
from hypothesis import given, settings
from hypothesis import strategies as st

from tpulint.planning.data import load_hardware
from tpulint.planning.graph_analysis import analyse
from tpulint.planning.graph_report import as_data, sentences
from tpulint.planning.graph_text import Graph, Operation, parse
from tpulint.planning.matrix_products import product_of
from tpulint.planning.padding import Grain, grain_of, padded_flops, padding_bytes
from tpulint.planning.tensors import DYNAMIC, Place, Tensor

GRAPHS = Path(__file__).parent / "graphs"
GENERATIONS = load_hardware().generations
SMALL, LARGE = Grain(8, 128, 128), Grain(8, 128, 256)


def graph(name: str) -> Graph:
    return parse(text(name))


def text(name: str) -> str:
    return (GRAPHS / f"{name}.mlir").read_text(encoding="utf-8")


def function(body: str, arguments: str = "%arg0: tensor<f32>") -> Graph:
    return parse(f"module @m {{\n  func.func @main({arguments}) -> tensor<f32> {{\n{body}\n  }}\n}}\n")


# ------------------------------------------------------------------------ arithmetic, by hand


def test_mlp() -> None:
    """64 rows through 100 x 256 and 256 x 10. Backwards a gradient for each weight, and one for the hidden layer; the
    input needs none."""
    first, second = 2 * 64 * 100 * 256, 2 * 64 * 256 * 10
    found = analyse(text("mlp"))
    assert found.matrix_flops == 2 * first + 3 * second
    assert (found.products, found.unread, found.has_loops) == (5, 0, False)
    # The rest: AdamW's some 15 operations for each of 28 426 parameters, activations, the loss.
    parameters = 100 * 256 + 256 + 256 * 10 + 10
    assert 10 * parameters < found.flops - found.matrix_flops < 25 * parameters
    # Parameters and two moments, images, labels, and scalars.
    arrays = 4 * 3 * parameters + 4 * 64 * 100 + 8 * 64
    assert arrays <= graph("mlp").argument_bytes < arrays + 200


def test_cnn() -> None:
    """Without padding every place of a kernel meets a number: backwards costs as much again for each gradient. Of 32
    rows a stride of 2 leaves 15, windows of 3 then 13 and 11."""
    first = 2 * 16 * 24 * 15**2 * 3 * 3**2
    depthwise = 2 * 16 * 24 * 13**2 * 3**2
    third = 2 * 16 * 48 * 11**2 * 24 * 3**2
    head = 2 * 16 * 48 * 10
    found = analyse(text("cnn"))
    assert found.matrix_flops == 2 * first + 3 * (depthwise + third + head)
    assert (found.products, found.unread) == (11, 0)


def test_transformer() -> None:
    """8 sequences of 50, hidden 96 in 4 heads of 24, 200 inside, 1000 words; every product has two gradients."""
    tokens, hidden = 8 * 50, 96
    projections = 2 * tokens * hidden * (3 * hidden + hidden + 2 * 200)
    attention = 2 * (2 * 8 * 4 * 50 * 50 * 24)
    head = 2 * tokens * hidden * 1000
    found = analyse(text("transformer"))
    assert found.matrix_flops == 3 * (projections + attention + head)
    # The rule of thumb, 6 x parameters x tokens, knows neither attention nor that the table of words is no product.
    parameters = hidden * (3 * hidden + hidden + 2 * 200) + hidden * 1000
    assert found.matrix_flops - 3 * attention == 6 * parameters * tokens
    assert found.flops < 1.05 * found.matrix_flops


@pytest.mark.parametrize(
    ("window", "image", "kernel", "output", "pairs"),
    [
        # 5 outputs x 3 places, less one place at each end that lies in the padding.
        ("stride = [1], pad = [[1, 1]]", 5, 3, 5, 13),
        # Windows begin at -1, 1 and 3: the first and the last have two places within 5 numbers.
        ("stride = [2], pad = [[1, 1]]", 5, 3, 3, 7),
        # Numbers at 0, 2, 4 of 7 with padding: as many pairs as 3 numbers have places in a full window of 3.
        ("stride = [1], pad = [[2, 2]], lhs_dilate = [2]", 3, 3, 7, 9),
        # Places 2 apart: 0 2 4, of 6 numbers 2 outputs.
        ("stride = [1], rhs_dilate = [2]", 6, 3, 2, 6),
    ],
)
def test_padding_and_holes_are_no_work(window: str, image: int, kernel: int, output: int, pairs: int) -> None:
    (one,) = function(
        f"    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], "
        f"window = {{{window}}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : "
        f"(tensor<2x3x{image}xf32>, tensor<4x3x{kernel}xf32>) -> tensor<2x4x{output}xf32>",
        f"%arg0: tensor<2x3x{image}xf32>, %arg1: tensor<4x3x{kernel}xf32>",
    ).operations
    product = product_of(one)
    assert product is not None and product.flops == 2 * (2 * 3 * 4) * pairs


def test_batches_and_free_dimensions_of_a_product() -> None:
    (one,) = function(
        "    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [1], contracting_dims = [3] x [0] : "
        "(tensor<2x3x5x7xf32>, tensor<7x2x11xf32>) -> tensor<2x3x5x11xf32>",
        "%arg0: tensor<2x3x5x7xf32>, %arg1: tensor<7x2x11xf32>",
    ).operations
    product = product_of(one)
    assert product is not None and product[1:] == (2, 15, 7, 11, 2 * 2 * 15 * 7 * 11)


def test_functions_count_as_often_as_they_are_called() -> None:
    of = "(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>"
    dot = f"    %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0] : {of}\n"
    call = "@inner(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
    found = analyse(
        "module @m {\n  func.func @main(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
        f"    %0 = call {call}    %1 = func.call {call}    return %1 : tensor<4x4xf32>\n  }}\n"
        f"  func.func private @inner(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {{\n{dot}{dot}  }}\n"
        f"  func.func private @unused(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {{\n{dot}  }}\n}}\n"
    )
    assert found.matrix_flops == 2 * 2 * 2 * 4**3


# ------------------------------------------------------------------------ text


def test_operations_have_their_types() -> None:
    found = graph("transformer")
    gather = next(one for one in found.operations if one.name == "gather")
    assert gather.operands == (Tensor("f32", (1000, 96)), Tensor("ui32", (400,)))
    assert gather.results == (Tensor("f32", (400, 96)),)
    scatter = next(one for one in found.operations if one.name == "scatter")  # its types stand behind its region
    assert [one.shape for one in scatter.operands] == [(1000, 96), (400, 1), (400, 96)]
    assert scatter.results == (Tensor("f32", (1000, 96)),)
    assert found.outputs[0] == Tensor("f32", ())


def test_every_operation_is_read() -> None:
    """Each has a result of a known type, and operands of which each name has one."""
    for name in ("mlp", "cnn", "transformer", "doubles"):
        found = graph(name)
        assert len(found.operations) == len(re.findall(r'= "?stablehlo\.', text(name))), name
        for one in found.operations:
            assert one.results and all(result.number_bytes for result in one.results), one
            assert len(one.operands) == len(one.values), one


def test_several_results_and_loops() -> None:
    found = function(
        "    %c = stablehlo.constant dense<0> : tensor<i64>\n"
        "    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0) : tensor<i64>, tensor<4xf32>\n"
        "     cond {\n      %2 = stablehlo.compare  LT, %iterArg, %c : (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
        "      stablehlo.return %2 : tensor<i1>\n    } do {\n"
        "      %2 = stablehlo.add %iterArg_0, %iterArg_0 : tensor<4xf32>\n"
        "      stablehlo.return %iterArg, %2 : tensor<i64>, tensor<4xf32>\n    }\n"
        "    %1 = stablehlo.multiply %0#1, %0#1 : tensor<4xf32>",
        "%arg0: tensor<4xf32>",
    )
    assert [one.name for one in found.operations] == ["constant", "while", "compare", "add", "multiply"]
    four = Tensor("f32", (4,))
    assert found.operations[1].results == (Tensor("i64", ()), four)
    assert found.operations[3].operands == found.operations[4].operands == (four, four)
    assert found.has_loops


def test_lines_of_python() -> None:
    """Row 78 makes the model and calls it within a lambda; the optimizer's step is row 41."""
    found = graph("doubles")
    lines = (GRAPHS / "make_graphs.py").read_text(encoding="utf-8").splitlines()
    assert "nn.Linear(16, 4).double()" in lines[78 - 1] and "optimizer.step()" in lines[41 - 1]
    product = next(one for one in found.operations if one.name == "dot_general")
    assert product.place == Place("make_graphs.py", 78)
    assert found.operations[-1].place == Place("make_graphs.py", 41)
    assert set(found.argument_places) == {Place("make_graphs.py", 78), Place("make_graphs.py", 41)}


def test_lines_of_python_as_mlir_writes_them() -> None:
    found = parse(
        '#loc1 = loc("/usr/lib/python3.11/site-packages/torch/nn/linear.py":134:0)\n#loc2 = loc("train.py":7:4)\n'
        '#loc3 = loc("forward"(#loc1))\n#loc4 = loc("step"(#loc2))\n#loc5 = loc(callsite(#loc3 at #loc4))\n'
        "module @m {\n  func.func @main(%arg0: tensor<4xf32> loc(unknown)) -> tensor<4xf32> {\n"
        "    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32> loc(#loc5)\n"
        '    %1 = stablehlo.add %0, %0 : tensor<4xf32> loc("inline.py":3:1)\n'
        "    %2 = stablehlo.add %1, %1 : tensor<4xf32> loc(#loc1)\n"
        "    %3 = stablehlo.negate %2 : tensor<4xf32>\n  }\n}\n"
    )
    assert [one.place and one.place.path.rpartition("/")[2] for one in found.operations] == [
        "train.py", "inline.py", "linear.py", None,
    ]  # fmt: skip
    assert found.operations[0].place == Place("train.py", 7)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='%#@:=->()<>{}"x 0123\nstablehlo.dotensfunc', max_size=400), st.integers(0, 13000))
def test_no_text_is_too_odd(inserted: str, at: int) -> None:
    whole = text("mlp")
    analyse(inserted)
    analyse(whole[:at] + inserted + whole[at:], GENERATIONS["v5e"])


@pytest.mark.parametrize("name", ["transformer", "doubles"])
def test_work_grows_with_the_lines_not_with_their_square(name: str) -> None:
    lines = text(name).splitlines()
    first = next(at for at, line in enumerate(lines) if "func.func" in line) + 1
    last = next(at for at, line in enumerate(lines) if line.startswith("    return"))
    body = lines[first:last]

    def analyse_lines(count: int) -> None:
        analyse("\n".join([*lines[:first], *body * (count // len(body)), *lines[last:]]), GENERATIONS["v6e"])

    assert growth(analyse_lines, 2_000, 8_000) < 5


# ------------------------------------------------------------------------ padding


def test_grains_are_those_of_the_table() -> None:
    assert grain_of(GENERATIONS["v5e"]) == SMALL and grain_of(GENERATIONS["v6e"]) == LARGE
    assert grain_of(GENERATIONS["a100"]) is None
    assert analyse(text("mlp"), GENERATIONS["a100"]).wastes == ()


@pytest.mark.parametrize(
    ("tensor", "stored", "any_pair"),
    [
        (Tensor("f32", (8, 128)), 8 * 128 * 4, False),
        (Tensor("f32", (9, 129)), 16 * 256 * 4, False),
        (Tensor("bf16", (8, 128)), 16 * 128 * 2, False),
        (Tensor("bf16", (16, 128)), 16 * 128 * 2, False),
        (Tensor("i8", (8, 128)), 32 * 128, False),
        (Tensor("f32", (128, 8)), 8 * 128 * 4, False),  # the other way round nothing is padded
        (Tensor("f32", (100,)), 8 * 128 * 4, False),
        (Tensor("f32", (128, 8, 3)), 128 * 8 * 128 * 4, False),
        (Tensor("f32", (128, 8, 3)), 128 * 8 * 3 * 4, True),  # a convolution's may lie with the 3 outermost
    ],
)
def test_tiles(tensor: Tensor, stored: int, any_pair: bool) -> None:
    assert tensor.bytes + padding_bytes(tensor, SMALL, any_pair) == stored


def test_heads_of_24_are_told_with_what_they_cost() -> None:
    """Queries times keys and its like backwards, 32 of 50 x 24 x 50: 24 takes the place of 128, one 50 of 56, and the
    other of 128."""
    found = analyse(text("transformer"), GENERATIONS["v5e"])
    (heads,) = (one for one in found.wastes if one.size == 24)
    assert (heads.dimension, heads.padded, heads.operations) == ("contracted", 128, 2)
    assert heads.flops == 2 * 2 * 32 * (56 * 128 * 128 - 50 * 24 * 50)
    assert heads.shape == "bf16[32x50x24] x bf16[32x24x50] -> bf16[32x50x50]"
    assert [one.flops for one in found.wastes] == sorted((one.flops for one in found.wastes), reverse=True)
    # On a unit of 256 more is idle.
    assert analyse(text("transformer"), GENERATIONS["v6e"]).wasted_flops > found.wasted_flops


def test_whole_tiles_waste_nothing() -> None:
    sized = "(tensor<256x512xbf16>, tensor<512x256xbf16>) -> tensor<256x256xbf16>"
    taken = "%arg0: tensor<256x512xbf16>, %arg1: tensor<512x256xbf16>"
    body = f"    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : {sized}"
    whole = f"module @m {{\n  func.func @main({taken}) -> tensor<f32> {{\n{body}\n"
    found = analyse(whole, GENERATIONS["v6e"])
    assert found.matrix_flops == 2 * 256 * 512 * 256 and found.wastes == ()


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 700), st.integers(1, 700), st.integers(1, 700), st.sampled_from([SMALL, LARGE]))
def test_padding_never_takes_away(rows: int, inner: int, columns: int, grain: Grain) -> None:
    left, right, result = (Tensor("bf16", sizes) for sizes in ((rows, inner), (inner, columns), (rows, columns)))
    one = Operation("dot_general", (left, right), (result,), "contracting_dims = [1] x [0]", 1, None, "main")
    product = product_of(one)
    assert product is not None and product.flops == 2 * rows * inner * columns
    padded = padded_flops(product, grain)
    assert product.flops <= padded <= 2 * (rows + 255) * (inner + 255) * (columns + 255)
    assert all(padding_bytes(tensor, grain, False) >= 0 for tensor in (left, right, result))
    doubled = one._replace(operands=(right, left), attributes="contracting_dims = [0] x [1]")
    turned = product_of(doubled)
    assert turned is not None and padded_flops(turned, grain) == padded, "which factor comes first says nothing"


# ------------------------------------------------------------------------ wide numbers, odd calls


def test_doubles_are_told_with_their_line() -> None:
    found = analyse(text("doubles"))
    (wide,) = found.wide
    # A weight, a bias and a batch in f64; the learning rate is a scalar.
    assert (wide.dtype, wide.arguments, wide.argument_bytes) == ("f64", 3, 8 * (4 * 16 + 4 + 8 * 16))
    assert wide.place == Place("make_graphs.py", 78) and "argument 0 of f64[4]" in wide.first
    # Two products, two sums of the bias, and for each parameter a product with the rate and a sum.
    assert wide.arithmetic == 8
    assert any("f64" in one and "make_graphs.py:78" in one for one in sentences(found))


@pytest.mark.parametrize("name", ["mlp", "cnn", "transformer"])
def test_labels_and_scalars_are_not_told_of(name: str) -> None:
    """They are int64 and f64 by nature; a one-hot of labels is moved, not computed."""
    assert "xi64>" in text(name) and analyse(text(name)).wide == ()


def test_a_conversion_to_f64_is_what_brings_it_in() -> None:
    found = analyse(
        '#loc1 = loc("train.py":5:0)\nmodule @m {\n  func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf64> {\n'
        "    %0 = stablehlo.convert %arg0 : (tensor<8xf32>) -> tensor<8xf64> loc(#loc1)\n"
        "    %1 = stablehlo.multiply %0, %0 : tensor<8xf64>\n    return %1 : tensor<8xf64>\n  }\n}\n"
    )
    (wide,) = found.wide
    assert (wide.first, wide.place) == ("convert to f64[8]", Place("train.py", 5))
    assert (wide.values, wide.value_bytes, wide.arithmetic) == (2, 128, 1)


def test_large_tensors_of_indices_are_told_of() -> None:
    size = 2**17
    found = analyse(
        f"module @m {{\n  func.func @main(%arg0: tensor<{size}xi64>, %arg1: tensor<{size - 1}xi64>) -> tensor<f32> {{\n"
        f"    %0 = stablehlo.add %arg0, %arg0 : tensor<{size}xi64>\n  }}\n}}\n"
    )
    (wide,) = found.wide
    assert (wide.dtype, wide.arguments, wide.argument_bytes, wide.arithmetic) == ("i64", 1, 2**20, 1)


def test_odd_calls() -> None:
    eight = "tensor<8xf32>"
    found = analyse(
        f"module @m {{\n  func.func @main(%arg0: {eight}) -> {eight} {{\n"
        f'    %0 = stablehlo.custom_call @Sharding(%arg0) {{mhlo.sharding = "{{replicated}}"}} : ({eight}) -> {eight}\n'
        f"    %1 = stablehlo.custom_call @Sharding(%0) : ({eight}) -> {eight}\n"
        f"    %2 = stablehlo.set_dimension_size %1, %arg1, dim = 0 : ({eight}, tensor<i32>) -> "
        "tensor<?xf32, #stablehlo.bounds<8>>\n"
        f"    %3 = stablehlo.dynamic_slice %arg0, %c, sizes = [4] : ({eight}, tensor<i64>) -> tensor<4xf32>\n  }}\n}}\n"
    )
    assert [one[:3] for one in found.odd_calls] == [
        ("custom call", "Sharding", 2),
        ("dynamic", "set_dimension_size", 1),
    ]
    assert analyse(text("transformer")).odd_calls == ()


def test_operations_that_stablehlo_has_no_name_for() -> None:
    """GELU's error function: XLA knows it, so it is arithmetic like any other."""
    found = analyse(
        "module @m {\n  func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"
        "    %0 = stablehlo.custom_call @mhlo.erf(%arg0) {mhlo.attributes = {}, mhlo.version = 1 : i64} : "
        "(tensor<4x8xf32>) -> tensor<4x8xf32>\n    return %0 : tensor<4x8xf32>\n  }\n}\n"
    )
    assert found.odd_calls == () and found.flops == 4 * 8


def test_dynamic_tensors() -> None:
    one = Tensor("f32", (DYNAMIC, 4))
    assert one.is_dynamic and one.numbers == 4 and str(one) == "f32[?x4]"


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("f32", 4), ("bf16", 2), ("i1", 1), ("ui8", 1), ("f8E4M3FN", 1), ("complex<f32>", 8), ("i4", 0.5)],
)
def test_sizes_of_numbers(dtype: str, size: float) -> None:
    assert Tensor(dtype, ()).number_bytes == size


def test_data_is_json() -> None:
    data = json.loads(json.dumps(as_data(analyse(text("doubles"), GENERATIONS["v5e"]))))
    assert data["matrix_flops"] == 2048
    assert data["wide_numbers"][0]["place"] == {"filename": "make_graphs.py", "row": 78}
    assert data["wasted_flops_at_least"] == sum(one["flops"] for one in data["padding"]) > 0
    assert data["sentences"]

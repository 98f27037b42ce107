"""A plan of a compiled step, made of the code's own data types; no compiler is asked."""

from __future__ import annotations

from tpulint.planning.commands import Command
from tpulint.planning.compiled import (
    Argument,
    Capture,
    Compilation,
    CompiledPlan,
    CompileFailure,
    Memory,
    Program,
    StepOnChip,
    Variant,
)
from tpulint.planning.compiled_json import render
from tpulint.planning.data import load_hardware, load_prices
from tpulint.planning.scaling import scale
from tpulint.planning.steps_on_chips import assemble
from tpulint.planning.tensors import Place, Tensor

_F32, _F64 = "tensor<1000x1000xf32>", "tensor<1000x1000xf64>"
GRAPH = f"""\
#loc1 = loc("train.py":9:0)
module @m {{
  func.func @main(%arg0: {_F32}) -> {_F64} {{
    %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0] : ({_F32}, {_F32}) -> {_F32} loc(#loc1)
    %1 = stablehlo.custom_call @kernel(%0) : ({_F32}) -> {_F32} loc(#loc1)
    %2 = stablehlo.convert %1 : ({_F32}) -> {_F64} loc(#loc1)
    return %2 : {_F64}
  }}
}}
"""
"""Something of all that a plan tells of a graph: padding, f64, a custom call."""
MEMORY = Memory(arguments=4 * 10**9, outputs=4 * 10**9, aliased=4 * 10**9, temporaries=2 * 10**9, code=0)


def compiled_plan() -> str:
    """JSON of a plan, written by the code that writes it: one step on three chips, and one variant."""
    chips, prices = load_hardware().generations, load_prices()
    tensor = Tensor("f32", (1000, 1000))
    program = Program("digest", GRAPH, b"", (Argument(tensor, "state"),), (tensor,), 1, Place("train.py", 12))
    too_large = CompileFailure("out-of-memory", "Ran out of memory", used=20e9, limit=15e9)
    refused = CompileFailure("operator", "not implemented", "aten::mm (dot)", Place("train.py", 9))

    def step(name: str, failure: CompileFailure | None = None, variant: Variant = Variant()) -> StepOnChip:  # noqa: B008
        capture = Capture("train.py", (), variant, (program,), 3, 10**6, (), 1.0)
        # A quarter of a second of traffic on a v5e, and less of arithmetic.
        traffic = (chips["v5e"].memory_bandwidth or 0) / 4
        said = (None, None, None) if failure else (MEMORY, 1e12, traffic)
        return assemble(capture, chips[name], (Compilation("digest", name, "2x2", *said, failure, 1.0, False),))

    steps = (step("v5e"), step("v6e", too_large), step("v4", refused))
    slices = scale(steps[0], MEMORY.total, 1000, 2, prices.chip_hours["v5e"])
    chosen = next(one for one in slices if one.slice.chips == 4)
    return render(
        CompiledPlan(
            "train.py", (), {"torch": "2.9.1"}, steps, (step("v5e", variant=Variant(batch=32, bf16=True)),), (), slices,
            1000, 2, False, prices, chosen, (Command("ask", "gcloud --spot"),), ("one <note>",),
        )
    )  # fmt: skip

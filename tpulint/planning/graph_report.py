"""The analysis of a graph as sentences and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tpulint.planning.graph_analysis import GraphAnalysis, OddCall
from tpulint.planning.numbers import show_bytes
from tpulint.planning.padding import Waste
from tpulint.planning.tensors import Place
from tpulint.planning.wide_numbers import Wide

_SHOWN = 5
"""Reasons for padding that are told; the rest is in the data."""
_WORTH = 0.02
"""Share of all arithmetic below which padding is not told of."""


def sentences(analysis: GraphAnalysis) -> Iterator[str]:
    """What there is to tell, the most costly first; nothing about what is as it should be."""
    for one in analysis.wide:
        yield wide_sentence(one)
    worth = [one for one in analysis.wastes if one.flops >= _WORTH * analysis.matrix_flops]
    for waste in worth[:_SHOWN]:
        yield waste_sentence(waste, analysis)
    if len(worth) > _SHOWN:
        yield f"{len(worth) - _SHOWN} more sizes are padded"
    for call in analysis.odd_calls:
        yield odd_call_sentence(call)
    if analysis.unread:
        yield f"{_count(analysis.unread, 'product')} not understood and left out of all numbers"
    if analysis.has_loops:
        yield "a loop stands in the graph: one turn of it is counted"


def waste_sentence(waste: Waste, analysis: GraphAnalysis) -> str:
    """``24 (contracted) is padded to 128 in 4 products: ...``."""
    share = waste.flops / analysis.matrix_flops
    noun = "convolution" if waste.operation == "convolution" else "product"
    room = f" and {show_bytes(waste.bytes)} of padding" if waste.bytes else ""
    return (
        f"{waste.size} ({waste.dimension}) is padded to {waste.padded} in {_count(waste.operations, noun)}: at least "
        f"{waste.flops:.3g} FLOPs ({share:.0%} of all useful ones){room}"
        f"{_at(waste.place)}; {waste.shape}"
    )


def wide_sentence(wide: Wide) -> str:
    """``f64: 3 arguments of 1.6 kB, 8 operations compute with it; ...``."""
    parts = []
    if wide.arguments:
        parts.append(f"{_count(wide.arguments, 'argument')} of {show_bytes(wide.argument_bytes)}")
    if wide.values:
        parts.append(f"{_count(wide.values, 'result')} of {show_bytes(wide.value_bytes)}")
    if wide.arithmetic:
        parts.append(f"{_count(wide.arithmetic, 'operation')} that {'compute' if wide.arithmetic > 1 else 'computes'}")
    return f"{wide.dtype}, which a TPU has no unit for: {', '.join(parts)}; first {wide.first}{_at(wide.place)}"


def odd_call_sentence(call: OddCall) -> str:
    """``custom call Sharding, 2 times``."""
    times = "once" if call.times == 1 else f"{call.times} times"
    what = "sizes that only the run knows" if call.kind == "dynamic" else "the compiler cannot look into it"
    return f"{call.kind} {call.name}, {times}: {what}{_at(call.place)}"


def as_data(analysis: GraphAnalysis) -> dict[str, Any]:
    """Names and numbers, for JSON."""
    return {
        **{name: value for name, value in analysis._asdict().items() if not isinstance(value, tuple)},
        "wasted_flops_at_least": analysis.wasted_flops,
        "padding": [{**one._asdict(), "place": one.place.data if one.place else None} for one in analysis.wastes],
        "wide_numbers": [{**one._asdict(), "place": one.place.data if one.place else None} for one in analysis.wide],
        "odd_calls": [{**one._asdict(), "place": one.place.data if one.place else None} for one in analysis.odd_calls],
        "sentences": list(sentences(analysis)),
    }


def _at(place: Place | None) -> str:
    return f" ({place.path}:{place.row})" if place is not None else ""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

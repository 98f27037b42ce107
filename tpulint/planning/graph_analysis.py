"""What a graph says about its own cost, before any compiler sees it: arithmetic, padding, wide numbers, odd calls."""

from __future__ import annotations

import re
from typing import NamedTuple

from tpulint.planning.generations import Generation
from tpulint.planning.graph_text import Graph, Operation, parse
from tpulint.planning.matrix_products import PRODUCTS, product_of
from tpulint.planning.padding import Waste, grain_of, wastes
from tpulint.planning.tensors import Place
from tpulint.planning.wide_numbers import Wide, wide_numbers

_ONE_EACH = frozenset(
    ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "remainder", "negate", "abs", "sign",
     "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "tanh", "sqrt", "rsqrt", "cbrt", "sine",
     "cosine", "tan", "atan2", "erf", "erf_inv", "floor", "ceil", "round_nearest_even", "clamp", "compare", "select")
)  # fmt: skip
"""One operation for each number of the result."""
_ONE_EACH_READ = frozenset(
    ("reduce", "reduce_window", "batch_norm_training", "batch_norm_grad", "batch_norm_inference", "scatter",
     "select_and_scatter")
)  # fmt: skip
"""One for each number of the first operand."""
_DYNAMIC = frozenset(
    ("get_dimension_size", "set_dimension_size", "real_dynamic_slice", "dynamic_reshape", "dynamic_pad",
     "dynamic_broadcast_in_dim", "dynamic_gather", "dynamic_conv", "dynamic_iota")
)  # fmt: skip
"""Their results have sizes that only the run knows. ``dynamic_slice`` is not one: only its place is."""
_TARGET = re.compile(r"@([\w$.-]+)|call_target_name = \"([^\"]*)\"")


class OddCall(NamedTuple):
    """Something the compiler cannot look into, or whose sizes it does not know."""

    kind: str
    """``custom call`` or ``dynamic``."""
    name: str
    times: int
    place: Place | None


class GraphAnalysis(NamedTuple):
    """Numbers of one program, of one run of it."""

    operations: int
    arguments: int
    argument_bytes: int
    """Without padding."""
    matrix_flops: int
    """Of products and convolutions; a multiplication and an addition are two."""
    flops: int
    """These, and one for each number that other arithmetic writes, or that a reduction reads."""
    products: int
    """Products and convolutions."""
    unread: int
    """Of these, those whose text was not understood: they are in no number here."""
    has_loops: bool
    """Loops count one turn: the graph may do more than is counted."""
    wastes: tuple[Waste, ...]
    """The most first; empty also where the generation has no tiles."""
    wide: tuple[Wide, ...]
    odd_calls: tuple[OddCall, ...]

    @property
    def wasted_flops(self) -> int:
        """Of all products, at least."""
        return sum(one.flops for one in self.wastes)


def analyse(text: str, generation: Generation | None = None) -> GraphAnalysis:
    """Analyse StableHLO text; ``generation`` says which tiles to count padding by."""
    return analyse_graph(parse(text), generation)


def analyse_graph(graph: Graph, generation: Generation | None = None) -> GraphAnalysis:
    """The same for a graph that was read already."""
    running = [(one, graph.runs.get(one.function, 0)) for one in graph.operations]
    multiplying = [(one, runs) for one, runs in running if one.name in PRODUCTS and runs]
    read = [(product, runs) for one, runs in multiplying if (product := product_of(one)) is not None]
    matrix = sum(product.flops * runs for product, runs in read)
    grain = grain_of(generation) if generation is not None else None
    return GraphAnalysis(
        len(graph.operations), len(graph.arguments), graph.argument_bytes, matrix,
        matrix + sum(_arithmetic(one) * runs for one, runs in running), len(multiplying), len(multiplying) - len(read),
        graph.has_loops, wastes(read, grain) if grain is not None else (), wide_numbers(graph), _odd_calls(graph),
    )  # fmt: skip


def _arithmetic(operation: Operation) -> int:
    if operation.name in _ONE_EACH and operation.results:
        return operation.results[0].numbers
    if operation.name in _ONE_EACH_READ and operation.operands:
        return operation.operands[0].numbers
    return 0


def _odd_calls(graph: Graph) -> tuple[OddCall, ...]:
    found: dict[tuple[str, str], list[Operation]] = {}
    for one in graph.operations:
        if one.name == "custom_call":
            match = _TARGET.search(one.attributes)
            name = (match[1] or match[2]) if match is not None else "unknown"
            found.setdefault(("custom call", name), []).append(one)
        elif one.name in _DYNAMIC or any(result.is_dynamic for result in one.results):
            found.setdefault(("dynamic", one.name), []).append(one)
    return tuple(
        OddCall(*key, len(members), next((one.place for one in members if one.place is not None), None))
        for key, members in found.items()
    )

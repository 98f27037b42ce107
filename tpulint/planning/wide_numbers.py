"""64-bit numbers in a graph: a TPU has no unit for them, computes with halves, and moves twice the bytes.

Torch's indices and labels are int64 by nature, and numbers of Python reach the graph as f64 scalars that are converted
at once: neither costs anything that matters. Whole tensors of f64, and large ones of int64, do.
"""

from __future__ import annotations

from typing import NamedTuple

from tpulint.planning.graph_text import Graph
from tpulint.planning.tensors import Place, Tensor

DOUBLES = ("f64", "complex<f64>")
INTEGERS = ("i64", "ui64")
LARGE = 2**20
"""Bytes from which a tensor of 64-bit integers is told of."""
_MOVES = frozenset(
    ("constant", "convert", "reshape", "transpose", "broadcast_in_dim", "slice", "concatenate", "iota", "copy", "while",
     "optimization_barrier", "tuple", "get_tuple_element", "dynamic_slice", "dynamic_update_slice", "bitcast_convert")
)  # fmt: skip
"""Operations that compute nothing."""


class Wide(NamedTuple):
    """Values of one 64-bit type."""

    dtype: str
    arguments: int
    argument_bytes: int
    values: int
    """Results of operations, before the compiler fuses any; of integers those that are computed, not only moved."""
    value_bytes: int
    arithmetic: int
    """Operations that compute with it, scalars aside."""
    first: str
    """What brings it in: ``argument 3 of f64[8x16]``, ``convert to f64[8x16]``."""
    place: Place | None
    """Line of that, where it is known; else of the first operation that has it and whose line is known."""


def wide_numbers(graph: Graph) -> tuple[Wide, ...]:
    """Tensors of f64 of more than one number, and integers of 64 bits that are large."""
    return tuple(
        found
        for dtypes, least in ((DOUBLES, 0), (INTEGERS, LARGE))
        for dtype in dtypes
        if (found := _wide(graph, dtype, least)) is not None
    )


def _wide(graph: Graph, dtype: str, least: int) -> Wide | None:
    def counts(one: Tensor) -> bool:
        return one.dtype == dtype and one.numbers > 1 and one.bytes >= least

    arguments = [(at, one) for at, one in enumerate(graph.arguments) if counts(one)]
    values = [
        (operation, one) for operation in graph.operations if graph.runs.get(operation.function)
        for one in operation.results if counts(one) and (dtype in DOUBLES or operation.name not in _MOVES)
    ]  # fmt: skip
    if not arguments and not values:
        return None
    places = [graph.argument_places[at] for at, _ in arguments]
    if arguments:
        at, tensor = arguments[0]
        first = f"argument {at} of {tensor}"
    else:
        operation, tensor = next(
            ((one, made) for one, made in values if not any(taken.dtype == dtype for taken in one.operands)), values[0]
        )
        first = f"{operation.name} to {tensor}"
        places.append(operation.place)
    places += [operation.place for operation, _ in values]
    return Wide(
        dtype, len(arguments), sum(one.bytes for _, one in arguments), len(values), sum(one.bytes for _, one in values),
        sum(operation.name not in _MOVES for operation, _ in values), first, next(filter(None, places), None),
    )  # fmt: skip

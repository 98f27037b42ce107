"""What matrices waste where their sizes are no multiples of the tiles that a TPU works in.

HBM holds tiles of 8 rows and 128 columns of 32-bit numbers; numbers of 16 bits are stored two to a row, so that a tile
has 16 rows. The matrix unit takes 128 or 256 contracted numbers and columns at a time, and rows by eights. The compiler
chooses layouts: everything here takes the best choice, so that a program wastes at least this much.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import NamedTuple

from tpulint.planning.generations import Generation
from tpulint.planning.matrix_products import Product, tensors_of
from tpulint.planning.tensors import Place, Tensor

WORD = 4
"""Bytes of the numbers that the rows of a tile are counted in."""
ROWS, CONTRACTED, COLUMNS = "rows", "contracted", "columns"


class Grain(NamedTuple):
    """What sizes are rounded up to."""

    rows: int
    """Of a tile of 32-bit numbers."""
    columns: int
    """Of a tile."""
    unit: int
    """Side of the matrix unit."""


class Waste(NamedTuple):
    """Operations that waste for the same reason."""

    operation: str
    """``dot_general``."""
    dimension: str
    """``rows``, ``contracted`` or ``columns``: what the size is in the one that wastes most."""
    size: int
    """That is rounded up most of all sizes of these operations."""
    padded: int
    operations: int
    """How many share it."""
    flops: int
    """Done on padding, at least, by all of them."""
    bytes: int
    """Of padding in their operands and results, at least; a tensor that several share counts once."""
    shape: str
    """Operands and result of the one that wastes most."""
    place: Place | None
    """Line of the first one whose line is known."""


def grain_of(generation: Generation) -> Grain | None:
    """Tiles of a generation; None for what has none, such as a GPU."""
    tile, unit = generation.figures.get("tile"), generation.figures.get("mxu")
    if tile is None or unit is None:
        return None
    rows, columns = (int(part) for part in str(tile.value).split("x"))
    return Grain(rows, columns, int(str(unit.value).partition("x")[0]))


def padded_flops(product: Product, grain: Grain) -> int:
    """Arithmetic of a product whose sizes are rounded up: the sides with their padding."""
    rows, contracted, columns = padded_sizes(product, grain)
    return 2 * product.batch * rows * contracted * columns


def padded_sizes(product: Product, grain: Grain) -> tuple[int, int, int]:
    """Rows, contracted and columns, rounded up. Either factor may be the one that the unit holds."""
    contracted = _up(product.contracted, grain.unit)
    ways = ((grain.rows, grain.unit), (grain.unit, grain.rows))
    sizes = [(_up(product.rows, by_row), contracted, _up(product.columns, by_column)) for by_row, by_column in ways]
    return min(sizes, key=lambda one: one[0] * one[2])


def padding_bytes(tensor: Tensor, grain: Grain, any_pair: bool) -> int:
    """Bytes that tiles add to a tensor, in the best order of its two minor dimensions, or of any two."""
    if not tensor.shape or not tensor.number_bytes or tensor.is_dynamic or not tensor.numbers:
        return 0
    shape = tensor.shape if len(tensor.shape) > 1 else (1, *tensor.shape)
    rows = round(grain.rows * max(1.0, WORD / tensor.number_bytes))
    places = range(len(shape)) if any_pair else range(len(shape) - 2, len(shape))
    padded = min(
        tensor.numbers // (shape[one] * shape[two]) * _up(shape[one], rows) * _up(shape[two], grain.columns)
        for one, two in itertools.permutations(places, 2)
    )
    return round((padded - tensor.numbers) * tensor.number_bytes)


def wastes(products: Iterable[tuple[Product, int]], grain: Grain) -> tuple[Waste, ...]:
    """What products waste, each given with how often it runs; the most FLOPs first, then the most bytes."""
    found: dict[tuple[str, int, int], list[tuple[int, int, str, Product]]] = {}
    seen: set[tuple[str, str]] = set()
    for product, runs in products:
        sizes = (product.rows, product.contracted, product.columns)
        padded = padded_sizes(product, grain)
        flops = (padded_flops(product, grain) - 2 * product.batch * sizes[0] * sizes[1] * sizes[2]) * runs
        size = 0
        operation = product.operation
        names = (*operation.values[:2], f"{operation.row}")
        for name, tensor in zip(names, tensors_of(product), strict=False):
            if (operation.function, name) not in seen:
                seen.add((operation.function, name))
                size += padding_bytes(tensor, grain, operation.name == "convolution")
        if not flops:
            continue
        order = (CONTRACTED, COLUMNS, ROWS)
        by_name = {ROWS: (sizes[0], padded[0]), CONTRACTED: (sizes[1], padded[1]), COLUMNS: (sizes[2], padded[2])}
        worst = max(order, key=lambda name: by_name[name][1] / by_name[name][0])
        found.setdefault((operation.name, *by_name[worst]), []).append((flops, size, worst, product))
    result = [_waste(*key, members) for key, members in found.items()]
    return tuple(sorted(result, key=lambda one: (-one.flops, -one.bytes)))


def _waste(operation: str, size: int, padded: int, members: list[tuple[int, int, str, Product]]) -> Waste:
    _, _, dimension, worst = max(members, key=lambda one: one[0])
    left, right, result = tensors_of(worst)
    place = next((one.operation.place for *_, one in members if one.operation.place is not None), None)
    return Waste(
        operation, dimension, size, padded, len(members), sum(one[0] for one in members),
        sum(one[1] for one in members), f"{left} x {right} -> {result}", place,
    )  # fmt: skip


def _up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple

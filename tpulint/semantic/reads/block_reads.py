"""Reads in blocks that some turns come to, by the block at whose start their values are fetched."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tpulint.semantic.reads.fetches import value_key
from tpulint.semantic.reads.reads import Read
from tpulint.semantic.syntax.tree import SyntaxTree


def reads_by_block(tree: SyntaxTree, made: Iterable[tuple[Read, ast.stmt]]) -> dict[ast.stmt, list[Read]]:
    """First statements of blocks, with the reads that need a fetch there; ``made`` tells where each read is made.

    What a block around reads as well is fetched there already.
    """
    own: dict[ast.stmt, list[Read]] = {}
    for read, statement in made:
        own.setdefault(tree.suite_of(statement)[0], []).append(read)
    around = {first: [node for node in tree.ancestors(first) if isinstance(node, ast.stmt)] for first in own}
    keys = {first: {value_key(read.tensor) for read in reads} for first, reads in own.items()}
    found: dict[ast.stmt, list[Read]] = {first: [] for first in own}
    for first, reads in own.items():
        outer = [one for one in own if any(holder in tree.suite_of(one) for holder in around[first])]
        outer.sort(key=lambda one: len(around[one]))
        for read in reads:
            holder = next((one for one in outer if value_key(read.tensor) in keys[one]), first)
            found[holder].append(read)
    return {first: reads for first, reads in found.items() if reads}

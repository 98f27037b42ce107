"""Tables of so few rows that no batch is full: all of them would be left out, and nothing trained without a word.

``DataLoader(TensorDataset(rows), batch_size=500)`` in a function that is given its rows: `drop_last=len(rows) >= 500`.
"""

from __future__ import annotations

import ast

from tpulint.semantic import SemanticIndex
from tpulint.semantic.batches.loaders import Loader
from tpulint.semantic.syntax.variables import last_name
from tpulint_rules.data._partial_batches import is_given

_TABLE = "torch.utils.data.TensorDataset"
_NAMED = "TensorDataset"
"""What classes of projects that do the same are called."""


def fills_batch(index: SemanticIndex, loader: Loader) -> str | None:
    """What asks at run time whether the rows that a function is given fill a batch; None where nothing has to."""
    arguments = loader.arguments or {}
    if index.function_of(loader.call) is None or is_given(arguments.get("sampler")):
        return None
    if index.loaders.counts.fills_a_batch(loader):
        return None
    samples, sizes = arguments.get("dataset", []), arguments.get("batch_size", [])
    if len(samples) != 1 or len(sizes) != 1 or not _is_written_at(index, loader.call, samples[0], sizes[0]):
        return None
    rows = _rows(index, samples[0])
    is_plain = isinstance(sizes[0], ast.Constant) or _is_variable(sizes[0])
    return f"len({index.text(rows)}) >= {index.text(sizes[0])}" if rows is not None and is_plain else None


def _is_written_at(index: SemanticIndex, call: ast.Call, *values: ast.expr) -> bool:
    return all(any(index.tree.encloses(item, value) for item in (*call.args, *call.keywords)) for value in values)


def _rows(index: SemanticIndex, samples: ast.expr) -> ast.expr | None:
    """A variable as long as a table: the table itself, or the first tensor of one that is made where it is given."""
    made = index.moves.creations.of(samples)
    if len(made) != 1 or made[0].path or not isinstance(made[0].node, ast.Call):
        return None
    is_table = index.qualified_name(made[0].node.func) == _TABLE
    if not is_table and last_name(made[0].node.func) != _NAMED:
        return None
    if made[0].node is samples and is_table:
        first = made[0].node.args[0] if made[0].node.args else None
        return first if first is not None and _is_variable(first) else None
    return samples if _is_variable(samples) else None


def _is_variable(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)

"""Reads that give an array of one number, ``loss.detach().cpu().numpy()``."""

from __future__ import annotations

import ast

from tpulint.semantic.reads.reads import Read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_OF_ARRAYS = ("torch.from_numpy", "torch.utils.dlpack.from_dlpack", "torch.from_dlpack")
"""Functions that refuse a number of NumPy where they take an array without dimensions."""


def is_array_of_number(index: SemanticIndex, read: Read) -> bool:
    """Whether a read gives an array without dimensions for which a number of NumPy can stand."""
    if not _is_array(index, read) or index.number_types.is_integer(read.tensor):
        return False
    user = index.parent(read.node)
    return not (isinstance(user, ast.Call) and index.qualified_name(user.func) in _OF_ARRAYS)


def is_logged_array(index: SemanticIndex, read: Read) -> bool:
    """Whether such an array is made for a text or a log alone: ``"{:.4f}".format(loss.cpu().numpy())``."""
    if not _is_array(index, read):
        return False
    user = index.parent(read.node)
    if isinstance(user, ast.Call) and isinstance(user.func, ast.Attribute) and user.func.attr == "add_scalar":
        return index.reads.is_output(user)
    user = index.parent(user) if isinstance(user, ast.Tuple) else user
    is_text = isinstance(user, ast.Call | ast.BinOp) and index.reads.is_text(user)
    return is_text or isinstance(user, ast.FormattedValue)


def _is_array(index: SemanticIndex, read: Read) -> bool:
    node = read.node
    is_array = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "numpy"
    return is_array and index.scalars.is_scalar(read.tensor)

"""What the rules of this category write where a value stays on the device."""

from __future__ import annotations

import ast

from tpulint.context import FixBuilder
from tpulint.semantic import LoopNode, Read, SemanticIndex


def keep_on_device(fix: FixBuilder, index: SemanticIndex, read: Read, tail: str = "") -> None:
    """Write the tensor, and ``tail``, where its value was read."""
    text = index.text(read.tensor)
    free = index.totals.is_integer(read.tensor) or not index.regions.records_gradient(read.node)
    suffix = "" if free or text.endswith((".detach()", ".data")) else ".detach()"
    suffix += tail
    if isinstance(read.node, ast.Call) and isinstance(read.node.func, ast.Attribute):
        fix.replace_tail(read.node, read.tensor, suffix)
    else:
        fix.replace(read.node, fix.text(read.tensor) + suffix)


def torch_text(fix: FixBuilder, index: SemanticIndex, at: ast.AST) -> str:
    """How ``torch`` is written; a file that uses the name without binding it is beyond repair."""
    if "torch" not in index.names.module.bindings and any(name.id == "torch" for name in index.tree.names):
        fix.give_up()
    return fix.use("torch", at=at)


def device_text(fix: FixBuilder, index: SemanticIndex, loop: LoopNode) -> str:
    """How the device is written in front of a loop: as in the loop, where that is possible."""
    return index.totals.device_text(loop) or f"{fix.use('torch_xla', at=loop)}.device()"


def short(text: str) -> str:
    """A text in one line, shortened for a message."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."

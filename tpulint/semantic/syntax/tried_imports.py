"""Names that versions of torch have in two places, or lack: ``from torch.amp import GradScaler``, or else another."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.tree import SyntaxTree

_PUBLIC_IN_TORCH = re.compile(r"torch(?:\.[a-zA-Z]\w*)+")
_TRIED_AND_OLDER = 2
_FALLBACKS = frozenset({"import", "class"})


def is_tried_import(tree: SyntaxTree, bindings: Sequence[Binding]) -> bool:
    """Whether an import is what is tried, and another, or a class of that name, what is taken where that fails."""
    if len(bindings) != _TRIED_AND_OLDER or bindings[0].kind != "import" or bindings[1].kind not in _FALLBACKS:
        return False
    choice = tree.parents.get(bindings[0].statement)
    is_tried = isinstance(choice, ast.Try) and bindings[0].statement in choice.body
    return isinstance(choice, ast.Try) and is_tried and tree.parents.get(bindings[1].statement) in choice.handlers


def tried_first(bindings: Sequence[Binding], names: Sequence[str]) -> str | None:
    """The first of two qualified names, where both are public names of torch, or the other is a class in its place."""
    imported = [name for one, name in zip(bindings, names, strict=True) if one.kind == "import"]
    return names[0] if all(map(_PUBLIC_IN_TORCH.fullmatch, imported)) else None

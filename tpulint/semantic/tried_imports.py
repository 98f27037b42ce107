"""Names that versions of torch have in two places: ``from torch.amp import GradScaler``, or else from another."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tpulint.semantic.bindings import Binding
from tpulint.semantic.tree import SyntaxTree

_PUBLIC_IN_TORCH = re.compile(r"torch(?:\.[a-zA-Z]\w*)+")
_TRIED_AND_OLDER = 2


def is_tried_import(tree: SyntaxTree, bindings: Sequence[Binding]) -> bool:
    """Whether two imports are what is tried, and what is taken where that fails."""
    tried = [tree.parents.get(binding.statement) for binding in bindings if binding.kind == "import"]
    choice = tried[0] if len(bindings) == len(tried) == _TRIED_AND_OLDER else None
    return isinstance(choice, ast.Try) and bindings[0].statement in choice.body and tried[1] in choice.handlers


def tried_first(names: Sequence[str]) -> str | None:
    """The first of two qualified names, where both are public names of torch."""
    return names[0] if all(map(_PUBLIC_IN_TORCH.fullmatch, names)) else None

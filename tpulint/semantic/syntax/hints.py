"""Annotations that are written as texts."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.syntax.tree import SyntaxTree


def words_of_hints(tree: SyntaxTree) -> set[str]:
    """Words of the annotations of a file that are written as texts: ``model: "DeepSpeedEngine"``."""
    hints: list[ast.expr | None] = []
    for function in tree.functions:
        given = function.args
        named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        hints += [function.returns, *(argument.annotation for argument in named if argument is not None)]
    hints += [node.annotation for node in tree.inside(tree.module) if isinstance(node, ast.AnnAssign)]
    parts = (part for hint in hints if hint is not None for part in ast.walk(hint))
    texts = (part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))
    return {word for text in texts for word in re.findall(r"[^\W\d]\w*", text)}

"""Code that is kept for versions of torch older than any that torch_xla of today runs with."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.syntax.nodes import EXITS
from tpulint.semantic.syntax.tree import SyntaxTree

_NEWER = (
    r"(?i)TORCH_?(?:VERSION_?)?(?:IS_)?(?:GREATER|GE_|AT_LEAST|NEWER)|TORCH_\d+_\d+|WITH_PT\d+"
    r"|torch\w*\(\s*['\"]>=?['\"]"
)
_OLDER = r"(?i)torch_(?:is_)?(?:less|older|below)|torch\w*\(\s*['\"]<=?['\"]"
_NUMBER = r"(?<!\d)(\d)[._](\d+)|PT(\d)(\d+)"
_TODAY = (2, 9)


def is_for_older_torch(tree: SyntaxTree, node: ast.AST) -> bool:
    """Whether a test of the version keeps the node for older ones: ``new() if TORCH_2_4 else old()``."""
    child: ast.AST = node
    for ancestor in tree.ancestors(node):
        if isinstance(ancestor, ast.If | ast.IfExp):
            orelse = ancestor.orelse if isinstance(ancestor.orelse, list) else [ancestor.orelse]
            if child in orelse and _asks(tree, ancestor.test, _NEWER):
                return True
            if child is not ancestor.test and child not in orelse and _asks(tree, ancestor.test, _OLDER):
                return True
        if isinstance(child, ast.stmt) and not isinstance(ancestor, ast.Module):
            suite = tree.suite_of(child)
            for before in suite[: suite.index(child)]:
                leaves = isinstance(before, ast.If) and isinstance(before.body[-1], EXITS)
                if leaves and isinstance(before, ast.If) and _asks(tree, before.test, _NEWER):
                    return True
        child = ancestor
    return False


def _asks(tree: SyntaxTree, test: ast.expr, how: str) -> bool:
    """Whether a test is about nothing but a version, and one that has come."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return how is _OLDER and _asks(tree, test.operand, _NEWER)
    if isinstance(test, ast.BoolOp):
        return False
    text = tree.text(test)
    if re.search(how, text) is None:
        return False
    number = re.search(_NUMBER, text)
    return number is None or (int(number[1] or number[3]), int(number[2] or number[4])) <= _TODAY

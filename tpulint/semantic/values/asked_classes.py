"""Classes that a condition asks about, where it holds: ``if isinstance(layer, Binary): layer.update()``.

So behind a comprehension, ``[layer for layer in net.modules() if isinstance(layer, Binary)]``.
"""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.tree import SyntaxTree

_ASKED = "builtins.isinstance"
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_WORDS = ("isinstance(",)
"""What every file has that asks so: most have none."""


def asked_classes(tree: SyntaxTree, names: Names, name: ast.Name) -> list[ast.expr]:
    """The classes of which a variable is an instance of one where it is used; none where nothing asks."""
    if not tree.source.has_any(_WORDS):
        return []
    child: ast.AST = name
    for ancestor in tree.ancestors(name):
        if isinstance(ancestor, FUNCTIONS):
            break
        tests: list[ast.expr] = []
        if isinstance(ancestor, ast.If) and child in ancestor.body:
            tests = _conditions(ancestor.test) if not _is_bound_in(tree, ancestor, name.id) else []
        elif isinstance(ancestor, _COMPREHENSIONS) and child is _made_of_each(ancestor):
            tests = [test for part in ancestor.generators for one in part.ifs for test in _conditions(one)]
        found = next((classes for test in tests if (classes := _asked_in(names, test, name.id))), [])
        if found:
            return found
        child = ancestor
    return []


def _made_of_each(comprehension: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> ast.expr:
    return comprehension.value if isinstance(comprehension, ast.DictComp) else comprehension.elt


def _conditions(test: ast.expr) -> list[ast.expr]:
    """What all holds where a test does."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _asked_in(names: Names, test: ast.expr, name: str) -> list[ast.expr]:
    if not isinstance(test, ast.Call) or len(test.args) != 2 or names.qualified(test.func) != _ASKED:
        return []
    asked, classes = test.args
    if not isinstance(asked, ast.Name) or asked.id != name:
        return []
    return list(classes.elts) if isinstance(classes, ast.Tuple) else [classes]


def _is_bound_in(tree: SyntaxTree, branch: ast.If, name: str) -> bool:
    """Whether a branch gives the variable another value."""
    return any(not isinstance(node.ctx, ast.Load) and tree.encloses(branch, node) for node in tree.names_called(name))


def is_derived_from(tree: SyntaxTree, names: Names, owner: ast.ClassDef) -> bool:
    """Whether a class of the file is derived from another one: its objects may be of either."""
    return any(names.class_named(base) is owner for other in tree.classes for base in other.bases)

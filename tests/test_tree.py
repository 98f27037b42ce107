"""What is remembered of a syntax tree is what one finds by looking."""

from __future__ import annotations

import ast
import random

import pytest

from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.source import SourceFile

TEXT = """\
class Outer:
    size: int = len([n for n in range(3)])

    def method(self, x=lambda: 1):
        def inner(y):
            return [z for z in y if z]

        class Local:
            async def other(self):
                yield await self.call(lambda k: k + 1)

        return inner(x), Local

    @decorator(Outer)
    def last(self): ...

for item in (a.b(c, d=e), f"{g()}"):
    with h() as i:
        j = i.k[l:m]
"""


def made() -> SyntaxTree:
    return SyntaxTree(SourceFile.from_text(TEXT), ast.parse(TEXT))


@pytest.mark.parametrize("seed", range(5))
def test_functions_and_classes_around_nodes_whatever_is_asked_first(seed: int) -> None:
    tree = made()
    nodes = [tree.module, *tree.parents]
    random.Random(seed).shuffle(nodes)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for node in nodes:
        around = list(tree.ancestors(node))
        assert tree.function_of(node) is next((one for one in around if isinstance(one, functions)), None)
        assert tree.class_of(node) is next((one for one in around if isinstance(one, ast.ClassDef)), None)


def test_nodes_of_classes_are_those_inside() -> None:
    tree = made()
    for node in (tree.module, *tree.parents):
        below = {item for item in tree.parents if node in tree.ancestors(item)}
        assert set(tree.inside(node)) == below
        assert set(tree.nodes_in(node, ast.Call, ast.Name)) == {n for n in below if isinstance(n, ast.Call | ast.Name)}


def test_nested_functions_and_classes_are_left_out_with_all_that_is_in_them() -> None:
    tree = made()
    (outer,) = (node for node in tree.classes if node.name == "Outer")
    names = tree.nodes_in(outer, ast.Name, functions=False)
    assert sorted(name.id for name in names) == ["int", "len", "n", "n", "range", "size"]
    assert not tree.nodes_in(outer, ast.Return, functions=False) and tree.nodes_in(outer, ast.Return)

"""Sums of products: enough algebra to see that ``(i + 1) * n`` and ``i * n`` are always ``n`` apart."""

from __future__ import annotations

import ast
from collections import Counter

from tpulint.semantic.syntax.bindings import part_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 8
_TERMS = 32
_ROUNDING = ("builtins.int", "builtins.round", "math.floor", "math.ceil")

Term = tuple[str, ...]
"""The factors of a product, sorted; () is the number 1."""


class Linear:
    """A number written as a sum of products of what cannot be taken apart further."""

    def __init__(self, index: SemanticIndex, *, roughly: bool = False) -> None:
        self._index = index
        self._roughly = roughly
        """Whether a number and what it is rounded to are taken for the same."""
        self.atoms: dict[str, ast.expr] = {}
        """What the factors stand for."""

    def difference(self, upper: ast.expr, lower: ast.expr) -> list[ast.expr] | None:
        """What the difference of two numbers depends on; None when that is too much to tell."""
        left, right = self._terms(upper, 0), self._terms(lower, 0)
        if left is None or right is None:
            return None
        left.subtract(right)
        return [self.atoms[factor] for term, times in left.items() if times for factor in term]

    def _terms(self, node: ast.expr, depth: int) -> Counter[Term] | None:
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Constant):
            return Counter({(): node.value}) if type(node.value) is int else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
            left, right = self._terms(node.left, depth + 1), self._terms(node.right, depth + 1)
            if left is None or right is None or len(left) * len(right) > _TERMS:
                return None
            if isinstance(node.op, ast.Mult):
                product: Counter[Term] = Counter()
                for one, times in left.items():
                    for other, more in right.items():
                        product[tuple(sorted((*one, *other)))] += times * more
                return product
            result = Counter(left)
            if isinstance(node.op, ast.Add):
                for term, times in right.items():
                    result[term] += times
            else:
                result.subtract(right)
            return result
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            divided = self._terms(node.left, depth + 1)
            by = f"/{ast.dump(node.right)}"
            self.atoms.setdefault(by, node.right)
            return divided and Counter({tuple(sorted((*term, by))): times for term, times in divided.items()})
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._terms(ast.copy_location(ast.BinOp(ast.Constant(0), ast.Sub(), node.operand), node), depth + 1)
        if isinstance(node, ast.Call) and self._rounds(node):
            return self._terms(node.args[0], depth + 1)
        if isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node)
            made = bindings[0] if len(bindings) == 1 and bindings[0].kind == "assign" else None
            value = None if made is None else part_of(made.value, made.path)
            if value is not None:  # of `start, end = i * n, (i + 1) * n` a part
                found = self._terms(value, depth + 1)
                if found is not None:
                    return found
        key = ast.dump(node)
        self.atoms.setdefault(key, node)
        return Counter({(key,): 1})

    def _rounds(self, call: ast.Call) -> bool:
        """``int(j * n / 4)``, of a formula and nothing that is read."""
        is_rounded = self._roughly and not call.keywords and self._index.qualified_name(call.func) in _ROUNDING
        return is_rounded and len(call.args) == 1 and isinstance(call.args[0], ast.BinOp)

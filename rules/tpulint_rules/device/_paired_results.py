"""Operations that give two results, ``values, places = x.topk(3)``, and what is one of these as it came."""

from __future__ import annotations

import ast

from tpulint.semantic import SemanticIndex
from tpulint.semantic.loops.direct_events import SYNCS
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import FUNCTIONS

_ALWAYS = frozenset({"sort", "topk", "kthvalue", "cummax"})
_ALONG = frozenset({"max", "min"})
"""Those that give two results where they are told a dimension."""
_ONE_OF_TWO = frozenset({"argsort"})
"""Those that give the second result alone."""
_UNCHANGED = frozenset({"detach", "clone", "contiguous", "long", "cuda", "requires_grad_"})
"""Methods behind which the result is the same one, of whole numbers."""
_PARTS = frozenset({"values", "indices"})
_WRAPPER = "torch.autograd.Variable"
_DEPTH = 12


class PairedResults:
    """Answers about one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def made_by(self, node: ast.expr, depth: int = 0) -> ast.Call | None:
        """The operation of which an expression may be one of two results; None where another one came in between."""
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node)
            found = (self._bound_by(one, node, depth + 1) for one in bindings)
            return next((call for call in found if call is not None), None)
        if isinstance(node, ast.IfExp):
            return self.made_by(node.body, depth + 1) or self.made_by(node.orelse, depth + 1)
        if isinstance(node, ast.Subscript):
            is_place = isinstance(node.slice, ast.Constant) and node.slice.value in (0, 1)
            return self._pair(node.value, depth + 1) if is_place else None
        if isinstance(node, ast.Attribute):
            if node.attr in _PARTS:
                return self._pair(node.value, depth + 1)
            return self.made_by(node.value, depth + 1) if node.attr == "data" else None
        if not isinstance(node, ast.Call):
            return None
        if self._operation(node) in _ONE_OF_TWO:
            return node
        if self._index.qualified_name(node.func) == _WRAPPER and node.args:
            return self.made_by(node.args[0], depth + 1)
        is_same = isinstance(node.func, ast.Attribute) and node.func.attr in _UNCHANGED
        is_same = is_same or self._index.moves.to_device(node) is True
        return self.made_by(node.func.value, depth + 1) if is_same and isinstance(node.func, ast.Attribute) else None

    def _bound_by(self, binding: Binding, use: ast.Name, depth: int) -> ast.Call | None:
        if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
            arguments = self._index.definitions.arguments
            given = arguments.of(binding.statement, binding.name) or arguments.of_object(
                binding.statement, binding.name
            )
            found = (self.made_by(item, depth) for item in given)
            return next((call for call in found if call is not None), None)
        if binding.kind != "assign" or binding.value is None or self._is_computed_between(binding, use):
            return None
        if not binding.path:
            return self.made_by(binding.value, depth)
        return self._pair(binding.value, depth) if len(binding.path) == 1 else None

    def _pair(self, node: ast.expr, depth: int) -> ast.Call | None:
        """The operation that gives the pair which an expression is."""
        if isinstance(node, ast.Name) and depth <= _DEPTH:
            bindings = self._index.flow.reaching(node)
            plain = [one.value for one in bindings if one.kind == "assign" and not one.path and one.value is not None]
            return next((call for call in (self._pair(item, depth + 1) for item in plain) if call is not None), None)
        if not isinstance(node, ast.Call):
            return None
        name = self._operation(node)
        return node if name in _ALWAYS or (name in _ALONG and self._is_along(node)) else None

    def _operation(self, call: ast.Call) -> str | None:
        """The name of the operation of a tensor, as a function of torch or as a method."""
        qualified = self._index.qualified_name(call.func)
        if qualified is not None:
            root, _, name = qualified.rpartition(".")
            return name if root == "torch" else None
        return call.func.attr if isinstance(call.func, ast.Attribute) else None

    def _is_along(self, call: ast.Call) -> bool:
        """Whether ``max`` is told a dimension, which no tensor is."""
        is_function = self._index.qualified_name(call.func) is not None
        given = [*call.args[int(is_function) :][:1], *(item.value for item in call.keywords if item.arg == "dim")]
        number = given[0].operand if given and isinstance(given[0], ast.UnaryOp) else given[0] if given else None
        return isinstance(number, ast.Constant) and isinstance(number.value, int)

    def _is_computed_between(self, binding: Binding, use: ast.Name) -> bool:
        """Whether the result was computed before it is used, by a boundary or a read, or was changed in its place."""
        index, holder = self._index, self._index.tree.function_of(use)
        made, used = index.tree.start(binding.statement), index.tree.start(use)
        ends: list[ast.AST] = [*index.calls_to(*SYNCS)]
        ends += [read.node for read in index.reads.inside(holder or index.tree.module) if self._is_of(read.tensor, use)]
        # `place.squeeze_(1)` makes another tensor of it.
        ends += [item for item in index.tree.attributes if item.attr.endswith("_") and self._is_of(item.value, use)]
        places = [index.tree.start(end) for end in ends if index.tree.function_of(end) is holder]
        if made < used:
            return any(made < place < used for place in places)
        return bool(places)  # a turn has given it to the next

    def _is_of(self, tensor: ast.expr, use: ast.Name) -> bool:
        return isinstance(tensor, ast.Name) and tensor.id == use.id

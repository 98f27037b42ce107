"""Values that no gradient goes back through: each of their uses is cut off, as in ``model(teacher(x).detach())``."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_CUTTING = frozenset({
    "detach", "data", "item", "tolist", "numpy", "argmax", "argmin", "argsort", "shape", "size", "dim", "ndim",
    "device", "dtype", "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "numel",
})  # fmt: skip
"""What a tensor is asked for without a gradient, by a method or attribute, or by a function of torch."""
_CHOOSING = frozenset({"topk", "sort", "min", "max", "kthvalue"})
"""What gives values, which have a gradient, with the places where they stand, which have none."""
_PLACES = 1
_KEEPING = frozenset({"append", "extend", "insert"})
"""Methods by which a list keeps what it is given."""
_HANDING_ON = (
    ast.Attribute, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.keyword,
)  # fmt: skip
"""Expressions whose value has the gradient of their parts."""
_ASKING = (ast.Compare, ast.FormattedValue, ast.If, ast.While, ast.Assert)
_GOES_BACK = (".backward(", "autograd.grad(")


def is_cut(index: SemanticIndex, value: ast.expr) -> bool:
    """Whether all that becomes of a value in its function is cut off: ``t = teacher(x)`` with ``t.detach()`` alone."""
    return _Ways(index).are_cut(value)


class _Ways:
    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._seen: set[ast.AST] = set()

    def are_cut(self, value: ast.AST) -> bool:
        if value in self._seen:
            return True  # looked at already
        self._seen.add(value)
        tree = self._index.tree
        holder = tree.parent(value)
        if isinstance(holder, ast.Attribute) and holder.attr in (_CUTTING | _KEEPING):
            return True
        if isinstance(value, ast.Call) and last_name(value.func) in _CHOOSING and self._gives_places_alone(value):
            return True
        if isinstance(holder, ast.Call):
            return self._call_cuts(holder, value)
        if isinstance(holder, ast.Subscript):
            return value is not holder.value or self.are_cut(holder)
        if isinstance(holder, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            targets = holder.targets if isinstance(holder, ast.Assign) else [holder.target]
            is_kept = not isinstance(holder, ast.NamedExpr) or self.are_cut(holder)
            return is_kept and all(map(self._variable_is_cut, targets))
        if isinstance(holder, ast.For | ast.comprehension):
            return self._variable_is_cut(holder.target)
        if isinstance(holder, ast.ListComp | ast.GeneratorExp):
            return value is not holder.elt or self.are_cut(holder)
        return isinstance(holder, _ASKING) or (isinstance(holder, _HANDING_ON) and self.are_cut(holder))

    def _call_cuts(self, call: ast.Call, value: ast.AST) -> bool:
        index, func = self._index, call.func
        if value is not func and isinstance(func, ast.Attribute) and func.attr in _KEEPING:
            return self._variable_is_cut(func.value)
        if value in call.args[:1] and (index.qualified_name(func) or "").removeprefix("torch.") in _CUTTING:
            return True
        function = index.definitions.function_called(call)
        if function is not None and any(word in index.text(function) for word in _GOES_BACK):
            return False
        return not index.regions.records_gradient(call) or self.are_cut(call)

    def _gives_places_alone(self, call: ast.Call) -> bool:
        """``far.min(1)[1]``, ``far.topk(3).indices``, and ``_, places = far.sort()`` where nobody reads the values."""
        part = self._index.tree.parent(call)
        if isinstance(part, ast.Attribute):
            return part.attr == "indices"
        if isinstance(part, ast.Subscript):
            return isinstance(part.slice, ast.Constant) and part.slice.value == _PLACES
        target = part.targets[0] if isinstance(part, ast.Assign) and len(part.targets) == 1 else None
        first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else None
        return isinstance(first, ast.Name) and not self._index.flow.loads_of(first, call)

    def _variable_is_cut(self, target: ast.expr) -> bool:
        """Whether all that is read of a variable which is given a value, or of each of several, is cut off."""
        if isinstance(target, ast.Tuple | ast.List):
            return all(map(self._variable_is_cut, target.elts))
        if isinstance(target, ast.Starred):
            return self._variable_is_cut(target.value)
        if not isinstance(target, ast.Name):
            return False
        index = self._index
        made = None if isinstance(target.ctx, ast.Load) else target
        return all(
            self.are_cut(load)
            for load in index.names.loads_of(target)
            if made is None or any(binding.node is made for binding in index.flow.reaching(load))
        )

"""States loaded from a file that do nothing but go into ``load_state_dict``, which copies them to the device."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tpulint.semantic.project.other_files import definition_called, loads_of_parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

CONSUMING = frozenset({
    "torch.nn.modules.utils.consume_prefix_in_state_dict_if_present",
    "torch.nn.utils.consume_prefix_in_state_dict_if_present",
})  # fmt: skip
"""Functions that change the names in a state, and nothing else."""
_DICTS = frozenset({"builtins.dict", "collections.OrderedDict"})
_MEASURES = frozenset({"shape", "size", "dim", "ndim", "numel", "dtype"})
"""What is asked of a tensor on the host as of one on the device."""
_HANDED_ON = 6
"""How many variables and functions a state is followed through."""


class CopiedStates:
    """Follows what is loaded through filters and new names: ``{k: v for k, v in state.items() if k in own}``.

    In a function that is handed a state, what it returns counts as gone in: its callers follow that.
    """

    def __init__(self, index: SemanticIndex, *, in_function: bool = False) -> None:
        self._index = index
        self._in_function = in_function

    def is_one(self, value: ast.expr, depth: int = 0) -> bool:
        """Whether everything in a value goes into ``load_state_dict``."""
        if self.goes_in(value) or self._is_filtered(value, depth):
            return True
        parent = self._index.parent(value)
        while isinstance(parent, ast.Subscript) and parent.value is value:
            value, parent = parent, self._index.parent(parent)
        if isinstance(parent, ast.Call) and value in parent.args[:1]:
            if self._is_dict(parent.func) and len(parent.args) == 1:
                return self.is_one(parent, depth)
            if isinstance(parent.func, ast.Attribute) and parent.func.attr == "update" and not parent.keywords:
                return self._is_own_state(parent.func.value, depth)
        if isinstance(parent, ast.Call) and value in parent.args:
            return depth < _HANDED_ON and self._comes_back(parent, value, depth) and self.is_one(parent, depth + 1)
        if (
            isinstance(parent, ast.Attribute)
            and parent.attr == "copy"
            and isinstance(copied := self._index.parent(parent), ast.Call)
        ):
            return self.is_one(copied, depth)
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or depth > _HANDED_ON:
            return False
        target = parent.targets[0]
        if isinstance(target, ast.Subscript) and parent.value is value:
            return self._is_kept(value, depth)
        if not isinstance(target, ast.Name):
            return False
        return self._all_go_in(self._index.flow.loads_of(target, value), depth + 1)

    def _comes_back(self, call: ast.Call, value: ast.expr, depth: int) -> bool:
        """Whether a function of the project only renames or filters what it is given, and returns that."""
        called = definition_called(self._index, call)
        if called is None:
            return False
        loads = loads_of_parameter(called, call, value)
        return CopiedStates(called.file, in_function=True)._all_go_in(loads, depth + 1)

    def _all_go_in(self, uses: Iterable[ast.expr], depth: int) -> bool:
        """Whether some go in, and what is done with the others takes no value out."""
        rest = [use for use in uses if not self._only_asks(use)]
        return bool(rest) and all(self.is_one(use, depth) for use in rest)

    def goes_in(self, node: ast.expr) -> bool:
        """Whether an expression, or a part of it, is what ``load_state_dict`` is given."""
        parent = self._index.parent(node)
        while isinstance(parent, ast.Subscript) and parent.value is node:
            node, parent = parent, self._index.parent(parent)
        if isinstance(parent, ast.Delete) or (self._in_function and isinstance(parent, ast.Return)):
            return True
        if not isinstance(parent, ast.Call) or node not in parent.args[:1]:
            return False
        if self._index.qualified_name(parent.func) in CONSUMING:
            return True
        is_assigned = any(item.arg == "assign" for item in parent.keywords)
        return isinstance(parent.func, ast.Attribute) and parent.func.attr == "load_state_dict" and not is_assigned

    def _is_dict(self, callee: ast.expr) -> bool:
        return self._index.qualified_name(callee) in _DICTS

    def _only_asks(self, use: ast.expr) -> bool:
        """``k in state``, ``len(state)``, ``state.keys()``, another value given to a key, names in a loop over items"""
        parent = self._index.parent(use)
        while isinstance(parent, ast.Subscript) and parent.value is use:
            use, parent = parent, self._index.parent(parent)
        if isinstance(use, ast.Subscript) and isinstance(use.ctx, ast.Store):
            return True
        if isinstance(parent, ast.Compare):
            return parent.comparators == [use] and isinstance(parent.ops[0], ast.In | ast.NotIn)
        if isinstance(parent, ast.Attribute):
            return parent.attr == "keys" or self._only_names(parent)
        return isinstance(parent, ast.Call) and self._index.text(parent.func) == "len"

    def _only_names(self, items: ast.Attribute) -> bool:
        """``for k, v in state.items():`` without ``v``"""
        holder = self._index.parent(call) if (call := self._index.parent(items)) is not None else None
        if items.attr != "items" or not isinstance(holder, ast.For) or holder.iter is not call:
            return False
        value = _value_of(holder.target)
        return value is not None and not self._index.names.loads_of(value)

    def _is_own_state(self, state: ast.expr, depth: int) -> bool:
        """``own = model.state_dict()``, into which loaded values are written before it is loaded itself."""
        if not isinstance(state, ast.Name) or depth > _HANDED_ON:
            return False
        made = [binding.value for binding in self._index.flow.reaching(state)]
        if not made or not all(map(self._is_new_state, made)):
            return False
        uses = [
            use for use in self._index.names.loads_of(state) if use is not state and not self._is_measured_part(use)
        ]
        return self._all_go_in(uses, depth + 1)

    def _is_new_state(self, made: ast.expr | None) -> bool:
        if not isinstance(made, ast.Call):
            return isinstance(made, ast.Dict) and not made.keys
        gives_state = isinstance(made.func, ast.Attribute) and made.func.attr == "state_dict"
        return gives_state or (self._is_dict(made.func) and not made.args)

    def _is_measured_part(self, use: ast.expr) -> bool:
        """``own[k].shape``"""
        part = self._index.parent(use)
        asked = self._index.parent(part) if isinstance(part, ast.Subscript) and part.value is use else None
        return isinstance(asked, ast.Attribute) and asked.attr in _MEASURES

    def _is_filtered(self, use: ast.expr, depth: int) -> bool:
        """Whether the items go on as they are: ``{k: v for k, v in state.items()}``, ``own[k[7:]] = v`` in a loop."""
        index = self._index
        while isinstance(part := index.parent(use), ast.Subscript) and part.value is use:
            use = part
        method = index.parent(use)
        items = index.parent(method) if isinstance(method, ast.Attribute) and method.attr == "items" else None
        if not isinstance(items, ast.Call) or items.func is not method:
            return False
        holder = index.parent(items)
        if isinstance(holder, ast.comprehension):
            made = index.parent(holder)
            value = _value_of(holder.target)
            if not isinstance(made, ast.DictComp) or made.generators != [holder] or value is None:
                return False
            others = [one for one in self._index.names.loads_of(value) if one is not made.value]
            is_same = isinstance(made.value, ast.Name) and made.value.id == value.id
            return is_same and all(map(self._is_measured, others)) and self.is_one(made, depth)
        value = _value_of(holder.target) if isinstance(holder, ast.For) and holder.iter is items else None
        if value is None or not isinstance(holder, ast.For):
            return False
        inside = [one for one in self._index.names.loads_of(value) if index.tree.encloses(holder, one)]
        kept = [one for one in inside if not self._is_measured(one)]
        return bool(kept) and all(self._is_kept(one, depth) for one in kept)

    def _is_measured(self, value: ast.expr) -> bool:
        asked = self._index.parent(value)
        return isinstance(asked, ast.Attribute) and asked.attr in _MEASURES

    def _is_kept(self, value: ast.expr, depth: int) -> bool:
        """``own[name] = value``, ``own[name].copy_(value)``"""
        statement = self._index.parent(value)
        if isinstance(statement, ast.Call) and isinstance(statement.func, ast.Attribute):
            return statement.func.attr == "copy_" and statement.args == [value]
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        place = statement.targets[0]
        if not isinstance(place, ast.Subscript) or not isinstance(place.value, ast.Name) or depth > _HANDED_ON:
            return False
        return self._is_own_state(place.value, depth)


def _value_of(target: ast.expr) -> ast.Name | None:
    """``v`` of ``k, v``"""
    if isinstance(target, ast.Tuple) and len(target.elts) == 2 and isinstance(target.elts[1], ast.Name):
        return target.elts[1]
    return None

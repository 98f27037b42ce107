"""Classes of meters, of which a class can be derived whose methods wait, and that notice nothing of it."""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import Definition, method
from tpulint.semantic.syntax.nodes import FUNCTIONS, is_of_self

_PURE = ("math.", "numpy.", "torch.", "builtins.")
_EFFECTS = ("builtins.print", "builtins.open", "builtins.setattr", "torch.distributed.", "torch.save")
_OF_LISTS = frozenset({"append", "appendleft", "extend", "pop", "popleft", "clear", "setdefault", "get"})
_OF_NUMBERS = frozenset({"detach", "clone", "cpu", "numpy", "float", "item", "sum", "mean"})
_SENDING = frozenset({"all_reduce", "reduce", "all_gather", "broadcast"})
_HOOKS = frozenset({
    "__slots__", "__class__", "__getattribute__", "__getattr__", "__setattr__", "__init_subclass__", "__new__",
    "__reduce__", "__reduce_ex__", "__getstate__",
})  # fmt: skip
"""Names in classes that make a difference where one is derived from them, or takes the place of their objects'."""
_MADE = ("builtins.", "collections.", "numpy.", "torch.")
_DEPTH = 4


def may_be_derived(owner: Definition) -> bool:
    """Whether a class is plain: without bases, decorators and what looks at classes, and sends its sums nowhere."""
    node = owner.node
    if not isinstance(node, ast.ClassDef) or node.keywords or node.decorator_list:
        return False
    if any(owner.file.qualified_name(base) != "builtins.object" for base in node.bases):
        return False
    for part in owner.file.tree.inside(node):
        named = part.name if isinstance(part, FUNCTIONS) else getattr(part, "attr", None) or getattr(part, "id", None)
        if named in _HOOKS:
            return False
        # What it keeps goes to other processes, which asks for tensors of the device. `dist.ReduceOp.SUM` is none.
        sends = isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _SENDING
        if sends and isinstance(part, ast.Call) and any(map(is_of_self, part.args)):
            return False
    return True


def keeps_to_itself(owner: Definition, name: str, depth: int = 0) -> bool:
    """Whether a method only works on what its object keeps, returns nothing, and may as well do it later."""
    found = method(owner, name)
    if found is None or not isinstance(found.node, FUNCTIONS) or not found.node.args.args or depth > _DEPTH:
        return False
    for node in found.file.tree.inside(found.node):
        if isinstance(node, ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom | ast.Await):
            return False
        if isinstance(node, ast.Return) and node.value is not None:
            return False
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Assert) and not isinstance(node.test, ast.Call)):
            return False  # where the meter is looked at, nobody expects it
        if isinstance(node, ast.Call) and not _is_pure(found, node, depth):
            return False
        if isinstance(node, ast.Name) and _is_of_program(found, node):
            return False
        is_stored = isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load)
        if is_stored and isinstance(node, ast.Attribute | ast.Subscript) and not _is_within(found, node.value):
            return False
        if is_of_self(node) and _is_part_of_other(found, node):
            return False
    return True


def _is_of_program(function: Definition, name: ast.Name) -> bool:
    """Whether a name is a variable of others: what it holds by then is another."""
    names = function.file.names
    found = names.find_name(name)
    if found is None or found[0] is names.scope_of(name):
        return False
    return any(
        binding.kind != "import" and not isinstance(binding.node, (*FUNCTIONS, ast.ClassDef)) for binding in found[1]
    ) or not isinstance(name.ctx, ast.Load)


def _is_part_of_other(function: Definition, held: ast.Attribute) -> bool:
    """Whether a method goes into what the object was handed, ``self.optimizer.param_groups``, and did not make."""
    tree, names = function.file.tree, function.file.names
    user, owner = tree.parents.get(held), tree.class_of(function.node)
    if not isinstance(user, ast.Attribute | ast.Subscript) or user.value is not held or owner is None:
        return False
    values = [binding.value for binding in names.attribute_bindings(owner, held.attr) if not binding.path]
    return not values or not all(_is_made(function, value) for value in values)


def _is_made(function: Definition, value: ast.expr | None) -> bool:
    """A list, dict, array or number that the class makes itself."""
    if isinstance(value, ast.Call):
        return (function.file.qualified_name(value.func) or "").startswith(_MADE)
    return isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.Constant | ast.BinOp)


def lists_kept(owner: Definition, name: str) -> frozenset[str]:
    """Attributes whose lists or arrays a method changes in place: ``self.values.append(x)``, ``self.rows[0] = x``."""
    found = method(owner, name)
    if found is None:
        return frozenset()
    kept = set()
    for node in found.file.tree.inside(found.node):
        holder: ast.expr | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_LISTS:
            holder = node.func.value
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            holder = node.value
        if isinstance(holder, ast.Attribute):
            kept.add(holder.attr)
    return frozenset(kept)


def _is_pure(function: Definition, call: ast.Call, depth: int) -> bool:
    name = function.file.qualified_name(call.func) or ""
    if name.startswith(_PURE):
        return not name.startswith(_EFFECTS)
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr in _OF_LISTS | _OF_NUMBERS:
        return _is_within(function, call.func.value)
    owner = function.file.tree.class_of(function.node)
    is_own = is_of_self(call.func)
    return is_own and owner is not None and keeps_to_itself(Definition(function.file, owner), call.func.attr, depth + 1)


def _is_within(function: Definition, node: ast.expr) -> bool:
    """Whether an expression is a part of the object, or of what is in a variable of the method: nothing of others."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    if not isinstance(node, ast.Name):
        return True  # what is computed here
    found = function.file.names.find_name(node)
    return found is not None and found[0] is function.file.names.scope_of(node)

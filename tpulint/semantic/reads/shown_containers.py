"""Dictionaries and lists that are shown with tensors of the device in them: ``print(logs)``, ``wandb.log(logs)``."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.kinds import Kinds

_DISPLAYS = (ast.Dict, ast.List, ast.Tuple)
_LOOKING = frozenset({"items", "keys", "values", "get", "append", "copy"})
"""Methods of containers that put nothing in the place of what is in them."""
_SHOWING = frozenset({
    "print", "str", "repr", "len", "log", "info", "debug", "warning", "format", "write", "add_scalars", "log_metrics",
    "set_postfix", "set_description",
})  # fmt: skip
"""Functions and methods that are given a container and leave it as it is."""


class ShownContainers:
    """Asked by ``Reads`` for variables that are shown, of which few hold a container."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow, kinds: Kinds) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._kinds = kinds

    def has_tensors(self, shown: ast.Name) -> bool:
        """Whether a variable holds what is written out with a tensor of the device in it, which nothing replaces.

        `logs = {"loss": loss}` and `wandb.log(logs)`; not with `logs["loss"] = loss.item()` between the two.
        """
        bindings = self._flow.reaching(shown)
        if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].path:
            return False
        made = bindings[0].value
        if not isinstance(made, _DISPLAYS) and not self._is_dict(made):
            return False
        return self._has_tensors(bindings[0], shown) and not self._is_changed(shown)

    def _has_tensors(self, binding: Binding, shown: ast.Name) -> bool:
        """Whether any of what is put into it is a tensor of the device, under a key that gets nothing else behind."""
        entries: dict[object, ast.expr] = dict(enumerate(self._kinds.contents.of(shown)))
        if isinstance(binding.value, ast.Dict):
            pairs = zip(binding.value.keys, binding.value.values, strict=True)
            entries = {getattr(key, "value", key): value for key, value in pairs if key is not None}
        elif isinstance(binding.value, ast.Call):
            entries = {item.arg: item.value for item in binding.value.keywords if item.arg is not None}
        end = self._tree.span(shown).start
        for key, value, container in self._kinds.contents.stored_into(binding):
            if self._tree.span(container).start < end and isinstance(self._tree.parents.get(container), ast.Subscript):
                if key is None and not self._kinds.is_on_device(value):
                    return False  # `for name in logs: logs[name] = logs[name].item()`
                entries[key] = value
        return any(map(self._kinds.is_on_device, entries.values()))

    def _is_dict(self, node: ast.expr | None) -> bool:
        """``dict(loss=loss)``"""
        is_call = isinstance(node, ast.Call) and not node.args and self._names.qualified(node.func) == "builtins.dict"
        return is_call and isinstance(node, ast.Call) and all(item.arg is not None for item in node.keywords)

    def _is_changed(self, shown: ast.Name) -> bool:
        """Whether something in front may put numbers in it: ``reduce_(logs)``, ``logs.update(...)``."""
        end = self._tree.span(shown).start
        for load in self._names.loads_of(shown):
            if self._tree.span(load).start >= end:
                continue
            around = self._tree.parents.get(load)
            if isinstance(around, ast.keyword | ast.Starred):
                around = self._tree.parents.get(around)
            if isinstance(around, ast.Call) and load is not around.func:
                func = around.func
                name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
                if name not in _SHOWING:
                    return True
            elif isinstance(around, ast.Attribute) and around.attr not in _LOOKING:
                return True
        return False

"""Mixed precision as a file has it: autocast calls, gradient scalers and everything that is done with them."""

from __future__ import annotations

import ast
from typing import NamedTuple

from tpulint.semantic import torch_facts as facts
from tpulint.semantic.names import Binding, Names
from tpulint.semantic.tree import SyntaxTree

_NEW_STYLE = ("torch.autocast", "torch.amp.autocast")
_OLD_STYLE = "torch.cuda.amp.autocast"
_PARAMETERS = {True: ("enabled", "dtype", "cache_enabled"), False: ("device_type", "dtype", "enabled", "cache_enabled")}
_UNWRAPPED = {"scale": 1, "step": 1, "unscale_": 1, "update": 0}
"""Methods that have a plain counterpart, with the number of arguments they need."""


class Autocast(NamedTuple):
    """One call that makes an autocast context, or a ``functools.partial`` of one."""

    call: ast.Call
    callee: ast.expr
    """The expression that names autocast."""
    positional: tuple[ast.expr, ...]
    """Arguments passed to autocast by position."""
    cuda_only: bool
    """``torch.cuda.amp.autocast``, which takes no device type."""
    arguments: dict[str, ast.expr] | None
    """By parameter name; None when ``*`` or ``**`` hides them."""


class Scaler(NamedTuple):
    """A gradient scaler, from its construction to its last use."""

    call: ast.Call
    """The construction."""
    statements: tuple[ast.stmt, ...]
    """The statements that give the variable its value: the construction, or None beside it."""
    uses: tuple[ast.Call, ...]
    """Calls of ``scale``, ``step``, ``unscale_`` and ``update``."""
    closed: bool
    """Whether these statements and calls are all there is, so that the scaler can be taken out."""


class MixedPrecision:
    """Autocast contexts and scalers of one file."""

    def __init__(self, tree: SyntaxTree, names: Names) -> None:
        self._tree = tree
        self._names = names
        self.autocasts: list[Autocast] = []
        self.scalers: list[Scaler] = []
        for call in tree.calls:
            name = names.qualified(call.func)
            callee, positional = call.func, call.args
            if name == "functools.partial" and call.args:
                callee, positional = call.args[0], call.args[1:]
                name = names.qualified(callee)
            if name == _OLD_STYLE or name in _NEW_STYLE:
                self.autocasts.append(self._autocast(call, callee, positional, name == _OLD_STYLE))
            elif name in facts.SCALER_CLASSES:
                self.scalers.append(self._scaler(call))

    def _autocast(self, call: ast.Call, callee: ast.expr, positional: list[ast.expr], cuda_only: bool) -> Autocast:
        arguments: dict[str, ast.expr] | None = None
        if not any(isinstance(item, ast.Starred) for item in positional) and all(item.arg for item in call.keywords):
            arguments = dict(zip(_PARAMETERS[cuda_only], positional, strict=False))
            arguments.update({item.arg: item.value for item in call.keywords if item.arg is not None})
        return Autocast(call, callee, tuple(positional), cuda_only, arguments)

    # ---------------------------------------------------------------- scalers

    def _scaler(self, call: ast.Call) -> Scaler:
        target = self._target_of(call)
        if target is None:
            return Scaler(call, (), (), closed=False)
        if isinstance(target, ast.Name):
            bindings = self._names.bindings(target)
            mentions: list[ast.expr] = [
                node for node in self._tree.names if node.id == target.id and self._means(node, bindings)
            ]
            closed = not self._is_declared_elsewhere(target.id)
        else:
            owner = self._tree.class_of(target)
            bindings = self._names.attributes.get(owner, {}).get(target.attr, []) if owner is not None else []
            # Any `.scaler` of the file may be this one: the type of what stands before the dot is not known.
            mentions = [
                node
                for node in self._tree.attributes
                if node.attr == target.attr and self._names.qualified(node) is None
            ]
            closed = bool(bindings)
        statements = []
        for binding in bindings:
            statement = self._giving_statement(binding)
            if statement is None:
                closed = False
            else:
                statements.append(statement)
        uses = []
        for node in mentions:
            if isinstance(node.ctx, ast.Store) and any(binding.node is node for binding in bindings):  # type: ignore[attr-defined]
                continue
            use = self._use_of(node)
            if use is None:
                closed = False
            else:
                uses.append(use)
        return Scaler(call, tuple(dict.fromkeys(statements)), tuple(uses), closed and bool(statements))

    def _target_of(self, call: ast.Call) -> ast.Name | ast.Attribute | None:
        """What the construction is assigned to: ``scaler = GradScaler()``, ``... = GradScaler() if amp else None``."""
        node: ast.AST = call
        parent = self._tree.parents[node]
        while isinstance(parent, ast.IfExp) and node is not parent.test:
            node, parent = parent, self._tree.parents[parent]
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target: ast.expr = parent.targets[0]
        elif isinstance(parent, ast.AnnAssign):
            target = parent.target
        else:
            return None
        if isinstance(target, ast.Name):
            return target
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            return target
        return None

    def _means(self, node: ast.Name, bindings: list[Binding]) -> bool:
        found = self._names.find(node.id, self._names.scope_of(node))
        return found is not None and found[1] is bindings

    def _is_declared_elsewhere(self, name: str) -> bool:
        """Whether a ``global`` or ``nonlocal`` statement names the variable, which must not lose its value then."""
        return any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in self._tree.binders)

    def _giving_statement(self, binding: Binding) -> ast.stmt | None:
        """The statement of a binding to a scaler or to None; None for any other binding."""
        statement = binding.statement
        if binding.kind != "assign" or binding.path or binding.value is None:
            return None
        if not isinstance(statement, ast.Assign | ast.AnnAssign):
            return None
        if isinstance(statement, ast.Assign) and len(statement.targets) != 1:
            return None
        return statement if self._is_scaler_or_none(binding.value) else None

    def _is_scaler_or_none(self, node: ast.expr) -> bool:
        if isinstance(node, ast.IfExp):
            return self._is_scaler_or_none(node.body) and self._is_scaler_or_none(node.orelse)
        if isinstance(node, ast.Constant):
            return node.value is None
        return isinstance(node, ast.Call) and self._names.qualified(node.func) in facts.SCALER_CLASSES

    def _use_of(self, node: ast.expr) -> ast.Call | None:
        """The call this mention of a scaler belongs to, if it can be written without the scaler."""
        method = self._tree.parents[node]
        call = self._tree.parents.get(method)
        if not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not method:
            return None
        needed = _UNWRAPPED.get(method.attr)
        if (
            needed is None
            or len(call.args) < needed
            or any(isinstance(item, ast.Starred) for item in call.args[:needed])
        ):
            return None
        if method.attr == "scale" and (len(call.args) > 1 or call.keywords):
            return None
        statement = self._tree.parents[call]
        if method.attr in ("unscale_", "update") and not isinstance(statement, ast.Expr):
            return None
        return call

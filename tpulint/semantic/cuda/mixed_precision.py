"""Mixed precision as a file has it: autocast calls, gradient scalers and everything that is done with them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.records import NamedTuple
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree

_NEW_STYLE = ("torch.autocast", "torch.amp.autocast")
_OLD_STYLE = "torch.cuda.amp.autocast"
_PARAMETERS = {True: ("enabled", "dtype", "cache_enabled"), False: ("device_type", "dtype", "enabled", "cache_enabled")}
_PARTIAL = "functools.partial"
_DEPTH = 3
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


class Passage(NamedTuple):
    """A parameter that every call of a function gives the scaler to."""

    function: FunctionNode
    parameter: ast.arg
    arguments: tuple[tuple[ast.Call, ast.expr | ast.keyword], ...]
    """The calls, with what they pass."""


class Scaler(NamedTuple):
    """A gradient scaler, from its construction to its last use."""

    call: ast.Call
    """The construction."""
    statements: tuple[ast.stmt, ...]
    """The statements that give the variable its value: the construction, or None beside it."""
    uses: tuple[ast.Call, ...]
    """Calls of ``scale``, ``step``, ``unscale_`` and ``update``."""
    passages: tuple[Passage, ...]
    """Parameters through which functions of the file get the scaler, and what is passed for them."""
    closed: bool
    """Whether these statements and calls are all there is, so that the scaler can be taken out."""


class MixedPrecision:
    """Autocast contexts and scalers of one file."""

    def __init__(self, tree: SyntaxTree, names: Names, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions
        self.autocasts: list[Autocast] = []
        self.scalers: list[Scaler] = []
        declarations = (node for node in tree.binders if isinstance(node, ast.Global | ast.Nonlocal))
        self._declared_elsewhere = {name for node in declarations for name in node.names}
        """Variables that a ``global`` or ``nonlocal`` statement names: these must not lose their value."""
        for call in names.calls_to(_PARTIAL, _OLD_STYLE, *_NEW_STYLE, *facts.SCALER_CLASSES):
            name = names.qualified(call.func)
            callee, positional = call.func, call.args
            if name == _PARTIAL and call.args:
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
            return Scaler(call, (), (), (), closed=False)
        if isinstance(target, ast.Name):
            bindings = self._names.bindings(target)
            mentions: list[ast.expr] = [*self._mentions(target.id, bindings)]
            closed = target.id not in self._declared_elsewhere
        else:
            owner = self._tree.class_of(target)
            bindings = self._names.attribute_bindings(owner, target.attr) if owner is not None else []
            # Any `.scaler` of the file may be this one: the type of what stands before the dot is not known.
            mentions = [
                node for node in self._tree.attributes_called(target.attr) if self._names.qualified(node) is None
            ]
            closed = bool(bindings)
        statements = []
        for binding in bindings:
            statement = self._giving_statement(binding)
            if statement is None:
                closed = False
            else:
                statements.append(statement)
        made = [binding.node for binding in bindings]
        uses, passages, followed = self._followed([node for node in mentions if node not in made], 0)
        # What is not done with it here, other files do: `trainer.scaler.step(optimizer)`.
        methods = {use.func.attr for use in uses if isinstance(use.func, ast.Attribute)}
        if isinstance(target, ast.Attribute):
            closed = closed and {"scale", "step"} <= methods
        elif self._names.scope_of(target) is self._names.module:
            closed = closed and bool(methods)
        known = closed and followed and bool(statements)
        return Scaler(call, tuple(dict.fromkeys(statements)), tuple(uses), tuple(passages), known)

    def _followed(self, mentions: Sequence[ast.expr], depth: int) -> tuple[list[ast.Call], list[Passage], bool]:
        """Calls made on a scaler, functions it is handed to with those made there, and whether that is all."""
        uses: list[ast.Call] = []
        passages: list[Passage] = []
        closed = True
        handed: dict[tuple[FunctionNode, ast.arg], list[tuple[ast.Call, ast.expr | ast.keyword]]] = {}
        for node in mentions:
            use = self._use_of(node)
            place = self._handed_to(node) if use is None and depth < _DEPTH else None
            if use is not None:
                uses.append(use)
            elif place is not None:
                handed.setdefault(place[:2], []).append(place[2])
            else:
                closed = False
        for (function, parameter), arguments in handed.items():
            if not self._are_all_uses(function, [call for call, _ in arguments]):
                return uses, passages, False
            bindings = self._names.bindings_in(self._names.scope_of(parameter), parameter.arg)
            inner = self._mentions(parameter.arg, bindings)
            more, further, followed = self._followed(inner, depth + 1)
            closed = closed and followed and len(bindings) == 1
            uses.extend(more)
            passages.extend((Passage(function, parameter, tuple(arguments)), *further))
        return uses, passages, closed

    def _handed_to(
        self, node: ast.expr
    ) -> tuple[FunctionNode, ast.arg, tuple[ast.Call, ast.expr | ast.keyword]] | None:
        """The function of this file, its parameter, and the call by which a mention arrives there."""
        argument: ast.expr | ast.keyword = node
        call = self._tree.parents[node]
        if isinstance(call, ast.keyword):
            argument, call = call, self._tree.parents[call]
        if not isinstance(call, ast.Call) or argument is call.func:
            return None
        function = self._definitions.function_called(call)
        if function is None or function.decorator_list or function.args.posonlyargs:
            return None
        if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
            return None
        required = function.args.args[: len(function.args.args) - len(function.args.defaults)]
        if isinstance(argument, ast.keyword):
            found = [parameter for parameter in required if parameter.arg == argument.arg]
        else:
            at = call.args.index(argument) + isinstance(self._tree.parents[function], ast.ClassDef)
            found = required[at : at + 1]
        return (function, found[0], (call, argument)) if found else None

    def _are_all_uses(self, function: FunctionNode, calls: list[ast.Call]) -> bool:
        """Whether a function is known to be used by these calls only, so that its parameters may change."""
        if any(node.value == function.name for node in self._tree.strings):
            return False  # in `__all__`, or looked up by name
        mentions: list[ast.expr]
        if isinstance(self._tree.parents[function], ast.ClassDef):
            mentions = list(self._tree.attributes_called(function.name))
        else:
            mentions = list(self._tree.names_called(function.name))
        callees = [call.func for call in calls]
        return len(callees) == len(mentions) and all(node in callees for node in mentions)

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

    def _mentions(self, name: str, bindings: list[Binding]) -> list[ast.Name]:
        return self._names.mentions(name, bindings[0].scope) if bindings else []

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

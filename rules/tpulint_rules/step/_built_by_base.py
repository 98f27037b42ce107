"""Optimizers that a base class builds as an object is made, of what the derived class moves afterwards."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic import FUNCTIONS, SemanticIndex
from tpulint.semantic.modules.moves import Move
from tpulint.semantic.project.other_files import Definition, with_bases
from tpulint.semantic.syntax.nodes import FunctionNode, starts_base
from tpulint.semantic.syntax.torch_facts import OPTIMIZER_PREFIXES
from tpulint_rules.step._made_modules import calls_on_host, modules_given, own_name
from tpulint_rules.step._parameters_given import is_called_optimizer


def built_by_base(index: SemanticIndex, move: Move) -> Definition | None:
    """The base class that has built the optimizer of ``self.net`` when a method of the derived class moves that."""
    owner, function = index.tree.class_of(move.call), index.function_of(move.call)
    if owner is None or function is None or not isinstance(move.module, ast.Attribute) or not function.args.args:
        return None
    holder, kept = move.module.value, move.module.attr
    if not isinstance(holder, ast.Name) or holder.id != function.args.args[0].arg:
        return None
    start = _own_start(owner)
    if start is not None and not _starts_base_before(index, start, move.call):
        return None
    if _is_replaced(index, owner, kept):
        return None
    for base in [*with_bases(Definition(index, owner))][1:]:
        if isinstance(base.node, ast.ClassDef) and _own_start(base.node) is not None:
            return base if _builds_of(base, kept) and not _may_be_moved(index, owner) else None
    return None


def _own_start(owner: ast.ClassDef) -> FunctionNode | None:
    return next((one for one in owner.body if isinstance(one, FUNCTIONS) and one.name == "__init__"), None)


def _starts_base_before(index: SemanticIndex, start: FunctionNode, move: ast.Call) -> bool:
    """Whether ``super().__init__(...)`` has run before the move: above it, or as the object was made."""
    started = [call for call in index.tree.nodes_in(start, ast.Call, functions=False) if starts_base(call)]
    return any(index.moves.precedes(call, move) for call in started)


def _is_replaced(index: SemanticIndex, owner: ast.ClassDef, kept: str) -> bool:
    """Whether the derived class keeps another module under the name: ``self.net = Net()``, not ``self.net.to(...)``."""
    for node in index.tree.nodes_in(owner, ast.Attribute):
        if node.attr != kept or isinstance(node.ctx, ast.Load):
            continue
        statement = index.parent(node)
        value = statement.value if isinstance(statement, ast.Assign) else None
        same = index.text(node)
        if value is None or not any(index.text(part) == same for part in index.tree.inside(value)):
            return True
    return False


def _builds_of(base: Definition, kept: str) -> bool:
    """Whether a class builds an optimizer of what it keeps under a name, while it is made, and moves nothing there."""
    for run, call in calls_on_host(base):
        name = run.file.qualified_name(call.func) or ""
        builds = name.startswith(OPTIMIZER_PREFIXES) and "lr_scheduler" not in name
        if (builds or is_called_optimizer(run.file, call)) and any(
            kept in _names_kept(run, module) for module in modules_given(run, call)
        ):
            return True
    return False


def _names_kept(run: Definition, module: ast.expr) -> Iterator[str]:
    """The attributes of its object under which a method keeps a module: ``self.net``, ``net`` of ``self.net = net``."""
    if isinstance(module, ast.Attribute) and isinstance(module.value, ast.Name) and module.value.id == own_name(run):
        yield module.attr
    for use in run.file.tree.names_called(module.id) if isinstance(module, ast.Name) else ():
        holder = run.file.parent(use)
        if isinstance(holder, ast.Assign) and holder.value is use and run.file.function_of(use) is run.node:
            yield from (target.attr for target in holder.targets if isinstance(target, ast.Attribute))


def _may_be_moved(index: SemanticIndex, owner: ast.ClassDef) -> bool:
    """Whether a call in the file makes the object of what is on the device already: ``Trainer(net.to(device))``."""
    made = (call for call in index.calls if index.definitions.class_called(call) is owner)
    given = (item for call in made for item in (*call.args, *(one.value for one in call.keywords)))
    created = (one for item in given for one in index.moves.creations.of(item))
    return any(
        any(index.moves.to_device(call) is not None for call in one.way)
        or any(one.overlaps(other) for move in index.moves.moves for other in move.creations if move.certain)
        for one in created
    )

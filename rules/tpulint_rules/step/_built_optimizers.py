"""Calls that build an optimizer, and the modules whose parameters it gets."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.records import NamedTuple
from tpulint.semantic import FUNCTIONS, FunctionNode, Kind, SemanticIndex
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.other_files import Definition, definition_called, returned
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.torch_facts import OPTIMIZER_PREFIXES, OPTIMIZERS
from tpulint.semantic.syntax.variables import last_name
from tpulint_rules.step._made_modules import (
    builds_of_object,
    classes_made,
    is_kept_nowhere,
    keeps_optimizer,
    makings,
)
from tpulint_rules.step._parameters_given import (
    GIVES_PARAMETERS,
    added_to,
    gives_parameters,
    is_called_optimizer,
    is_gone_through,
)

_ADDING = "add_param_group"
_GIVES_PARTS = (*GIVES_PARAMETERS, "modules", "named_modules", "children", "named_children")


def builds_optimizer(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a call makes an optimizer."""
    name = ctx.index.qualified_name(call.func)
    found = ctx.index.imported.called(call)
    if found is not None and not found.is_class:
        is_known = ctx.index.kind(call) is Kind.OPTIMIZER or _returns_chosen(found)
        return is_known or is_called_optimizer(ctx.index, call) or _is_asked_of_module(ctx.index, call, found)
    if _is_chosen(ctx.index, call.func):
        return True
    if name is not None and name.startswith(OPTIMIZER_PREFIXES):
        return ctx.index.kind(call) is Kind.OPTIMIZER
    if found is not None or ctx.index.definitions.class_called(call) is not None:
        return ctx.index.kind(call) is Kind.OPTIMIZER
    if _is_given_classes(ctx.index, call):
        return True
    # A function of this file that builds one is looked into where it does.
    return ctx.index.definitions.function_called(call) is None and is_called_optimizer(ctx.index, call)


def _is_given_classes(index: SemanticIndex, call: ast.Call) -> bool:
    """``build(torch.optim, name, net.parameters())``, of a function that chooses among the classes of the module."""
    given = (*call.args, *(item.value for item in call.keywords))
    return any(index.qualified_name(item) == OPTIMIZERS for item in given) and any(
        isinstance(part, ast.Call) and gives_parameters(part)
        for item in given
        for part in (item, *index.tree.inside(item))
    )


def _is_asked_of_module(index: SemanticIndex, call: ast.Call, found: Definition) -> bool:
    """``net.get_optimizer()``, a method of another file that builds one of the module's own parameters.

    Where nobody takes it, ``net.set_optimizer()``, the module has to keep it.
    """
    if not isinstance(call.func, ast.Attribute):
        return False
    return keeps_optimizer(found) if is_kept_nowhere(index, call) else builds_of_object(found)


def adds_to_optimizer(node: ast.AST) -> bool:
    """``optimizer.add_param_group({"params": net.parameters()})``"""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _ADDING


def _is_chosen(index: SemanticIndex, func: ast.expr) -> bool:
    """Whether a class of ``torch.optim`` is asked for by its name: ``getattr(torch.optim, name)``."""
    values = [binding.value for binding in index.flow.reaching(func)] if isinstance(func, ast.Name) else [func]
    return any(value is not None and index.names.is_taken_from(value, OPTIMIZERS) for value in values)


def _returns_chosen(function: Definition) -> bool:
    """Whether a function of another file gives an optimizer that is chosen by its name."""
    file = function.file
    for value in returned(function):
        made = [value, *(binding.value for binding in file.flow.bindings_of(value))]
        if any(isinstance(item, ast.Call) and _is_chosen(file, item.func) for item in made):
            return True
    return False


def modules_of(ctx: FileContext, optimizer: ast.Call) -> list[ast.expr]:
    """The modules whose parameters an optimizer is built from."""
    return [taken.module for taken in taken_for(ctx, optimizer)]


class Taken(NamedTuple):
    """A module whose parameters an optimizer is given."""

    module: ast.expr
    at: ast.expr
    """What takes hold of them: a list made beforehand, or the call that builds the optimizer."""


def taken_for(ctx: FileContext, optimizer: ast.Call) -> list[Taken]:
    """What an optimizer is built from; generators, ``params = net.parameters()``, give nothing before it is."""
    found: list[Taken] = []
    index = ctx.index
    is_of_torch = (index.qualified_name(optimizer.func) or "").startswith(OPTIMIZER_PREFIXES)
    named = [item.value for item in optimizer.keywords if not is_of_torch or item.arg in (None, "params")]
    given = [*(optimizer.args[:1] if is_of_torch else optimizer.args), *named]
    waiting: list[tuple[ast.expr, ast.expr]] = [(item, optimizer) for item in given]
    seen: set[ast.AST] = set()
    while waiting and len(seen) < 40:
        root, at = waiting.pop()
        if root in seen:
            continue
        seen.add(root)
        inside = (root, *index.tree.inside(root))
        giving = [node for node in inside if isinstance(node, ast.Call) and gives_parameters(node)]
        found += [Taken(_receiver(node), _moment(ctx, node, root, at)) for node in giving]
        known = {id(part) for node in giving for part in (_receiver(node), *index.tree.inside(_receiver(node)))}
        for node in inside:
            if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if id(node) in known or _says_where(index.parent(node)):
                continue
            if isinstance(node, ast.Attribute):
                found += _listed_by(ctx, node)
            if index.kind(node) is Kind.MODULE or _is_asked_and_moved(index, node):
                found.append(Taken(node, _moment(ctx, node, root, at)))
            elif isinstance(node, ast.Name) or index.tree.class_of(node) is not None:
                # a list of parameters made beforehand, or handed in
                for binding in index.flow.bindings_of(node):
                    if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                        given = index.definitions.arguments.of(binding.statement, binding.name)
                        waiting.extend((item, at) for item in given)
                    elif binding.value is not None and index.kind(node) not in (Kind.LOADER, Kind.DEVICE):
                        waiting.append(
                            (binding.value, binding.value if _draws(ctx, binding) and at is optimizer else at)
                        )
                waiting.extend((item, at) for item in added_to(index, node, "append", "extend"))
    return found + _handed_to(ctx, optimizer)


def _says_where(node: ast.AST | None) -> bool:
    """``self.device``, which tells of no parameter: ``Adam([torch.ones(2, device=self.device)])``"""
    return isinstance(node, ast.Attribute) and node.attr in ("device", "dtype")


def _is_asked_and_moved(index: SemanticIndex, node: ast.Name | ast.Attribute) -> bool:
    """``net`` of ``net.trainable_parameters()``, of a class that nobody sees, where the file moves it as a module."""
    asked = index.parent(node)
    if index.kind(node) is not Kind.UNKNOWN or not isinstance(asked, ast.Attribute):
        return False
    if not isinstance(call := index.parent(asked), ast.Call) or call.func is not asked:
        return False
    says_so = "param" in asked.attr
    moving = [one for one in index.moves.moves if says_so or index.kind(one.module) is Kind.MODULE]
    made = index.moves.creations.of(node) if moving else []
    return any(one.overlaps(other) for move in moving for one in move.creations for other in made)


def _listed_by(ctx: FileContext, node: ast.Attribute) -> Iterator[Taken]:
    """``net.weights``, or ``net.weights()``, of a module that listed them as it was made."""
    if ctx.index.kind(node.value) is not Kind.MODULE:
        return
    from tpulint_rules.step._kept_lists import gives_list

    for call in makings(ctx.index.moves.creations.of(node.value)):
        if any(gives_list(owner, node.attr) for owner in classes_made(ctx.index, call)):
            yield Taken(node.value, call)


def _draws(ctx: FileContext, binding: Binding) -> bool:
    """Whether a binding is the target of a loop over parameters."""
    value = binding.value
    if value is None or not isinstance(binding.statement, ast.For | ast.AsyncFor):
        return False
    inside = (value, *ctx.index.tree.inside(value))
    return any(isinstance(node, ast.Call) and gives_parameters(node) for node in inside)


def _receiver(call: ast.Call) -> ast.expr:
    assert isinstance(call.func, ast.Attribute)
    return call.func.value


def _moment(ctx: FileContext, node: ast.expr, root: ast.expr, at: ast.expr) -> ast.expr:
    """What takes the parameters: what goes through them within an expression, or what uses that."""
    if ctx.index.tree.encloses(at, root):
        return at
    if is_gone_through(ctx.index, node, root):
        return node
    for above in (node, *ctx.index.tree.ancestors(node)):
        found = definition_called(ctx.index, above) if isinstance(above, ast.Call) else None
        if found is not None and isinstance(found.node, FUNCTIONS) and _goes_through(found.file, found.node):
            return node
        if above is root:
            break
    return at


def _goes_through(index: SemanticIndex, function: FunctionNode) -> bool:
    """Whether a function makes a list of parameters: what is called a generator runs when somebody asks it."""
    inside = index.tree.inside(function, functions=False)
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in inside):
        return False
    calls = (node for node in inside if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
    return any(last_name(call.func) in _GIVES_PARTS and is_gone_through(index, call, function) for call in calls)


def _handed_to(ctx: FileContext, call: ast.Call) -> list[Taken]:
    """Modules of which nothing else is known than that a function which builds an optimizer asks their parameters."""
    found = ctx.index.imported.called(call)
    if found is None or not isinstance(found.node, FUNCTIONS):
        return []
    file, function = found.file, found.node
    if _is_asked_of_module(ctx.index, call, found):
        return [Taken(_receiver(call), call)]
    given = arguments_given(call, function, file.tree.class_of(function) is not None)
    asked = {
        receiver.id
        for inner in file.tree.nodes_in(function, ast.Call)
        if gives_parameters(inner) and isinstance(receiver := _receiver(inner), ast.Name)
    }
    unknown = ((name, item) for name, item in given if isinstance(item, ast.Name | ast.Attribute))
    return [Taken(item, call) for name, item in unknown if name in asked and ctx.index.kind(item) is Kind.UNKNOWN]

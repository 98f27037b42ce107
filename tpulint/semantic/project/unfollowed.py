"""Functions of other files that are named, or called so that nobody can follow: ``partial(lib.step, report=True)``."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.semantic.functions.default_flags import flags_left, has_flags
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.project.outside import NOW_AND_THEN, OutgoingCall, OutsideCall, qualified_in_file
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def unfollowed_uses(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """What may set flags of functions of other files, of those that have any, told as calls nobody follows."""
    if not index.imported.knows_others:
        return
    for definition in _imported(index):
        if isinstance(definition.node, ast.ClassDef):
            for method in definition.node.body:
                if isinstance(method, FUNCTIONS) and has_flags(definition.file.tree, method):
                    yield from _uses_of_method(index, Definition(definition.file, method))
        elif isinstance(definition.node, FUNCTIONS) and has_flags(definition.file.tree, definition.node):
            mentions = _mentions(index, definition)
            yield from (_told(index, definition, ()) for mention in mentions if not _is_called(index, mention))


def _imported(index: SemanticIndex) -> Iterator[Definition]:
    """Functions and classes that names and attributes of modules stand for, each once."""
    bound = {
        alias.asname or alias.name.partition(".")[0]
        for statement in index.tree.binders
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for alias in statement.names
    }
    found = (index.imported.definition(node) for name in bound for node in index.tree.names_called(name)[:1])
    definitions = [item for item in found if item is not None]
    modules = {item.file.source.path for item in definitions if isinstance(item.node, ast.Module)}
    yield from (item for item in definitions if not isinstance(item.node, ast.Module))
    seen: set[ast.AST] = set()
    for attribute in index.tree.attributes if modules else ():
        of_module = isinstance(attribute.value, ast.Name) and attribute.value.id in bound
        item = index.imported.definition(attribute) if of_module else None
        if item is not None and not isinstance(item.node, ast.Module) and item.node not in seen:
            seen.add(item.node)
            yield item


def _mentions(index: SemanticIndex, definition: Definition) -> Iterator[ast.expr]:
    """Names and attributes that stand for a function of another file."""
    assert isinstance(definition.node, FUNCTIONS)
    nodes: list[ast.Name | ast.Attribute] = [*index.tree.names, *index.tree.attributes_called(definition.node.name)]
    for node in nodes:
        if isinstance(node.ctx, ast.Load):
            found = index.imported.definition(node)
            if found is not None and found.node is definition.node:
                yield node


def _uses_of_method(index: SemanticIndex, method: Definition) -> Iterator[OutgoingCall]:
    """``learn = agent.learn``, and ``agents["a"].learn(x, True)`` of nobody knows what."""
    assert isinstance(method.node, FUNCTIONS)
    for attribute in index.tree.attributes_called(method.node.name):
        call = index.parent(attribute)
        if not isinstance(call, ast.Call) or call.func is not attribute:
            yield _told(index, method, ())
        elif not index.imported.all_called(call) and index.definitions.function_called(call) is None:
            yield _told(index, method, flags_left(call, method.node, arguments_given(call, method.node, True)))


def _is_called(index: SemanticIndex, mention: ast.expr) -> bool:
    call = index.parent(mention)
    return isinstance(call, ast.Call) and call.func is mention


def _told(index: SemanticIndex, used: Definition, left: tuple[str, ...]) -> OutgoingCall:
    assert isinstance(used.node, FUNCTIONS)
    name, caller = qualified_in_file(used.file.tree, used.node), os.path.basename(index.source.path)
    told = OutsideCall(name, NOW_AND_THEN, False, False, (), caller, is_unfollowed=True, left=left)
    return OutgoingCall(used.file.source.path, told)

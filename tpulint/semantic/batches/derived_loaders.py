"""Loaders of classes of the project that hand on what they are given: ``class TextLoader(DataLoader)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.project.other_files import Definition, method
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, starts_base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_BASE = "torch.utils.data.DataLoader"
_WRITTEN = r"class \w+\(\s*[\w.]*DataLoader\b"
_COLLATE = "collate_fn"
_HIDDEN = ...
"""Stands for what the class works out itself: nothing is known of it."""


def derived_loaders(index: SemanticIndex) -> Iterator[tuple[ast.Call, ast.Call]]:
    """Calls of such classes, each with the call of ``DataLoader`` that it comes to."""
    if index.mentions(_WRITTEN, "DataLoader"):
        for call in index.calls:
            owner = index.definitions.class_called(call)
            if owner is not None:
                yield from _handed_on(index, call, Definition(index, owner))
    if any(file.mentions(_WRITTEN, "DataLoader") for file in index.imported.files()):
        for call in index.imported.calls:
            found = index.imported.called(call)
            if found is not None and found.is_class:
                yield from _handed_on(index, call, found)


def chosen_loaders(index: SemanticIndex) -> Iterator[ast.Call]:
    """Calls of what is a loader either way: ``kind = DataLoader if weighted else EndlessLoader``, ``kind(samples)``."""
    branches = index.tree.conditions if "DataLoader" in index.source.text else ()
    for branch in branches:
        if not isinstance(branch, ast.IfExp):
            continue
        sides = (branch.body, branch.orelse)
        if not any(index.qualified_name(side) == _BASE for side in sides):
            continue
        user = index.parent(branch)
        callees: list[ast.expr] = [branch]
        if isinstance(user, ast.Assign) and len(user.targets) == 1 and isinstance(name := user.targets[0], ast.Name):
            bindings = index.names.bindings(name)
            callees = [*index.names.loads_of(name)] if len(bindings) == 1 else []
        calls = [call for callee in callees if isinstance(call := index.parent(callee), ast.Call)]
        if calls and all(_is_loader(index, side) for side in sides):
            yield from (call for call in calls if call.func in callees)


def _is_loader(index: SemanticIndex, side: ast.expr) -> bool:
    """Whether an expression names the class of loaders, or one derived from it that hands on what it is given."""
    if index.qualified_name(side) == _BASE:
        return True
    here = index.names.class_named(side)
    found = Definition(index, here) if here is not None else index.imported.definition(side)
    if found is None or not isinstance(found.node, ast.ClassDef):
        return False
    making = method(found, "__init__")
    takes_all = making is None or (isinstance(making.node, FUNCTIONS) and making.node.args.kwarg is not None)
    return takes_all and [found.file.qualified_name(base) for base in found.node.bases] == [_BASE]


def takes_argument(index: SemanticIndex, call: ast.Call, name: str) -> bool:
    """Whether a call that makes a loader can be given an argument of ``DataLoader`` that its class does not know."""
    owner = index.definitions.class_called(call)
    found = Definition(index, owner) if owner is not None else index.imported.called(call)
    making = method(found, "__init__") if found is not None and found.is_class else None
    if making is None or not isinstance(making.node, FUNCTIONS):
        return True
    declared = making.node.args
    return declared.kwarg is not None or any(one.arg == name for one in (*declared.args, *declared.kwonlyargs))


def _handed_on(index: SemanticIndex, call: ast.Call, owner: Definition) -> Iterator[tuple[ast.Call, ast.Call]]:
    assert isinstance(owner.node, ast.ClassDef)
    bases = [owner.file.qualified_name(base) for base in owner.node.bases]
    if bases != [_BASE] or method(owner, "__iter__") is not None:
        return
    making = method(owner, "__init__")
    if making is None:
        yield call, call
    elif isinstance(making.node, FUNCTIONS):
        handed = _Handing(index, call, making.file, making.node).result()
        if handed is not None:
            yield call, handed


class _Handing:
    """What one call becomes in the ``__init__`` of the class."""

    def __init__(self, index: SemanticIndex, call: ast.Call, file: SemanticIndex, making: FunctionNode) -> None:
        self._is_here = file is index
        self._call = call
        self._file = file
        self._making = making

    def result(self) -> ast.Call | None:
        """The call of ``DataLoader``; None where the class does not hand on all that it is given beside its own."""
        making, file = self._making, self._file
        calls = [node for node in file.tree.nodes_in(making, ast.Call) if isinstance(node, ast.Call)]
        starts = [node for node in calls if starts_base(node)]
        rest = making.args.kwarg
        if len(starts) != 1 or any(isinstance(item, ast.Starred) for item in self._call.args):
            return None
        names = [node for node in file.tree.nodes_in(making, ast.Name) if isinstance(node, ast.Name)]
        start = starts[0]
        handed = [item.value for item in start.keywords if item.arg is None]
        if rest is not None and (len(handed) != 1 or [name for name in names if name.id == rest.arg] != handed):
            return None  # what is in the dictionary may be changed
        own, places, named = self._split()
        if rest is None and (handed or named or (places and making.args.vararg is None)):
            return None
        args: list[ast.expr] = []
        for item in start.args:
            if not isinstance(item, ast.Starred):
                args.append(self._given(item, own))
            elif making.args.vararg is not None and file.text(item.value) == making.args.vararg.arg:
                args += places
            else:
                return None
        shown = [ast.keyword(item.arg, self._given(item.value, own)) for item in start.keywords if item.arg is not None]
        collating = [ast.keyword(_COLLATE, self._seen(value)) for value in self._collating()]
        return ast.Call(self._call.func, args, [*shown, *collating, *named])

    def _split(self) -> tuple[dict[str, ast.expr], list[ast.expr], list[ast.keyword]]:
        """What the call gives for parameters of the class, and beside them by position and by name."""
        declared = self._making.args
        names = [argument.arg for argument in (*declared.posonlyargs, *declared.args)]
        defaults = dict(zip(reversed(names), reversed(declared.defaults), strict=False))
        own = {name: self._seen(value) for name, value in defaults.items()}
        for argument, default in zip(declared.kwonlyargs, declared.kw_defaults, strict=True):
            names.append(argument.arg)
            if default is not None:
                own[argument.arg] = self._seen(default)
        count = len(names) - len(declared.kwonlyargs) - 1  # without `self`
        own.update(zip(names[1:], self._call.args[:count], strict=False))
        own.update((item.arg, item.value) for item in self._call.keywords if item.arg in names and item.arg is not None)
        return own, self._call.args[count:], [item for item in self._call.keywords if item.arg not in names]

    def _given(self, node: ast.expr, own: dict[str, ast.expr]) -> ast.expr:
        """What the call gives for a parameter that ``DataLoader`` is handed."""
        return own.get(node.id, self._seen(node)) if isinstance(node, ast.Name) else self._seen(node)

    def _seen(self, node: ast.expr) -> ast.expr:
        """An expression of the class: where the call stands only what is written out means the same."""
        is_function = self._is_here and isinstance(node, ast.Attribute | ast.Lambda)  # `self._collate_fn`
        return node if is_function or isinstance(node, ast.Constant) else ast.Constant(_HIDDEN)

    def _collating(self) -> Iterator[ast.expr]:
        """``self.collate_fn = ...``, which the class sets itself."""
        for node in self._file.tree.nodes_in(self._making, ast.Assign):
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if isinstance(node, ast.Assign) and isinstance(target, ast.Attribute) and target.attr == _COLLATE:
                yield node.value

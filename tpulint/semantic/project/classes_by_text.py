"""Classes that a function looks up by the dotted text that it is given: ``import_class(args.model)(4)``.

Where a configuration names them, no code of the project does.
"""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FunctionNode, is_super
from tpulint.semantic.syntax.tree import SyntaxTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.project.imported import Imported

_IMPORTS = frozenset({"builtins.__import__", "importlib.import_module"})
_MODULE = "nn.Module"
_MOST_FILES = 64
_MOST_CLASSES = 12
"""Of which nobody makes an object: where there are more, any may be for anything."""


def looks_up_by_text(tree: SyntaxTree, names: Names, function: FunctionNode) -> bool:
    """Whether a function imports a module by a text, and returns what it has under a name that it is told as well."""
    calls = tree.nodes_in(function, ast.Call, functions=False)
    imports = [call for call in calls if isinstance(call, ast.Call) and names.qualified(call.func) in _IMPORTS]
    if not any(call.args and not isinstance(call.args[0], ast.Constant) for call in imports):
        return False
    returns = [node.value for node in tree.nodes_in(function, ast.Return, functions=False)]
    values: list[ast.expr | None] = []
    for value in returns:
        values += [one.value for one in names.bindings(value)] if isinstance(value, ast.Name) else [value]
    return any(
        isinstance(value, ast.Call)
        and names.qualified(value.func) == "builtins.getattr"
        and len(value.args) == 2
        and isinstance(value.args[1], ast.Name)
        for value in values
    )


def modules_nobody_makes(imported: Imported) -> list[Definition]:
    """The module classes of a project that no code of it makes an object of, or derives another from."""
    files = imported.mentioning(_MODULE, _MOST_FILES) or []
    found = [
        Definition(file, owner)
        for file in files
        for owner in file.tree.classes
        if file.tree.parents[owner] is file.tree.module
        and file.definitions.is_module_class(owner)
        and not _is_used_at_home(file, owner)
    ]
    if len(found) > _MOST_CLASSES * 2:
        return []
    left = [item for item in found if not _is_used_elsewhere(imported, item)]
    return left if len(left) <= _MOST_CLASSES else []


def _is_used_at_home(file: SemanticIndex, owner: ast.ClassDef) -> bool:
    """Whether the file of a class names it, but to try it out when it is run itself, or in ``super(Net, self)``."""
    return any(
        not (isinstance(call := file.parent(use), ast.Call) and is_super(call)) and not file.definitions.is_of_main(use)
        for use in file.tree.names_called(owner.name)
    )


def _is_used_elsewhere(imported: Imported, item: Definition) -> bool:
    assert isinstance(item.node, ast.ClassDef)
    name = item.node.name
    others = imported.mentioning(name, _MOST_FILES)
    if others is None:
        return True
    return any(
        use is not None and file.imported.definition(use) == item
        for file in others
        if file is not item.file
        for use in (*file.tree.names_called(name), *file.tree.attributes_called(name))
    )

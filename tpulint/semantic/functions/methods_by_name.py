"""Methods that a text made when the program runs chooses: ``getattr(self, "_" + mode)(x)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, is_of_self
from tpulint.semantic.syntax.tree import SyntaxTree

_OF_MODULES = frozenset({
    "_apply", "_call_impl", "_get_name", "_load_from_state_dict", "_named_members", "_register_state_dict_hook",
    "_replicate_for_data_parallel", "_save_to_state_dict",
})  # fmt: skip
"""Methods of torch's own modules, which torch calls."""
_NOTHING: Mapping[str, str] = MappingProxyType({})


def methods_by_name(tree: SyntaxTree, names: Names, call: ast.Call) -> list[FunctionNode]:
    """The methods of the class around a ``getattr`` of its object, or of a derived one, which it may give.

    None where no part of the name is known.
    """
    owner = tree.class_of(call)
    texts = {} if owner is None or len(call.args) != 2 else _texts_kept(tree, names, call.args[1], owner)
    pattern = pattern_given(tree, names, call, texts)
    owners = [] if owner is None or pattern is None else [owner, *names.classes_below(owner)]
    return [method for one in owners for method in methods_like(tree, one, pattern or "")]


def pattern_given(tree: SyntaxTree, names: Names, call: ast.Call, texts: Mapping[str, str] = _NOTHING) -> str | None:
    """What the names of the methods look like of which a ``getattr`` of the object itself gives one.

    ``texts`` are those that variables of the name stand for, where these are known.
    """
    if names.qualified(call.func) != "builtins.getattr" or len(call.args) != 2:
        return None
    given, within = call.args[0], tree.function_of(call)
    first = within.args.args[:1] if within is not None else []
    is_itself = isinstance(given, ast.Name) and [one.arg for one in first] == [given.id]
    return _pattern(call.args[1], texts) if is_itself else None


def methods_like(tree: SyntaxTree, owner: ast.ClassDef, pattern: str) -> list[FunctionNode]:
    """The methods of a class whose names are like that.

    Not those that anything in the file names: what is called by its name needs no other way.
    """
    return [
        method
        for method in owner.body
        if isinstance(method, FUNCTIONS)
        and re.fullmatch(pattern, method.name)
        and not method.name.startswith("__")
        and method.name not in _OF_MODULES
        and not tree.attributes_called(method.name)
    ]


def _texts_kept(tree: SyntaxTree, names: Names, name: ast.expr, owner: ast.ClassDef) -> dict[str, str]:
    """The texts that all objects keep for the attributes in an expression: ``self.mode`` of ``Net(mode="fast")``."""
    texts: dict[str, str] = {}
    for node in ast.walk(name):
        bindings = names.attribute_bindings(owner, node.attr) if is_of_self(node) else []
        kept = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
        if isinstance(kept, ast.Name) and not names.classes_below(owner):
            texts.update((ast.unparse(node), text) for text in _texts_made_with(tree, names, kept, owner))
    return texts


def _texts_made_with(tree: SyntaxTree, names: Names, kept: ast.Name, owner: ast.ClassDef) -> list[str]:
    """The one text that all calls of a class give for a parameter, or leave as its default; none for others."""
    bindings = names.bindings(kept)
    start = bindings[0].statement if len(bindings) == 1 and bindings[0].kind == "parameter" else None
    if not isinstance(start, FUNCTIONS) or start.name != "__init__":
        return []
    given: list[ast.expr | None] = []
    for call in (call for call in tree.calls if names.class_named(call.func) is owner):
        hides = any(isinstance(item, ast.Starred) for item in call.args) or any(k.arg is None for k in call.keywords)
        if hides or isinstance(tree.child_towards(tree.module, call), ast.If):
            return []  # what stands below `if __name__ == "__main__"` is not what others make
        given.append(dict(arguments_given(call, start, is_method=True)).get(kept.id, bindings[0].value))
    texts = {value.value if isinstance(value, ast.Constant) else None for value in given}
    return [text for text in texts if isinstance(text, str)] if len(texts) == 1 else []


def _pattern(name: ast.expr, texts: Mapping[str, str]) -> str | None:
    """What a text looks like of which parts are known; None where none is."""
    parts = [texts.get(ast.unparse(part)) if isinstance(part, ast.expr) else part for part in _parts(name)]
    if not any(isinstance(part, str) and part for part in parts):
        return None
    return "".join(r"\w+" if part is None else re.escape(part) for part in parts)


def _parts(name: ast.expr) -> list[str | ast.expr | None]:
    """The parts of a text in order: what is written, variables, None for others that are not known."""
    if isinstance(name, ast.Constant):
        return [name.value if isinstance(name.value, str) else None]
    if isinstance(name, ast.Name | ast.Attribute):
        return [name]
    if isinstance(name, ast.FormattedValue) and name.format_spec is None and name.conversion == -1:
        return _parts(name.value)
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        return [*_parts(name.left), *_parts(name.right)]
    if isinstance(name, ast.JoinedStr):
        return [part for value in name.values for part in _parts(value)]
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Mod) and isinstance(name.left, ast.Constant):
        return _filled(name.left.value, "%s", [name.right])
    if isinstance(name, ast.Call) and isinstance(name.func, ast.Attribute) and name.func.attr == "format":
        return _filled(name.func.value.value, "{}", name.args) if isinstance(name.func.value, ast.Constant) else [None]
    return [None]


def _filled(text: object, place: str, values: Sequence[ast.expr]) -> list[str | ast.expr | None]:
    """The parts of a text with places that are filled in: ``"_%s" % mode``, ``"_{}".format(mode)``."""
    if not isinstance(text, str):
        return [None]
    first, *others = text.split(place)
    is_one = len(values) == len(others) == 1 and isinstance(values[0], ast.Name | ast.Attribute)
    variable = values[0] if is_one else None
    return [first, *(part for other in others for part in (variable, other))]

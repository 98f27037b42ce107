"""Classes of networks that are known to have no batch normalisation: all that they are made of is in sight."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.nodes import FUNCTIONS, is_of_self, is_super

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tpulint.semantic import SemanticIndex

_SAYS = r"(?i:batch_?norm|instance_?norm|bn\b|_bn|bn_|norm_?layer|normali[sz])|\bnorm\b"
"""What code says that makes layers of some normalisation, be it given to it."""
_PLAIN = ("torch.", "builtins.", "numpy.", "math.", "functools.", "itertools.", "copy.", "collections.", "random.")
_HIDING = ("torch.hub.", "torch.load", "torch.jit.", "builtins.getattr", "builtins.eval")
"""What gives modules that are not written here."""


def have_none(owners: list[Definition]) -> bool:
    """Whether there are classes, and none of them is made of something that may be a batch normalisation."""
    seen: set[ast.AST] = set()
    return bool(owners) and all(_has_none(owner, seen) for owner in owners)


def _has_none(owner: Definition, seen: set[ast.AST]) -> bool:
    if owner.node in seen:
        return True  # looked at already
    seen.add(owner.node)
    index, node = owner.file, owner.node
    if isinstance(node, ast.Module) or re.search(_SAYS, index.text(node)):
        return False
    if isinstance(node, ast.ClassDef) and not all(_is_plain_base(index, base, seen) for base in node.bases):
        return False
    return all(_makes_none(index, call, seen) for call in index.tree.nodes_in(node, ast.Call))


def _is_plain_base(index: SemanticIndex, base: ast.expr, seen: set[ast.AST]) -> bool:
    if (index.qualified_name(base) or "").startswith(("torch.nn.", "builtins.object")):
        return True
    own = index.names.class_named(base)
    other = Definition(index, own) if own is not None else index.imported.definition(base)
    return other is not None and _has_none(other, seen)


def _makes_none(index: SemanticIndex, call: ast.Call, seen: set[ast.AST]) -> bool:
    """Whether what a call makes or runs is in sight, or of a library without such layers."""
    func = call.func
    name = index.qualified_name(func) or ""
    if name.startswith(_PLAIN):
        return not name.startswith(_HIDING)
    found = tuple(_definitions(index, call))
    if found:
        return all(_has_none(one, seen) for one in found)
    if isinstance(func, ast.Attribute):
        if is_super(func.value):
            return True
        return not name and (not is_of_self(func) or _is_made_here(index, func))
    # A layer that a loop goes through: what made it is looked at where it was made.
    bindings = index.names.bindings(func) if isinstance(func, ast.Name) else []
    return bool(bindings) and all(binding.kind in ("loop", "assign") for binding in bindings)


def _definitions(index: SemanticIndex, call: ast.Call) -> Iterator[Definition]:
    own = index.definitions.class_called(call) or index.definitions.function_called(call)
    if own is not None:
        yield Definition(index, own)
    else:
        yield from index.imported.all_called(call)


def _is_made_here(index: SemanticIndex, attribute: ast.Attribute) -> bool:
    """Whether the class makes what it keeps under an attribute of ``self``, and nobody hands it over."""
    owner = index.tree.class_of(attribute)
    bindings = [] if owner is None else index.names.attribute_bindings(owner, attribute.attr)
    return all(isinstance(binding.value, ast.Call | ast.Lambda | ast.Constant) for binding in bindings) or any(
        isinstance(item, FUNCTIONS) and item.name == attribute.attr for item in (owner.body if owner else ())
    )

"""Programs that choose a device and only show which: all that they train stays on the host."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name

_CHOICES = ("torch.device", "torch_xla.device")
_SHOWING = frozenset({"print", "str", "repr", "format", "info", "debug"})
_TRAINS = ".backward("
_MOVING = ("to", "cuda", "xla", "device", "type")
"""Attributes that put something on a device, or ask where it is."""
_ASKING = frozenset(
    f"torch.cuda.{name}"
    for name in ("is_available", "device_count", "get_device_name", "manual_seed", "manual_seed_all")
)
_MOVE_BY_THEMSELVES = (
    "accelerat", "fabric", "lightning", "deepspeed", "horovod", "ignite", "parallel", "set_default", "distributed",
    "trainer", "fastai", "skorch", "transformers", "tpulint_runtime", "getattr",
)  # fmt: skip
"""Words in the names of what puts things on a device, or hands them to what does."""
_WORDS = ("device", "cuda", "gpu", "xla", *_MOVE_BY_THEMSELVES)
_OF_DEVICES = ("torch.cuda.", "torch_xla.")


def only_shows_device(tree: SyntaxTree, names: Names) -> bool:
    """Whether a program trains, and does nothing with the device that it chooses but print it.

    ``device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")`` and ``print(device)``.
    """
    text = tree.source.text
    if _TRAINS not in text or not any(choice in text for choice in _CHOICES):
        return False
    choices = [call for choice in _CHOICES for call in names.calls_to(choice)]
    if not choices or any(
        use for word in _MOVING for use in tree.attributes_called(word) if not _is_of_torch(names, use)
    ):
        return False
    kept = [tree.statement_of(call) for call in choices]
    if not all(isinstance(statement, ast.Assign) and _is_of_name(statement) for statement in kept):
        return False
    variables = [one.targets[0] for one in kept if isinstance(one, ast.Assign)]
    loads = (load for one in variables if isinstance(one, ast.Name) for load in names.loads_of(one))
    if not all(_is_shown(tree, load) or any(tree.encloses(one, load) for one in kept) for load in loads):
        return False
    return all(_is_harmless(tree, names, node, kept) for node in tree.inside(tree.module))


def _is_of_torch(names: Names, node: ast.Attribute) -> bool:
    return names.qualified(node) in (*_CHOICES, "torch.cuda")


def _is_of_name(statement: ast.Assign) -> bool:
    return len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)


def _is_harmless(tree: SyntaxTree, names: Names, node: ast.AST, kept: list[ast.stmt]) -> bool:
    """Whether a node is not about devices, or is part of the choice of one or of what shows it."""
    word = _word_of(node)
    known = names.qualified(node) or "" if isinstance(node, ast.Name | ast.Attribute) else ""
    if known in ("torch.cuda", "torch_xla") or known in _ASKING or word == "torch_xla":
        return True
    if not known.startswith(_OF_DEVICES) and not any(part in word.lower() for part in _WORDS):
        return True
    return any(tree.encloses(statement, node) for statement in kept) or _is_shown(tree, node)


def _word_of(node: ast.AST) -> str:
    """What a node is called; a text where it names a device."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.keyword | ast.arg):
        return node.arg or ""
    if isinstance(node, ast.alias | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    return text if text.startswith(("cuda", "xla")) else ""


def _is_shown(tree: SyntaxTree, node: ast.AST) -> bool:
    """Whether a variable, or what asks about GPUs, is only turned into text."""
    parent = tree.parents[node]
    if isinstance(parent, ast.FormattedValue):
        return True
    return isinstance(parent, ast.Call) and node in parent.args and last_name(parent.func) in _SHOWING

"""Programs of NVIDIA's that functions start, and who in other files runs these functions."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.semantic.project.other_files import function_run
from tpulint.semantic.project.outside import NOW_AND_THEN, OutgoingCall, OutsideCall, qualified_in_file
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

PROGRAMS = ("nvidia-smi", "nvcc")
_ASKED_FOR = ("cuda", "gpu", "nvidia", "which", "device")
_DEPTH = 3
"""Functions of a file that a call is looked for through."""


def functions_started(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Functions of other files that start such a program, each as a call: it tells no more than that it is run.

    Files that import no torch themselves are told of it by those of a program that does.
    """
    for call in index.imported.calls:
        if is_kept_back(index, call):
            continue
        for run in map(function_run, index.imported.all_called(call)):
            if run is None or not isinstance(run.node, FUNCTIONS) or not run.file.source.has_any(PROGRAMS):
                continue
            if not _starts_any(run.file, run.node):
                continue
            if run.file.imports_torch or _is_about_torch(index):
                name, caller = qualified_in_file(run.file.tree, run.node), os.path.basename(index.source.path)
                yield OutgoingCall(run.file.source.path, OutsideCall(name, NOW_AND_THEN, False, False, (), caller))


def _starts_any(index: SemanticIndex, function: FunctionNode, depth: int = 0) -> bool:
    """Whether a function names such a program, or calls another of its file that does."""
    if any(word in index.text(function) for word in PROGRAMS):
        return True
    called = map(index.definitions.function_called, index.tree.nodes_in(function, ast.Call)) if depth < _DEPTH else ()
    return any(one is not None and _starts_any(index, one, depth + 1) for one in called)


def _is_about_torch(index: SemanticIndex) -> bool:
    """Whether a file imports torch, or another of the project that does."""
    return index.imports_torch or any(file.imports_torch for file in index.imported.files())


def is_kept_back(index: SemanticIndex, call: ast.AST) -> bool:
    """Whether something keeps a call from running where there is no GPU, or catches what it raises.

    A flag alone, ``if self.cuda:``, is true in what is ported; while the file asks for GPUs it may be what they answer.
    """
    asks = index.source.has_any(("cuda.is_available", "cuda.device_count"))
    for ancestor in index.tree.ancestors(call):
        if isinstance(ancestor, ast.Try) and ancestor.handlers:
            return True
        test = ancestor.test if isinstance(ancestor, ast.If | ast.IfExp) else None
        is_asked = test is not None and any(word in index.text(test).lower() for word in _ASKED_FOR)
        if is_asked and (asks or not isinstance(test, ast.Name | ast.Attribute)):
            return True
    return False

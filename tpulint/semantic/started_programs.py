"""Programs of NVIDIA's that functions start, and who in other files runs these functions."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tpulint.semantic.outside import NOW_AND_THEN, OutgoingCall, OutsideCall, qualified_in_file
from tpulint.semantic.tree import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

PROGRAMS = ("nvidia-smi", "nvcc")
_ASKED_FOR = ("cuda", "gpu", "nvidia", "which", "device")


def functions_started(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Functions of other files that start such a program, each as a call: it tells no more than that it is run."""
    for call in index.imported.calls:
        if is_kept_back(index, call):
            continue
        for run in index.imported.all_called(call):
            if not isinstance(run.node, FUNCTIONS) or not run.file.source.has_any(PROGRAMS):
                continue
            if any(word in run.file.text(run.node) for word in PROGRAMS):
                name, caller = qualified_in_file(run.file.tree, run.node), os.path.basename(index.source.path)
                yield OutgoingCall(run.file.source.path, OutsideCall(name, NOW_AND_THEN, False, False, (), caller))


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

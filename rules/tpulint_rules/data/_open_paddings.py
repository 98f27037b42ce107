"""Calls that pad a batch to its longest sample, and say of no other length."""

from __future__ import annotations

import ast

from tpulint.semantic import SemanticIndex
from tpulint.semantic.syntax.variables import last_name

PAD_SEQUENCE = "torch.nn.utils.rnn.pad_sequence"
"""Pads to the longest sample and to nothing else."""
MULTIPLE = 64
"""What fixes fill batches up to multiples of."""


def pads_longest(index: SemanticIndex, call: ast.Call) -> bool:
    """``tokenizer(texts, padding=True)``, ``tokenizer.pad(examples, padding="longest")``."""
    name = last_name(call.func)
    if name[:1].isupper() or not is_open(index, call):
        return False
    return any(
        k.arg == "padding" and isinstance(k.value, ast.Constant) and k.value.value in ("longest", True)
        for k in call.keywords
        if not (isinstance(k.value, ast.Constant) and type(k.value.value) is int)
    )


def is_open(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a call says nothing about lengths to pad to, or may say so by None."""
    for keyword in call.keywords:
        to_length = isinstance(keyword.value, ast.Constant) and keyword.value.value == "max_length"
        if keyword.arg is None or (keyword.arg == "padding" and to_length):
            return False
        if keyword.arg == "pad_to_multiple_of" and not _may_be_none(index, keyword.value):
            return False
    return True


def _may_be_none(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether None is one of the values given to a variable, or one side of a choice."""
    if isinstance(node, ast.IfExp):
        return _may_be_none(index, node.body) or _may_be_none(index, node.orelse)
    if isinstance(node, ast.Constant):
        return node.value is None
    values = [binding.value for binding in index.flow.reaching(node)] if isinstance(node, ast.Name) else []
    return any(isinstance(value, ast.Constant) and value.value is None for value in values)

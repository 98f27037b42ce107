"""What ``xm.save`` makes of what is saved beside tensors: lists of tuples, plain dictionaries of those of any class.

Measured with torch_xla 2.9: a resumed ``random.setstate(state["random"])`` raises, a configuration comes back without
its attributes, and a dictionary with tuples as keys cannot be saved at all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from enum import IntEnum

from tpulint.semantic import FUNCTIONS, Binding, Kind, SemanticIndex
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.syntax.variables import last_name

_DEPTH = 5
_AS_THEY_ARE = (Kind.TENSOR, Kind.NUMPY)
_NEEDS_TUPLE = ("random.getstate",)
_PLAIN_CALLS = (
    "torch.get_rng_state", "torch.random.get_rng_state", "torch.cuda.get_rng_state", "torch.cuda.get_rng_state_all",
    "numpy.random.get_state", "dataclasses.asdict", "builtins.vars", "builtins.len", "builtins.int", "builtins.float",
    "builtins.str", "builtins.bool", "builtins.round", "builtins.max", "builtins.min", "builtins.sum", "time.time",
)  # fmt: skip
_STATES = ("state_dict", "item", "tolist", "get_state", "parameters")
_PLAIN_NAMES = (
    r"(?i)(?:.*_)?(?:epochs?|steps?|iters?|iterations?|itr|best|acc\d?|accuracy|loss(?:es)?|lr|scores?|counts?|num|n|i|"
    r"bleu|ppl|psnr|ssim|m?iou|m?ap|f1|auc|rmse|mae|error|metrics?|value|arch|name|version|seed|time|date|size|dim|"
    r"rewards?|history|vocab|model|state|args|weights?|optim(?:izer)?|net|sched(?:uler)?|params)"
)
"""Names of numbers, texts and lists of such, of states, and of what `argparse` gives, whose class is kept."""


class Kept(IntEnum):
    """How what is saved comes back."""

    ALIKE = 0
    UNKNOWN = 1
    BROKEN = 2


def kept(index: SemanticIndex, saved: ast.expr, depth: int = 0) -> Kept:
    """How ``xm.save`` keeps an expression."""
    if depth > _DEPTH or isinstance(saved, ast.Starred):
        return Kept.UNKNOWN
    if isinstance(saved, ast.Dict):
        keys = [Kept.BROKEN if isinstance(key, ast.Tuple) else Kept.ALIKE for key in saved.keys]
        return max((*keys, _worst(index, saved.values, depth)), default=Kept.ALIKE)
    if isinstance(saved, ast.List | ast.Tuple):
        return _worst(index, saved.elts, depth)
    if isinstance(saved, ast.ListComp):
        return kept(index, saved.elt, depth + 1)
    if isinstance(saved, ast.DictComp):
        return Kept.BROKEN if isinstance(saved.key, ast.Tuple) else kept(index, saved.value, depth + 1)
    if isinstance(saved, ast.IfExp):
        return _worst(index, (saved.body, saved.orelse), depth)
    if isinstance(saved, ast.Call):
        return _of_call(index, saved, depth)
    if isinstance(saved, ast.Name | ast.Attribute | ast.Subscript):
        return _of_variable(index, saved, depth)
    return Kept.ALIKE  # constants, and what is computed of numbers


def _worst(index: SemanticIndex, parts: Iterable[ast.expr], depth: int) -> Kept:
    return max((kept(index, part, depth + 1) for part in parts), default=Kept.ALIKE)


def _of_call(index: SemanticIndex, call: ast.Call, depth: int) -> Kept:
    name = index.qualified_name(call.func)
    if name in _NEEDS_TUPLE:
        return Kept.BROKEN
    if name == "builtins.dict":
        return _worst(index, [*call.args, *(item.value for item in call.keywords)], depth)
    if index.definitions.class_called(call) is not None:  # its objects are kept, with what is in them
        return _worst(index, values_given(call), depth)
    is_plain = name in _PLAIN_CALLS or index.kind(call) in _AS_THEY_ARE or last_name(call.func) in _STATES
    return Kept.ALIKE if is_plain else Kept.UNKNOWN


def _of_variable(index: SemanticIndex, node: ast.expr, depth: int) -> Kept:
    if index.kind(node) in _AS_THEY_ARE:
        return Kept.ALIKE
    found: list[Kept] = []
    if isinstance(node, ast.Name):
        found += [kept(index, item, depth + 1) for item in index.kinds.contents.of(node)]
        found += [state for one in index.flow.reaching(node) if (state := _of_binding(index, one, depth)) is not None]
    if Kept.BROKEN in found or (found and max(found) is Kept.ALIKE):
        return max(found)
    key = (
        node.slice.value
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
        else last_name(node)
    )
    return Kept.ALIKE if re.fullmatch(_PLAIN_NAMES, str(key)) and not _is_whole(depth) else Kept.UNKNOWN


def _is_whole(depth: int) -> bool:
    """Whether it is all that is saved, `torch.save(state, path)`, of which nobody knows what it holds."""
    return depth == 0


def _of_binding(index: SemanticIndex, binding: Binding, depth: int) -> Kept | None:
    """How the value of a variable is kept, or what calls give for a parameter; None for what says nothing."""
    if binding.kind == "assign" and not binding.path and binding.value is not None:
        return kept(index, binding.value, depth + 1)
    if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
        given = index.definitions.arguments.of(binding.statement, binding.name)
        return _worst(index, given, depth) if given else None
    return None

"""Transformers of torch that compare a mask with the causal one, to know whether it is that, in every forward pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.records import NamedTuple
from tpulint.semantic.values.origins import origins

_SAME = "The mask that is given is applied, as it was before, whether it is causal or not."
_MOVES = frozenset({"to", "eval", "train"})
_KERNEL = "On CUDA a causal mask no longer chooses a faster kernel."
_TRANSFORMER = "torch.nn.Transformer"
_PARTS = {"encoder": "torch.nn.TransformerEncoder", "decoder": "torch.nn.TransformerDecoder"}
"""What a transformer is made of."""


class _Mask(NamedTuple):
    """A parameter of ``forward`` that is compared, and the one that says what comes of that, each with its place."""

    name: str
    at: int
    answer: str
    answer_at: int


_MASKS = {
    "torch.nn.TransformerEncoder": (_Mask("mask", 1, "is_causal", 3),),
    "torch.nn.TransformerDecoder": (_Mask("tgt_mask", 2, "tgt_is_causal", 6),),
    _TRANSFORMER: (_Mask("src_mask", 2, "src_is_causal", 8), _Mask("tgt_mask", 3, "tgt_is_causal", 9)),
}


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.kinds.mentions_device and index.is_program:
        return
    for call in index.calls:
        named = [keyword.arg for keyword in call.keywords]
        if None in named or any(isinstance(item, ast.Starred) for item in call.args) or len(call.args) + len(named) < 2:
            continue
        masks = _MASKS.get(_class_of(ctx, call.func), ())
        open_ones = [mask for mask in masks if mask.answer not in named and len(call.args) <= mask.answer_at]
        compared = [mask for mask in open_ones if _is_given(call, mask)]
        if not compared:
            continue
        fix = ctx.fix("Apply the mask unseen", Applicability.SAFE, _SAME)
        for mask in compared:
            fix.set_argument(call, mask.answer, "False")
        if ctx.portable:
            fix.lower(Applicability.UNSAFE, _KERNEL)
        names = " and ".join(f"`{mask.name}`" for mask in compared)
        read = "is read" if len(compared) == 1 else "are read"
        message = f"{names} {read} from the device in every forward pass, to ask whether that is the causal mask"
        yield ctx.finding(call, message, fix)


def _is_given(call: ast.Call, mask: _Mask) -> bool:
    given = next((keyword.value for keyword in call.keywords if keyword.arg == mask.name), None)
    if given is None and len(call.args) > mask.at:
        given = call.args[mask.at]
    return given is not None and not (isinstance(given, ast.Constant) and given.value is None)


def _class_of(ctx: FileContext, module: ast.expr) -> str:
    """The class of torch that a module is an object of; empty where that is not known for certain."""
    index = ctx.index
    if isinstance(module, ast.Attribute) and module.attr in _PARTS:
        owner = index.tree.class_of(module) if isinstance(module.value, ast.Name) else None
        is_own = owner is not None and ctx.text(module.value) == "self"
        if owner is not None and is_own and not index.names.attribute_bindings(owner, module.attr):
            is_transformer = any(index.qualified_name(base) == _TRANSFORMER for base in owner.bases)
            return _PARTS[module.attr] if is_transformer else ""
        if not is_own and _class_of(ctx, module.value) == _TRANSFORMER:
            return _PARTS[module.attr]
    if not isinstance(module, ast.Name | ast.Attribute):
        return ""
    made = [origin.node for origin in origins(index, module)]
    classes = {index.qualified_name(node.func) if isinstance(node, ast.Call) else None for node in map(_itself, made)}
    return (classes.pop() or "") if len(classes) == 1 else ""


def _itself(node: ast.expr) -> ast.expr:
    """The construction in ``nn.Transformer(...).to(device)``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES:
        node = node.func.value
    return node

"""Models of Transformers, by where they come from."""

from __future__ import annotations

import ast

from tpulint.context import FileContext

CAUSAL = ("ForCausalLM", "LMHeadModel")
GENERATING = (*CAUSAL, "ForConditionalGeneration", "ForSeq2SeqLM", "ForVision2Seq", "ForImageTextToText")
_OTHER_FRAMEWORKS = ("TF", "Flax")


def class_of(ctx: FileContext, node: ast.expr) -> str:
    """The class of Transformers that a model is loaded or made as; empty when it is none of PyTorch, or not known."""
    found = {_made_by(ctx, creation.node) for creation in ctx.index.moves.creations.of(node) if not creation.path}
    name = found.pop() if len(found) == 1 else ""
    return "" if name.startswith(_OTHER_FRAMEWORKS) else name


def _made_by(ctx: FileContext, node: ast.AST) -> str:
    name = ctx.index.qualified_name(node.func) if isinstance(node, ast.Call) else None
    if name is None or not name.startswith("transformers."):
        return ""
    return name.removesuffix(".from_pretrained").removesuffix(".from_config").rpartition(".")[2]

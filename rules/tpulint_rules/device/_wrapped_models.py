"""Questions for CUDA that ask whether a model is wrapped: ``model.module if next(model.parameters()).is_cuda``."""

from __future__ import annotations

import ast

from tpulint.semantic import SemanticIndex


def wrapped_model(index: SemanticIndex, node: ast.expr) -> ast.expr | None:
    """The model whose ``.module`` is taken where its parameters are on a GPU, if the question decides nothing else."""
    asked = node.value if isinstance(node, ast.Attribute) else None
    listed = asked.args[0] if isinstance(asked, ast.Call) and _is_first(index, asked) else None
    if not isinstance(listed, ast.Call) or not isinstance(listed.func, ast.Attribute):
        return None
    model = listed.func.value
    if listed.func.attr != "parameters" or listed.args or not isinstance(model, ast.Name | ast.Attribute):
        return None
    statement = index.parent(node)
    kept = isinstance(statement, ast.Assign) and statement.value is node
    reads = (
        index.devices.features.placement.reads_of(statement) if kept and isinstance(statement, ast.Assign) else [node]
    )
    return model if reads and all(_takes_module(index, read, index.text(model)) for read in reads) else None


def _is_first(index: SemanticIndex, call: ast.Call) -> bool:
    return index.qualified_name(call.func) == "builtins.next" and len(call.args) == 1


def _takes_module(index: SemanticIndex, test: ast.expr, model: str) -> bool:
    """``model.module if test else model``, ``if test: model = model.module``"""
    branch = index.parent(test)
    if isinstance(branch, ast.IfExp) and branch.test is test:
        taken, other = index.text(branch.body), index.text(branch.orelse)
        return taken == f"{model}.module" and other == model
    if not isinstance(branch, ast.If) or branch.test is not test or branch.orelse or len(branch.body) != 1:
        return False
    return index.text(branch.body[0]) == f"{model} = {model}.module"

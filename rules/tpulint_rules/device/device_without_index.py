"""``x.device == torch.device("xla")``: false, for a tensor's device has an index."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic.functions.passed_arguments import values_given


def check(ctx: FileContext) -> Iterator[Finding]:
    for node in ctx.index.tree.attributes_called("device"):
        compared = ctx.index.parent(node)
        if not isinstance(compared, ast.Compare) or len(compared.ops) != 1:
            continue
        operation = compared.ops[0]
        other = compared.comparators[0] if compared.left is node else compared.left
        if not isinstance(operation, ast.Eq | ast.NotEq) or not _has_no_index(ctx, other):
            continue
        if ctx.index.qualified_name(node) is not None:
            continue  # `torch_xla.device`, of no tensor
        equal = isinstance(operation, ast.Eq)
        fix = ctx.fix("Compare the type", Applicability.UNSAFE, "The condition begins to hold.")
        fix.replace(compared, f'{ctx.text(node)}.type {"==" if equal else "!="} "xla"')
        message = f"a tensor's device has an index: it is never equal to `{ctx.text(other)}`"
        yield ctx.finding(compared, message, fix)


def _has_no_index(ctx: FileContext, node: ast.expr) -> bool:
    """Whether an expression is ``torch.device("xla")``."""
    if not isinstance(node, ast.Call) or ctx.index.qualified_name(node.func) != "torch.device":
        return False
    given = values_given(node)
    return len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value == "xla"

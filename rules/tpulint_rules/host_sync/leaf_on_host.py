"""A tensor that requires a gradient on the host and is moved to the device: each backward pass copies its gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope, Severity, Span
from tpulint.semantic import Side
from tpulint.semantic.values import is_true

_MOVES = ("to", "cuda")
_DERIVING = frozenset({"repeat", "expand", "view", "reshape", "unsqueeze", "clone", "float", "contiguous"})
_LOST = "The result requires no gradient, unless something else in it does."
_VARIABLE = "torch.autograd.Variable"
_REASON = (
    "The tensor on the device becomes the leaf, and its `.grad` is filled: before, that of the one on the host was."
)


def check(ctx: FileContext) -> Iterator[Finding]:
    """``torch.rand(4, requires_grad=True).to(device)`` and its like, in files that train."""
    index = ctx.index
    if not index.kinds.mentions_device or not (index.steps or index.turn_code.exists):
        return
    for call, leaf in index.method_calls(*_MOVES):
        lost = _lost_leaf(ctx, leaf)
        if lost is not None and index.value(lost).side is Side.HOST and index.is_device_tensor(call):
            yield _of_lost(ctx, call, lost)
        asks = _asking(ctx, leaf)
        if asks is None or index.value(_made_of(leaf)).side is not Side.HOST or not index.is_device_tensor(call):
            continue
        yield ctx.finding(
            call,
            f"`{ctx.text(leaf)}` requires its gradient on the host: each backward pass copies it there and waits",
            _moved_first(ctx, call, leaf, asks),
            severity=Severity.WARNING,
        )


def _lost_leaf(ctx: FileContext, moved: ast.expr) -> ast.Call | None:
    """The leaf of ``x = torch.eye(3, requires_grad=True).repeat(n, 1, 1)`` that ``x.to(device)`` is made of.

    Nothing refers to the leaf itself, so that nobody can ask for its gradient.
    """
    bindings = ctx.index.flow.reaching(moved) if isinstance(moved, ast.Name) else ()
    made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path else None
    leaf, is_derived = made, False
    while isinstance(leaf, ast.Call) and isinstance(leaf.func, ast.Attribute) and leaf.func.attr in _DERIVING:
        leaf, is_derived = leaf.func.value, True
    is_leaf = is_derived and isinstance(leaf, ast.Call) and isinstance(_asking(ctx, leaf), ast.keyword)
    return leaf if is_leaf and isinstance(leaf, ast.Call) else None


def _of_lost(ctx: FileContext, call: ast.Call, leaf: ast.Call) -> Finding:
    fix = ctx.fix("Ask for no gradient", Applicability.UNSAFE, _LOST, Scope.EXPRESSION)
    asked = next(item for item in leaf.keywords if item.arg == "requires_grad")
    fix.delete_argument(leaf, asked)
    return ctx.finding(
        call,
        f"`{ctx.text(leaf)}` requires a gradient on the host that nobody can ask for: "
        "each backward pass copies it there and waits",
        fix,
        severity=Severity.WARNING,
        related=((ctx.index.span(leaf), "it is required here"),),
    )


def _made_of(leaf: ast.expr) -> ast.expr:
    """The tensor that asks for a gradient, or that is wrapped for it: it tells where the leaf is."""
    if isinstance(leaf, ast.Call) and isinstance(leaf.func, ast.Attribute) and leaf.func.attr == "requires_grad_":
        return leaf.func.value
    is_wrapped = isinstance(leaf, ast.Call) and ast.unparse(leaf.func).rpartition(".")[2] in ("Variable", "Parameter")
    return leaf.args[0] if is_wrapped and isinstance(leaf, ast.Call) and leaf.args else leaf


def _asking(ctx: FileContext, leaf: ast.expr) -> ast.keyword | ast.Call | None:
    """What makes a new tensor require its gradient: a keyword, or the call of ``requires_grad_``."""
    if not isinstance(leaf, ast.Call):
        return None
    if isinstance(leaf.func, ast.Attribute) and leaf.func.attr == "requires_grad_":
        return leaf if not leaf.keywords and all(is_true(item) for item in leaf.args) else None
    if not (ctx.index.qualified_name(leaf.func) or "").startswith("torch."):
        return None
    asked = next((item for item in leaf.keywords if item.arg == "requires_grad"), None)
    return asked if asked is not None and is_true(asked.value) else None


def _moved_first(ctx: FileContext, call: ast.Call, leaf: ast.expr, asks: ast.keyword | ast.Call) -> FixBuilder | None:
    """The same with the move in front of what asks for the gradient."""
    end, moved = ctx.index.span(leaf).end, ctx.index.span(call).end
    move = ctx.source.text[end:moved]
    assert isinstance(leaf, ast.Call)
    if not move.startswith("."):
        return None  # in parentheses, or on a line of its own
    fix = ctx.fix("Move it before it requires a gradient", Applicability.UNSAFE, _REASON, Scope.EXPRESSION)
    if isinstance(asks, ast.Call) and isinstance(leaf.func, ast.Attribute):
        made = ctx.index.span(leaf.func.value).end
        asked = ctx.source.text[made:end]
        if not asked.startswith("."):
            return None
        fix.replace(Span(made, end), "")
        fix.insert(moved, asked)
    elif ctx.index.qualified_name(leaf.func) == _VARIABLE and leaf.args:
        fix.append(leaf.args[0], move)
        fix.replace(Span(end, moved), "")
    elif isinstance(asks, ast.keyword):
        fix.delete_argument(leaf, asks)
        fix.insert(moved, ".requires_grad_()")
    return fix

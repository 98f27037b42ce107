"""A tensor that requires a gradient on the host and is moved to the device: each backward pass copies its gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope, Severity, Span
from tpulint.semantic import Side
from tpulint.semantic.values.value import is_true

_MOVES = ("to", "cuda")
_DERIVING = frozenset({"repeat", "expand", "view", "reshape", "unsqueeze", "clone", "float", "contiguous"})
_LOST = "The result requires no gradient, unless something else in it does."
_VARIABLE = "torch.autograd.Variable"
_CHANGED = (
    "Move it first, then ask for its gradient; what then changes it in place, as a leaf may not be, makes a new one."
)
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
        changed = _is_changed_in_place(ctx, call)
        yield ctx.finding(
            call,
            f"`{ctx.text(leaf)}` requires its gradient on the host: each backward pass copies it there and waits",
            None if changed or _is_asked_for_later(ctx, call, leaf) else _moved_first(ctx, call, leaf, asks),
            severity=Severity.WARNING,
            help=_CHANGED if changed else "",
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


def _is_changed_in_place(ctx: FileContext, call: ast.Call) -> bool:
    """Whether the variable that holds what was moved is changed in place, ``x += step``, which a leaf refuses."""
    tree, assigned = ctx.index.tree, ctx.index.parent(call)
    target = assigned.targets[0] if isinstance(assigned, ast.Assign) else None
    if isinstance(assigned, ast.AnnAssign):
        target = assigned.target
    uses: list[ast.Name] | list[ast.Attribute] = []
    if isinstance(target, ast.Name):
        found = ctx.index.names.find_name(target)
        uses = list(ctx.index.names.mentions(target.id, found[0])) if found is not None else []
    elif isinstance(target, ast.Attribute):
        uses = [one for one in tree.attributes_called(target.attr) if ctx.text(one) == ctx.text(target)]
    is_quiet = ctx.index.regions.evaluation.switches.is_under_no_grad
    return any(_is_changing(ctx, use) and not is_quiet(use) for use in uses)


def _is_changing(ctx: FileContext, use: ast.expr) -> bool:
    """``x += step``, ``x[0] = 1``, ``x.add_(step)``"""
    whole, parent = use, ctx.index.parent(use)
    while isinstance(parent, ast.Subscript) and parent.value is whole:
        whole, parent = parent, ctx.index.parent(parent)
    if isinstance(parent, ast.AugAssign):
        return parent.target is whole
    if isinstance(parent, ast.Attribute):
        is_called = isinstance(ctx.index.parent(parent), ast.Call)
        return is_called and parent.attr.endswith("_") and not parent.attr.startswith(("_", "requires_grad", "retain"))
    return whole is not use and isinstance(getattr(whole, "ctx", None), ast.Store)


def _is_asked_for_later(ctx: FileContext, call: ast.Call, leaf: ast.expr) -> bool:
    """Whether a gradient is asked for of the one on the host: ``z = x.requires_grad_().to(device)`` and ``x.grad``."""
    made = _made_of(leaf)
    uses = ctx.index.names.loads_of(made) if made is not leaf and isinstance(made, ast.Name) else []
    before = {id(binding.node) for binding in ctx.index.flow.reaching(made)} if isinstance(made, ast.Name) else set()
    for use in uses:
        if use is made or not any(id(binding.node) in before for binding in ctx.index.flow.reaching(use)):
            continue
        parent = ctx.index.parent(use)
        if isinstance(parent, ast.Attribute) and parent.attr == "grad":
            return True
        outer = (one for one in ctx.index.tree.ancestors(use) if isinstance(one, ast.Call))
        if any(ctx.index.qualified_name(one.func) == "torch.autograd.grad" for one in outer):
            return True
    return False


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

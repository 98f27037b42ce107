"""Tensors that a module keeps on the host and uploads in every forward pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope
from tpulint.semantic import Kind, Side

_REASON = "A buffer also follows `.half()` and `.to(dtype)`."
_MOVED = "It moves in the first pass; as a buffer it would become another dtype with the module."
_CONVERTING = ("bfloat16", "float16", ".half", "float64", ".double", "set_default_dtype")
"""Words of what gives modules another dtype."""
_INNER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Buffer")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.moves.has_device:
        return
    seen: set[ast.stmt] = set()
    for call, kept in index.method_calls("to"):
        function, owner = index.function_of(call), index.tree.class_of(call)
        if not isinstance(kept, ast.Attribute) or not isinstance(kept.value, ast.Name) or kept.value.id != "self":
            continue
        if function is None or owner is None or function.name != "forward" or not _goes_to_tensor(call):
            continue
        assigned = _assigned(ctx, owner, kept.attr) if index.definitions.is_module_class(owner) else None
        if assigned is None or assigned in seen:
            continue
        seen.add(assigned)
        fix = _kept_on_device(ctx, call, kept) if _may_convert(ctx) else _as_buffer(ctx, kept, assigned)
        message = f"`self.{kept.attr}` stays on the host, and is uploaded in every forward pass; a buffer moves once"
        yield ctx.finding(call, message, fix)


def _as_buffer(ctx: FileContext, kept: ast.Attribute, assigned: ast.Assign) -> FixBuilder:
    fix = ctx.fix("Keep it as a buffer", Applicability.UNSAFE, _REASON, Scope.STATEMENT)
    fix.replace(assigned, f'self.register_buffer("{kept.attr}", {ctx.text(assigned.value)}, persistent=False)')
    if not _is_initialised(ctx, assigned):
        fix.give_up()
    return fix


def _may_convert(ctx: FileContext) -> bool:
    """Whether the project may give a module another dtype: a buffer would be rounded, and lose its imaginary part."""
    text, imported = ctx.source.text, ctx.index.imported
    return any(word in text for word in _CONVERTING) or any(map(imported.others_mentioning, _CONVERTING))


def _kept_on_device(ctx: FileContext, call: ast.Call, kept: ast.Attribute) -> FixBuilder | None:
    """The attribute set to what was moved, so that the first pass moves it: ``self.mask = self.mask.to(x.device)``."""
    statement = ctx.index.statement_of(call)
    if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Return):
        return None
    if any(
        isinstance(one, _INNER) for one in ctx.index.tree.ancestors(call) if ctx.index.tree.encloses(statement, one)
    ):
        return None
    fix = ctx.fix("Keep what was moved", Applicability.UNSAFE, _MOVED, Scope.STATEMENT)
    fix.insert_before(statement, f"{ctx.text(kept)} = {ctx.text(call)}")
    return fix


def _goes_to_tensor(call: ast.Call) -> bool:
    """Whether a tensor is moved to where another one is: ``.to(x.device)``, ``.to(x)``."""
    place = call.args[0] if len(call.args) == 1 and not call.keywords else None
    return isinstance(place, ast.Attribute) and place.attr == "device"


def _assigned(ctx: FileContext, owner: ast.ClassDef, name: str) -> ast.Assign | None:
    """The one statement of a class that gives an attribute its value, in ``__init__``, if that is on the host."""
    found: list[ast.Assign] = []
    for node in ctx.index.tree.attributes_called(name):
        if isinstance(node.ctx, ast.Load):
            continue
        statement = ctx.index.parent(node)
        if not isinstance(statement, ast.Assign) or statement.targets != [node] or not isinstance(node.value, ast.Name):
            return None
        if ctx.index.tree.class_of(node) is owner:
            found.append(statement)
    function = ctx.index.function_of(found[0]) if len(found) == 1 else None
    if function is None or function.name != "__init__" or not isinstance(found[0].value, ast.Call):
        return None
    if ctx.index.qualified_name(found[0].value.func) in _PARAMETERS:
        return None
    value = ctx.index.value(found[0].value)
    return found[0] if value.kind is Kind.TENSOR and value.side is Side.HOST and value.certain else None


def _is_initialised(ctx: FileContext, assigned: ast.Assign) -> bool:
    """Whether ``super().__init__()`` has run before a statement: without it a module takes no buffers."""
    suite = ctx.index.tree.suite_of(assigned)
    return any("__init__(" in ctx.text(item) for item in suite[: suite.index(assigned)])

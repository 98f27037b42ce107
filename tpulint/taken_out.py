"""Objects that a fix takes out with all that is told to them: streams, which order what XLA orders itself."""

from __future__ import annotations

import ast

from tpulint.model import Applicability, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.card import MappingRow
    from tpulint.context import FileContext, FixBuilder

_TELLING = frozenset({"wait_stream", "wait_event", "record_stream", "record_event", "synchronize", "set_stream"})
"""Methods and functions whose call only orders work."""
_CONTEXT = "torch.cuda.stream"


def take_out(ctx: FileContext, node: ast.expr, row: MappingRow) -> FixBuilder | None:
    """``self.stream = torch.cuda.Stream()`` and ``torch.cuda.current_stream().wait_stream(self.stream)`` go.

    None where the object is used for anything else.
    """
    call = ctx.index.parent(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        return None
    fix = ctx.fix("Take it out", Applicability.UNSAFE, row.reason, Scope.STATEMENT)
    told = _told(ctx, call)
    if told is not None:
        fix.delete(told)
        return fix
    statement = ctx.index.statement_of(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
        return None
    uses = _uses(ctx, statement.targets[0])
    if uses is None:
        return None
    gone: list[ast.stmt] = [statement]
    for use in uses:
        opened, told = ctx.index.parent(use), _told(ctx, use)
        if told is not None:
            gone.append(told)
        elif isinstance(opened, ast.Call) and isinstance(ctx.index.parent(opened), ast.withitem):
            if ctx.index.qualified_name(opened.func) != _CONTEXT:
                return None
            fix.replace(opened, f"{fix.use('contextlib', at=opened)}.nullcontext()")
        else:
            return None
    for item in dict.fromkeys(gone):
        fix.delete(item)
    return fix


def _told(ctx: FileContext, stream: ast.expr) -> ast.Expr | None:
    """The statement that does nothing but tell something to a stream, or to something else about it."""
    statement = ctx.index.statement_of(stream)
    telling = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(statement, ast.Expr) or not isinstance(telling, ast.Call):
        return None
    func = telling.func
    name = func.attr if isinstance(func, ast.Attribute) else ""
    about = telling is stream or stream in telling.args or (isinstance(func, ast.Attribute) and func.value is stream)
    return statement if about and name in _TELLING else None


def _uses(ctx: FileContext, target: ast.expr) -> list[ast.expr] | None:
    """All that reads a variable; None where it may hold something else, or not all is seen."""
    index = ctx.index
    if isinstance(target, ast.Name):
        bindings = index.names.bindings(target)
        scope = index.names.scope_of(target)
        return list(index.names.loads(target.id, scope)) if len(bindings) == 1 else None
    owner = index.tree.class_of(target)
    if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name) or owner is None:
        return None
    if any(index.qualified_name(base) != "builtins.object" for base in owner.bases):
        return None
    if len(index.names.attribute_bindings(owner, target.attr)) != 1:
        return None
    same = [node for node in index.tree.attributes_called(target.attr) if index.qualified_name(node) is None]
    return [node for node in same if isinstance(node.ctx, ast.Load)]

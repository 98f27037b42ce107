"""float16 chosen by the name of the device: ``torch.float16 if device == "cuda" else torch.float32``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.semantic.devices.device_sites import Role
from tpulint_rules.precision._compared_devices import is_device

_ACCELERATOR, _HOST = "xla", "cpu"
_DEPTH = 2


def chosen_halves(ctx: FileContext, named: tuple[str, ...]) -> Iterator[tuple[ast.expr, str]]:
    """The arms in float16 that the XLA device is given, itself or once it takes the place of CUDA."""
    compared = {site.node for site in ctx.index.devices.sites if site.role is Role.COMPARISON}
    for node, name in ctx.index.references(*named):
        choice, way = _choice_of(ctx, node)
        if name not in named or choice is None:
            continue
        holds = _holds(ctx, choice.test, compared, taken=way)
        if holds is way:
            yield node, name


def _choice_of(ctx: FileContext, node: ast.expr) -> tuple[ast.If | ast.IfExp | None, bool]:
    """What decides whether a dtype is the value of an expression, a variable or a function, and on which answer."""
    parent = ctx.index.parent(node)
    if isinstance(parent, ast.IfExp):
        return (parent, node is parent.body) if node is not parent.test else (None, True)
    if not isinstance(parent, ast.Assign | ast.Return):
        return None, True
    holder = ctx.index.parent(parent)
    return (holder, parent in holder.body) if isinstance(holder, ast.If) else (None, True)


def _holds(
    ctx: FileContext, test: ast.expr, compared: set[ast.expr], taken: bool = True, depth: int = 0
) -> bool | None:
    """What a condition answers where the device is that of XLA; of several parts, what one may be taken for."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _holds(ctx, test.operand, compared, not taken, depth)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        answers = [_holds(ctx, value, compared, taken, depth) for value in test.values]
        decides = isinstance(test.op, ast.Or)  # one that decides alone; else all have to be what is wanted or open
        if decides in answers:
            return decides
        return not decides if taken is not decides and (not decides) in answers else None
    if isinstance(test, ast.Name) and depth < _DEPTH:
        bindings = ctx.index.flow.reaching(test)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        return None if value is None or bindings[0].path else _holds(ctx, value, compared, taken, depth + 1)
    if isinstance(test, ast.Call):
        return _starts_with(test, compared)
    return _compares(test, compared) if isinstance(test, ast.Compare) and len(test.ops) == 1 else None


def _starts_with(test: ast.Call, compared: set[ast.expr]) -> bool | None:
    """``device.startswith("cuda")``"""
    func = test.func
    if not isinstance(func, ast.Attribute) or func.attr != "startswith" or len(test.args) != 1:
        return None
    return True if _is_accelerator(test.args[0], compared) and is_device(func.value) else None


def _compares(test: ast.Compare, compared: set[ast.expr]) -> bool | None:
    """``device == "cuda"``, ``device.type in ("cuda", "mps")``, ``"cuda" in str(device)``, ``device != "cpu"``."""
    operator, other = test.ops[0], test.comparators[0]
    if isinstance(test.left, ast.Constant):
        is_part = isinstance(operator, ast.In) and is_device(other) and _is_accelerator(test.left, compared)
        return True if is_part else None
    if not isinstance(operator, ast.Eq | ast.NotEq | ast.In | ast.NotIn) or not is_device(test.left):
        return None
    several = isinstance(operator, ast.In | ast.NotIn)
    if several and not isinstance(other, ast.Tuple | ast.List | ast.Set):
        return None
    texts = other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]
    is_same = isinstance(operator, ast.Eq | ast.In)
    if any(_is_accelerator(text, compared) for text in texts):
        return is_same
    return not is_same if all(isinstance(text, ast.Constant) and text.value == _HOST for text in texts) else None


def _is_accelerator(text: ast.expr, compared: set[ast.expr]) -> bool:
    """Whether a text is the XLA device's, or will be: another rule writes it in place of CUDA's."""
    return text in compared or (isinstance(text, ast.Constant) and text.value == _ACCELERATOR)

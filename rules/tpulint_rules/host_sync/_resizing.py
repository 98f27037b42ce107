"""Ways of resizing that torch_xla has no program for: ``interpolate`` and ``nn.Upsample`` of series and of volumes."""

from __future__ import annotations

import ast
import re

from tpulint.context import FileContext

RESIZING = ("torch.nn.functional.interpolate", "torch.nn.functional.upsample")
UPSAMPLE = "torch.nn.Upsample"
_PLACE_OF_MODE = {**dict.fromkeys(RESIZING, 3), UPSAMPLE: 2}
_NEAREST = "nearest"
_ON_HOST = frozenset({"bicubic", "nearest-exact", "linear"})
_GRADIENT_ON_HOST = frozenset({"trilinear"})
_SIZES = re.compile(r"\.shape\b|\.size\(|\blen\(")
_OF_IMAGES = 2
"""How many dimensions are resized of what has a program for `nearest`."""


def runs_on_host(ctx: FileContext, call: ast.Call, name: str) -> bool:
    """Whether what ``interpolate`` is asked for, or what ``nn.Upsample`` is made for, is computed on the host."""
    options = {item.arg: item.value.value for item in call.keywords if isinstance(item.value, ast.Constant)}
    mode = _mode(call, name)
    is_asked = (
        mode in _ON_HOST
        or options.get("antialias") is True
        or (mode == _NEAREST and _has_no_images(ctx) and not _is_given_sides_of_image(call))
    )
    return is_asked and not _is_of_other_sizes(ctx, call)


def _is_of_other_sizes(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a size is asked for first: ``if table.shape[0] != length:``, which never holds for what fits."""
    function = ctx.index.function_of(call)
    child: ast.AST = call
    for holder in ctx.index.tree.ancestors(call):
        if holder is function:
            return False
        test = holder.test if isinstance(holder, ast.If) and child in holder.body else None
        is_other = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotEq)
        if is_other and test is not None and _SIZES.search(ctx.text(test)):
            return True
        child = holder
    return False


def has_gradient_on_host(call: ast.Call, name: str) -> bool:
    """Whether the gradient alone is computed on the host."""
    return _mode(call, name) in _GRADIENT_ON_HOST


def _mode(call: ast.Call, name: str) -> str:
    """The mode that a call gives; empty where nobody knows it."""
    at = _PLACE_OF_MODE[name]
    given = [*(item.value for item in call.keywords if item.arg == "mode"), *call.args[at : at + 1]]
    if any(item.arg is None for item in call.keywords) or any(isinstance(item, ast.Starred) for item in call.args):
        return ""
    if not given:
        return _NEAREST
    return given[0].value if isinstance(given[0], ast.Constant) and isinstance(given[0].value, str) else ""


def _has_no_images(ctx: FileContext) -> bool:
    """Whether all convolutions of a file are of series, or of volumes: what it resizes is one of these."""
    dimensions = [at for at in (1, 2, 3) if ctx.index.mentions(rf"(?i)conv(?:_?transpose)?{at}d\b")]
    return dimensions in ([1], [3])


def _is_given_sides_of_image(call: ast.Call) -> bool:
    """``size=(height, width)``, or what nobody can count: ``size=x.shape[2:]`` says nothing."""
    given = [*call.args[:3], *(item.value for item in call.keywords)]
    return any(isinstance(item, ast.Tuple | ast.List) and len(item.elts) == _OF_IMAGES for item in given)

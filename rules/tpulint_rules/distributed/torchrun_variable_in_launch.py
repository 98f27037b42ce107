"""Variables of torchrun read in a process that torch_xla.launch started."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Severity
from tpulint.semantic.processes.ranks import RANK_VARIABLES, environment_variable

_SETTERS = ("os.environ.setdefault", "os.putenv")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not any(launch.is_xla for launch in index.launches.launches):
        return
    written = {_written(ctx, node) for node in index.tree.parents}
    for node in index.tree.parents:
        if not isinstance(node, ast.Subscript | ast.Call):
            continue
        name = environment_variable(index, node)
        launch = index.launches.launch_of(node)
        if name is None or name not in RANK_VARIABLES or name in written or launch is None or not launch.is_xla:
            continue
        if not all(index.launches.is_only_launched(function) for function in launch.functions):
            continue  # called directly as well, perhaps under torchrun
        raises = isinstance(node, ast.Subscript)
        effect = "KeyError" if raises else "the default is taken in every process"
        message = f"only torchrun sets `{name}`; in a process of `{launch.launcher}` it is missing: {effect}"
        yield ctx.finding(node, message, _fix(ctx, node, name), severity=Severity.ERROR if raises else Severity.WARNING)


def _written(ctx: FileContext, node: ast.AST) -> str | None:
    """Name of the environment variable that a node sets."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return environment_variable(ctx.index, node)
    if isinstance(node, ast.Call) and ctx.index.qualified_name(node.func) in _SETTERS and node.args:
        key = node.args[0]
        return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
    return None


def _fix(ctx: FileContext, node: ast.expr, name: str) -> FixBuilder | None:
    """``xr.global_ordinal()`` for ``int(os.environ["RANK"])``."""
    parent = ctx.index.parent(node)
    if not isinstance(parent, ast.Call) or ctx.index.qualified_name(parent.func) != "builtins.int":
        return None
    reason = "Under torchrun the number is the same; machines may be numbered in another order."
    fix = ctx.fix("Ask the XLA runtime", Applicability.UNSAFE, reason)
    fix.replace(parent, f"{fix.use('torch_xla.runtime', alias='xr', at=node)}.{RANK_VARIABLES[name]}()")
    return fix

"""Solvers of torchdiffeq that choose their steps by values of the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import SemanticIndex, Side

_SOLVERS = ("torchdiffeq.odeint", "torchdiffeq.odeint_adjoint")
_DEFAULT = "dopri5"
_ADAPTIVE = frozenset({_DEFAULT, "dopri8", "bosh3", "fehlberg2", "adaptive_heun"})


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.kinds.mentions_device and not index.outside:
        return
    for call in index.turn_code.nodes(ast.Call):
        turn = index.turn_code.turn_of(call)
        if turn is None or index.qualified_name(call.func) not in _SOLVERS or len(call.args) < 2:
            continue
        method, start = _method(index, call), index.value(call.args[1])
        if method not in _ADAPTIVE or start.side is Side.HOST:
            continue
        by_default = "" if any(keyword.arg == "method" for keyword in call.keywords) else ", the default,"
        message = f"`{method}`{by_default} asks the device about each of its steps: tens of reads in every {turn}"
        certainty = Certainty.CERTAIN if start.certain and start.side is Side.DEVICE else Certainty.LIKELY
        yield ctx.finding(call, message, certainty=certainty)


def _method(index: SemanticIndex, call: ast.Call) -> str | None:
    """The method that a call names; None where that is not known."""
    if any(keyword.arg is None for keyword in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "method"), None)
    if given is None:
        return _DEFAULT
    if isinstance(given, ast.Name):
        bindings = index.flow.reaching(given)
        given = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    if not isinstance(given, ast.Constant):
        return None
    return _DEFAULT if given.value is None else given.value if isinstance(given.value, str) else None

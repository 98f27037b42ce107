"""A meeting of all processes, in every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Severity
from tpulint.semantic import Pace


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to("torch_xla.core.xla_model.rendezvous"):
        payloads = [*call.args[1:2], *(item.value for item in call.keywords if item.arg == "payload")]
        payload = payloads[0] if payloads else None
        if isinstance(payload, ast.JoinedStr) or (isinstance(payload, ast.Constant) and isinstance(payload.value, str)):
            fix = ctx.fix("Send bytes", Applicability.SAFE, "The call raised before.")
            text = ctx.text(payload)
            fix.replace(payload, f"b{text}")
            if isinstance(payload, ast.JoinedStr) or not text.isascii() or text[0] not in "\"'":
                fix.give_up()
            message = "the payload of `rendezvous` is bytes: a text raises"
            yield ctx.finding(payload, message, fix, severity=Severity.ERROR)
        elif ctx.index.pace_of(call) is Pace.STEP:
            yield ctx.finding(call, "`rendezvous` runs a graph of its own and waits for all processes, in every step")

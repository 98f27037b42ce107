"""Rules for tests of the engine: each uses operations of the fix builder in the plainest way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tpulint.catalog import Place
from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Scope, Severity

REASON = "A rule of the tests."
DELETED = ("torch.cuda.empty_cache", "torch.cuda.synchronize", "torch.cuda.ipc_collect")
RENAMED = {
    "torch.cuda.is_available": ("torch_xla", None, "is_available"),
    "torch.cuda.device_count": ("torch_xla.runtime", None, "world_size"),
    "torch.cuda.current_device": ("torch_xla.core.xla_model", "get_ordinal", ""),
    "torch.cuda.manual_seed": ("torch_xla", None, "manual_seed"),
    "torch_xla.core.xla_model.mark_step": ("torch_xla", None, "sync"),
}
OWN = Place("tpulint_rules", "", "", "", has_python=True)
"""Where tpulint's own rules stand, which are trusted to raise nothing."""


class PlainRule(NamedTuple):
    """What the engine reads of a rule."""

    code: str
    check: Callable[[FileContext], Iterator[Finding]]
    severity: Severity = Severity.WARNING
    anchors: tuple[str, ...] = ("torch", "step")
    files: tuple[str, ...] = ("python",)
    default: bool = True
    moves: bool = False
    category: str = ""
    place: Place = OWN

    @property
    def name(self) -> str:
        return self.check.__name__

    def option_values(self, overrides: object = ()) -> dict[str, object]:
        return {}


class PlainCatalogue(NamedTuple):
    """What the engine reads of a catalogue: rules in the order in which they run."""

    rules: Sequence[PlainRule]
    letters: frozenset[str] = frozenset()

    def select(self, settings: object) -> Sequence[PlainRule]:
        return self.rules


def deleted_statement(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to(*DELETED):
        statement = ctx.index.statement_of(call)
        fix = ctx.fix("Delete", Applicability.SAFE, REASON, Scope.STATEMENT)
        if not (isinstance(statement, ast.Expr) and statement.value is call):
            fix.give_up()
        else:
            fix.delete(statement)
        yield ctx.finding(call, "not needed", fix)


def renamed_callee(ctx: FileContext) -> Iterator[Finding]:
    for old, (module, name, attribute) in RENAMED.items():
        for call in ctx.index.calls_to(old):
            fix = ctx.fix("Rename", Applicability.SAFE, REASON)
            local = fix.use(module, name, at=call)
            fix.rename_callee(call, f"{local}.{attribute}" if attribute else local)
            yield ctx.finding(call, f"{old} is old", fix)


def moved_by_cuda(ctx: FileContext) -> Iterator[Finding]:
    for call, _ in ctx.index.method_calls("cuda"):
        fix = ctx.fix("Write .to()", Applicability.UNSAFE, REASON)
        if len(call.args) > 1 or any(isinstance(argument, ast.Starred) for argument in call.args):
            fix.give_up()
        for argument in call.args:
            fix.delete_argument(call, argument)
        if not call.args:
            fix.set_argument(call, "device", "'xla'")
        end = ctx.index.span(call.func).end
        fix.replace(type(ctx.index.span(call))(end - len("cuda"), end), "to")
        yield ctx.finding(call, "moved to CUDA", fix)


def loader_arguments(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to("torch.utils.data.DataLoader"):
        for keyword in call.keywords:
            if keyword.arg in ("pin_memory", "pin_memory_device", "num_workers"):
                fix = ctx.fix("Drop the argument", Applicability.SAFE, REASON)
                fix.delete_argument(call, keyword)
                yield ctx.finding(keyword, "has no effect", fix)
        if not any(keyword.arg in ("drop_last", None) for keyword in call.keywords):
            fix = ctx.fix("Drop the last batch", Applicability.UNSAFE, REASON)
            fix.set_argument(call, "drop_last", "True")
            yield ctx.finding(call, "last batch is smaller", fix)


def missing_boundary(ctx: FileContext) -> Iterator[Finding]:
    for call, receiver in ctx.index.method_calls("step"):
        statement = ctx.index.statement_of(call)
        suite = ctx.index.tree.suite_of(statement)
        after = suite[suite.index(statement) + 1 :]
        if "optimizer" not in ctx.text(receiver) or (after and ctx.text(after[0]).endswith("sync()")):
            continue
        fix = ctx.fix("Add a boundary", Applicability.UNSAFE, REASON, Scope.LOOP)
        fix.insert_after(statement, f"{fix.use('torch_xla', at=call)}.sync()")
        yield ctx.finding(call, "no boundary", fix)


def unmarked_backward(ctx: FileContext) -> Iterator[Finding]:
    for call, _ in ctx.index.method_calls("backward"):
        statement = ctx.index.statement_of(call)
        suite = ctx.index.tree.suite_of(statement)
        before = suite[: suite.index(statement)]
        if before and ctx.text(before[-1]) == "marked = True":
            continue
        fix = ctx.fix("Mark", Applicability.SAFE, REASON, Scope.STATEMENT)
        fix.insert_before(statement, "marked = True")
        yield ctx.finding(call, "not marked", fix)


def undetached_sum(ctx: FileContext) -> Iterator[Finding]:
    for statement in ast.walk(ctx.index.tree.module):
        if isinstance(statement, ast.AugAssign) and not ctx.text(statement.value).endswith(".detach()"):
            fix = ctx.fix("Detach", Applicability.SAFE, REASON)
            fix.append(statement.value, ".detach()")
            yield ctx.finding(statement.value, "not detached", fix)


def scaled_loss(ctx: FileContext) -> Iterator[Finding]:
    """One fix with edits all over the file: calls of the scaler go, its definition stays."""
    fix = ctx.fix("Unwrap the scaler", Applicability.UNSAFE, REASON, Scope.MODULE)
    calls = [(call, receiver) for call, receiver in ctx.index.method_calls("scale", "step", "update", "unscale_")]
    calls = [(call, receiver) for call, receiver in calls if ctx.text(receiver).endswith("scaler")]
    for call, _ in calls:
        statement = ctx.index.statement_of(call)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method in ("update", "unscale_"):
            fix.delete(statement)
        elif method == "step":
            fix.replace(call, f"{fix.text(call.args[0])}.step()")
        else:
            fix.replace(call, fix.text(call.args[0]))
    for call, _ in calls:
        yield ctx.finding(call, "scaler", fix)


RULES = tuple(
    PlainRule(f"X{number:03}", check)
    for number, check in enumerate(
        (
            deleted_statement,
            renamed_callee,
            moved_by_cuda,
            loader_arguments,
            missing_boundary,
            unmarked_backward,
            undetached_sum,
            scaled_loss,
        ),
        1,
    )
)

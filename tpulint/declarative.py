"""Mapping tables: a check for rules that need no Python, only names and what is done about them.

A row of a card's ``mapping`` has these keys:

- ``old``: qualified name, or a list of names that share the row; ``torch.cuda.nvtx.*`` is every name below one that
  has no row of its own.
- ``action``: one of

  - ``rename``: another name takes the same arguments; ``new`` is its qualified name. A reference that is not called is
    renamed too.
  - ``rename-module``: everything below module ``old`` now lives under the same name in module ``new``.
  - ``replace``: ``new`` is an expression that stands for the whole call. The dotted name it begins with is imported.
  - ``delete``: the call, when it is a statement, goes. Where its value is used there is no fix.
  - ``drop-argument``, ``set-argument``, ``rename-argument``: ``argument`` (the keyword) goes, gets the value ``new``,
    or is called ``new``. ``position`` (from 0) finds it when it is passed by position; ``allowed`` lists values with
    which the call is left alone. With ``given`` the row speaks only where one of these values is written (or, for an
    argument that goes or is set, chosen where there is a GPU); an empty list stands for an argument that is absent. A
    text such as ``not torch.cuda.is_available()`` stands for that call. ``unless`` lists values of other arguments with
    which the call is left alone, an empty list stands for all. An argument may also stand in a visible dictionary given
    by ``**``, where no fix reaches it.
  - ``take-out``: what the call makes goes, with all that is told to it, where it is used for nothing else.
  - ``unsupported``: a finding without a fix.

- ``arguments``: for ``rename``: ``keep`` (default), ``drop``, or the list of the parameters, in order, that the new
  name takes too (``n as index`` where it calls one differently); others are dropped.
- ``assigned``: the row is about assigning to the name (a flag), not about reading it; ``delete`` removes the
  assignment.
- ``with_item``: the fix is right only for ``with name(...):``.
- ``in_step_loop``: another ``action`` (with its ``new``, ``arguments``, ``applicability``, ``reason``, ``note``) inside
  a step loop.
- ``as_number``: for ``replace``: another expression where the call stands for a number: compared, or an index.
- ``since``: target version that brought ``new``; older targets get no fix.
- ``deprecated_in``, ``removed_in``: target versions from which on the row speaks at all.
- ``acquires_device``: ``new`` starts the device runtime, which must not happen before processes are started; in a file
  that starts processes the fix is unsafe.
- ``portable``: what the setting ``portable`` makes of the row, for names that are right on CUDA: ``keep`` leaves calls
  alone that do nothing without CUDA, a name or expression of ``tpulint_runtime`` stands in for ``new``. Without it, a
  statement that is nothing but the call is put under a condition, and other fixes are only shown.
- ``effect``: what the name does on the target, as the predicate of the message; where a row has versions, it is "is
  gone since ..." unless said otherwise.
- ``note``: a sentence behind the message, shown by ``tpulint rule`` too.
- ``applicability``, ``severity``: in place of the card's. ``reason``: why the fix has its applicability.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.model import Certainty, Finding, Severity
from tpulint.right_uses import ACCELERATORS, is_annotation, is_asked_for, is_for_older_versions, runs_on_cuda_only
from tpulint.targets import parse_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.card import MappingRow
    from tpulint.context import FileContext, FixBuilder
    from tpulint.targets import Target

_NEVER_RUNS = "never runs on a TPU machine, behind a question for a GPU"

_STAYS_NUMBER = "The number of the process stands for that of its device."


class NameTable:
    """The rows of a mapping table, by name."""

    def __init__(self, rows: tuple[MappingRow, ...]) -> None:
        self._rows: dict[str, list[MappingRow]] = {}
        self.modules: dict[str, MappingRow] = {}
        """Rows of the action ``rename-module``."""
        for row in rows:
            if row.action == "rename-module":
                self.modules[row.old] = row
            else:
                self._rows.setdefault(row.old, []).append(row)
        heads = sorted({name.removesuffix(".*").rpartition(".")[0] for name in self._rows} | set(self.modules))
        self.prefixes = tuple(
            head for head in heads if not any(head.startswith(other + ".") for other in heads)
        )  # fmt: skip
        """Every name of the table lies under one of these."""

    def rows_of(self, name: str) -> list[MappingRow]:
        """The rows for a qualified name: its own, else those of the nearest ``.*`` above it."""
        rows = self._rows.get(name)
        while rows is None and "." in name:
            name = name.rpartition(".")[0]
            rows = self._rows.get(name + ".*")
        return rows or []


def check(ctx: FileContext) -> Iterator[Finding]:
    """Findings of a rule whose card has a mapping table."""
    from tpulint.row_fixes import fix_of

    table = ctx.rule.table
    for outermost, _ in ctx.index.references(*table.prefixes):
        node, rows = _look_up(ctx, table, outermost)
        if node is None or is_annotation(ctx, node):
            continue
        if not rows[0].assigned and runs_on_cuda_only(ctx, node):
            continue
        for row in rows:
            if row.old.endswith(".*"):
                row = row._replace(old=ctx.index.qualified_name(node) or row.old)
            problem = problem_of(row, ctx.target, ctx.rule.severity)
            if problem is None or row.assigned != isinstance(node.ctx, ast.Store):
                continue
            where: ast.AST = node
            certainty = Certainty.CERTAIN
            if row.removed_in and is_for_older_versions(ctx, node):
                continue
            if row.action == "unsupported" and is_asked_for(ctx, node):
                continue
            if row.argument:
                from tpulint.row_arguments import argument_of

                argument = argument_of(ctx, node, row)
                if argument is None:
                    continue
                where, certainty = argument
                if row.allowed and certainty is Certainty.LIKELY and problem[1] is Severity.ERROR:
                    problem = problem[0], Severity.WARNING  # nobody knows the value here
            in_loop = row.in_step_loop is not None and _is_in_turn(ctx, node)
            used = inside_step_loop(row) if in_loop and not ctx.index.clocks.is_timed_wait(node) else row
            if row.as_number:
                from tpulint.compared_numbers import is_number

                if is_number(ctx, node):
                    used = used._replace(new=row.as_number, reason=_STAYS_NUMBER, portable="")
            if ctx.portable:
                from tpulint.portable_rows import portable_row

                heeded = portable_row(ctx, node, used)
                if heeded is None:
                    continue
                used = heeded
            fix = (_portable_fix if ctx.portable else fix_of)(ctx, node, where, used)
            text, severity = problem
            if severity is Severity.ERROR and _is_of_runtime(ctx, node):
                if ctx.index.devices.is_asked_for(node):
                    # as long as nobody answers the question
                    text, severity = text.replace("fails without a CUDA driver", _NEVER_RUNS), Severity.WARNING
                elif ctx.index.callers.decide(node):
                    severity = Severity.WARNING
            yield ctx.finding(where, message_of(used, text), fix, severity=severity, certainty=certainty)
    if table.modules:
        from tpulint.module_rows import module_findings

        yield from module_findings(ctx, table)


def _portable_fix(
    ctx: FileContext, node: ast.Attribute | ast.Name, where: ast.AST, row: MappingRow
) -> FixBuilder | None:
    from tpulint.portable_rows import GUARD, guarded, only_shown
    from tpulint.row_fixes import fix_of

    if row.action == GUARD:
        return guarded(ctx, node, row)
    fix = fix_of(ctx, node, where, row)
    only_shown(ctx, fix, row)
    return fix


def _look_up(
    ctx: FileContext, table: NameTable, node: ast.expr
) -> tuple[ast.Attribute | ast.Name | None, list[MappingRow]]:
    """The part of a dotted name that has rows: ``torch.cuda.Stream`` in ``torch.cuda.Stream.priority_range``."""
    current: ast.expr = node
    while isinstance(current, ast.Attribute | ast.Name):
        name = ctx.index.qualified_name(current)
        if name is not None and (rows := table.rows_of(name)):
            return current, rows
        if isinstance(current, ast.Name):
            break
        current = current.value
    return None, []


def problem_of(row: MappingRow, target: Target, severity: Severity) -> tuple[str, Severity] | None:
    """What is wrong with the name on this target, and how bad it is; None when nothing is."""
    if row.removed_in and target.version >= parse_version(row.removed_in):
        problem, severity = f"is gone since {target.name} {row.removed_in}", Severity.ERROR
    elif row.deprecated_in and target.version >= parse_version(row.deprecated_in):
        problem, severity = f"is deprecated since {target.name} {row.deprecated_in}", Severity.WARNING
    elif row.removed_in or row.deprecated_in:
        return None
    else:
        problem = f"has no meaning on {target.name}"
    return row.effect or problem, Severity[row.severity.upper()] if row.severity else severity


def message_of(row: MappingRow, problem: str) -> str:
    """The message of a finding."""
    subject = f"`{row.argument}` of `{row.old}`" if row.argument else f"`{row.old}`"
    use = {"rename": f"; use `{row.new}`", "replace": f"; use `{row.new}`", "rename-module": f"; use `{row.new}`",
           "rename-argument": f"; it is called `{row.new}`", "set-argument": f"; set it to `{row.new}`",
           "delete": "; remove it", "guard": "; leave it to CUDA",
           "drop-argument": "; leave it out"}.get(row.action, "")  # fmt: skip
    return f"{subject} {problem}{use}" + (f". {row.note.rstrip('.')}" if row.note else "")


def _is_in_turn(ctx: FileContext, node: ast.AST) -> bool:
    """Whether a step runs the node, or an evaluation that is not timed, whose boundary makes a wait needless."""
    index = ctx.index
    if index.step_loop_of(node) is not None:
        return True
    return not index.clocks.are_read and index.turn_code.turn_of(node) is not None


def inside_step_loop(row: MappingRow) -> MappingRow:
    """The row with the action it has inside a step loop."""
    inner = row.in_step_loop
    if inner is None:
        return row
    return row._replace(
        action=inner.action, new=inner.new, arguments=inner.arguments, note=inner.note or row.note, reason=inner.reason,
        applicability=inner.applicability or row.applicability, acquires_device=inner.acquires_device,
        portable=inner.portable,
    )  # fmt: skip


def _is_of_runtime(ctx: FileContext, node: ast.expr) -> bool:
    return (ctx.index.qualified_name(node) or "").startswith(ACCELERATORS)

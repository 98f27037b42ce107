"""Environment variables without effect on a TPU: where they are set, and how they are taken out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding
from tpulint.semantic.devices.environment import VariableSet
from tpulint.text_files import Setting
from tpulint.text_files.context import TextContext, TextFix

_IMPORTS = r"(?m)^\s*(?:import|from) torch\b"
_REASON = "Nothing on a TPU machine reads it, but a program of yours may."


def unread_settings(
    ctx: TextContext,
    told: Callable[[str, str], str],
    otherwise: Callable[[Setting], tuple[str, TextFix | None] | None] = lambda _: None,
) -> Iterator[Finding]:
    """Settings of a file that trains on GPUs only.

    ``told`` gives what to say of a name and its value; an empty text: nothing. ``otherwise`` gives what to say of a
    setting that is to be replaced, and the fix.
    """
    index = ctx.index
    concerned = index.concerns_torch if index.language in ("dockerfile", "compose") else index.may_train_with_torch
    if index.knows_tpus or index.is_variant_for_gpus or not concerned:
        return
    for setting in index.settings:
        message = told(setting.name, setting.value)
        other = otherwise(setting) if message else None
        if other is not None:
            yield ctx.finding(setting.span, *other)
        elif message:
            yield ctx.finding(setting.span, message, without(ctx, setting))


def without(
    ctx: TextContext, setting: Setting, applicability: Applicability = Applicability.UNSAFE, reason: str = ""
) -> TextFix:
    """The fix that takes a setting out."""
    fix = ctx.fix(f"Do not set `{setting.name}`", applicability, reason or _REASON)
    fix.delete_setting(setting)
    return fix


def unread_variables(ctx: FileContext, told: Callable[[str, str], str]) -> Iterator[Finding]:
    """The same for Python code. What only defines functions serves other programs, and other machines."""
    index = ctx.index
    if not index.is_program or not index.environment.sets or not _runs_torch(ctx):  # which may read other files
        return
    for one in index.environment.sets:
        message = told(one.name, one.text)
        if not message:
            continue
        yield ctx.finding(one.node, message, unset(ctx, one, Applicability.UNSAFE, _REASON))


def _runs_torch(ctx: FileContext) -> bool:
    """Whether a program uses PyTorch, or files of the project that do."""
    index = ctx.index
    if index.mentions(r"\btorch\b|\.cuda\(\)"):
        return True
    return any(file.mentions(_IMPORTS) for file in index.imported.files())


def unset(ctx: FileContext, one: VariableSet, applicability: Applicability, reason: str) -> FixBuilder | None:
    """The fix that takes out where a variable is set, with all that appends to it; None where the file reads it."""
    environment = ctx.index.environment
    if one.statement is None or one.name in environment.names_read:
        return None
    fix = ctx.fix(f"Do not set `{one.name}`", applicability, reason)
    fix.delete(one.statement)
    if not one.extends:
        for statement in environment.extensions(one.name):
            fix.delete(statement)
    return fix

"""What a program that is not there answers through the shell: nothing, which cannot be taken apart."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import Enum

from tpulint.context import FileContext
from tpulint.semantic.cuda.started_programs import PROGRAMS

_TEXTS = frozenset({"strip", "rstrip", "lstrip", "lower", "upper", "decode", "replace"})
_NUMBERS = frozenset({"builtins.int", "builtins.float"})
_CHOOSING = frozenset({"builtins.max", "builtins.min", "numpy.argmax", "numpy.argmin", "numpy.max", "numpy.min"})
"""Calls that raise where they are given nothing."""
_LISTING = frozenset({"builtins.list", "builtins.sorted", "numpy.array", "numpy.asarray"})
_ANSWERING = r"\|\s*wc\b|\|\|"
"""What says something all the same: ``nvidia-smi -L | wc -l``."""
_INTO_FILE = r"[^>]>\s*([^\s>&|]+)\s*$"
_DEPTH = 12


class _Answer(Enum):
    """What there is of an answer."""

    FILE = "a file with nothing in it"
    TEXT = "an empty text"
    NOTHING = "a list of nothing"
    ONE = "a list of one empty text"


_READING = {"read": _Answer.TEXT, "readlines": _Answer.NOTHING}


def failing_answers(ctx: FileContext) -> Iterator[tuple[ast.Call, str, ast.AST]]:
    """Calls that ask such a program through the shell, the program, and where what they give cannot be taken apart."""
    index = ctx.index
    for call in index.calls_to("os.popen", "os.system"):
        command = _beginning(call.args[0]) if call.args else ""
        program = command.split(" ", 1)[0].rpartition("/")[2]
        if program not in PROGRAMS or re.search(_ANSWERING, command):
            continue
        for answer in [call] if index.qualified_name(call.func) == "os.popen" else _files_opened(ctx, command):
            failing = _failing(ctx, answer, _Answer.FILE)
            if failing is not None:
                yield call, program, failing
                break


def _beginning(node: ast.expr) -> str:
    """The text that a command begins with."""
    if isinstance(node, ast.JoinedStr):
        node = node.values[0]
    while isinstance(node, ast.BinOp):
        node = node.left
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _files_opened(ctx: FileContext, command: str) -> list[ast.Call]:
    """Where the file is opened that a command writes its answer to: ``nvidia-smi -q > tmp``."""
    written = re.search(_INTO_FILE, command)
    calls = ctx.index.calls_to("builtins.open") if written is not None else ()
    return [
        call for call in calls if written is not None and call.args and _beginning(call.args[0]) == written.group(1)
    ]


def _failing(ctx: FileContext, node: ast.expr, answer: _Answer, depth: int = 0) -> ast.AST | None:
    """Where it raises that an answer is empty."""
    parent = ctx.index.parent(node)
    if depth > _DEPTH:
        return None
    if isinstance(parent, ast.Attribute):
        outer = ctx.index.parent(parent)
        given = _of_method(parent.attr, outer, answer) if isinstance(outer, ast.Call) else None
        return None if given is None or not isinstance(outer, ast.Call) else _failing(ctx, outer, given, depth + 1)
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return _of_place(ctx, parent, answer, depth)
    if isinstance(parent, ast.Call) and node in parent.args:
        name = ctx.index.qualified_name(parent.func)
        if (name in _NUMBERS and answer is _Answer.TEXT) or (name in _CHOOSING and answer is _Answer.NOTHING):
            return parent
        listed = _Answer.NOTHING if answer is _Answer.FILE else answer
        return _failing(ctx, parent, listed, depth + 1) if name in _LISTING else None
    if isinstance(parent, ast.comprehension):
        return _of_comprehension(ctx, parent, answer, depth)
    if isinstance(parent, ast.For) and answer is _Answer.ONE and isinstance(parent.target, ast.Name):
        return _of_variable(ctx, parent.target, _Answer.TEXT, depth)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        target = parent.targets[0]
        if isinstance(target, ast.Name):
            return _of_variable(ctx, target, answer, depth)
        parts = target.elts if isinstance(target, ast.Tuple) else []
        is_plain = len(parts) > 1 and not any(isinstance(part, ast.Starred) for part in parts)
        return parent if is_plain and answer is not _Answer.FILE else None
    return None


def _of_method(method: str, call: ast.Call, answer: _Answer) -> _Answer | None:
    """What a method gives of an answer."""
    if answer is _Answer.FILE:
        return _READING.get(method)
    if answer is not _Answer.TEXT:
        return None
    if method == "splitlines" or (method == "split" and not call.args):
        return _Answer.NOTHING
    if method == "split":
        return _Answer.ONE
    return _Answer.TEXT if method in _TEXTS else None


def _of_place(ctx: FileContext, item: ast.Subscript, answer: _Answer, depth: int) -> ast.AST | None:
    """``lines[1]``"""
    if isinstance(item.slice, ast.Slice):
        # Of the only line, `lines[1:]` is nothing.
        is_behind = answer is _Answer.ONE and item.slice.lower is not None
        return _failing(ctx, item, _Answer.NOTHING if is_behind else answer, depth + 1)
    place = item.slice.value if isinstance(item.slice, ast.Constant) else None
    if answer is _Answer.NOTHING or (answer is _Answer.TEXT and isinstance(place, int)):
        return item
    if answer is not _Answer.ONE:
        return None
    return item if isinstance(place, int) and place != 0 else _failing(ctx, item, _Answer.TEXT, depth + 1)


def _of_comprehension(ctx: FileContext, part: ast.comprehension, answer: _Answer, depth: int) -> ast.AST | None:
    """``[int(line) for line in lines]``, which of nothing is nothing."""
    whole = ctx.index.parent(part)
    if not isinstance(whole, ast.ListComp | ast.GeneratorExp):
        return None
    if answer in (_Answer.FILE, _Answer.NOTHING):
        return _failing(ctx, whole, _Answer.NOTHING, depth + 1)
    if answer is not _Answer.ONE or not isinstance(part.target, ast.Name) or part.ifs:
        return None
    return _of_variable(ctx, part.target, _Answer.TEXT, depth)


def _of_variable(ctx: FileContext, target: ast.Name, answer: _Answer, depth: int) -> ast.AST | None:
    for load in ctx.index.names.loads_of(target):
        if [binding.node for binding in ctx.index.flow.reaching(load)] == [target]:
            failing = _failing(ctx, load, answer, depth + 1)
            if failing is not None:
                return failing
    return None

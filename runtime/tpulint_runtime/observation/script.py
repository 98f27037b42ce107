"""Runs a script as ``python script.py`` would: as ``__main__``, with its own arguments and import path."""

from __future__ import annotations

import builtins
import os
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType, TracebackType
from typing import NamedTuple


class Ending(NamedTuple):
    """How a script ended."""

    how: str
    """``finished``, ``exit`` or ``exception``."""
    status: int = 0
    error: str = ""
    """The exception, or the message that it gave to ``sys.exit``; empty where there is none."""
    trace: TracebackType | None = None


def prepare(path: str, arguments: list[str]) -> ModuleType:
    """The module that the script runs as."""
    sys.argv = [path, *arguments]
    if sys.path[:1] == [""]:
        del sys.path[0]  # that of `python -c`
    if not sys.flags.safe_path:
        sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    main = ModuleType("__main__")
    main.__dict__.update(
        __file__=path, __builtins__=builtins, __cached__=None, __spec__=None, __annotations__={},
        __loader__=SourceFileLoader("__main__", path),
    )  # fmt: skip
    sys.modules["__main__"] = main
    return main


def run(main: ModuleType) -> Ending:
    """Run it to its end. What a script would print when it fails is printed."""
    path = str(main.__file__)
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        exec(code, main.__dict__)
    except SystemExit as end:
        return _exit(end)
    except BaseException as error:
        trace = error.__traceback__
        # Our own frames are no part of what happened.
        trace = trace.tb_next if trace is not None else None
        error.__traceback__ = trace
        sys.excepthook(type(error), error, trace)
        return Ending("exception", 1, f"{type(error).__name__}: {error}".strip(": "), trace)
    return Ending("finished")


def _exit(end: SystemExit) -> Ending:
    if end.code is None or isinstance(end.code, int):
        return Ending("exit", (end.code or 0) & 0xFF, "", end.__traceback__)
    print(end.code, file=sys.stderr)
    return Ending("exit", 1, str(end.code), end.__traceback__)

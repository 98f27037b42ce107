"""Follows the script into the processes that it starts, as far as they can be followed."""

from __future__ import annotations

import multiprocessing.spawn
import os
import sys
from collections.abc import Callable
from typing import Any

VARIABLE = "TPULINT_OBSERVATION"
"""Environment variable that holds what is to be observed, as JSON; processes that are started inherit it."""

_START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")


def follow_spawned(function: str = "observe_spawned", module: str = "observer") -> None:
    """Observe every process that multiprocessing spawns, from before the script is imported in it."""
    command_of: Any = multiprocessing.spawn.get_command_line

    def observed_command(**kwargs: Any) -> list[str]:
        command = list(command_of(**kwargs))
        for index, part in enumerate(command):
            if part == "-c" and "spawn_main" in command[index + 1]:
                begin = f"import runpy; runpy.run_path({_START!r})['start']({function!r}, {module!r})"
                command[index + 1] = f"{begin}; {command[index + 1]}"
        return command

    multiprocessing.spawn.get_command_line = observed_command


def follow_forked(restart: Callable[[], None]) -> None:
    """Observe every process that is forked off."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=restart)


def notice_started(tell: Callable[[str], None]) -> None:
    """Tell of Python processes that are started in other ways: they are not followed."""

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen" and len(arguments) > 1:
            words = [os.fsdecode(word) for word in _words(arguments[1])]
            python = os.path.basename(sys.executable)
            if words and os.path.basename(words[0]) in (python, "python", "python3", "torchrun", "accelerate"):
                tell(" ".join(words[:6])[:200])

    sys.addaudithook(audit)


def _words(command: Any) -> list[Any]:
    if isinstance(command, str | bytes):
        return command.split()
    try:
        return [word for word in command if isinstance(word, str | bytes | os.PathLike)]
    except TypeError:
        return []

"""``--watch``: lint again whenever a file, or the configuration, changes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from tpulint.check_output import say
from tpulint.config import ConfigError, Configuration, RunSettings
from tpulint.config_file import find
from tpulint.discovery import discover

_PAUSE = 0.3
"""Seconds between two looks at the files. A look at 1,000 files takes some milliseconds."""

Snapshot = dict[str, tuple[int, int]]
"""Time of the last change, in nanoseconds, and size, by path."""


def watch(configured: Callable[[], Configuration], lint: Callable[[], int], paths: Sequence[str]) -> int:
    """Lint, wait for a change, and so on until interrupted; the exit status is then 0.

    Wrong configuration is told of and waited upon, as everything else is; at the start it raises ``ConfigError``, as
    wrong usage does.
    """
    if "-" in paths:
        raise ConfigError("command line: --watch needs files, not standard input")
    for path in paths:
        if not os.path.lexists(path):
            raise ConfigError(f"command line: --watch: {path}: no such file or folder")
    configuration = configured()  # the last one that could be read
    is_first = True
    try:
        while True:
            # In front of the run, which reads the configuration itself: what changes meanwhile is seen.
            before = _snapshot(configuration)
            _clear()
            try:
                lint()
            except ConfigError as error:
                if is_first:
                    raise
                say(f"error: {error}")
            is_first = False
            say(f"[{time.strftime('%H:%M:%S')}] waiting for changes; Ctrl-C ends")
            while _snapshot(configuration) == before:
                time.sleep(_PAUSE)
            with suppress(ConfigError):  # of which the run tells
                configuration = configured()
    except KeyboardInterrupt:
        return 0


def _snapshot(configuration: Configuration) -> Snapshot:
    found: Snapshot = {}
    wishes = configuration.run
    # The files that were read, of which one may be named by hand, and the nearest one, which may be new.
    configuring = (wishes.config_file, *wishes.extended_files, _nearest_configuration(wishes), wishes.baseline)
    for path in (*discover(wishes).files, *filter(None, configuring)):
        try:
            status = os.stat(path)
        except OSError:
            continue
        found[path] = (status.st_mtime_ns, status.st_size)
    return found


def _nearest_configuration(wishes: RunSettings) -> str:
    try:
        return find(wishes.paths[0])
    except ConfigError:  # one that cannot be read, of which the next run tells
        return os.path.join(wishes.root, "pyproject.toml")


def _clear() -> None:
    """A terminal shows one report at a time."""
    if sys.stdout.isatty():
        sys.stdout.write("\x1b[2J\x1b[H")
        sys.stdout.flush()

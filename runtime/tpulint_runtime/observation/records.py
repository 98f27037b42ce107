"""What was seen, written to a file line by line."""

from __future__ import annotations

import faulthandler
import json
import os
import threading
import time
from typing import Any

_WRITTEN_AT_ONCE = 200
"""Records of a kind and place that are written as they come; later ones are added up and written step by step."""
_LEAST_SECONDS = 0.1
"""A timer needs something to wait for."""


class Records:
    """The file of one process."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._counts: dict[tuple[Any, ...], int] = {}
        self._pending: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._open()

    def _open(self) -> None:
        self.pid = os.getpid()
        path = os.path.join(self._folder, f"events-{self.pid}.jsonl")
        # Unbuffered by Python, and appended: each record is with the operating system when write returns.
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def reopen(self, folder: str = "") -> None:
        """Begin a file of this process, in another folder perhaps. What was not written yet is not written."""
        self._folder = folder or self._folder
        self._lock = threading.Lock()
        self._counts, self._pending = {}, {}
        os.close(self._descriptor)
        self._open()

    def write(self, event: str, **fields: Any) -> None:
        """One record."""
        line = json.dumps({"event": event, **fields}, separators=(",", ":")) + "\n"
        with self._lock:
            os.write(self._descriptor, line.encode("utf-8", "backslashreplace"))

    def add(self, event: str, key: tuple[Any, ...], amounts: dict[str, int], **fields: Any) -> None:
        """A record of something that may come very often: ``key`` names its kind and place."""
        count = self._counts[key] = self._counts.get(key, 0) + 1
        if count <= _WRITTEN_AT_ONCE:
            self.write(event, **fields, **amounts)
            return
        pending = self._pending.setdefault(key, {"event": event, **fields})
        for name, amount in amounts.items():
            pending[name] = pending.get(name, 0) + amount

    def write_stack_at(self, moment: float) -> None:
        """Write down, beside the records, where the process is at a time since the epoch, if it still runs then."""
        self._stack_file = open(os.path.join(self._folder, f"stack-{self.pid}.txt"), "w")  # noqa: SIM115
        faulthandler.dump_traceback_later(max(moment - time.time(), _LEAST_SECONDS), file=self._stack_file)

    def flush(self) -> None:
        """Write what was added up."""
        pending, self._pending = self._pending, {}
        for record in pending.values():
            self.write(**record)

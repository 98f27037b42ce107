"""SIGTERM: the machine will be taken away in some seconds."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any


class Preempted(SystemExit):
    """Ends the process after a checkpoint was written because of SIGTERM. The exit status is 143, that of a process
    which SIGTERM ended: schedulers start such a job again."""

    def __init__(self, step: int) -> None:
        super().__init__(128 + signal.SIGTERM)
        self.step = step
        """The step that was saved."""

    def __str__(self) -> str:
        return f"told to end by SIGTERM; step {self.step} is saved"


class Notice:
    """Whether this process was told to end.

    While it is :meth:`watch`-ing, SIGTERM is only noted. Repeated ones are too: launchers pass on what the machine has
    sent to all processes already."""

    def __init__(self) -> None:
        self.came = False
        """Whether SIGTERM came."""
        self._process = 0
        self._before: Any = None

    def watch(self) -> bool:
        """Starts to note SIGTERM. False in a thread other than the main one, where signals cannot be handled."""
        if self._process == os.getpid():
            return True
        if threading.current_thread() is not threading.main_thread():
            return False
        self._before = signal.signal(signal.SIGTERM, self._note)
        self._process = os.getpid()
        return True

    def unwatch(self) -> None:
        """Handles SIGTERM as before :meth:`watch`."""
        if self._process == os.getpid() and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.SIG_DFL if self._before is None else self._before)
            self._process = 0

    def deliver(self) -> None:
        """Sends the signal that came to this process again, for whoever handles it now."""
        self.came = False
        os.kill(os.getpid(), signal.SIGTERM)

    def _note(self, number: int, frame: Any) -> None:
        if os.getpid() != self._process:
            # A process that this one forked, such as a worker of a pool: it is ended with SIGTERM, as ever.
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        self.came = True

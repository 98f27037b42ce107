"""The thread that writes files while the training goes on."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable


class Writer:
    """Runs one job at a time. What a job raises is raised by the next call."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def start(self, job: Callable[[], None]) -> None:
        """Runs ``job`` in the background. Waits for the one before: two of them would need the memory of two."""
        self.wait()
        # Not a daemon: the interpreter waits for it before it ends. If nobody asks any more how it went, the last line
        # of the process tells.
        self._thread = threading.Thread(target=self._run, args=(job,), name="checkpoint")
        atexit.register(self.wait)
        self._thread.start()

    def wait(self) -> None:
        """Returns when the job is done, and raises what it raised."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            atexit.unregister(self.wait)
        self.check()

    def check(self) -> None:
        """Raises what a job has raised by now."""
        if self._error is not None and not (self._thread and self._thread.is_alive()):
            error, self._error = self._error, None
            raise error

    def _run(self, job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:  # raised again, in the thread that asked for it
            self._error = error

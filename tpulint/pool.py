"""Several processes that work through a list of files.

Not ``multiprocessing``: its import costs more than most runs, and a worker that dies takes the run with it. Here it
costs the one file it died on.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from queue import SimpleQueue

from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

_LENGTH = struct.Struct("!I")
_MOST_DEATHS = 20
"""After so many it is not the files."""


class _Stopped(BaseException):
    """Ends a process in the middle of its work: no ``SystemExit``, which rules may raise and survive."""


class Died(NamedTuple):
    """In place of a result: the process ended while it worked on this file."""

    status: int
    """Exit status; negative for the signal that ended it."""


class Worker:
    """One process, seen from the one that started it."""

    def __init__(self, process: _Forked | _Spawned) -> None:
        self._process = process
        self._is_ending = False

    def work(self, share: Sequence[str], done: Callable[[str, Any], None]) -> int:
        """Have some paths worked on; how many were finished before the process ended, if it did."""
        try:
            _send(self._process.requests, share)
            for count, path in enumerate(share):
                result = _receive(self._process.answers)
                if result is None:
                    return count
                done(path, result[0])
        except OSError:
            return 0
        return len(share)

    def end(self) -> int:
        """Let the process finish; its exit status."""
        self._is_ending = True
        with suppress(OSError):
            self._process.requests.close()
        status = self._process.wait()
        self._process.answers.close()
        return status

    def stop(self) -> None:
        """End the process in the middle of its work, though not in the middle of writing a file."""
        if not self._is_ending:
            with suppress(OSError):
                self._process.terminate()


def run(work: Callable[[str], Any], shares: Sequence[Sequence[str]], jobs: int) -> Iterator[tuple[str, Any]]:
    """Call ``work`` on every path in some processes; yield path and result as they come.

    The paths of a share are worked on by one process, in order, but for those behind one that it dies on. ``work`` is
    handed over by fork where there is one, else pickled. It must not raise.
    """
    crew = _Crew(work, shares, jobs)
    try:
        for _ in range(sum(map(len, shares))):
            path, result = crew.results.get()
            if isinstance(result, BaseException):
                raise result
            yield path, result
    except BaseException:
        crew.stop()
        raise
    finally:
        crew.join()


class _Crew:
    """The processes of one run, each with a thread here that keeps it busy."""

    def __init__(self, work: Callable[[str], Any], shares: Sequence[Sequence[str]], jobs: int) -> None:
        self.results: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._work = work
        self._waiting = deque(shares)
        self._deaths = 0
        self._is_stopped = False
        self._workers = _start(work, jobs)
        self._threads = [threading.Thread(target=self._keep_busy, args=(place,), daemon=True) for place in range(jobs)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the processes although there is work left."""
        self._is_stopped = True
        for worker in self._workers:
            worker.stop()

    def join(self) -> None:
        """Wait until all processes have ended."""
        for thread in self._threads:
            thread.join()

    def _keep_busy(self, place: int) -> None:
        try:
            while not self._is_stopped and (share := self._next()):
                worker = self._workers[place]
                finished = worker.work(share, lambda path, result: self.results.put((path, result)))
                if finished < len(share) and not self._is_stopped:
                    self._replace(place, share[finished:])
            self._workers[place].end()
        except BaseException as error:
            self.results.put(("", error))

    def _next(self) -> Sequence[str]:
        try:
            return self._waiting.popleft()
        except IndexError:
            return ()

    def _replace(self, place: int, unfinished: Sequence[str]) -> None:
        """Blame the file a process died on, and start another process for the others."""
        died = Died(self._workers[place].end())
        self.results.put((unfinished[0], died))
        if len(unfinished) > 1:
            self._waiting.append(unfinished[1:])
        self._deaths += 1
        if self._deaths > _MOST_DEATHS:
            while share := self._next():
                for path in share:
                    self.results.put((path, died))
        # Not a fork: this process has threads by now.
        self._workers[place] = Worker(_Spawned(self._work))


def _start(work: Callable[[str], Any], jobs: int) -> list[Worker]:
    if not hasattr(os, "fork"):
        return [Worker(_Spawned(work)) for _ in range(jobs)]
    import gc

    gc.freeze()  # a collection in a child would copy the pages it shares with us
    sys.stdout.flush()
    sys.stderr.flush()
    forked: list[_Forked] = []
    for _ in range(jobs):
        forked.append(_Forked(work, forked))
    return [Worker(process) for process in forked]


class _Forked:
    """A process made by fork."""

    def __init__(self, work: Callable[[str], Any], siblings: Sequence[_Forked]) -> None:
        requests_read, requests_write = os.pipe()
        answers_read, answers_write = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            status = 1
            try:
                # Held open here, a sibling's pipe would never seem closed to it.
                for sibling in siblings:
                    os.close(sibling.requests.fileno())
                    os.close(sibling.answers.fileno())
                os.close(requests_write)
                os.close(answers_read)
                _obey(os.fdopen(requests_read, "rb"), os.fdopen(answers_write, "wb"), work)
                status = 0
            finally:
                os._exit(status)
        os.close(requests_read)
        os.close(answers_write)
        self.requests: BinaryIO = os.fdopen(requests_write, "wb")
        self.answers: BinaryIO = os.fdopen(answers_read, "rb")

    def terminate(self) -> None:
        os.kill(self._pid, signal.SIGTERM)

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


class _Spawned:
    """A process started from nothing."""

    def __init__(self, work: Callable[[str], Any]) -> None:
        import subprocess

        # -P: a module of the user's in the working directory must not stand for one of ours.
        command = [sys.executable, "-P", "-c", "from tpulint.pool import obey_parent; obey_parent()"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None and self._process.stdout is not None
        self.requests: BinaryIO = self._process.stdin  # type: ignore[assignment]
        self.answers: BinaryIO = self._process.stdout  # type: ignore[assignment]
        _send(self.requests, work)

    def terminate(self) -> None:
        self._process.terminate()

    def wait(self) -> int:
        return self._process.wait()


def obey_parent() -> None:
    """What a spawned process does: take the work, then the paths, from standard input."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a stray print must not garble the answers
    work = _receive(requests)
    with suppress(BrokenPipeError, _Stopped):
        if work is not None:
            _obey(requests, answers, work[0])
    os._exit(0)


def _obey(requests: BinaryIO, answers: BinaryIO, work: Callable[[str], Any]) -> None:
    import gc

    gc.disable()  # as in the process that started this one
    # Ctrl-C reaches the whole group of processes: the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)  # as an exception, so that a half-written draft is removed
    while True:
        share = _receive(requests)
        if share is None:
            return
        for path in share[0]:
            _send(answers, work(path))


def _leave(signal_number: int, frame: object) -> None:
    raise _Stopped


def _send(stream: BinaryIO, value: Any) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def _receive(stream: BinaryIO) -> tuple[Any] | None:
    """A value in a tuple; None when the other side is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(head)
    data = stream.read(size)
    return (pickle.loads(data),) if len(data) == size else None

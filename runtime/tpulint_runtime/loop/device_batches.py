"""Batches on the device, sent ahead by a thread while the steps before are computed."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from tpulint_runtime.backend import Backend
from tpulint_runtime.nested import is_leaf, items, leaves, rebuild


def device_batches(loader: Iterable[Any], backend: Backend, ahead: int = 2) -> Iterator[Any]:
    """The batches of ``loader``, their tensors on the device; containers keep their type.

    ahead
        Batches that a thread reads and sends before they are asked for. With 0 each is sent when it is asked for: for
        a loader that draws random numbers in this process, which then come in the same order as those of the steps.

    Neither ends a step. A loader of torch_xla does whenever it is asked for a batch, and so is asked in this thread,
    between two steps. An exception of the loader is raised here, at the batch it came for; the loader is closed when
    the iteration ends, however it ends. On the CPU, batches are handed on as they are.
    """
    if backend.name == "cpu":
        yield from loader
    elif ahead < 1 or any(base.__module__.startswith("torch_xla.") for base in type(loader).__mro__):
        for batch in loader:
            yield send(batch, backend)
    else:
        reader = _Reader(loader, backend, ahead)
        try:
            yield from reader
        finally:
            reader.close()


def send(batch: Any, backend: Backend) -> Any:
    """``batch`` with all its tensors on the device, in one transfer."""
    tensors = [leaf for _, leaf in leaves(batch) if isinstance(leaf, torch.Tensor)]
    sent = iter(backend.send(tensors))

    def put(value: Any) -> Any:
        if not is_leaf(value):
            return rebuild(value, [put(child) for _, child in items(value)])
        return next(sent) if isinstance(value, torch.Tensor) else value

    return put(batch)


class _Reader:
    """A thread that reads a loader and sends what it reads."""

    def __init__(self, loader: Iterable[Any], backend: Backend, ahead: int) -> None:
        self._loader = loader
        self._backend = backend
        self._ready: queue.Queue[tuple[str, Any]] = queue.Queue(maxsize=ahead)
        self._is_closed = False
        self._thread = threading.Thread(target=self._read, name="device batches", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Any]:
        while True:
            what, value = self._ready.get()
            if what == "error":
                raise value
            if what == "end":
                return
            yield value

    def _read(self) -> None:
        try:
            for batch in self._loader:
                self._put("batch", send(batch, self._backend))
                if self._is_closed:
                    return
            self._put("end", None)
        except BaseException as error:  # raised by the loop, which alone can end
            self._put("error", error)

    def _put(self, what: str, value: Any) -> None:
        while not self._is_closed:
            try:
                self._ready.put((what, value), timeout=0.1)
                return
            except queue.Full:
                continue

    def close(self) -> None:
        self._is_closed = True
        self._thread.join()

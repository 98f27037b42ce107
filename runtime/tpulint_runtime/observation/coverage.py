"""Which lines of the user's code ran, in which steps, and by which calls they were reached.

What a line cost says nothing about the lines that cost nothing: whether they ran at all is known here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from tpulint_runtime.observation.records import Records
from tpulint_runtime.ownership import Ownership

Place = tuple[str, int]
"""Path and row."""
_DEEPEST = 12
"""Callers that are told apart: more of them only a recursion has."""
_ROWS_AT_ONCE = 500


class Coverage:
    """Lines that ran and the places where training happens, of one process."""

    def __init__(self, records: Records, in_step: Callable[[], int]) -> None:
        self._records = records
        self._in_step = in_step
        self._chains: dict[tuple[Place, ...], int] = {}
        self._ran: dict[tuple[str, int, int], dict[int, int]] = {}
        self._events: set[tuple[str, tuple[Place, ...]]] = set()
        self._ownership: Ownership | None = None

    def install(self, ownership: Ownership) -> None:
        """Notice optimizer steps, backward passes, models that are run and data loaders that are built."""
        self._ownership = ownership
        self._wrap_loader()
        register_module_forward_pre_hook(self._on_forward)

    def restart(self) -> None:
        """Begin anew, in another file of records."""
        self._ran, self._events = {}, set()
        for chain, number in self._chains.items():
            self._write_chain(chain, number)

    def chain_of(self, frame: FrameType | None) -> int:
        """A number for the lines of the user's code at and above a frame; the same for the same lines."""
        chain = self._places(frame)
        number = self._chains.get(chain)
        if number is None:
            number = self._chains[chain] = len(self._chains)
            self._write_chain(chain, number)
        return number

    def note(self, path: str, row: int, chain: int) -> None:
        """A line begins."""
        steps = self._ran.setdefault((path, row, chain), {})
        step = self._in_step()
        steps[step] = steps.get(step, 0) + 1

    def note_event(self, kind: str) -> None:
        """Something of training happens: ``update`` or ``backward``."""
        self._write_event(kind, self._places(sys._getframe(1)))

    def write(self) -> None:
        """Write down which lines ran."""
        rows = [[path, row, chain, sorted(steps.items())] for (path, row, chain), steps in self._ran.items()]
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            self._records.write("ran", rows=rows[start : start + _ROWS_AT_ONCE])
        self._ran = {}

    def _write_chain(self, chain: tuple[Place, ...], number: int) -> None:
        self._records.write("chain", number=number, places=[list(place) for place in chain])

    def _places(self, frame: FrameType | None) -> tuple[Place, ...]:
        places: list[Place] = []
        path_of = self._ownership.path_of if self._ownership is not None else None
        while frame is not None and len(places) < _DEEPEST:
            path = path_of(frame.f_code) if path_of is not None else ""
            if path:
                places.append((path, frame.f_lineno))
            frame = frame.f_back
        return tuple(places)

    def _on_forward(self, module: Any, inputs: Any) -> None:
        """A module is run: what counts is the outermost one, which the user's code has called."""
        frame: FrameType | None = sys._getframe(1)
        outermost = None
        while frame is not None:
            if frame.f_code.co_name == "_call_impl" and frame.f_code.co_filename == _MODULE_FILE:
                outermost = frame
            frame = frame.f_back
        places = self._places(outermost)
        trains = bool(module.training) and torch.is_grad_enabled()
        self._write_event("training-forward" if trains else "evaluating-forward", places)

    def _wrap_loader(self) -> None:
        loader: Any = torch.utils.data.DataLoader
        init = loader.__init__

        def init_noticed(built: Any, *args: Any, **kwargs: Any) -> None:
            init(built, *args, **kwargs)
            try:
                samples, size = len(built.dataset), int(built.batch_size or 0)
            except (TypeError, NotImplementedError):
                return
            is_even = built.drop_last or not size or samples % size == 0 or samples < size
            kind = "loader" if is_even else "uneven-loader"
            self._write_event(kind, self._places(sys._getframe(1)))

        loader.__init__ = init_noticed

    def _write_event(self, kind: str, places: tuple[Place, ...]) -> None:
        if (kind, places) not in self._events:
            self._events.add((kind, places))
            self._records.write("happened", kind=kind, places=[list(place) for place in places])


_MODULE_FILE = torch.nn.Module._call_impl.__code__.co_filename

"""Keeps the text of every graph that was compiled, as torch_xla writes it down itself."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

VARIABLE = "XLA_SAVE_TENSORS_FILE"
SETTINGS = {"XLA_SAVE_TENSORS_FMT": "hlo", "XLA_HLO_DEBUG": "1"}
"""As HLO, which has the values of constants, with the source line of every operation."""

_HEAD = b"TensorsGraphInfo:"
_HASH = re.compile(rb"Graph Hash: (\w+)")
_SOURCE = re.compile(rb'source_file="([^"]+)" source_line=(\d+)')
_LONGEST_DUMP = 64_000_000
"""Bytes after which the file of torch_xla, which holds every graph at every launch, is emptied."""


class Graph(NamedTuple):
    """A graph that was not seen before."""

    number: int
    """Names its file, ``graph-PID-NUMBER.txt``."""
    sources: tuple[tuple[str, int], ...]
    """File and line of the operations in it, each once."""


class GraphDumps:
    """Reads what torch_xla appends to its file. Silent where it appends nothing."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = os.path.join(folder, f"dump-{os.getpid()}")
        self._offset = 0
        self._seen: set[bytes] = set()
        self._count = 0

    def move(self, folder: str) -> None:
        """Keep graphs in another folder from now on, numbered anew."""
        self.new_graphs()
        self._folder = folder
        self._count = 0

    def ask(self) -> None:
        """Make torch_xla write graphs down; to be called before it is loaded."""
        os.environ.update(SETTINGS)
        os.environ[VARIABLE] = self._path

    def new_graphs(self) -> list[Graph]:
        """Graphs that are new since the last call, kept as files of their own."""
        path = f"{self._path}.0"  # torch_xla appends the number of the device
        try:
            with open(path, "rb") as file:
                file.seek(self._offset)
                data = file.read()
        except OSError:
            return []
        self._offset += len(data)
        found = []
        for text in data.split(_HEAD)[1:]:
            graph_hash = _HASH.search(text)
            if graph_hash is not None and graph_hash[1] not in self._seen:
                self._seen.add(graph_hash[1])
                found.append(self._keep(text))
        self.trim()
        return found

    def trim(self) -> None:
        """Empty the file when it grew long. torch_xla opens it anew for each graph."""
        path = f"{self._path}.0"
        try:
            if os.stat(path).st_size > _LONGEST_DUMP:
                os.truncate(path, 0)
                self._offset = 0
        except OSError:
            pass

    def _keep(self, text: bytes) -> Graph:
        self._count += 1
        with open(os.path.join(self._folder, f"graph-{os.getpid()}-{self._count}.txt"), "wb") as file:
            file.write(text)
        sources = dict.fromkeys((name.decode("utf-8", "replace"), int(row)) for name, row in _SOURCE.findall(text))
        return Graph(self._count, tuple(sources))

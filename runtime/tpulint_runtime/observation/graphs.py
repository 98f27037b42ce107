"""Reads the text of every graph that was compiled, as torch_xla writes it down itself."""

from __future__ import annotations

import os
import re

VARIABLE = "XLA_SAVE_TENSORS_FILE"
SETTINGS = {"XLA_SAVE_TENSORS_FMT": "hlo", "XLA_HLO_DEBUG": "1"}
"""As HLO, which has the values of constants, with the source line of every operation."""

_HEAD = b"TensorsGraphInfo:"
_HASH = re.compile(rb"Graph Hash: (\w+)")
_LONGEST_DUMP = 64_000_000
"""Bytes after which the file of torch_xla, which holds every graph at every launch, is emptied."""


class GraphDumps:
    """Reads what torch_xla appends to its file. Silent where it appends nothing."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, f"dump-{os.getpid()}")
        self._offset = 0
        self._seen: set[bytes] = set()

    def skip(self) -> None:
        """Leave out what was written down until now."""
        self.new_graphs()

    def ask(self) -> None:
        """Make torch_xla write graphs down; to be called before it is loaded."""
        os.environ.update(SETTINGS)
        os.environ[VARIABLE] = self._path

    def new_graphs(self) -> list[str]:
        """Texts of graphs that are new since the last call."""
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
                found.append(text.decode("utf-8", "replace"))
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

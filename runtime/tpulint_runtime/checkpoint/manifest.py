"""What a process wrote for a checkpoint: names of files, sizes, digests. Written last, it says that all are there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

from tpulint_runtime.checkpoint.errors import CheckpointError

FORMAT = 1
SUFFIX = ".json"

PIECE = 1 << 20
"""Bytes that are read at once."""


class CutOff(CheckpointError):
    """A manifest that does not end as one: it was not written to its end, or was damaged."""


class Contents(NamedTuple):
    """What is in a file."""

    size: int
    """In bytes."""
    digest: str
    """SHA-256, in hexadecimal."""


class Manifest(NamedTuple):
    """Of one process, for one checkpoint."""

    step: int
    """The last step that was done."""
    rank: int
    """Number of the process."""
    processes: int
    """How many processes there were: a checkpoint is whole when each has written a manifest."""
    backend: str
    """``xla``, ``cuda`` or ``cpu``."""
    torch: str
    """Version of torch."""
    files: Mapping[str, Contents]
    """The files of this process, by name."""

    def to_bytes(self) -> bytes:
        """As text of JSON, with a digest of itself."""
        content = {
            "format": FORMAT,
            **self._asdict(),
            "files": {name: file._asdict() for name, file in self.files.items()},
        }
        return json.dumps({"manifest": content, "sha256": _digest(content)}, indent=1).encode()


def name_of(rank: int) -> str:
    """The name of the manifest of a process."""
    return f"process-{rank:05d}{SUFFIX}"


def read(data: bytes) -> Manifest:
    """The manifest in the bytes of a file. Raises CheckpointError, with the reason, if there is none; CutOff where the
    bytes may be the beginning of one."""
    try:
        found = json.loads(data)
        content: dict[str, Any] = found["manifest"]
        intact = found["sha256"] == _digest(content)
    except (ValueError, KeyError, TypeError):
        raise CutOff("it is cut off or garbled") from None
    if not intact:
        raise CheckpointError("it is not as it was written")
    if content.pop("format", None) != FORMAT:
        raise CheckpointError(f"it has another format than {FORMAT}: it was written by another version")
    files = {str(name): Contents(**file) for name, file in content.pop("files").items()}
    return Manifest(files=files, **content)


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class Measured:
    """A file that is being written, and what went into it: to know that, it need not be read again."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._size = 0
        self.error: Exception | None = None
        """Why it cannot be written. What torch raises in its place says less."""

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        try:
            self._file.write(view)
        except Exception as error:
            self.error = self.error or error
            raise
        self._digest.update(view)
        self._size += len(view)
        return len(view)

    def flush(self) -> None:
        self._file.flush()

    @property
    def contents(self) -> Contents:
        return Contents(self._size, self._digest.hexdigest())


def contents_of(file: BinaryIO) -> Contents:
    """What is in a file, from where it stands to the end."""
    digest, size = hashlib.sha256(), 0
    while piece := file.read(PIECE):
        digest.update(piece)
        size += len(piece)
    return Contents(size, digest.hexdigest())

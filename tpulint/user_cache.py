"""What takes long to parse, kept in the user's cache folder: each file under a name that tells all it was made of.

Values are kept as Python keeps its own compiled files: that is read in a third of the time that JSON takes.
"""

from __future__ import annotations

import binascii
import marshal
import os
import sys

from tpulint import __version__

try:
    # hashlib would load OpenSSL for one digest.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHECKSUM = 8
"""Length of what stands before a value."""


def digest() -> blake2b:
    """A digest for a name, begun with what reads and writes the values: this version and this Python."""
    return blake2b(f"{__version__} {sys.implementation.cache_tag}".encode(), digest_size=16)


def read(file_name: str) -> Any:
    """The value kept under this name; None when there is none or the file is damaged."""
    try:
        with open(os.path.join(_folder(), file_name), "rb", buffering=0) as file:
            content = memoryview(file.read())
    except OSError:
        return None
    value = content[_CHECKSUM:]
    return marshal.loads(value) if value and content[:_CHECKSUM] == _checksum(value) else None


def keep(file_name: str, value: Any, most: int) -> None:
    """Write a value of plain types, whole or not at all, and let go of the oldest of its kind when there are too many.

    The kind is what the name begins with. A folder that cannot be written, or a value of a type that cannot be kept,
    such as a date, only costs time.
    """
    from tpulint.disk import write_private

    kind = file_name.partition("-")[0] + "-"
    folder = _folder()
    try:
        data = marshal.dumps(value)
        write_private(os.path.join(folder, file_name), _checksum(data) + data)
        with os.scandir(folder) as entries:
            kept = sorted((e for e in entries if e.name.startswith(kind)), key=lambda e: e.stat().st_mtime_ns)
        for entry in kept[:-most]:
            os.unlink(entry.path)
    except (OSError, ValueError):
        return


def _folder() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "tpulint")


def _checksum(data: bytes | memoryview) -> bytes:
    return f"{binascii.crc32(data):08x}".encode()

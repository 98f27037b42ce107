"""Reading a file, and replacing it whole or not at all."""

from __future__ import annotations

import os
import stat

from tpulint.records import NamedTuple


class Content(NamedTuple):
    """What a file held at one moment."""

    data: bytes
    changed_ns: int
    """When the file was last changed, as ``changed_ns`` tells."""


class ChangedOnDisk(OSError):
    """Somebody else wrote the file after it was read."""


def read(path: str) -> Content:
    """The bytes of a file and the time they were changed. Raises ``OSError``."""
    with open(path, "rb", buffering=0) as stream:
        time_ns = changed_ns(os.fstat(stream.fileno()))
        return Content(stream.read(), time_ns)


def changed_ns(status: os.stat_result) -> int:
    """When a file was last changed, in nanoseconds: ``cp -p`` and ``rsync -t`` put the time of writing back."""
    return max(status.st_mtime_ns, status.st_ctime_ns)


def replace(path: str, before: bytes, after: bytes) -> None:
    """Put ``after`` in the place of ``before``; a reader sees one or the other, never a part.

    A symbolic link stays, its target is replaced; permissions stay. Raises ``ChangedOnDisk`` when the file no longer
    holds ``before``, ``OSError`` when it cannot be written.
    """
    target = os.path.realpath(path)
    if not os.access(target, os.W_OK):
        raise PermissionError(13, "file is write-protected", path)
    status = os.stat(target)
    draft = os.path.join(os.path.dirname(target), f".tpulint-{os.getpid()}-{status.st_ino}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(after)
            stream.flush()
            os.fsync(stream.fileno())
        _keep_owner(draft, status)
        os.chmod(draft, stat.S_IMODE(status.st_mode))
        if read(target).data != before:
            raise ChangedOnDisk(0, "file changed on disk while it was being fixed; left as it is", path)
        os.replace(draft, target)
    except BaseException:
        os.unlink(draft)
        raise


def write_private(path: str, data: bytes) -> None:
    """Write a file of our own in one step, making its folder. Raises ``OSError``."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    draft = f"{path}.{os.getpid()}"
    try:
        with open(draft, "wb") as stream:
            stream.write(data)
        os.replace(draft, path)
    except BaseException:
        if os.path.exists(draft):
            os.unlink(draft)
        raise


def _keep_owner(path: str, status: os.stat_result) -> None:
    """Matters when root fixes somebody's file; others may not give files away."""
    chown = getattr(os, "chown", None)
    if chown is None or (status.st_uid, status.st_gid) == (os.geteuid(), os.getegid()):
        return
    try:
        chown(path, status.st_uid, status.st_gid)
    except PermissionError:
        return

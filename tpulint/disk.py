"""Reading a file, and replacing it whole or not at all."""

from __future__ import annotations

import errno
import os
import stat

from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import FileIO

_NO_DRAFT = (errno.EACCES, errno.EPERM, errno.EROFS)
"""In a folder that is write-protected."""
_NO_RENAME = (*_NO_DRAFT, errno.EBUSY, errno.EXDEV)
"""There, of a file that is mounted by itself, and of a draft on another file system."""


class Content(NamedTuple):
    """What a file held at one moment."""

    data: bytes
    changed_ns: int
    """When the file was last changed, as ``changed_ns`` tells."""


class ChangedOnDisk(OSError):
    """Somebody else wrote the file after it was read."""


class HalfWritten(OSError):
    """A file holds neither the old text nor the new one. The message tells where the new one is."""


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

    A symbolic link stays, its target is replaced; permissions stay. Where the system lets nobody put another file in
    its place (it is mounted by itself, its folder is write-protected), the file is written into, and the new text lies
    beside it, or among temporary files, until that is done.
    Raises ``ChangedOnDisk`` when the file no longer holds ``before``, ``OSError`` when it cannot be written.
    """
    target = os.path.realpath(path)
    if not os.access(target, os.W_OK):
        raise PermissionError(13, "file is write-protected", path)
    draft = _write_draft(target, os.stat(target), after)
    try:
        if read(target).data != before:
            raise ChangedOnDisk(0, "file changed on disk while it was being fixed; left as it is", path)
        try:
            os.replace(draft, target)
        except OSError as error:
            if error.errno not in _NO_RENAME:
                raise
            _write_into(target, draft, before, after)
    except HalfWritten:
        raise  # the draft is all there is
    except BaseException:
        os.unlink(draft)
        raise


def _write_draft(target: str, status: os.stat_result, data: bytes) -> str:
    """A file that is to stand in the place of another; its path."""
    draft = os.path.join(os.path.dirname(target), f".tpulint-{os.getpid()}-{status.st_ino}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    except OSError as error:
        if error.errno not in _NO_DRAFT:
            raise
        import tempfile

        descriptor, draft = tempfile.mkstemp(prefix="tpulint-")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        _keep_owner(draft, status)
        os.chmod(draft, stat.S_IMODE(status.st_mode))
    except BaseException:
        os.unlink(draft)
        raise
    return draft


def _write_into(target: str, draft: str, before: bytes, after: bytes) -> None:
    """Write into a file what a draft holds, which goes then. What fails is undone. Raises ``HalfWritten``."""
    with open(target, "r+b", buffering=0) as stream:
        try:
            _overwrite(stream, after)
        except BaseException:
            try:
                _overwrite(stream, before)
            except OSError as error:
                reason = f"{error.strerror or error}; what was to be written is in {draft}"
                raise HalfWritten(error.errno or 0, reason, target) from None
            raise
    os.unlink(draft)


def _overwrite(stream: FileIO, data: bytes) -> None:
    stream.seek(0)
    left = memoryview(data)
    while left:
        left = left[stream.write(left) :]
    stream.truncate(len(data))
    os.fsync(stream.fileno())


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

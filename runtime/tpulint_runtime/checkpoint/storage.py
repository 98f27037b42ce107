"""Where checkpoints lie: a folder of this machine, or a URL that fsspec opens (``gs://bucket/run``)."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Protocol

Write = Callable[[BinaryIO], None]


class Storage(Protocol):
    """Files in folders of one level below a root. Names are ``folder/file``. Every method may raise OSError."""

    @property
    def location(self) -> str:
        """The root, as messages show it."""

    @property
    def shows_halves(self) -> bool:
        """Whether a file can be seen that is not written to its end."""

    def prepare(self) -> None:
        """Makes the root where it is missing, and fails where nothing can be written to it."""

    def names(self, folder: str = "") -> list[str]:
        """What is in a folder, or in the root; nothing if it is not there."""

    def size(self, name: str) -> int:
        """Bytes of a file."""

    def open(self, name: str) -> BinaryIO:
        """A file to read, which can be read more than once."""

    def write(self, name: str, write: Write) -> None:
        """Calls ``write`` with a file. When this returns, the file outlasts a crash of the machine; when it raises, or
        the process is killed in it, what had this name before is still there."""

    def remove(self, folder: str, first: str) -> None:
        """Removes a folder; files that end in ``first`` go first."""


def storage_of(path: str | os.PathLike[str]) -> Storage:
    """The storage for a path, or for a URL with ``://`` in it.

    Raises ImportError for a URL where fsspec, or its part for this kind of URL, is not installed."""
    text = os.fspath(path)
    return UrlStorage(text) if "://" in text else LocalStorage(text)


class LocalStorage:
    """A folder of this machine, or one that is mounted."""

    shows_halves = False

    def __init__(self, root: str) -> None:
        self.location = root

    def prepare(self) -> None:
        os.makedirs(self.location, exist_ok=True)
        probe = self._path(f".probe-{os.getpid()}")
        with open(probe, "wb"):
            pass
        os.unlink(probe)

    def names(self, folder: str = "") -> list[str]:
        try:
            return os.listdir(self._path(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def size(self, name: str) -> int:
        return os.stat(self._path(name)).st_size

    def open(self, name: str) -> BinaryIO:
        return open(self._path(name), "rb")

    def write(self, name: str, write: Write) -> None:
        path = self._path(name)
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            os.makedirs(folder, exist_ok=True)
            _flush_folder(self.location)
        # In the same folder, for a file is renamed in one go only within its file system.
        temporary = os.path.join(folder, f".{os.path.basename(path)}.tmp")
        try:
            with open(temporary, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):  # what it takes may be what the disk lacks
                os.unlink(temporary)
            raise
        _flush_folder(folder)

    def remove(self, folder: str, first: str) -> None:
        for name in sorted(self.names(folder), key=lambda name: not name.endswith(first)):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path(f"{folder}/{name}"))
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(self._path(folder))

    def free(self) -> int:
        """Bytes that can still be written."""
        return shutil.disk_usage(self.location).free

    def _path(self, name: str) -> str:
        return os.path.join(self.location, name) if name else self.location


def _flush_folder(path: str) -> None:
    """Writes the names in a folder to the disk. A file that was flushed is lost if its name was not."""
    if os.name == "nt":  # which has no such thing
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class UrlStorage:
    """Anything fsspec opens. A file is there when it was written to its end, as object stores do it; where a file
    system shows half of one, the manifest that is missing or differs tells."""

    shows_halves = True

    def __init__(self, url: str) -> None:
        import fsspec.core  # for URLs only: it is no part of torch

        self.location = url
        found: tuple[Any, str] = fsspec.core.url_to_fs(url)
        self._files, self._root = found

    def prepare(self) -> None:
        with _as_os_error():
            self._files.makedirs(self._root, exist_ok=True)
            probe = self._path(f".probe-{os.getpid()}")
            self._files.pipe_file(probe, b"")
            self._files.rm_file(probe)

    def names(self, folder: str = "") -> list[str]:
        self._files.invalidate_cache()  # other processes write here as well
        try:
            with _as_os_error():
                found = self._files.ls(self._path(folder), detail=False)
        except FileNotFoundError:
            return []
        return [str(name).rstrip("/").rpartition("/")[2] for name in found]

    def size(self, name: str) -> int:
        with _as_os_error():
            return int(self._files.size(self._path(name)))

    def open(self, name: str) -> BinaryIO:
        with _as_os_error():
            return io.BytesIO(self._files.cat_file(self._path(name)))  # at once: it is read twice

    def write(self, name: str, write: Write) -> None:
        path = self._path(name)
        with _as_os_error():
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            with self._files.open(path, "wb") as file:
                write(file)

    def remove(self, folder: str, first: str) -> None:
        for name in sorted(self.names(folder), key=lambda name: not name.endswith(first)):
            with contextlib.suppress(FileNotFoundError), _as_os_error():
                self._files.rm_file(self._path(f"{folder}/{name}"))
        with contextlib.suppress(OSError), _as_os_error():  # object stores have no folders to remove
            self._files.rmdir(self._path(folder))

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}" if name else str(self._root)


@contextlib.contextmanager
def _as_os_error() -> Iterator[None]:
    """What goes wrong, as OSError: clients of object stores have errors of their own for what a server answers."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}") from error

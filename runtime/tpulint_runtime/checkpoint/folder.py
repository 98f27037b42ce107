"""The checkpoints in a storage: which there are, which of them are whole, and which may go."""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Collection
from typing import Any, BinaryIO, NamedTuple, cast

import torch

from tpulint_runtime.checkpoint import manifest
from tpulint_runtime.checkpoint.errors import CheckpointError
from tpulint_runtime.checkpoint.manifest import Contents, Manifest
from tpulint_runtime.checkpoint.storage import LocalStorage, Storage

SHARED = "shared.pt"
"""The state that is the same in all processes. The first of them writes it."""


class Entry(NamedTuple):
    """One checkpoint. In order of time: a run continues from one of the run before, perhaps not the last."""

    run: int
    """Starts of the training, counted. Its own folders keep a run from completing what an earlier one left torn."""
    step: int
    """The last step that was done."""

    @property
    def folder(self) -> str:
        return f"run-{self.run:04d}-step-{self.step:09d}"


_FOLDER = re.compile(r"run-(\d{4,})-step-(\d{9,})")


class Incomplete(CheckpointError):
    """Not every process had finished writing."""


class Folder:
    """Checkpoints under one root."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def entries(self) -> list[Entry]:
        """All that were begun, oldest first."""
        matches = map(_FOLDER.fullmatch, self.storage.names())
        return sorted(Entry(int(match[1]), int(match[2])) for match in matches if match)

    def show(self, entry: Entry) -> str:
        return f"{self.storage.location.rstrip('/')}/{entry.folder}"

    # ---------------------------------------------------------------- writing

    def write(self, entry: Entry, states: dict[str, Any], own: Manifest) -> None:
        """Writes the files of a process, each with what ``torch.save`` makes of a state, and then its manifest: ``own``
        with the files. Raises CheckpointError, with the reason, and leaves what other checkpoints there are."""
        try:
            files = {name: self._write_state(f"{entry.folder}/{name}", state) for name, state in states.items()}
            data = own._replace(files=files).to_bytes()
            self.storage.write(f"{entry.folder}/{manifest.name_of(own.rank)}", lambda file: _write_all(file, data))
        except Exception as error:
            self._clear_after(entry, own.processes)
            raise CheckpointError(f"{self.show(entry)} was not written: {self._reason(error)}") from error

    def _write_state(self, name: str, state: Any) -> Contents:
        found: list[Contents] = []

        def write(file: BinaryIO) -> None:
            measured = manifest.Measured(file)
            try:
                torch.save(state, cast(BinaryIO, measured))  # it writes and flushes, which is all that is asked of it
            except Exception:
                if measured.error:
                    raise measured.error from None
                raise
            found.append(measured.contents)

        self.storage.write(name, write)
        return found[0]

    def _clear_after(self, entry: Entry, processes: int) -> None:
        """Gives back the space of what was not written to its end. Other processes may still be writing theirs."""
        if processes == 1:
            with contextlib.suppress(Exception):  # what went wrong before is what is told
                self.storage.remove(entry.folder, manifest.SUFFIX)

    def _reason(self, error: Exception) -> str:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC and isinstance(self.storage, LocalStorage):
            return f"{error.strerror}, {self.storage.free() / 2**20:.0f} MiB free"
        return str(error) or type(error).__name__

    def remove_old(self, keep: int, damaged: Collection[Entry]) -> None:
        """Removes whole checkpoints but for the last ``keep``, and torn ones before the last whole one: nobody writes
        to these any more. ``damaged`` are known not to be whole."""
        entries = self.entries()
        whole = [entry for entry in entries if entry not in damaged and self._is_whole(entry)]
        for entry in entries:
            if whole and entry < whole[-1] and entry not in whole[-keep:]:
                self.storage.remove(entry.folder, manifest.SUFFIX)

    def _is_whole(self, entry: Entry) -> bool:
        try:
            self.manifests(entry)
        except CheckpointError:
            return False
        return True

    # ---------------------------------------------------------------- reading

    def manifests(self, entry: Entry) -> list[Manifest]:
        """Those of all processes, by rank. Raises Incomplete where one is missing, CheckpointError where one is
        damaged."""
        first = self._manifest(entry, 0)
        return [first, *(self._manifest(entry, rank) for rank in range(1, first.processes))]

    def _manifest(self, entry: Entry, rank: int) -> Manifest:
        name = manifest.name_of(rank)
        try:
            with self.storage.open(f"{entry.folder}/{name}") as file:
                data = file.read()
        except FileNotFoundError:
            raise Incomplete(f"{name} is missing: process {rank} had not finished writing") from None
        except OSError as error:
            raise CheckpointError(f"{name} cannot be read: {error}") from error
        try:
            found = manifest.read(data)
        except manifest.CutOff as error:
            if self.storage.shows_halves:
                raise Incomplete(f"{name} is cut off: process {rank} had not finished writing") from None
            raise CheckpointError(f"{name} is no manifest: {error}") from None
        except CheckpointError as error:
            raise CheckpointError(f"{name} is no manifest: {error}") from None
        if (found.step, found.rank) != (entry.step, rank):
            raise CheckpointError(f"{name} is of step {found.step}, process {found.rank}")
        return found

    def check(self, entry: Entry, rank: int) -> list[Manifest]:
        """Makes sure that the files of all processes have their sizes, and those that process ``rank`` reads their
        digests. Raises CheckpointError naming the first file that differs, and how."""
        manifests = self.manifests(entry)
        for found in manifests:
            for name, wanted in found.files.items():
                is_read = name == SHARED or found.rank == rank
                self._check_file(f"{entry.folder}/{name}", name, wanted, is_read)
        return manifests

    def _check_file(self, path: str, name: str, wanted: Contents, is_read: bool) -> None:
        try:
            size = self.storage.size(path)
            if size != wanted.size:
                raise CheckpointError(f"{name} has {size} bytes, not {wanted.size}")
            if is_read:
                with self.storage.open(path) as file:
                    if manifest.contents_of(file) != wanted:
                        raise CheckpointError(f"{name} is not as it was written (its SHA-256 differs)")
        except FileNotFoundError:
            raise CheckpointError(f"{name} is missing") from None
        except OSError as error:
            raise CheckpointError(f"{name} cannot be read: {error}") from error

    def read(self, entry: Entry, name: str) -> Any:
        """A state as it was written, on the host. Nothing but tensors and plain values is ever made of a file."""
        try:
            with self.storage.open(f"{entry.folder}/{name}") as file:
                return torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:
            raise CheckpointError(f"{name} cannot be read: {error}") from error


def state_name(rank: int) -> str:
    """The file with the state of one process alone."""
    return f"process-{rank:05d}.pt"


def _write_all(file: BinaryIO, data: bytes) -> None:
    file.write(data)

"""The last checkpoint that can be used, and why those after it cannot."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tpulint_runtime.backend.protocol import Place
from tpulint_runtime.checkpoint.errors import CheckpointError, CheckpointWarning
from tpulint_runtime.checkpoint.folder import SHARED, Entry, Folder, Incomplete, state_name
from tpulint_runtime.checkpoint.manifest import Manifest

Gather = Callable[[str], list[str]]
"""What every process gives, by rank."""


class Found(NamedTuple):
    """A whole checkpoint, read."""

    entry: Entry
    states: dict[str, Any]
    """Of this process and those all have, on the host."""
    processes: int
    """How many wrote it."""


class Search:
    """Looks through the checkpoints of a folder, from the last one back."""

    def __init__(self, folder: Folder, place: Place, gather: Gather) -> None:
        self._folder = folder
        self._place = place
        self._gather = gather
        self.reasons: dict[Entry, str] = {}
        """Why checkpoints were passed over."""
        self._interrupted: list[Entry] = []

    def last_whole(self, entries: Sequence[Entry]) -> Found | None:
        """The last checkpoint of ``entries`` that is whole for all processes, with a warning of each that is passed
        over; None if there is none."""
        for entry in reversed(entries):
            found = self._try(entry)
            if found:
                self._tell(f"taken instead: step {entry.step}")
                return found
        return None

    def begin_without(self, damaged: str) -> None:
        """Raises CheckpointError where to start from the beginning would pass over checkpoints that were finished,
        unless ``damaged`` is ``start``. Warns where it passes over any."""
        # Killed in its first checkpoint, a run leaves one that is not finished. Two of one run: processes do not see
        # what the others write.
        runs = [entry.run for entry in self._interrupted]
        if len(runs) == len(self.reasons) == len(set(runs)):
            self._tell("no checkpoint was ever finished: this is the beginning")
        elif damaged == "start":
            self._tell("no other is whole: this is the beginning")
        else:
            told = "".join(f"\n  {entry.folder}: {reason}" for entry, reason in self.reasons.items())
            raise CheckpointError(
                f"no checkpoint in {self._folder.storage.location} is whole:{told}\n"
                'Nothing was changed. To begin again, take another folder, or damaged="start".'
            )

    def _try(self, entry: Entry) -> Found | None:
        states: dict[str, Any] = {}
        manifests: list[Manifest] = []
        reason, is_interrupted = "", False
        try:
            manifests = self._folder.check(entry, self._place.rank)
            states = self._folder.read(entry, SHARED)
            if self._place.rank < len(manifests):
                states.update(self._folder.read(entry, state_name(self._place.rank)))
        except CheckpointError as error:
            reason, is_interrupted = str(error), isinstance(error, Incomplete)
        for answer in self._gather(json.dumps([reason, is_interrupted])):
            if not reason:  # what is not whole for another process is not for this one
                reason, is_interrupted = json.loads(answer)
        if not reason:
            return Found(entry, states, len(manifests))
        self.reasons[entry] = reason
        if is_interrupted:
            self._interrupted.append(entry)
        return None

    def _tell(self, instead: str) -> None:
        for entry, reason in self.reasons.items():
            warnings.warn(f"{self._folder.show(entry)}: {reason}; {instead}", CheckpointWarning, stacklevel=4)

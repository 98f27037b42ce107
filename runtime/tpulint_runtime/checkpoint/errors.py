"""What is raised and warned about checkpoints."""

from __future__ import annotations


class CheckpointError(RuntimeError):
    """A checkpoint cannot be written, read, or used for what it is asked for. The message says which, where and why."""


class CheckpointWarning(UserWarning):
    """Something is not as it should be, and the training goes on: a damaged checkpoint was passed over, for example."""

"""Short names for contents, and what tells one content of a file from another."""

from __future__ import annotations

import time

from tpulint.records import NamedTuple

try:
    # hashlib would load OpenSSL for one digest.
    from _blake2 import blake2b
except ImportError:  # another Python than CPython
    from hashlib import blake2b

_SETTLED_NS = 50_000_000
"""A file written this shortly before it was read may change again without a new time stamp."""


class Stamp(NamedTuple):
    """What tells one content of a file from another."""

    changed_ns: int
    """0 when the time cannot be trusted."""
    size: int
    digest: str


def digest_of(*parts: bytes) -> str:
    """The same for the same bytes, another one for others."""
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def stamp_of(data: bytes, changed_ns: int) -> Stamp:
    """The stamp of a file just read."""
    settled = time.time_ns() - changed_ns > _SETTLED_NS
    return Stamp(changed_ns if settled else 0, len(data), digest_of(data))

"""Short names for contents."""

from __future__ import annotations

try:
    # hashlib would load OpenSSL for one digest.
    from _blake2 import blake2b
except ImportError:  # another Python than CPython
    from hashlib import blake2b


def digest_of(*parts: bytes) -> str:
    """The same for the same bytes, another one for others."""
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()

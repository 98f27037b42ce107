"""Numbers as people write them: ``7B`` in, ``1.5 GB`` and ``2.3 h`` out."""

from __future__ import annotations

import re

_SUFFIXES = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "G": 10**9, "T": 10**12}
_NUMBER = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*([KMBGT]?)", re.IGNORECASE)
_LARGEST = 10**18


def parse_count(text: str) -> int:
    """``7B``, ``350M``, ``1.3b`` or ``124000000`` to a whole number of at least one. Raises ``ValueError``."""
    match = _NUMBER.fullmatch(text.strip().replace("_", ""))
    if match is None:
        raise ValueError(f"{text!r} is no number such as 7B, 350M or 124000000")
    # From the digits, not through a float: 1.1B is exactly 1 100 000 000.
    whole, _, part = match[1].partition(".")
    count: int = int((whole or "0") + part) * _SUFFIXES[match[2].upper()] // 10 ** len(part)
    if not 1 <= count <= _LARGEST:
        raise ValueError(f"{text!r} is not between 1 and {_LARGEST:.0e}")
    return count


def show_count(number: int) -> str:
    """``7B``."""
    for suffix, size in (("T", 10**12), ("B", 10**9), ("M", 10**6), ("K", 10**3)):
        if number >= size:
            return f"{number / size:.4g}{suffix}"
    return str(number)


def show_bytes(number: float) -> str:
    """``28.0 GB``, in powers of ten."""
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number / 10**3:.1f} kB"


def show_money(number: float) -> str:
    """``1,234.50``; what would show as nothing is ``<0.01``."""
    return "<0.01" if 0 < number < 0.005 else f"{number:,.2f}"


def show_seconds(number: float) -> str:
    """``2.3 h``."""
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number * 1e6:.3g} us"

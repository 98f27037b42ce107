"""Numbers of steps in few words: ``7-9, 20-100 every 10``."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN = 10
"""Groups of numbers in a text."""


def show_numbers(numbers: Sequence[int]) -> str:
    """Ascending numbers, those at equal distances together; of many groups, the first ones."""
    groups = _groups(numbers)
    shown = ", ".join(map(_show, groups[:_SHOWN]))
    left = sum(map(len, groups[_SHOWN:]))
    return f"{shown} and {left} others" if left else shown


def _groups(numbers: Sequence[int]) -> list[Sequence[int]]:
    """Three numbers at least where their distances are equal, else one alone."""
    groups = []
    start = 0
    while start < len(numbers):
        end = start + 1
        while end + 1 < len(numbers) and numbers[end + 1] - numbers[end] == numbers[start + 1] - numbers[start]:
            end += 1
        end = end + 1 if end >= start + 2 else start + 1
        groups.append(numbers[start:end])
        start = end
    return groups


def _show(group: Sequence[int]) -> str:
    if len(group) == 1:
        return str(group[0])
    distance = group[1] - group[0]
    return f"{group[0]}-{group[-1]}" + (f" every {distance}" if distance > 1 else "")

"""Questions whose answers depend on each other: ``x = x.cpu()`` in a loop is what it was in the turn before."""

from __future__ import annotations

from collections.abc import Hashable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NONE = 1 << 30


class Circles:
    """Keeps apart what is known for good from what was worked out while a question in front of it was still open.

    An open question is answered with what adds nothing. An answer found with the help of that is used only until the
    open question is answered, then forgotten: asked again, it is worked out with the whole answer.
    """

    __slots__ = ("_marks", "_passing", "_reach", "are_open")

    def __init__(self) -> None:
        self._marks: dict[Hashable, int] = {}
        """Of open questions, how many were open before; of passing answers, on which of these they depend."""
        self._passing: list[tuple[dict[Any, Any], Hashable]] = []
        self._reach = _NONE
        """The first of the open questions that the one at work depends on."""
        self.are_open = 0

    def enter(self, key: Hashable) -> int:
        """Begin with a question; what is returned goes to ``leave``."""
        outer = self._reach
        self._marks[key] = self.are_open
        self.are_open += 1
        self._reach = _NONE
        return outer

    def use(self, key: Hashable) -> None:
        """Note that an answer that is there already is made use of."""
        mark = self._marks.get(key)
        if mark is not None and mark < self._reach:
            self._reach = mark

    def leave(self, answers: dict[Any, Any], key: Hashable, answer: object, outer: int) -> None:
        """Keep the answer to the question entered last."""
        self.are_open = at = self.are_open - 1
        answers[key] = answer
        if self._reach < at:
            self._marks[key] = self._reach
            self._passing.append((answers, key))
            self._reach = min(self._reach, outer)
            return
        del self._marks[key]
        self._reach = outer
        if self._passing:
            still = []
            for table, passing in self._passing:
                if self._marks[passing] >= at:
                    del self._marks[passing], table[passing]
                else:
                    still.append((table, passing))
            self._passing = still

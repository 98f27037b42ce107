"""Which loop a line ran in: one that trains, one that evaluates, or neither.

Nothing is guessed from names: a step loop is the innermost loop in whose turns a backward pass and an optimizer step
were seen, in the loop itself or in what it calls; an evaluation loop is the innermost loop in whose turns a model was
run in evaluation mode or without gradients, unless it trains too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measuring.layout import Layouts

if TYPE_CHECKING:
    from measuring.truth import Loop, Ran

Place = tuple[str, int]


class Phases:
    """The loops of one process."""

    def __init__(self, process: Any, root: Path) -> None:
        self._process = process
        self._root = root
        self._layouts = Layouts(root)
        self._kinds = self._find()
        self._numbers = {place: number for number, place in enumerate(self._kinds)}
        self._memo: dict[tuple[str, int, int], int] = {}
        self.loops: list[Loop] = []
        """Step loops and evaluation loops."""
        self._count()

    def relative(self, path: str) -> str:
        """A path below the folder of the script's files."""
        try:
            return Path(path).resolve().relative_to(self._root).as_posix()
        except ValueError:
            return path

    def callers(self, chain: int) -> tuple[Place, ...]:
        """The lines that led to where the chain was noted."""
        chains = self._process.chains
        places = chains[chain] if 0 <= chain < len(chains) else ()
        return tuple((self.relative(path), row) for path, row in places)

    def loop_of(self, path: str, row: int, chain: int) -> int:
        """Index of the step or evaluation loop in whose turns a line ran; -1 for none."""
        key = (path, row, chain)
        found = self._memo.get(key)
        if found is None:
            around = self._around([(self.relative(path), row), *self.callers(chain)])
            found = next((self._numbers[place] for place in around if place in self._numbers), -1)
            self._memo[key] = found
        return found

    def loops_of(self, path: str, row: int) -> set[int]:
        """The loops in whose turns a line ran, wherever it was called from; -1 for none."""
        return {self.loop_of(one.path, one.row, one.chain) for one in self._process.ran
                if one.row == row and one.path == path}  # fmt: skip

    def ran(self) -> Iterator[Ran]:
        """The lines that ran, by loop."""
        from measuring.truth import Ran

        groups: dict[tuple[str, int, int], dict[int, int]] = {}
        for one in self._process.ran:
            steps = groups.setdefault(
                (self.relative(one.path), one.row, self.loop_of(one.path, one.row, one.chain)), {}
            )
            for step, times in one.steps.items():
                steps[step] = steps.get(step, 0) + times
        for (path, row, loop), steps in sorted(groups.items()):
            yield Ran(path, row, loop, sum(steps.values()), tuple(sorted(steps)))

    def _around(self, places: Iterable[Place]) -> Iterator[Place]:
        """The loops around a line and the lines that led to it, the innermost first."""
        for path, row in places:
            for loop in self._layouts.of(path).loops(row):
                yield path, loop

    def _chains(self, *kinds: str) -> list[list[Place]]:
        return [
            list(self._around((self.relative(path), row) for path, row in one.places))
            for one in self._process.happenings
            if one.kind in kinds
        ]

    def _find(self) -> dict[Place, str]:
        """The loops, with what they do."""
        updates, backwards = self._chains("update"), self._chains("backward")
        passed = {loop for loops in backwards for loop in loops}
        found: dict[Place, str] = {}
        outer: set[Place] = set()
        for loops in updates or backwards:
            place = next((index for index, loop in enumerate(loops) if loop in passed), None)
            if place is not None:
                found[loops[place]] = "step"
                outer.update(loops[place + 1 :])
        for loops in self._chains("evaluating-forward"):
            if loops and loops[0] not in found and loops[0] not in outer:
                found[loops[0]] = "evaluation"
        return found

    def _count(self) -> None:
        """Turns of each loop, and the steps in which it ran: those of its line that ran most.

        A call over several rows and a comprehension run a row more often than once in a turn; the head of a loop runs
        once in each, and once more.
        """
        from measuring.truth import Loop

        times: dict[int, dict[tuple[str, int], int]] = {}
        steps: dict[int, set[int]] = {}
        for one in self._process.ran:
            loop = self.loop_of(one.path, one.row, one.chain)
            if loop >= 0:
                steps.setdefault(loop, set()).update(one.steps)
                path = self.relative(one.path)
                kind_place = next(iter(self._layouts.of(path).loops(one.row)), None)
                if (path, kind_place) in self._numbers and self._numbers[path, kind_place] == loop:  # type: ignore[index]
                    rows = times.setdefault(loop, {})
                    rows[path, one.row] = rows.get((path, one.row), 0) + sum(one.steps.values())
        for place, number in self._numbers.items():
            rows = times.get(number, {})
            most, heads = max((count for row, count in rows.items() if row != place), default=0), rows.get(place, 0)
            turns = min(most, heads - 1) if heads > 1 else most
            self.loops.append(Loop(*place, self._kinds[place], turns, tuple(sorted(steps.get(number, ())))))

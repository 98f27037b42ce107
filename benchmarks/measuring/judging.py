"""Findings held against what was seen: which were right, which were wrong, and what was missed.

Three questions are judged apart: reads in step loops, reads in evaluation loops, recompilations. Of the lines that
recompile, those are counted once more that do it again and again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from measuring.layout import Layouts
from measuring.said import Said
from measuring.truth import Cost, Loop, Ran, Truth

QUESTIONS = (
    "host syncs in step loops", "host syncs in evaluation loops", "recompilations", "recompilations that come back",
)  # fmt: skip
STEP, EVALUATION, RECOMPILE, COMES_BACK = QUESTIONS
_AGAIN = 3
"""Steps in which a line must have changed a graph to be one that does it again and again; a last batch, or what is left
over from an evaluation, does it once or twice in a run of two epochs, and never again."""
OUTCOMES = ("right", "wrong", "not seen")
_OFTEN = 0.5
"""A line counts as missed if it waits in a larger share of the turns of its loop, and nothing is said of it."""
_LATE = 3
"""Steps after which a graph that changes is one that should not."""
_READS = ("sync", "transfer", "fallback")
_BY_SETTING = frozenset({"anomaly-detection", "torch-compile", "pinned-loader"})
"""Rules that speak of a setting, not of a line that runs in a loop: not judged."""
_OF_LOADER = {
    "partial-last-batch": ("step",), "partial-evaluation-batch": ("evaluation",),
    "padded-to-longest": ("step", "evaluation"), "padded-by-hand": ("step", "evaluation"),
    "sliced-partial-batch": ("step",),
}  # fmt: skip
"""Rules that speak of where batches are made, and the loops that they go to: right if they made graphs change there,
wrong only where a loop was seen to come to its end. The last batch of an evaluation is another event than that of the
training, with a loader of its own."""
_NOT_OF_LOADERS = frozenset({"padded-to-longest", "padded-by-hand", "sliced-partial-batch"})
"""Those of them whose batches no data loader is seen to make."""
_CUT = "batch that is cut"
"""In what is said of an evaluation whose batches no data loader makes."""
_CHANGED_BATCH = frozenset({"input", "shape"})
"""Causes of a compilation by a batch of another size: the batch itself, or what is made in its size on the device."""
_WHEREVER = {"optimizer-reads-device": ".step(", "leaf-on-host": ".backward("}
"""Rules that speak of another statement than the one that reads, and what that one has in it."""

_ON_HOST = "operation-on-host"
_LEFT_BEHIND = "work-left-pending"
_STARTS_ANEW = "total-starts-anew"
_DRAWN_FROM = "dataset-on-device"
"""Its samples are cut out of tensors on the device where a loop takes its next batch."""

Place = tuple[str, int]


class Judgement(NamedTuple):
    """What became of one finding."""

    said: Said
    question: str
    outcome: str
    """One of ``OUTCOMES``. Not seen: it ran in no turn of a loop, or another cost hid what it speaks of, so
    that nothing can be said."""


class Miss(NamedTuple):
    """A line that waited or recompiled, of which nothing was said."""

    question: str
    cost: Cost
    is_elsewhere: bool
    """Whether it stands in another file than the loop in whose turns it ran."""


class Verdict(NamedTuple):
    """Everything about one script."""

    name: str
    judgements: tuple[Judgement, ...]
    hits: tuple[Miss, ...]
    """Lines that waited or recompiled, of which something was said."""
    misses: tuple[Miss, ...]


def judge(truth: Truth, said: Iterable[Said], layouts: Layouts) -> Verdict:
    """Hold findings against what was seen."""
    return _Judge(truth, tuple(said), layouts).verdict()


class _Judge:
    def __init__(self, truth: Truth, said: tuple[Said, ...], layouts: Layouts) -> None:
        self._truth = truth
        self._said = [one for one in said if one.category not in ("device", "precision") or one.name == _DRAWN_FROM]
        self._layouts = layouts
        self._ran: dict[Place, set[str]] = {}
        self._late: set[Place] = set()
        """Statements that ran in a loop after warm-up."""
        self._runs: dict[Place, list[Ran]] = {}
        for one in truth.ran:
            place = self._statement(one.path, one.row)
            self._runs.setdefault(place, []).append(one)
            if one.loop >= 0:
                self._ran.setdefault(place, set()).add(truth.loops[one.loop].kind)
                if one.steps and one.steps[-1] > _LATE:
                    self._late.add(place)
        # It points at the boundary that computes the work along, too: what is left where nothing ran is nothing.
        self._said = [
            one for one in self._said
            if one.name != _LEFT_BEHIND or self._statement(one.path, one.row) in self._runs
        ]  # fmt: skip

    def verdict(self) -> Verdict:
        judgements = [found for one in self._said for found in self._judgement(one)]
        lines = {(question, self._statement(cost.path, cost.row)): cost
                 for question in QUESTIONS for cost in self._costs_of(question)}  # fmt: skip
        hits, misses = [], []
        for (question, _), cost in lines.items():
            elsewhere = cost.loop >= 0 and self._truth.loops[cost.loop].path != cost.path
            (hits if self._is_said(question, cost) else misses).append(Miss(question, cost, elsewhere))
        return Verdict(self._truth.name, tuple(judgements), tuple(hits), tuple(misses))

    # ---------------------------------------------------------------- findings

    def _judgement(self, said: Said) -> Iterator[Judgement]:
        if said.name == _DRAWN_FROM:
            is_alone = (
                sum(one.name == _DRAWN_FROM for one in self._said) == 1
            )  # of several none is known to feed the loop
            drawn = is_alone and any(self._is_drawn(cost) for cost in self._truth.costs)
            yield Judgement(said, RECOMPILE, "right" if drawn else "not seen")
            return
        if said.name in _BY_SETTING or said.category not in ("host_sync", "host-sync", "recompile", "data"):
            return
        if said.name in _OF_LOADER:
            yield self._judge_loader(said)
            return
        costs = [cost for cost in self._truth.costs if self._speaks_of(said, cost)]
        if said.category == "recompile":
            changes = [cost for cost in self._truth.costs if self._is_about(said, cost)]
            run = any((said.path, row) in self._late for row in said.rows) and not self._hides_changes()
            run = run and (said.name != _LEFT_BEHIND or self._began_late(said))
            run = run and (said.name != _STARTS_ANEW or self._came_again(said))
            yield Judgement(said, RECOMPILE, "right" if costs or changes else "wrong" if run else "not seen")
            return
        paid = [cost for cost in self._truth.costs if self._pays_for(said, cost)]
        reads = [cost for cost in (*costs, *paid) if cost.kind in _READS]
        kinds = {self._truth.loops[cost.loop].kind for cost in reads if cost.loop >= 0}
        ran = {kind for row in said.rows for kind in self._ran.get((said.path, row), ())}
        question = EVALUATION if (kinds or ran) == {"evaluation"} else STEP
        yield Judgement(said, question, "right" if reads else "wrong" if ran else "not seen")

    def _judge_loader(self, said: Said) -> Judgement:
        changed = any(self._is_of_batches(said, cost) for cost in self._truth.costs)
        by_hand = said.name in _NOT_OF_LOADERS or _CUT in said.message
        if not by_hand:
            uneven = self._is_among(said, self._truth.uneven_loaders)
            if not uneven and self._is_among(said, self._truth.even_loaders):
                return Judgement(said, RECOMPILE, "not seen")  # what changed came from another loader
        else:
            uneven = True
        if by_hand and said.name != "padded-to-longest" and not self._has_run(said):
            return Judgement(said, RECOMPILE, "not seen")  # of the ways to cut batches that a function has, another
        if by_hand and not changed and self._hides_changes(_loops_fed(said)):
            return Judgement(said, RECOMPILE, "not seen")
        ended = any(self._came_to_its_end(loop) for loop in self._truth.loops if loop.kind in _loops_fed(said))
        return Judgement(said, RECOMPILE, "right" if changed else "wrong" if uneven and ended else "not seen")

    def _has_run(self, said: Said) -> bool:
        return any((said.path, row) in self._runs for row in said.rows)

    def _is_drawn(self, cost: Cost) -> bool:
        """Whether a graph changed where a loop takes its next batch: by the places of the samples."""
        heads = {(loop.path, loop.row) for loop in self._truth.loops}
        return cost.kind == "compile" and "setting" in cost.causes and (cost.path, cost.row) in heads

    def _is_among(self, said: Said, places: Iterable[Place]) -> bool:
        return any(path == said.path and self._layouts.of(path).statement(row) in said.rows for path, row in places)

    def _is_of_batches(self, said: Said, cost: Cost) -> bool:
        """Whether a graph changed with the batches of the loops that the loader of a finding feeds."""
        if cost.kind != "compile" or not _CHANGED_BATCH.intersection(cost.causes):
            return False
        heads = {(loop.path, loop.row) for loop in self._truth.loops}
        if said.name == "sliced-partial-batch" and any((said.path, row) in heads for row in said.rows):
            # It speaks of one loop, unless the batches are made elsewhere.
            places = [(cost.path, cost.row), *cost.callers]
            around = {(path, loop) for path, row in places for loop in self._layouts.of(path).loops(row)}
            if cost.loop >= 0:  # the loop may run it in a function
                around.add(self._truth.loops[cost.loop][:2])
            return any((said.path, row) in around for row in said.rows)
        kind = self._kind_of_loop(cost)
        return kind is None or kind in _loops_fed(said)

    def _kind_of_loop(self, cost: Cost) -> str | None:
        """What the loop does that a graph changed in; None where that cannot be told.

        A line of a model runs in several loops: only one that ran in the step of the change can be meant, and of
        several the one that launched the graph.
        """
        # A run that was ended by its time limit has no lines of the loop that it was in.
        loops = [loop for loop in self._truth.loops if not loop.steps or not set(loop.steps).isdisjoint(cost.steps)]
        launched = {(path, around) for path, row in cost.callers for around in self._layouts.of(path).loops(row)}
        kinds = {loop.kind for loop in loops if (loop.path, loop.row) in launched}
        if len(kinds) != 1 and cost.loop >= 0 and self._truth.loops[cost.loop] in loops:
            return self._truth.loops[cost.loop].kind
        kinds = kinds or {loop.kind for loop in loops}
        return kinds.pop() if len(kinds) == 1 else None

    def _hides_changes(self, kinds: tuple[str, ...] = ("step", "evaluation")) -> bool:
        """Whether graphs change again and again: of several changes only the first in the order of tracing is known."""
        return any(
            cost.kind == "compile"
            and cost.loop >= 0
            and self._truth.loops[cost.loop].kind in kinds
            and (len(cost.steps) >= _AGAIN or self._is_often(cost))
            for cost in self._truth.costs
        )

    def _began_late(self, said: Said) -> bool:
        """Whether a loop that a finding speaks of began after warm-up, and its second batch was like the first.

        What a turn leaves to the next changes the graph of the second turn, if the batch has not changed it.
        """
        numbers = {one.loop for row in said.rows for one in self._runs.get((said.path, row), ()) if one.loop >= 0}
        uneven = {cost.loop for cost in self._truth.costs if _CHANGED_BATCH.intersection(cost.causes)}
        loops = self._truth.loops
        return all(loops[one].steps[0] > _LATE and (loops[one].turns > 2 or one not in uneven) for one in numbers)

    def _came_again(self, said: Said) -> bool:
        """Whether the very line that a finding stands at ran again after warm-up."""
        return any(one.steps and one.steps[-1] > _LATE for one in self._runs.get((said.path, said.row), ()))

    def _is_about(self, said: Said, cost: Cost) -> bool:
        """Whether a finding speaks of what changed, at another statement than the one that pays for it."""
        from tpulint.verification.predictions import ELSEWHERE

        if said.name in _OF_LOADER:
            return self._is_of_batches(said, cost)
        if said.name == _DRAWN_FROM:
            return self._is_drawn(cost)
        if not any(said.name in ELSEWHERE.get(cause, ()) for cause in cost.causes):
            return False
        # A mask in the training step does not change the batches of the evaluation.
        return "input" not in cost.causes or cost.loop < 0 or any(
            one.loop == cost.loop for row in said.rows for one in self._runs.get((said.path, row), ())
        )  # fmt: skip

    def _came_to_its_end(self, loop: Loop) -> bool:
        """Whether the first pass of a loop ended after warm-up: the first last batch was seen, and what it changed.

        The head of a loop runs once more than its body in every pass that comes to its end, and in the one that a run
        is stopped in. In a loop that ends during warm-up, the smaller batch is known by the time that changes count.
        """
        if loop.kind == "evaluation":
            is_whole = len(loop.steps) > 1 or (len(loop.steps) == 1 and self._truth.is_whole)
            return is_whole and loop.steps[0] > _LATE and not self._begins_anew(loop)
        number, steps = self._truth.loops.index(loop), max(loop.steps, default=0)
        heads = sum(one.times for one in self._truth.ran if one[:3] == (loop.path, loop.row, number))
        if self._truth.ending == "stopped" and self._truth.steps in loop.steps and heads > steps:
            heads -= 1
        return heads > steps and steps / (heads - steps) > _LATE

    def _begins_anew(self, loop: Loop) -> bool:
        """Whether a call went through an evaluation in one of its steps alone, as that of a test set at the end does.

        All graphs of that pass are expected, that of a smaller batch among them.
        """
        number = self._truth.loops.index(loop)
        callers = {place for cost in self._truth.costs if cost.loop == number for place in cost.callers}
        steps = (
            {step for one in self._truth.ran if (one.path, one.row) == place for step in one.steps} for place in callers
        )
        return len(loop.steps) > 1 and any(len(one) == 1 and one <= set(loop.steps) for one in steps)

    def _speaks_of(self, said: Said, cost: Cost) -> bool:
        places = [(cost.path, cost.row), *cost.callers]
        return any(path == said.path and self._layouts.of(path).statement(row) in said.rows for path, row in places)

    # ---------------------------------------------------------------- costs

    def _costs_of(self, question: str) -> Iterator[Cost]:
        """Lines that a linter ought to speak of."""
        for cost in self._truth.costs:
            if question in (RECOMPILE, COMES_BACK):
                if cost.kind == "compile" and (question == RECOMPILE or len(cost.steps) >= _AGAIN):
                    yield cost
            elif cost.loop >= 0 and cost.kind in ("sync", "fallback"):
                kind = self._truth.loops[cost.loop].kind
                if cost.kind == "fallback" and ".backward(" in self._layouts.of(cost.path).line(cost.row):
                    continue  # the gradient of an operation that stands elsewhere
                if kind == ("step" if question == STEP else "evaluation") and self._is_often(cost):
                    yield cost

    def _is_often(self, cost: Cost) -> bool:
        loop = self._truth.loops[cost.loop]
        steps = [step for step in loop.steps if step > 0]
        if loop.kind == "step" and 2 * len(steps) >= loop.turns:
            return len([step for step in cost.steps if step > 0]) > _OFTEN * len(steps)
        return cost.times > _OFTEN * loop.turns  # it acts more often than it trains

    def _is_said(self, question: str, cost: Cost) -> bool:
        said = self._said
        if question in (RECOMPILE, COMES_BACK):  # who is told of a read is not told of a graph
            said = [one for one in said if one.category not in ("host_sync", "host-sync")]
        return any(
            self._speaks_of(one, cost) or self._is_about(one, cost) or self._pays_for(one, cost) for one in said
        )  # fmt: skip

    def _pays_for(self, said: Said, cost: Cost) -> bool:
        """Whether a finding speaks of what another statement, known by its text, waits for."""
        paying = self._layouts.of(cost.path).line(cost.row)
        if said.name == _ON_HOST and cost.kind == "fallback" and cost.path == said.path and "_norm`" in said.message:
            # It stands where a layer is wrapped, and each forward pass of the layer pays.
            wrapped = re.findall(r"self\.\w+", self._layouts.of(said.path).line(said.row))
            return any(f"{layer}(" in paying for layer in wrapped)
        return _WHEREVER.get(said.name, "\n") in paying

    def _statement(self, path: str, row: int) -> Place:
        return path, self._layouts.of(path).statement(row)


def _loops_fed(said: Said) -> tuple[str, ...]:
    """Which loops a finding about a loader says that its batches go to."""
    return ("step", "evaluation") if "the training and the evaluation" in said.message else _OF_LOADER[said.name]


def score(verdicts: Iterable[Verdict], question: str) -> dict[str, Any]:
    """Counts of one question."""
    kept = list(verdicts)
    outcomes = [one.outcome for verdict in kept for one in verdict.judgements if one.question == question]
    hits = sum(one.question == question for verdict in kept for one in verdict.hits)
    missed = [one for verdict in kept for one in verdict.misses if one.question == question]
    misses, elsewhere = len(missed), sum(one.is_elsewhere for one in missed)
    return {
        "findings": len(outcomes), **{outcome: outcomes.count(outcome) for outcome in OUTCOMES},
        "lines": hits + misses, "hits": hits, "misses": misses, "elsewhere": elsewhere,
    }  # fmt: skip

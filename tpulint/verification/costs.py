"""What each line of the script cost on XLA."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tpulint.verification.compiles import Compilation
from tpulint.verification.records import Line, Recording, Work

KINDS = ("cuda", "fallback", "compile", "sync", "transfer")
"""In the order in which a report lists those of one line."""
_TEXTS_SHOWN = 2


class Cost(NamedTuple):
    """Something that one line did on XLA, all occurrences together."""

    line: Line
    kind: str
    """One of ``KINDS``.

    cuda: it called CUDA. fallback: an operator ran on the host. compile: another graph than before had to be compiled
    because of it. sync: a graph ran that no step boundary asked for. transfer: a value that was there already was read.
    """
    times: int
    steps: tuple[int, ...]
    """Numbers of the steps in which it happened; 0 for what came before the first backward."""
    text: str
    """What happened, in words."""
    launches: int = 0
    reads: int = 0
    compiles: int = 0
    causes: tuple[str, ...] = ()
    """Of compilations: what kinds of things changed."""


def costs(recording: Recording, compiled: Sequence[Compilation]) -> list[Cost]:
    """All costs, by place. What every training pays (its step boundaries and first graphs) is no cost of a line."""
    found = [*_of_work(recording), *_of_compilations(compiled), *_of_cuda(recording)]
    return sorted(found, key=lambda one: (one.line.path, one.line.row, KINDS.index(one.kind)))


def kind_of(work: Work) -> str:
    """What kind of cost a piece of work is; empty for none."""
    if work.is_boundary:
        return ""
    if work.fallbacks:
        return "fallback"
    # Where torch_xla could not be wrapped, its step boundaries are known only by their number.
    if work.launches > work.boundaries:
        return "sync"
    return "transfer" if work.reads else ""


def _of_work(recording: Recording) -> Iterable[Cost]:
    groups: dict[tuple[str, int, str], list[Work]] = {}
    for process in recording.processes:
        for work in process.works:
            kind = kind_of(work)
            if kind and work.line is not None:
                groups.setdefault((work.line.path, work.line.row, kind), []).append(work)
    for (_, _, kind), works in groups.items():
        line = works[0].line
        assert line is not None
        launches = sum(work.launches for work in works)
        reads = sum(work.reads for work in works)
        compiles = sum(work.compiles for work in works)
        count, text = _describe(kind, works, launches, reads)
        yield Cost(line, kind, count, _steps(works), text, launches, reads, compiles)


def _describe(kind: str, works: Sequence[Work], launches: int, reads: int) -> tuple[int, str]:
    if kind == "fallback":
        names: dict[str, int] = {}
        for work in works:
            for name, count in work.fallbacks:
                names[name] = names.get(name, 0) + count
        return sum(names.values()), f"{', '.join(names)} ran on the host"
    scalars = sum(work.scalars for work in works)
    what = "a number" if scalars >= reads else "a tensor" if not scalars else "a value"
    if kind == "sync":
        return launches, f"{what} was read before the step boundary" if reads else "a graph was cut off and run"
    return reads, f"{what} was read"


def _of_compilations(compiled: Sequence[Compilation]) -> Iterable[Cost]:
    groups: dict[tuple[str, int], list[Compilation]] = {}
    for one in compiled:
        if not one.is_expected and one.line is not None:
            groups.setdefault((one.line.path, one.line.row), []).append(one)
    for group in groups.values():
        line = group[0].line
        assert line is not None
        texts = list(dict.fromkeys(one.cause.text if one.cause else "cause not known" for one in group))
        text = "; ".join(texts[:_TEXTS_SHOWN]) + ("; ..." if len(texts) > _TEXTS_SHOWN else "")
        launching = list(dict.fromkeys(one.work.line.row for one in group if one.work.line is not None))
        if launching != [line.row]:
            text += f" (compiled at {_lines(launching)})"
        causes = tuple(dict.fromkeys(one.cause.kind for one in group if one.cause))
        steps = _steps([one.work for one in group])
        yield Cost(line, "compile", len(group), steps, text, compiles=len(group), causes=causes)


def _of_cuda(recording: Recording) -> Iterable[Cost]:
    groups: dict[tuple[str, int, str], int] = {}
    lines: dict[tuple[str, int, str], Line] = {}
    for process in recording.processes:
        for call in process.cuda_calls:
            key = (call.line.path, call.line.row, call.name)
            groups[key] = groups.get(key, 0) + call.times
            lines[key] = call.line
    for key, count in groups.items():
        yield Cost(lines[key], "cuda", count, (), f"{key[2]} was called")


def _steps(works: Sequence[Work]) -> tuple[int, ...]:
    return tuple(sorted({work.in_step for work in works}))


def _lines(rows: Sequence[int]) -> str:
    noun = "line" if len(rows) == 1 else "lines"
    return f"{noun} {', '.join(map(str, rows[:3]))}"

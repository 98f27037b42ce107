"""What a guard saw: plain frozen values, printable and ready for JSON."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from tpulint_runtime.ownership import Line
from tpulint_runtime.step_numbers import show_numbers


class Layout(NamedTuple):
    """Shape and dtype of one input."""

    shape: tuple[int, ...]
    dtype: str
    """As torch prints it, without ``torch.``: ``float32``. For what is no tensor and no array, its type."""

    def __str__(self) -> str:
        return f"{self.shape} {self.dtype}"


@dataclass(frozen=True, slots=True)
class InputChange:
    """An input of a step with a layout it did not have before."""

    where: str
    """Where in the batch: ``batch['input_ids']``."""
    before: Layout | None
    """In the step before; None if that had no such input."""
    after: Layout | None
    """In this step; None if it has no such input."""

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.where} is new, {self.after}"
        if self.after is None:
            return f"{self.where} is missing, was {self.before}"
        return f"{self.where} was {self.before}, now {self.after}"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference in the calls of torch between a step and the step most like it."""

    kind: str
    """``setting``: an argument, such as a Python number. ``shape``: the shape or dtype of a result. ``operations``: a
    call that was another one, or none. ``read``: none is different; a call that reads a value had to compile."""
    text: str
    """In words: ``argument 1 1.0 became 0.5 in Tensor.mul``."""
    line: Line | None
    """The line of the user's code that made the call."""

    def __str__(self) -> str:
        return self.text + at(self.line)


@dataclass(frozen=True, slots=True)
class Recompilation:
    """A step after warm-up in which something was compiled."""

    step: int
    """Number of the step, from 1."""
    compiles: int
    """Programs compiled in it."""
    seconds: float
    """Time that took."""
    changes: tuple[InputChange, ...] | None
    """Inputs with a new layout: the likely cause. Empty if none is new: then the cause is in the step itself. None if
    the guard was given no batch."""
    difference: Difference | None = None
    """None if the guard does not watch lines, or sees none."""
    graph: str | None = None
    """Hash of the graph of the step, if the guard was given what it computes."""

    @property
    def line(self) -> Line | None:
        """The line of the user's code where what changed comes in, if it is known."""
        return self.difference.line if self.difference is not None else None

    @property
    def lines(self) -> tuple[Line | None, ...]:
        """The same as a list."""
        return (self.line,)

    @property
    def times(self) -> int:
        """Programs compiled."""
        return self.compiles

    @property
    def cause(self) -> str:
        """The likely cause, in words."""
        if self.changes:
            return "; ".join(map(str, self.changes)) + at(self.line, "used")
        if self.difference is not None:
            return str(self.difference)
        if self.changes is None:
            return "pass the batch to step() to learn which input changed"
        return (
            "no input has a new shape or dtype; look for a Python number in an index, a shape or an exponent, "
            "and for a branch that went another way; lines=True finds it"
        )

    def __str__(self) -> str:
        return f"step {self.step}: {_plural(self.compiles, 'compilation')} ({self.seconds:.2f} s): {self.cause}"


@dataclass(frozen=True, slots=True)
class Wait:
    """A call of torch that made the host wait for the device."""

    call: str
    """``Tensor.item``"""
    line: Line | None
    """The line of the user's code that made it, perhaps through a library."""
    times: int = 1

    def __str__(self) -> str:
        times = f", {self.times} times" if self.times > 1 else ""
        return f"{self.call}{at(self.line)}{times}"


@dataclass(frozen=True, slots=True)
class HostSync:
    """A step after warm-up in which the host waited for the device."""

    step: int
    """Number of the step, from 1."""
    reads: int
    """Device-to-host transfers."""
    extra_launches: int
    """Graphs run without a step boundary asking for it, at least: a read before the boundary runs part of the step
    once more."""
    fallbacks: tuple[str, ...]
    """Operations that ran on the host. Empty for plain copies such as ``.cpu()``."""
    calls: tuple[Wait, ...] = ()
    """Which calls it was, if the guard watches lines."""

    @property
    def waits(self) -> int:
        """How often the host waited. A read and the launch it caused are one wait."""
        return max(self.reads, self.extra_launches)

    @property
    def lines(self) -> tuple[Line | None, ...]:
        """The lines of the user's code that waited, as far as they are known."""
        return tuple(call.line for call in self.calls)

    @property
    def times(self) -> int:
        """How often the host waited."""
        return self.waits

    @property
    def cause(self) -> str:
        """The likely cause, in words."""
        if self.calls:
            return "; ".join(map(str, self.calls))
        causes = ["a number read (.item(), float(), print, if)"] if _READ in self.fallbacks else []
        causes += [f"{name} ran on the host" for name in self.fallbacks if name != _READ]
        return "; ".join(causes) or "a copy to the host (.cpu(), .tolist(), saving)"

    def __str__(self) -> str:
        launches = f", {_plural(self.extra_launches, 'extra launch', 'es')}" if self.extra_launches else ""
        return f"step {self.step}: {_plural(self.reads, 'read')}{launches}: {self.cause}"


_READ = "aten::_local_scalar_dense"


@dataclass(frozen=True, slots=True)
class Report:
    """What a guard saw so far, completed steps only. What happened in ``expected()`` is not in it."""

    backend: str
    """Name of the backend: ``xla``, ``cuda`` or ``cpu``."""
    counted: bool
    """Whether that backend counts. If not, every count below is 0 whatever happened."""
    steps: int
    """Completed steps, warm-up included."""
    warmup: int
    """Steps in which compiling and reading are expected."""
    layouts: int
    """Different sets of input shapes and dtypes; each is at least one graph on XLA. 0 without batches."""
    graphs: int | None
    """Different graphs of the steps that the guard was given (``hash_graph``); None if it was given none."""
    warmup_compiles: int
    """Compilations in warm-up."""
    compiles: int
    """Compilations after warm-up."""
    compile_seconds: float
    """Time spent compiling, warm-up included."""
    reads: int
    """Device-to-host transfers after warm-up."""
    extra_launches: int
    """Graphs run after warm-up without a step boundary asking for it: a lower bound."""
    waits: int
    """Host syncs after warm-up."""
    budget: int | None
    """Compilations allowed after warm-up; None: any number."""
    sync_budget: int | None
    """Host syncs allowed after warm-up; None: any number."""
    recompilations: tuple[Recompilation, ...]
    """The first ones, a hundred at most."""
    host_syncs: tuple[HostSync, ...]
    """The first ones, a hundred at most."""

    @property
    def within_budget(self) -> bool:
        """Whether neither budget is exceeded. True as well where nothing is counted."""
        return not (_exceeds(self.compiles, self.budget) or _exceeds(self.waits, self.sync_budget))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dicts, lists, numbers and strings, ready for ``json.dumps``."""
        plain = _plain({**dataclasses.asdict(self), "within_budget": self.within_budget})
        assert isinstance(plain, dict)
        return plain

    def to_json(self, indent: int | None = None) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=indent)

    def __rich__(self) -> Any:
        """For ``rich.print``: tables."""
        from tpulint_runtime.rich_report import render

        return render(self)

    def __str__(self) -> str:
        if not self.counted:
            return (
                f"{_plural(self.steps, 'step')} on {self.backend}, where nothing is counted; "
                f"{_plural(self.layouts, 'input layout')} seen"
            )
        lines = [
            f"{_plural(self.steps, 'step')} on {self.backend} ({self.warmup} of warm-up)",
            f"compilations: {self.compiles} after warm-up (budget {_allowed(self.budget)}),"
            f" {self.warmup_compiles} in it, {self.compile_seconds:.1f} s in all",
            f"host syncs: {self.waits} after warm-up (budget {_allowed(self.sync_budget)}),"
            f" {_plural(self.reads, 'read')}",
        ]
        if self.graphs is not None:
            lines.append(f"graphs of steps: {self.graphs}")
        kinds: tuple[tuple[Events, int], ...] = (self.recompilations, self.compiles), (self.host_syncs, self.waits)
        for events, in_all in kinds:
            lines += [f"  {event}" for event in events[:_SHOWN]]
            if len(events) > _SHOWN:
                lines.append(f"  {tell_rest(events, _SHOWN, in_all)}")
        return "\n".join(lines)


Events: TypeAlias = tuple[Recompilation, ...] | tuple[HostSync, ...]
_SHOWN = 5
"""Events of a kind in the text of a report."""


def tell_rest(events: Events, shown: int, in_all: int) -> str:
    """Events behind the first ``shown``: their steps, by the lines they are of. ``in_all``: compilations or waits, of
    which later ones may not have been kept."""
    by_lines: dict[str, list[int]] = {}
    for event in events[shown:]:
        lines = "".join(dict.fromkeys(at(line) for line in event.lines))
        by_lines.setdefault(lines, []).append(event.step)
    steps = "; ".join(show_numbers(numbers) + lines for lines, numbers in by_lines.items())
    later = ", and later ones" if in_all > sum(event.times for event in events) else ""
    return f"and {_plural(len(events) - shown, 'more such step')}: {steps}{later}"


def at(line: Line | None, how: str = "") -> str:
    """A line in brackets, behind something that happened there: `` (train.py:40)``. Nothing for none."""
    if line is None:
        return ""
    here = os.getcwd() + os.path.sep
    return f" ({how}{' at ' if how else ''}{line.path.removeprefix(here)}:{line.row})"


def _exceeds(count: int, budget: int | None) -> bool:
    return budget is not None and count > budget


def _allowed(budget: int | None) -> str:
    return "none set" if budget is None else str(budget)


def _plural(count: int, noun: str, ending: str = "s") -> str:
    return f"{count} {noun}{'' if count == 1 else ending}"


def _plain(value: Any) -> Any:
    if isinstance(value, Line):
        return value._asdict()
    if isinstance(value, Layout):
        return {"shape": list(value.shape), "dtype": value.dtype}
    if isinstance(value, dict):
        return {key: _plain(child) for key, child in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(child) for child in value]
    return value

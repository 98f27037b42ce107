"""The batch of a script: which of its options sets it, and which values fit, found by compiling."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from typing import NamedTuple

from tpulint.planning.compiled import BatchSearch, StepOnChip
from tpulint.planning.generations import Generation

_NAMES = ("batch-size", "train-batch-size", "per-device-train-batch-size", "per-gpu-train-batch-size", "batchsize",
          "batch", "bs", "bsz")  # fmt: skip
_LARGEST = 1 << 20
_COARSE, _COARSE_FROM = 8, 64
"""Step of a search, and the batch from which it is taken."""


class BatchOption(NamedTuple):
    """An option of a script."""

    flag: str
    value: int | None
    """As it stands: given on the command line, else its default; None where neither is known."""


def find_option(source: str, arguments: tuple[str, ...], name: str = "") -> BatchOption | None:
    """The option that sets the batch: the named one, else one of a usual name that the script defines with argparse."""
    defined = _defined(source)
    if name:
        chosen = next((flags for flags in defined if name in flags), ())
        return BatchOption(name, _value(arguments, chosen or (name,), defined.get(chosen)))
    for wanted in _NAMES:
        for flags, default in defined.items():
            if any(flag.startswith("--") and flag.lstrip("-").replace("_", "-") == wanted for flag in flags):
                long = next(flag for flag in flags if flag.lstrip("-").replace("_", "-") == wanted)
                return BatchOption(long, _value(arguments, flags, default))
    return None


def with_batch(arguments: tuple[str, ...], option: BatchOption, batch: int) -> tuple[str, ...]:
    """The arguments with another batch: argparse takes the last one of several."""
    return (*arguments, option.flag, str(batch))


def _defined(source: str) -> dict[tuple[str, ...], int | None]:
    """Options that calls of ``add_argument`` define, with their defaults where these are whole numbers."""
    found: dict[tuple[str, ...], int | None] = {}
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            flags = tuple(
                one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)
            )
            default = next((one.value for one in node.keywords if one.arg == "default"), None)
            value = default.value if isinstance(default, ast.Constant) else None
            if flags and flags[0].startswith("-"):
                found[flags] = value if isinstance(value, int) and not isinstance(value, bool) else None
    return found


def _value(arguments: tuple[str, ...], flags: tuple[str, ...], default: int | None) -> int | None:
    value = default
    for index, word in enumerate(arguments):
        flag, equals, after = word.partition("=")
        if flag in flags:
            text = after if equals else (arguments[index + 1] if index + 1 < len(arguments) else "")
            value = int(text) if text.isdigit() else None
    return value


class Limits(NamedTuple):
    """When a search ends."""

    compiles: int = 16
    """Steps compiled in all."""
    seconds: float = 3600.0
    multiple: int | None = None
    """Batches are multiples of it; None for one, and eight where they are large."""


def search(
    generation: Generation, option: BatchOption, start: int, probe: Callable[[int], StepOnChip], limits: Limits
) -> BatchSearch:
    """The largest batch that fits, by doubling and halving the interval, then the smallest that is compute-bound."""
    unit = limits.multiple or (_COARSE if start >= _COARSE_FROM else 1)
    looking = _Search(probe, limits, unit)
    largest, refused = looking.for_largest(start)
    ended = looking.ended or "exact"
    bound = looking.for_compute_bound(largest) if largest is not None else None
    probes = tuple(looking.done[batch] for batch in sorted(looking.done))
    return BatchSearch(generation.name, option.flag, probes, largest, refused, bound, ended)


class _Search:
    def __init__(self, probe: Callable[[int], StepOnChip], limits: Limits, unit: int) -> None:
        self._unit = unit
        self._probe = probe
        self._limits = limits
        self._ends = time.monotonic() + limits.seconds
        self.done: dict[int, StepOnChip] = {}
        self.ended = ""

    def for_largest(self, start: int) -> tuple[int | None, int | None]:
        """The largest multiple that fits, and the smallest that does not."""
        unit = self._unit
        fits, refused = 0, None
        batch = max(1, round(start / unit))
        while refused is None or refused - fits > 1:
            answer = self._fits(batch * unit)
            if answer is None:
                break
            if answer:
                fits = batch
                batch = batch * 2 if refused is None else (fits + refused) // 2
                if batch * unit > _LARGEST:
                    self.ended = f"a batch of {fits * unit} fits, larger ones were not tried"
                    break
            else:
                refused = batch
                batch = batch // 2 if fits == 0 else (fits + refused) // 2
                if batch == 0:
                    break
        return (fits * unit or None), (refused * unit if refused is not None else None)

    def for_compute_bound(self, largest: int) -> int | None:
        """The smallest batch, as far as the limits allow, whose step the matrix unit bounds. The more samples, the more
        arithmetic for each byte of the state: below one that is not bound so, none is."""
        unit = self._unit
        bound = [one for one in self.done if self._is_bound(one)]
        if not bound:
            return None
        high = min(bound) // unit
        low = max((one // unit for one in self.done if one // unit < high), default=0)
        while high - low > 1:
            middle = (low + high) // 2
            if self._fits(middle * unit) is None:
                break
            if self._is_bound(middle * unit):
                high = middle
            else:
                low = middle
        return high * unit

    def _is_bound(self, batch: int) -> bool:
        return self.done[batch].roofline.bound == "compute"

    def _fits(self, batch: int) -> bool | None:
        """None when the search has to end."""
        if batch not in self.done:
            if len(self.done) >= self._limits.compiles:
                self.ended = self.ended or "compiles"
                return None
            if time.monotonic() > self._ends:
                self.ended = self.ended or "time"
                return None
            self.done[batch] = self._probe(batch)
        step = self.done[batch]
        if step.failure is not None and step.failure.kind != "out-of-memory":
            self.ended = f"a batch of {batch} failed for another reason than memory: {step.failure.message}"
            return None
        return step.fits

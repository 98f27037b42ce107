"""How often rules were right, where scripts were run and held against them: measurements.yaml of a package of rules.

The file is written by ``benchmarks/findings_against_runs.py``; no number in it is made by hand.
"""

from __future__ import annotations

import functools
import importlib
import os

from tpulint.catalog import MEASUREMENTS
from tpulint.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.rule import Rule
    from tpulint.strict_yaml import Table

MEASURED_CATEGORIES = ("host_sync", "recompile", "data")
"""What the others speak of is no read and no graph that changes, so that runs tell nothing about them."""


class Counts(NamedTuple):
    """Findings of a rule, or on a question, in one set of scripts."""

    right: int
    wrong: int
    not_seen: int
    """In code that no turn of a loop came to, or hidden behind another cost."""

    @property
    def judged(self) -> int:
        """Those of which something can be said."""
        return self.right + self.wrong


class Lines(NamedTuple):
    """Lines that waited for the device, or changed the graph, over and over."""

    told: int
    """Those that a finding spoke of."""
    missed: int
    elsewhere: int
    """Of those missed: in another file than the loop."""


class Answer(NamedTuple):
    """One question in one set."""

    question: str
    findings: Counts
    lines: Lines


class ScriptSet(NamedTuple):
    """Scripts that were measured together."""

    name: str
    scripts: int
    answers: tuple[Answer, ...]
    rules: dict[str, Counts]
    """By code."""


class Measurements(NamedTuple):
    """Everything that was measured."""

    date: str
    torch: str
    torch_xla: str
    sets: tuple[ScriptSet, ...]

    @property
    def scripts(self) -> int:
        """Of all sets."""
        return sum(one.scripts for one in self.sets)

    def of(self, code: str) -> Counts:
        """Of one rule, in all sets."""
        found = [one.rules[code] for one in self.sets if code in one.rules]
        return Counts(*(sum(column) for column in zip(*found, strict=True))) if found else Counts(0, 0, 0)


def sentence(rule: Rule) -> str:
    """What was measured of a rule, in words; empty where its package was not measured."""
    measured = _of_package(rule.place.package)
    if measured is None or rule.status == "removed":
        return ""
    if rule.category not in MEASURED_CATEGORIES:
        return "not held against runs, which tell of host syncs and recompilations only"
    counts = measured.of(rule.code)
    basis = f"on {measured.scripts} scripts that were run on XLA ({measured.date})"
    if not counts.judged:
        seen = f"; {counts.not_seen} findings in code that did not run" if counts.not_seen else ""
        return f"nothing observed {basis}{seen}"
    right = f"right in {counts.right} of {counts.judged} findings ({counts.right / counts.judged:.0%})"
    return f"{right} {basis}; {counts.not_seen} more in code that did not run"


@functools.cache
def _of_package(package: str) -> Measurements | None:
    for root in getattr(importlib.import_module(package), "__path__", ()):
        path = os.path.join(root, MEASUREMENTS)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return parse(file.read(), path)
    return None


def parse(text: str, path: str) -> Measurements:
    """Read a file of measurements. Raises ``CardError`` for whatever is not as it should be."""
    from tpulint.strict_yaml import read

    table = read(text, path, "the measurements")
    measured = Measurements(
        table.text("date"), table.text("torch"), table.text("torch_xla"),
        tuple(_set(one) for one in table.tables("sets", "a set")),
    )  # fmt: skip
    table.close()
    return measured


def _set(table: Table) -> ScriptSet:
    answers = tuple(_answer(one) for one in table.tables("questions", "a question"))
    rules = table.table("rules")
    counts = {code: _counts(rules.table(code)) for code in rules.words}
    rules.close()
    found = ScriptSet(table.text("name"), _number(table, "scripts"), answers, counts)
    table.close()
    for index, column in enumerate(Counts._fields):
        asked, by_rule = sum(one.findings[index] for one in answers), sum(one[index] for one in counts.values())
        if asked != by_rule:
            raise table.error(f"{column.replace('_', ' ')}: {asked} by question, {by_rule} by rule")
    return found


def _answer(table: Table) -> Answer:
    lines = Lines(_number(table, "told"), _number(table, "missed"), _number(table, "in other files"))
    name = table.text("question")
    if lines.elsewhere > lines.missed:
        raise table.error("more missed in other files than missed")
    return Answer(name, _counts(table), lines)


def _counts(table: Table) -> Counts:
    found = Counts(_number(table, "right"), _number(table, "wrong"), _number(table, "not seen"))
    table.close()
    return found


def _number(table: Table, key: str) -> int:
    number = table.number(key)
    if number is None or number < 0:
        raise table.error(f"{key!r} of {table.what} must be a number of 0 or more", key)
    return number

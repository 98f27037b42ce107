"""What the tool can tell about a rule, and about an API: for people and as plain data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tpulint.records import NamedTuple
from tpulint.selectors import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.card import MappingRow
    from tpulint.catalog import Catalogue
    from tpulint.rule import Rule
    from tpulint.targets import Target

_FINE = "nothing, it is fine as it is"


class Match(NamedTuple):
    """One row of a mapping table that speaks about a name."""

    rule: Rule
    row: MappingRow


def rule_data(rule: Rule) -> dict[str, object]:
    """A rule as plain data."""
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "category": rule.category,
        "status": rule.status,
        "since": rule.since,
        "severity": rule.severity.label,
        "certainty": rule.certainty.name.lower(),
        "fix": {
            "availability": rule.fix_availability,
            "applicability": rule.applicability.label,
            "safety": rule.fix_safety,
        },
        "why": rule.why,
        "advice": rule.advice,
        "when_to_ignore": rule.when_to_ignore,
        "targets": rule.targets,
        "options": {name: option._asdict() for name, option in rule.options.items()},
        "examples": [example._asdict() for example in rule.examples],
        "mapping": [row.as_dict() for row in rule.mapping],
        "references": list(rule.references),
    }


def list_rules(rules: Iterable[Rule]) -> Iterator[str]:
    """One line per rule."""
    rows = [(rule.code, rule.name, _fix_of(rule), rule.summary, rule.status) for rule in rules]
    names = max((len(row[1]) for row in rows), default=0)
    fixes = max((len(row[2]) for row in rows), default=0)
    for code, name, fix, summary, status in rows:
        note = "" if status == "stable" else f" ({status})"
        yield f"{code}  {name.ljust(names)}  {fix.ljust(fixes)}  {summary}{note}"


def matches_of(catalogue: Catalogue, name: str) -> list[Match]:
    """The rows about a name: its own, else those below it, else names that end so, else those of its module."""
    rows = [Match(rule, row) for rule in catalogue.rules if rule.status != "removed" for row in rule.mapping]
    name = name.strip().removesuffix("()").rstrip(".")
    exact = [match for match in rows if match.row.old == name]
    if exact:
        return exact
    below = [match for match in rows if match.row.old.startswith(name + ".")]
    if below:
        return below
    ending = [match for match in rows if match.row.old.endswith("." + name)]
    if ending:
        return ending
    return [match for match in rows if _covers(match.row, name)]


def rules_about(catalogue: Catalogue, name: str) -> list[Rule]:
    """Rules that know a name by logic, not by a row: those it is an anchor of, else those whose examples write it."""
    last = name.strip().removesuffix("()").rstrip(".").rpartition(".")[2]
    live = [rule for rule in catalogue.rules if rule.status != "removed"]
    anchored = [rule for rule in live if any(anchor.strip(".( ").rpartition(".")[2] == last for anchor in rule.anchors)]
    if anchored or len(last) < 4:
        return anchored
    written = re.compile(rf"\b{re.escape(last)}\b")
    return [rule for rule in live if any(written.search(example.bad) for example in rule.examples)][:4]


def describe_rule(rule: Rule) -> Iterator[str]:
    """A rule in short, with the first example of what becomes of the code."""
    from tpulint.report.full import first_sentence

    yield f"{rule.code} {rule.name}: {rule.summary}"
    yield f"  why: {first_sentence(rule.why)}"
    example = next((example for example in rule.examples if example.bad and example.good), None)
    if example is not None:
        yield from ("  for example", *(f"    {line}" for line in example.bad.rstrip().split("\n")))
        yield from ("  becomes", *(f"    {line}" for line in example.good.rstrip().split("\n")))
    yield f"  `tpulint rule {rule.code}` tells more"


def suggestion(catalogue: Catalogue, name: str) -> str:
    """The nearest name of any mapping table, as the end of a sentence."""
    known = {row.old for rule in catalogue.rules for row in rule.mapping}
    return nearest(name, known) or nearest(name, {old.rpartition(".")[2] for old in known})


def describe_match(match: Match, target: Target) -> Iterator[str]:
    """What a name becomes, and why."""
    from tpulint.declarative import problem_of
    from tpulint.report.full import first_sentence

    rule, row = match
    problem = problem_of(row, target, rule.severity)
    yield _subject(row)
    if problem is None:
        yield f"  {target.label}: {_FINE}"
    else:
        yield f"  {target.label}: {outcome(row)}"
        if row.as_number:
            yield f"  compared with a number: {row.as_number}"
        if row.in_step_loop is not None:
            yield f"  in a step loop: {outcome(row.in_step_loop)}"
        yield f"  {row.argument or row.old} {problem[0]}."
    for text in (row.note, row.reason):
        if text:
            yield f"  {text.rstrip('.')}."
    yield f"  why: {first_sentence(rule.why)}"
    yield f"  rule: {rule.code} {rule.name} (`tpulint rule {rule.code}` tells more)"


def list_matches(matches: Iterable[Match], target: Target) -> Iterator[str]:
    """One line per row."""
    rows = [(_subject(match.row), _outcome_everywhere(match, target), match.rule.code) for match in matches]
    names = max((len(name) for name, _, _ in rows), default=0)
    for name, result, code in rows:
        yield f"{name.ljust(names)}  {result} ({code})"


def match_data(match: Match) -> dict[str, object]:
    """The same as plain data."""
    return {"rule": match.rule.code, "name": match.rule.name, "why": match.rule.why, **match.row.as_dict()}


def outcome(row: MappingRow) -> str:
    """What is done about a name, in words."""
    applicability = f", {row.applicability}" if row.applicability else ""
    words = {
        "delete": "nothing, it is removed",
        "drop-argument": f"the argument {row.argument} is left out",
        "rename-argument": f"the argument is called {row.new}",
        "set-argument": f"the argument is set to {row.new}",
        "take-out": "taken out, with what is told to it",
        "unsupported": "no equivalent, change it by hand",
    }
    return f"{words.get(row.action, row.new)}{applicability}"


def _subject(row: MappingRow) -> str:
    subject = f"{row.old}, argument {row.argument}" if row.argument else row.old
    return f"{subject} (assigned)" if row.assigned else subject


def _outcome_everywhere(match: Match, target: Target) -> str:
    from tpulint.declarative import problem_of

    row = match.row
    if problem_of(row, target, match.rule.severity) is None:
        return _FINE
    if row.in_step_loop is None:
        return outcome(row)
    return f"{outcome(row)}; in a step loop: {outcome(row.in_step_loop)}"


def _covers(row: MappingRow, name: str) -> bool:
    if row.action == "rename-module":
        return name.startswith(row.old + ".")
    return row.old.endswith(".*") and name.startswith(row.old[:-1])


def _fix_of(rule: Rule) -> str:
    return "-" if rule.fix_availability == "none" else f"{rule.fix_availability}, {rule.applicability.label}"

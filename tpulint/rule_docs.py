"""The documentation of rules, from their cards: one rule's text, and all of them as docs/rules.md."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator

from tpulint.card import CATEGORIES
from tpulint.languages import MARKDOWN_NAMES, PYTHON, language_of
from tpulint.measurements import sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.card import Example, MappingRow
    from tpulint.catalog import Catalogue
    from tpulint.rule import Rule

_PORTABLE = {"display": "fixes are only shown", "silent": "not looked for"}
_FIXES = {"always": "yes", "sometimes": "sometimes", "none": "no"}


def explain(rule: Rule, level: int = 1) -> str:
    """Everything the card says about a rule, as Markdown; the heading has this level."""
    heading = "#" * level
    parts = [f"{heading} {rule.code} {rule.name}", f"{rule.summary}.", _facts(rule)]
    if rule.status == "removed":
        return "\n\n".join([*parts, rule.why]) + "\n"
    parts += [f"{heading}# Why", rule.why]
    parts.extend(_examples(rule, heading))
    if rule.fix_safety:
        parts += [f"{heading}# Fix safety", rule.fix_safety]
    if rule.advice:
        parts += [f"{heading}# By hand", rule.advice]
    if rule.when_to_ignore:
        parts += [f"{heading}# When to ignore", rule.when_to_ignore]
    if rule.options:
        parts += [f"{heading}# Options", _options(rule)]
    if rule.mapping:
        parts += [f"{heading}# Names", _mapping(rule.mapping)]
    if rule.references:
        parts += [f"{heading}# References", "\n".join(f"- <{reference}>" if "://" in reference else f"- {reference}"
                                                      for reference in rule.references)]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _facts(rule: Rule) -> str:
    fix = _FIXES[rule.fix_availability]
    if rule.fix_availability != "none":
        fix += f", {rule.applicability.label} unless said otherwise below"
    since = "the next release" if rule.since == "NEXT" else rule.since
    facts = [f"Severity: {rule.severity.label}", f"Certainty: {rule.certainty.name.lower()}", f"Fix: {fix}",
             f"Status: {rule.status}, since {since}"]  # fmt: skip
    if rule.files != (PYTHON,):
        facts.append(f"Files: {', '.join(rule.files)}")
    if rule.portable in _PORTABLE:
        facts.append(f"Portable code: {_PORTABLE[rule.portable]}")
    if rule.moves:
        facts.append("While one of its errors has no safe fix, plain `--fix` turns no other part of the file to XLA")
    if rule.targets:
        facts.append("Targets: " + ", ".join(f"{name} {condition}" for name, condition in rule.targets.items()))
    measured = sentence(rule)
    if measured:
        facts.append(f"Measured: {measured}")
    return "\n".join(f"- {fact}" for fact in facts)


def _examples(rule: Rule, heading: str) -> Iterator[str]:
    yield f"{heading}# Examples"
    for example in rule.examples:
        if example.ok:
            continue
        yield from _place(example)
        language = language_of(example.file) if example.file else rule.files[0]
        yield _code(example.bad, language)
        if example.good:
            yield _becomes(example)
            yield _code(example.good, language)
        else:
            yield "has no fix."
        if example.portable:
            yield "With `--portable` it becomes:"
            yield _code(example.portable, language)
    yield f"{heading}# Left alone"
    for example in rule.examples:
        if example.ok:
            yield from _place(example)
            yield _code(example.ok, language_of(example.file) if example.file else rule.files[0])


def _place(example: Example) -> Iterator[str]:
    if example.prelude == "training-loop":
        yield "In a step loop:"


def _becomes(example: Example) -> str:
    return "becomes, with `--unsafe-fixes`:" if example.unsafe else "becomes:"


def _code(text: str, language: str) -> str:
    return f"```{MARKDOWN_NAMES.get(language, language)}\n{text.rstrip()}\n```"


def _options(rule: Rule) -> str:
    lines = [f"Set in `[tool.tpulint.rules.{rule.code}]`:", ""]
    for name, option in rule.options.items():
        lines.append(f"- `{name}` ({option.type}, default `{option.default!r}`): {option.help}")
    return "\n".join(lines)


def _mapping(rows: tuple[MappingRow, ...]) -> str:
    lines = ["| name | what happens | note |", "|---|---|---|"]
    lines.extend(f"| `{row.old}`{_changed(row)} | {_action(row)} | {_cell(row.note)} |" for row in rows)
    return "\n".join(lines)


def _changed(row: MappingRow) -> str:
    argument = f", argument `{row.argument}`" if row.argument else ""
    assigned = " (assigned)" if row.assigned else ""
    known = (("deprecated in", row.deprecated_in), ("gone in", row.removed_in))
    versions = [f"{word} {version}" for word, version in known if version]
    return f"{argument}{assigned}" + (f", {', '.join(versions)}" if versions else "")


def _action(row: MappingRow) -> str:
    text = {
        "rename": f"becomes `{row.new}`", "rename-module": f"becomes `{row.new}`", "replace": f"becomes `{row.new}`",
        "delete": "removed", "drop-argument": "argument removed", "rename-argument": f"becomes `{row.new}`",
        "set-argument": f"set to `{row.new}`", "take-out": "taken out", "unsupported": "no fix",
    }[row.action]  # fmt: skip
    if row.with_item:
        text += " in a `with` statement"
    if row.as_number:
        text += f", as a number: `{row.as_number}`"
    if row.portable:
        text += "; portable: left alone" if row.portable == "keep" else f"; portable: `{row.portable}`"
    if row.applicability:
        text += f", {row.applicability}"
    if row.in_step_loop is not None:
        text += f"; in a step loop: {_action(row.in_step_loop)}"
    return _cell(text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def render(catalogue: Catalogue) -> str:
    """The text of docs/rules.md."""
    parts = [
        "# Rules",
        "<!-- Made from the cards by `tpulint rules --write docs/rules.md`; do not edit. -->",
        "Fix says whether a fix exists and what it is at best: `safe` is applied by `--fix`, `unsafe` with "
        "`--unsafe-fixes` only.",
    ]  # fmt: skip
    categories = [name for name in CATEGORIES if any(rule.category == name for rule in catalogue.rules)]
    categories += sorted({rule.category for rule in catalogue.rules} - set(CATEGORIES))
    index = ["| code | name | what it finds | fix |", "|---|---|---|---|", *map(_index_row, catalogue.rules)]
    parts.append("\n".join(index))
    for category in categories:
        rules = [rule for rule in catalogue.rules if rule.category == category]
        title, intro = introduction(rules[0])
        parts.append(f"## {title}")
        if intro:
            parts.append(intro)
        parts.extend(explain(rule, level=3).rstrip() for rule in rules)
    return "\n\n".join(parts) + "\n"


def _index_row(rule: Rule) -> str:
    fix = "-" if rule.fix_availability == "none" else f"{rule.fix_availability}, {rule.applicability.label}"
    note = "" if rule.status == "stable" else f" ({rule.status})"
    return f"| [{rule.code}](#{rule.fragment}) | {rule.name}{note} | {_cell(rule.summary)} | {fix} |"


def introduction(rule: Rule) -> tuple[str, str]:
    """Title and text about the category of a rule: the docstring of its package."""
    module = importlib.import_module(f"{rule.place.package}.{rule.category}")
    title, _, text = (module.__doc__ or rule.category).strip().replace("``", "`").partition("\n")
    return title.rstrip("."), text.strip()


def write(path: str | os.PathLike[str], catalogue: Catalogue | None = None) -> None:
    """Write the documentation of all rules."""
    if catalogue is None:
        from tpulint.catalog import load

        catalogue = load()
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(render(catalogue))

"""The schema of a card: YAML text to plain data, strictly."""

from __future__ import annotations

import re

from tpulint.card import (
    ACTIONS,
    AVAILABILITIES,
    CATEGORIES,
    OPTION_TYPES,
    PORTABLE,
    STATUSES,
    CardError,
    Example,
    MappingRow,
    Option,
)
from tpulint.languages import LANGUAGES, PYTHON, language_of
from tpulint.model import Applicability, Certainty, Severity
from tpulint.strict_yaml import Table, read
from tpulint.targets import parse_version, satisfies

_OWN_CODE = re.compile(r"TPU\d{3}\Z")
_CODE = re.compile(r"[A-Z]+\d{3}\Z")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_PARAMETER = re.compile(r"[A-Za-z_]\w*(?: as [A-Za-z_]\w*)?\Z")
_OLD = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:\.\*)?\Z")


def parse(text: str, path: str, category: str, stem: str, *, own: bool, has_python: bool) -> dict[str, object]:
    """A card as plain data (texts, numbers, lists, dicts). Raises ``CardError``.

    ``own`` tells our rules, whose codes are ours to number, from those of a plugin; ``has_python`` whether a Python
    file of the same stem holds the check.
    """
    table = read(text, path, "the card")
    removed = table.choice("status", STATUSES) == "removed"
    availability, applicability = _fix(table)
    examples = [_example(item) for item in table.tables("examples", "an example")]
    mapping = [row.as_dict() for item in table.tables("mapping", "a mapping row") for row in _rows(item)]
    anchors, languages = table.texts("anchors"), _files(table)
    card: dict[str, object] = {
        "code": _code(table, category, own),
        "name": _name(table, stem),
        "summary": table.text("summary"),
        "status": table.text("status"),
        "since": table.text("since"),
        "severity": table.choice("severity", [item.label for item in Severity]),
        "certainty": table.choice("certainty", [item.name.lower() for item in Certainty]),
        "fix_availability": availability,
        "applicability": applicability,
        "portable": table.choice("portable", PORTABLE, "fix"),
        "moves": table.flag("moves"),
        "blocks": table.flag("blocks"),
        "why": table.text("why").strip(),
        "fix_safety": table.text("fix_safety", "").strip(),
        "advice": table.text("advice", "").strip(),
        "when_to_ignore": table.text("when_to_ignore", "").strip(),
        "anchors": anchors,
        "files": languages,
        "targets": _targets(table),
        "prelude": table.text("prelude", ""),
        "options": _options(table),
        "examples": [list(item) for item in examples],
        "mapping": mapping,
        "references": table.texts("references"),
    }
    table.close()
    if removed:
        return card  # keeps the number taken; there is nothing left to run
    if not anchors:
        raise table.error("'anchors' must list at least one text that a file needs for the rule to speak", "anchors")
    if availability != "none" and not card["fix_safety"]:
        raise table.error("a rule with a fix must argue in 'fix_safety' why the fix has its applicability")
    if languages != [PYTHON] and not has_python:
        raise table.error(
            f"a rule about other files than Python needs a Python file {stem}.py beside its card", "files"
        )
    for example in examples:
        language = language_of(example.file) if example.file else languages[0]
        if language not in languages:
            raise table.error(f"{example.file!r} is the name of a {language} file, and 'files' has none", "examples")
    if not mapping and not has_python:
        raise table.error(f"a rule needs a mapping table or a Python file {stem}.py beside its card")
    return card


def _code(table: Table, category: str, own: bool) -> str:
    code = table.text("code")
    if not (_OWN_CODE if own else _CODE).match(code):
        form = "TPU and three digits" if own else "capital letters and three digits"
        raise table.error(f"code {code!r} must be {form}", "code")
    if own:
        if category not in CATEGORIES:
            raise table.error(f"unknown category {category!r}; categories are {', '.join(CATEGORIES)}")
        if code[3] != str(CATEGORIES[category]):
            raise table.error(
                f"code {code!r} lies outside of TPU{CATEGORIES[category]}xx, the range of {category}", "code"
            )
    elif code.startswith("TPU"):
        raise table.error(f"code {code!r}: the prefix TPU belongs to tpulint; a plugin needs its own", "code")
    return code


def _name(table: Table, stem: str) -> str:
    name = table.text("name")
    if not _NAME.match(name):
        raise table.error(f"name {name!r} must be kebab-case", "name")
    if name.replace("-", "_") != stem:
        raise table.error(f"name {name!r} must match the file name, {stem}.yaml", "name")
    return name


def _fix(table: Table) -> tuple[str, str]:
    fix = table.table("fix")
    availability = fix.choice("availability", AVAILABILITIES)
    labels = [item.label for item in Applicability]
    applicability = fix.choice("applicability", labels, "display" if availability == "none" else None)
    fix.close()
    return availability, applicability


def _files(table: Table) -> list[str]:
    files = table.texts("files") if "files" in table else [PYTHON]
    for language in files:
        if language not in LANGUAGES:
            raise table.error(f"unknown language {language!r}; languages are {', '.join(LANGUAGES)}", "files")
    if not files:
        raise table.error("'files' must list at least one language", "files")
    return files


def _targets(table: Table) -> dict[str, str]:
    if "targets" not in table:
        return {}
    targets = table.table("targets")
    conditions = {}
    for name in targets.words:
        condition = targets.text(name)
        try:
            satisfies((0,), condition)
        except ValueError as error:
            raise targets.error(str(error), name) from None
        conditions[name] = condition
    return conditions


def _options(table: Table) -> dict[str, list[object]]:
    if "options" not in table:
        return {}
    options: dict[str, list[object]] = {}
    named = table.table("options")
    for name in named.words:
        if not _NAME.match(name):
            raise named.error(f"option {name!r} must be kebab-case", name)
        item = named.table(name)
        option = Option(item.choice("type", OPTION_TYPES), item.value("default"), item.text("help").strip())
        item.close()
        if not option.accepts(option.default):
            raise item.error(f"the default of option {name!r} is not of type {option.type}", "default")
        options[name] = list(option)
    return options


def _example(table: Table) -> Example:
    example = Example(
        bad=table.text("bad", ""),
        good=table.text("good", ""),
        portable=table.text("portable", ""),
        ok=table.text("ok", ""),
        unsafe=table.flag("unsafe"),
        prelude=table.text("prelude", ""),
        file=table.text("file", ""),
    )
    table.close()
    if bool(example.bad) == bool(example.ok):
        raise table.error("an example has exactly one of 'bad' and 'ok'")
    if example.ok and (example.good or example.unsafe or example.portable):
        raise table.error("'good', 'portable' and 'unsafe' belong to a 'bad' example")
    if example.unsafe and not example.good:
        raise table.error("'unsafe' says how 'good' is reached, and there is no 'good'", "unsafe")
    if example.portable and example.portable == example.good:
        raise table.error("'portable' is there to be shown where it differs from 'good'", "portable")
    return example


def _rows(table: Table) -> list[MappingRow]:
    """One row per name in ``old``."""
    names = table.texts("old", or_text=True)
    if not names:
        raise table.error("a mapping row needs 'old', a dotted name or a list of them")
    for name in names:
        if not _OLD.match(name):
            raise table.error(f"'old' must be a dotted name, not {name!r}", "old")
    row = _row(table)
    inner = table.table("in_step_loop") if "in_step_loop" in table else None
    if inner is not None:
        row = row._replace(in_step_loop=_row(inner))
        inner.close()
    table.close()
    return [
        row._replace(old=name, in_step_loop=row.in_step_loop._replace(old=name) if row.in_step_loop else None)
        for name in names
    ]


def _row(table: Table) -> MappingRow:
    action = table.choice("action", ACTIONS)
    new = table.text("new", "")
    arguments: tuple[str, ...] | None = None
    if "arguments" in table:
        words = table.texts("arguments", or_text=True)
        arguments = None if words == ["keep"] else () if words == ["drop"] else tuple(words)
        for word in words:
            if not _PARAMETER.match(word):
                raise table.error(f"'arguments' must list parameters (`n` or `n as index`), not {word!r}", "arguments")
    row = MappingRow(
        old="",
        action=action,
        new=new,
        effect=table.text("effect", ""),
        note=table.text("note", ""),
        arguments=arguments,
        argument=table.text("argument", ""),
        position=table.number("position"),
        allowed=tuple(table.values("allowed")),
        given=tuple(table.values("given")) if "given" in table else None,
        unless=_unless(table),
        assigned=table.flag("assigned"),
        with_item=table.flag("with_item"),
        acquires_device=table.flag("acquires_device"),
        since=_version(table, "since"),
        deprecated_in=_version(table, "deprecated_in"),
        removed_in=_version(table, "removed_in"),
        severity=table.choice("severity", ["", *(item.label for item in Severity)], ""),
        applicability=table.choice("applicability", ["", *(item.label for item in Applicability)], ""),
        reason=table.text("reason", ""),
        portable=table.text("portable", ""),
        as_number=table.text("as_number", ""),
    )
    needs_new = action in ("rename", "rename-module", "replace", "rename-argument", "set-argument")
    if needs_new != bool(new):
        raise table.error(f"action {action!r} {'needs' if needs_new else 'takes no'} 'new'")
    if action in ("rename", "rename-module") and not _DOTTED.match(new):
        raise table.error(f"'new' of a {action} must be a dotted name, not {new!r}", "new")
    if action.endswith("-argument") != bool(row.argument):
        raise table.error(f"action {action!r} {'takes no' if row.argument else 'needs'} 'argument'")
    if row.portable not in ("", "keep") and not row.portable.startswith("tpulint_runtime."):
        raise table.error("'portable' must be 'keep' or a name of tpulint_runtime", "portable")
    if action != "replace" and row.as_number:
        raise table.error("'as_number' belongs to the action 'replace'", "as_number")
    if action != "rename" and row.arguments is not None:
        raise table.error("'arguments' belongs to the action 'rename'", "arguments")
    return row


def _unless(table: Table) -> tuple[tuple[str, tuple[object, ...]], ...]:
    if "unless" not in table:
        return ()
    others = table.table("unless")
    return tuple((name, tuple(others.values(name))) for name in others.words)


def _version(table: Table, key: str) -> str:
    version = table.text(key, "")
    try:
        parse_version(version or "0")
    except ValueError:
        raise table.error(f'{key!r} must be a version such as "2.7", not {version!r}', key) from None
    return version


__all__ = ["CardError", "parse"]

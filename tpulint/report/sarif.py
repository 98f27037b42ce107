"""SARIF 2.1.0, as GitHub's code scanning takes it: relative addresses, fingerprints, fixes, the rules' own words."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from tpulint import __version__
from tpulint.discovery import Problem
from tpulint.model import Certainty, Severity
from tpulint.patterns import with_slashes
from tpulint.report.entry import Entry, FileReport, Place
from tpulint.report.fingerprints import fingerprints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.catalog import Catalogue
    from tpulint.rule import Rule
    from tpulint.targets import Target

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.INFO: "note", Severity.WARNING: "warning", Severity.ERROR: "error"}
_PROBLEMS = {Severity.INFO: "recommendation", Severity.WARNING: "warning", Severity.ERROR: "error"}
_LONGEST_TEXT = 1024
"""Characters that GitHub takes of a description."""


def render(
    reports: list[FileReport], problems: Iterable[Problem], catalogue: Catalogue, target: Target
) -> Iterator[str]:
    """The report, in one piece."""
    from tpulint.json_output import serialize

    codes = sorted({entry.code for report in reports for entry in report.entries})
    numbers = {code: number for number, code in enumerate(codes)}
    notifications = [_notification(problem) for problem in problems]
    run = {
        "tool": {
            "driver": {
                "name": "tpulint",
                "semanticVersion": __version__,
                "rules": [_rule(code, catalogue.get(code)) for code in codes],
            }
        },
        "automationDetails": {"id": f"tpulint/{target.name}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not notifications, "toolExecutionNotifications": notifications}],
        "results": [
            _result(report, entry, numbers[entry.code], mark)
            for report in reports
            for entry, mark in zip(report.entries, fingerprints(report), strict=True)
        ],
    }
    yield serialize({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _rule(code: str, rule: Rule | None) -> dict[str, object]:
    if rule is None:  # what the tool itself reports has no card
        words = code.replace("-", " ").capitalize() + "."
        return {
            "id": code,
            "shortDescription": {"text": words},
            "fullDescription": {"text": words},
            "help": {"text": words},
            "defaultConfiguration": {"level": "error"},
        }
    help_text = "\n\n".join(filter(None, (rule.why, rule.advice, rule.fix_safety)))
    return {
        "id": code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary[:_LONGEST_TEXT]},
        "fullDescription": {"text": rule.why[:_LONGEST_TEXT]},
        "help": {"text": help_text, "markdown": help_text},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "tags": [rule.category],
            "precision": "very-high" if rule.certainty is Certainty.CERTAIN else "high",
            "problem.severity": _PROBLEMS[rule.severity],
        },
    }


def _result(report: FileReport, entry: Entry, number: int, mark: str) -> dict[str, object]:
    message = f"{entry.message}\n\n{entry.help}" if entry.help else entry.message
    result: dict[str, object] = {
        "ruleId": entry.code,
        "ruleIndex": number,
        "level": _LEVELS[Severity(entry.severity)],
        "message": {"text": message},
        "locations": [_location(report.path, entry.place)],
        "partialFingerprints": {"primaryLocationLineHash": mark},
    }
    if entry.pace:
        result["properties"] = {"pace": entry.pace}
    if entry.related:
        related = [{**_location(report.path, place), "message": {"text": text}} for place, text in entry.related]
        result["relatedLocations"] = related
        here = {**_location(report.path, entry.place), "message": {"text": entry.message}}
        flow = [{"location": location} for location in (*related, here)]
        result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    if entry.place.cell:
        where = {"cell": entry.place.cell, "row": entry.place.row, "column": entry.place.column}
        result["properties"] = {"pace": entry.pace, **where} if entry.pace else where
    elif entry.fix is not None:  # the edits of a notebook are edits of its cells, not of the JSON around them
        fix = report.fixes[entry.fix]
        replacements = [
            {"deletedRegion": _region(place), "insertedContent": {"text": text}} for text, place in fix.edits
        ]
        change = {"artifactLocation": {"uri": _address(report.path)}, "replacements": replacements}
        result["fixes"] = [{"description": {"text": f"{fix.title}. {fix.reason}"}, "artifactChanges": [change]}]
    return result


def _location(path: str, place: Place) -> dict[str, object]:
    return {"physicalLocation": {"artifactLocation": {"uri": _address(path)}, "region": _region(place)}}


def _region(place: Place) -> dict[str, int]:
    if place.cell:
        return {"startLine": place.file_row, "endLine": place.file_end_row}
    return {
        "startLine": place.row,
        "startColumn": place.column,
        "endLine": place.end_row,
        "endColumn": place.end_column,
    }


def _notification(problem: Problem) -> dict[str, object]:
    where: dict[str, object] = {"artifactLocation": {"uri": _address(problem.path)}}
    if problem.row:
        where["region"] = {"startLine": problem.row}
    return {
        "level": "error",
        "message": {"text": problem.message},
        "locations": [{"physicalLocation": where}],
    }


def _address(path: str) -> str:
    """The path as a relative address: GitHub matches no other with the files of a repository."""
    from urllib.parse import quote

    checkout = os.path.realpath(os.environ.get("GITHUB_WORKSPACE") or os.getcwd())
    real = os.path.relpath(os.path.realpath(path), checkout) if path != "-" else path
    return quote(os.fsencode(with_slashes(real)))

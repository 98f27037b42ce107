"""The measurements as a file of the rules, and as tables for docs/measured.md."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from measuring.judging import OUTCOMES, QUESTIONS, Verdict, score

Sets = Mapping[str, Sequence[Verdict]]


def as_yaml(sets: Sets, versions: Mapping[str, str]) -> str:
    """The text of measurements.yaml."""
    lines = [
        "# Written by benchmarks/findings_against_runs.py; see docs/measured.md. Do not edit.",
        f'date: "{datetime.date.today().isoformat()}"',
        *(f'{name}: "{versions[name]}"' for name in ("torch", "torch_xla")),
        "sets:",
    ]
    for name, verdicts in sets.items():
        lines += [f"  - name: {name}", f"    scripts: {len(verdicts)}", "    questions:"]
        for question in QUESTIONS:
            numbers = score(verdicts, question)
            counts = ", ".join(f"{outcome}: {numbers[outcome]}" for outcome in OUTCOMES)
            lines.append(
                f"      - {{question: {question}, {counts}, told: {numbers['hits']}, missed: {numbers['misses']}, "
                f"in other files: {numbers['elsewhere']}}}"
            )
        rules = list(_by_rule(verdicts))
        lines.append("    rules:" if rules else "    rules: {}")
        lines += [f"      {code}: {{{counts}}}" for code, counts in rules]
    return "\n".join(lines) + "\n"


def _by_rule(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str]]:
    judgements = [one for verdict in verdicts for one in verdict.judgements]
    for code in sorted({one.said.code for one in judgements}):
        outcomes = [one.outcome for one in judgements if one.said.code == code]
        yield code, ", ".join(f"{outcome}: {outcomes.count(outcome)}" for outcome in OUTCOMES)


def as_json(sets: Sets) -> str:
    """Everything, by script."""
    found = {}
    for name, verdicts in sets.items():
        found[name] = {
            "questions": {question: score(verdicts, question) for question in QUESTIONS},
            "scripts": {
                verdict.name: {
                    "findings": [
                        {"code": one.said.code, "file": one.said.path, "row": one.said.row, "question": one.question,
                         "outcome": one.outcome}
                        for one in verdict.judgements
                    ],
                    "missed": [
                        {"file": one.cost.path, "row": one.cost.row, "kind": one.cost.kind, "question": one.question}
                        for one in verdict.misses
                    ],
                }
                for verdict in verdicts
            },
        }  # fmt: skip
    return json.dumps(found, indent=1) + "\n"


def as_tables(sets: Sets) -> str:
    """Markdown: a table of the questions, and one of the rules."""
    lines = ["| scripts | question | findings judged | right | lines that wait or recompile | named by a finding "
             "| missed, in another file than the loop |", "|---|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    for name, verdicts in sets.items():
        for question in QUESTIONS:
            numbers = score(verdicts, question)
            judged = numbers["right"] + numbers["wrong"]
            lines.append(
                f"| {name} ({len(verdicts)}) | {question} | {judged} | {share(numbers['right'], judged)} | "
                f"{numbers['lines']} | {share(numbers['hits'], numbers['lines'])} | {numbers['elsewhere']} |"
            )
    lines += ["", "| rule | right | wrong | not seen |", "|---|---:|---:|---:|"]
    judgements = [one for verdicts in sets.values() for verdict in verdicts for one in verdict.judgements]
    for code, name in sorted({(one.said.code, one.said.name) for one in judgements}):
        outcomes = [one.outcome for one in judgements if one.said.code == code]
        counts = " | ".join(str(outcomes.count(outcome)) for outcome in OUTCOMES)
        lines.append(f"| {code} {name} | {counts} |")
    return "\n".join(lines) + "\n"


def share(part: int, whole: int) -> str:
    """As a percentage, with the number."""
    return f"{part} ({part / whole:.0%})" if whole else "-"


def write(sets: Sets, versions: Mapping[str, str], path: Path) -> None:
    """Write the file of the rules."""
    path.write_text(as_yaml(sets, versions), encoding="utf-8")

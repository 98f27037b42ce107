"""Rules made of a card's text, for tests that need a particular one."""

from __future__ import annotations

import textwrap

from tpulint.card_cache import parted
from tpulint.card_parser import parse
from tpulint.catalog import Catalogue
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.model import FileResult
from tpulint.rule import Place, Rule
from tpulint.source import SourceFile
from tpulint.targets import Target

CARD = """\
code: TPU010
name: some-rule
summary: "What the rule finds"
status: stable
since: NEXT
severity: warning
certainty: certain
fix: {availability: sometimes, applicability: safe}
why: It matters.
fix_safety: It is safe.
anchors: [torch]
"""


def rule_of(mapping: str, head: str = CARD) -> Rule:
    """A rule with this mapping table (YAML list)."""
    text = head + "mapping:\n" + textwrap.indent(textwrap.dedent(mapping), "  ")
    card = parse(text, "some_rule.yaml", "device", "some_rule", own=True, has_python=False)
    return Rule(parted(card), Place("tpulint_rules", "device", "some_rule", "some_rule.yaml", False))


def run(rule: Rule, text: str, *, fix: bool = True, unsafe: bool = False, version: tuple[int, ...] = (2, 9),
        portable: bool = False) -> FileResult:  # fmt: skip
    """What linting (and fixing) a text with one rule gives."""
    settings = Settings(fix=fix, unsafe_fixes=unsafe, target=Target("torch_xla", version), portable=portable)
    result = lint(SourceFile.from_text(text, "script.py"), settings, Catalogue([rule], "digest"))
    assert result.error == ""
    return result


def fixed(
    mapping: str, text: str, *, unsafe: bool = False, version: tuple[int, ...] = (2, 9), portable: bool = False
) -> str:
    """The text after fixing."""
    return run(rule_of(mapping), text, unsafe=unsafe, version=version, portable=portable).text


def messages(mapping: str, text: str, *, version: tuple[int, ...] = (2, 9), portable: bool = False) -> list[str]:
    """Messages of the findings in a text, without fixing."""
    return [
        finding.message
        for finding in run(rule_of(mapping), text, fix=False, version=version, portable=portable).findings
    ]

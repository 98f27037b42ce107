"""The documentation of rules says what the cards say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_plans import compiled_plan
from made_rules import CARD, rule_of

from tpulint import rule_docs
from tpulint.card import ACTIONS
from tpulint.catalog import Rule, load
from tpulint.emitters import Emitter
from tpulint.fixes import FixBuilder
from tpulint.semantic import SemanticIndex

CATALOGUE = load()
PAGE = Path(__file__).parent.parent / "docs" / "rules.md"


def test_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == rule_docs.render(CATALOGUE), "run: tpulint rules --write docs/rules.md"


def test_write(tmp_path: Path) -> None:
    rule_docs.write(tmp_path / "rules.md")
    assert (tmp_path / "rules.md").read_text(encoding="utf-8") == rule_docs.render(CATALOGUE)


def test_links_of_the_index_lead_to_headings() -> None:
    page = rule_docs.render(CATALOGUE)
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in page.splitlines()
        if line[:1] == "#"
    }
    links = set(re.findall(r"\]\(#([^)]+)\)", page))
    assert links == {rule.fragment for rule in CATALOGUE.rules}
    assert links <= headings


@pytest.mark.parametrize("rule", CATALOGUE.rules, ids=lambda rule: rule.code)
def test_explanation_holds_the_whole_card(rule: Rule) -> None:
    text = rule_docs.explain(rule)
    assert text.startswith(f"# {rule.code} {rule.name}\n\n{rule.summary}.\n")
    for part in (rule.why, rule.fix_safety, rule.advice, rule.when_to_ignore, *rule.references):
        assert part in text
    for example in rule.examples:
        for code in (example.bad, example.good, example.portable, example.ok):
            assert code.rstrip() in text
    for row in rule.mapping:
        assert f"`{row.old}`" in text and row.note.replace("|", "\\|") in text


def test_mapping_table_tells_versions_arguments_and_loops() -> None:
    rule = rule_of(
        """\
        - {old: torch.a, action: rename, new: torch_xla.b, deprecated_in: "2.5", removed_in: "2.7"}
        - {old: torch.c, action: drop-argument, argument: fused, applicability: unsafe}
        - {old: torch.d, action: delete, assigned: true, note: a | b}
        - old: torch.e
          action: replace
          new: f()
          with_item: true
          in_step_loop: {action: delete, applicability: unsafe}
        """,
        CARD + "options: {depth: {type: int, default: 3, help: How deep}}\n",
    )
    text = rule_docs.explain(rule)
    assert "| `torch.a`, deprecated in 2.5, gone in 2.7 | becomes `torch_xla.b` |  |" in text
    assert "| `torch.c`, argument `fused` | argument removed, unsafe |  |" in text
    assert "| `torch.d` (assigned) | removed | a \\| b |" in text
    assert "| `torch.e` | becomes `f()` in a `with` statement; in a step loop: removed, unsafe |  |" in text
    assert "- `depth` (int, default `3`): How deep" in text


def test_contributing_names_what_there_is() -> None:
    """Every key of a card, and methods that rules can call."""
    text = (PAGE.parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    cards, checks = text.split("## What a card may hold")[1].split("## What a check may use")
    keys = {"portable", "moves", "advice", "when_to_ignore", "prelude", "targets", "options", "mapping", "references"}
    keys |= {"code", "name", "summary", "status", "since", "severity", "certainty", "fix", "why", "anchors", "examples"}
    for key in sorted(keys | {"fix_safety", "files"} | set(ACTIONS)):
        assert f"`{key}`" in cards, key
    for call in re.findall(r"`(?:emit\.)?(\w+)\(", checks.split("| method of a fix")[1].split("## Words")[0]):
        assert hasattr(FixBuilder, call) or hasattr(Emitter, call), call
    for name in re.findall(r"`(\w+)(?:\(\S+\))?`", checks.split("| method of a fix")[0].split("`ctx.index`")[1]):
        assert hasattr(SemanticIndex, name) or name.isupper() or name == "scope", name


def names_in(data: object) -> Iterator[str]:
    """All keys, at every depth."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from names_in(value)
    elif isinstance(data, list):
        for value in data:
            yield from names_in(value)


def test_fields_of_a_compiled_plan_are_explained() -> None:
    page = (PAGE.parent / "planning.md").read_text(encoding="utf-8")
    table = page[page.index("## The JSON of a compiled plan") :]
    explained = set(re.findall(r"`(\w+)`", table[: table.index("\n## ")]))
    plan = json.loads(compiled_plan())
    assert set(names_in({**plan, "versions": {}, "unverified": {}})) <= explained

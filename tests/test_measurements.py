"""What was measured of rules: the file is read strictly, and says what rules there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tpulint import rule_docs
from tpulint.card import CardError
from tpulint.catalog import MEASUREMENTS, Rule, load
from tpulint.measurements import MEASURED_CATEGORIES, Counts, parse, sentence

RULES = Path(__file__).parent.parent / "rules" / "tpulint_rules"
CATALOGUE = load()
TEXT = """\
date: "2026-01-02"
torch: "2.9.1"
torch_xla: "2.9.0"
sets:
  - name: open
    scripts: 3
    questions:
      - {question: syncs, right: 4, wrong: 1, not seen: 2, told: 3, missed: 1, in other files: 1}
    rules:
      TPU101: {right: 3, wrong: 0, not seen: 2}
      TPU103: {right: 1, wrong: 1, not seen: 0}
  - name: closed
    scripts: 2
    questions: [{question: syncs, right: 1, wrong: 0, not seen: 0, told: 1, missed: 0, in other files: 0}]
    rules: {TPU101: {right: 1, wrong: 0, not seen: 0}}
"""


def test_sets_add_up() -> None:
    measured = parse(TEXT, "m.yaml")
    assert measured.scripts == 5
    assert measured.of("TPU101") == Counts(4, 0, 2)
    assert measured.of("TPU999") == Counts(0, 0, 0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("right: 3", "right: 2", "right: 4 by question, 3 by rule"),
        ("not seen: 2}\n      TPU103", "not seen: 1}\n      TPU103", "not seen: 2 by question, 1 by rule"),
        ("right: 3", "right: -3", "must be a number of 0 or more"),
        ("scripts: 3", "skripts: 3", "must be a number of 0 or more"),
        ('date: "2026-01-02"', "date: 2026-01-02", "must be text"),
        ("in other files: 1", "in other files: 2", "more missed in other files than missed"),
        ("sets:", "more: 1\nsets:", "unknown key 'more'"),
    ],
)
def test_what_is_not_as_it_should_be_is_refused(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(CardError, match=message):
        parse(TEXT.replace(old, new, 1), "m.yaml")


def test_our_measurements_name_rules_that_there_are() -> None:
    measured = parse((RULES / MEASUREMENTS).read_text(encoding="utf-8"), MEASUREMENTS)
    categories = {rule.code: rule.category for rule in CATALOGUE.rules}
    for one in measured.sets:
        assert {categories[code] for code in one.rules} <= set(MEASURED_CATEGORIES)
        assert one.scripts > 0


@pytest.mark.parametrize("rule", CATALOGUE.rules, ids=lambda rule: rule.code)
def test_every_rule_says_what_was_measured(rule: Rule) -> None:
    text = sentence(rule)
    assert f"- Measured: {text}\n" in rule_docs.explain(rule)
    measured = parse((RULES / MEASUREMENTS).read_text(encoding="utf-8"), MEASUREMENTS)
    counts = measured.of(rule.code)
    if counts.judged:
        assert f"right in {counts.right} of {counts.judged} findings" in text
    elif rule.category in MEASURED_CATEGORIES:
        assert text.startswith("nothing observed")
    else:
        assert text.startswith("not held against runs")

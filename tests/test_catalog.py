"""Cards are read strictly, kept parsed, and selected as asked."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from made_rules import CARD

from tpulint import card_cache
from tpulint.catalog import CardError, Catalogue, Rule, load
from tpulint.config import Settings
from tpulint.selection import UnknownSelector, check_selectors
from tpulint.targets import Target

MAPPING = "mapping:\n  - {old: torch.cuda.init, action: delete}\n"
OWN = CARD.replace("TPU010", "ACME010") + MAPPING


class Package:
    """A package of rules in a folder that is importable while the test runs."""

    def __init__(self, root: Path, name: str) -> None:
        self.name = name
        self.folder = root / name
        self.folder.mkdir()
        (self.folder / "__init__.py").write_text('"""Rules."""\n')

    def add(self, text: str = OWN, stem: str = "some_rule", category: str = "device", python: str = "") -> Path:
        folder = self.folder / category
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").write_text('"""Some rules."""\n')
        card = folder / f"{stem}.yaml"
        card.write_text(text, encoding="utf-8")
        if python:
            (folder / f"{stem}.py").write_text(textwrap.dedent(python))
        return card

    def load(self) -> Catalogue:
        return load((self.name,))

    def error(self, text: str, **where: str) -> tuple[int, str]:
        """Row and message of the error that a card is."""
        card = self.add(text, **where)
        with pytest.raises(CardError) as caught:
            self.load()
        assert caught.value.path == str(card)
        assert str(caught.value).startswith(f"{card}:{caught.value.row}: ")
        return caught.value.row, caught.value.message


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Package:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # Every test its own name: imported packages stay imported.
    return Package(tmp_path, "made_" + "".join(c if c.isalnum() else "_" for c in request.node.name))


# ------------------------------------------------------------------------ strictness


def row_of(text: str, part: str) -> int:
    return next(row for row, line in enumerate(text.splitlines(), 1) if part in line)


@pytest.mark.parametrize(
    ("old", "new", "at", "message"),
    [
        ("why: It matters.", "why: It matters.\ncolour: red", "colour", "unknown key 'colour' in the card"),
        ("why: It matters.\n", "", "code", "the card lacks the key 'why'"),
        ("why: It matters.", "why: 3", "why", "'why' of the card must be text, not a whole number; put it in quotes"),
        ("why: It matters.", "why: ''", "why", "'why' of the card is empty"),
        ("why: It matters.", "why: [a]", "why", "'why' of the card must be text, not a list"),
        ("since: NEXT", "since: 0.10", "since", "'since' of the card must be text, not a number; put it in quotes"),
        ("since: NEXT", "since: NEXT\nsince: NEXT", "since", "key 'since' of the card is given twice"),
        ("status: stable", "status: done", "status", "'status' of the card must be one of preview, stable,"),
        (
            "severity: warning",
            "severity: high",
            "severity",
            "'severity' of the card must be one of info, warning, error",
        ),
        (
            "certainty: certain",
            "certainty: sure",
            "certainty",
            "'certainty' of the card must be one of likely, certain",
        ),
        ("code: ACME010", "code: TPU010", "code", "the prefix TPU belongs to tpulint"),
        ("code: ACME010", "code: acme010", "code", "code 'acme010' must be capital letters and three digits"),
        ("code: ACME010", "code: ACME10", "code", "code 'ACME10' must be capital letters and three digits"),
        ("name: some-rule", "name: Some Rule", "name", "name 'Some Rule' must be kebab-case"),
        ("name: some-rule", "name: other-rule", "name", "name 'other-rule' must match the file name, some_rule.yaml"),
        ("anchors: [torch]", "anchors: []", "anchors", "'anchors' must list at least one text"),
        ("anchors: [torch]", "anchors: torch", "anchors", "'anchors' of the card must be a list, not text"),
        (
            "anchors: [torch]",
            "anchors: [torch, 3]",
            "anchors",
            "'anchors' of the card must be text, not a whole number",
        ),
        (
            "applicability: safe",
            "applicability: sure",
            "fix",
            "'applicability' of 'fix' must be one of display, unsafe, safe",
        ),
        ("availability: sometimes", "available: sometimes", "fix", "'fix' lacks the key 'availability'"),
        ("fix_safety: It is safe.\n", "", "code", "a rule with a fix must argue in 'fix_safety'"),
        (MAPPING, "", "code", "a rule needs a mapping table or a Python file some_rule.py"),
        (MAPPING, MAPPING + "targets: {torch_xla: new}\n", "targets", "not a version condition: 'new'"),
        (
            MAPPING,
            MAPPING + "references: {a: b}\n",
            "references",
            "'references' of the card must be a list, not a table",
        ),
        (MAPPING, MAPPING + "examples:\n  - {bad: x, ok: y}\n", "{bad", "an example has exactly one of 'bad' and 'ok'"),
        (
            MAPPING,
            MAPPING + "examples:\n  - {ok: x, good: y}\n",
            "{ok",
            "'good', 'portable' and 'unsafe' belong to a 'bad' example",
        ),
        (MAPPING, MAPPING + "examples:\n  - {bad: x, unsafe: true}\n", "{bad", "'unsafe' says how 'good' is reached"),
        (
            MAPPING,
            MAPPING + "examples:\n  - {bad: x, good: y, unsafe: maybe}\n",
            "{bad",
            "'unsafe' of an example must be true or false",
        ),
        (MAPPING, MAPPING + "examples: [x]\n", "examples", "an example must be a table of keys, not text"),
        (
            MAPPING,
            MAPPING + "options:\n  depth: {type: int, default: x, help: y}\n",
            "depth",
            "the default of option 'depth' is not of type int",
        ),
        (
            MAPPING,
            MAPPING + "options:\n  depth: {type: number, default: 1, help: y}\n",
            "depth",
            "'type' of 'depth' must be one of int, float",
        ),
        (
            "action: delete",
            "action: remove",
            "old:",
            "'action' of a mapping row must be one of rename, rename-module, replace",
        ),
        ("action: delete", "action: delete, colour: red", "old:", "unknown key 'colour' in a mapping row"),
        ("action: delete", "action: rename", "old:", "action 'rename' needs 'new'"),
        ("action: delete", "action: delete, new: a.b", "old:", "action 'delete' takes no 'new'"),
        ("action: delete", "action: rename, new: a.b()", "old:", "'new' of a rename must be a dotted name"),
        ("action: delete", "action: drop-argument", "old:", "action 'drop-argument' needs 'argument'"),
        ("action: delete", "action: delete, argument: x", "old:", "action 'delete' takes no 'argument'"),
        ("action: delete", "action: delete, arguments: drop", "old:", "'arguments' belongs to the action 'rename'"),
        (
            "action: delete",
            "action: delete, removed_in: 2.10",
            "old:",
            "'removed_in' of a mapping row must be text, not a number",
        ),
        ("action: delete", "action: delete, removed_in: new", "old:", "'removed_in' must be a version"),
        (
            "action: delete",
            "action: delete, in_step_loop: {action: skip}",
            "old:",
            "'action' of 'in_step_loop' must be one of",
        ),
        ("action: delete", "action: delete, as_number: n()", "old:", "'as_number' belongs to the action 'replace'"),
        ("old: torch.cuda.init", "old: init()", "old:", "'old' must be a dotted name, not 'init()'"),
        ("old: torch.cuda.init", "old: []", "old:", "a mapping row needs 'old'"),
        ("why: It matters.", "why: 'It", "fix_safety", "not YAML"),
        (OWN, "- a\n", "- a", "the card must be a table of keys, not a list"),
        (OWN, "# nothing\n", "# nothing", "the card is empty"),
    ],
)
def test_error_names_file_row_and_key(package: Package, old: str, new: str, at: str, message: str) -> None:
    assert old in OWN
    text = OWN.replace(old, new)
    row, found = package.error(text)
    assert message in found
    if "not YAML" not in message:
        # A key that is given twice is wrong where it comes again.
        assert row == row_of(text, at) + (1 if "given twice" in message else 0)


def test_error_inside_a_long_card_points_at_its_line(package: Package) -> None:
    text = OWN + "  - old: torch.cuda.seed\n    action: delete\n    note: 3\n"
    assert package.error(text) == (16, "'note' of a mapping row must be text, not a whole number; put it in quotes")


def test_our_codes_follow_the_categories() -> None:
    from tpulint.card_parser import parse

    def error(text: str, category: str) -> str:
        with pytest.raises(CardError) as caught:
            parse(text, "some_rule.yaml", category, "some_rule", own=True, has_python=False)
        assert caught.value.row == 1
        return caught.value.message

    assert error(CARD + MAPPING, "host_sync") == "code 'TPU010' lies outside of TPU1xx, the range of host_sync"
    assert error(CARD + MAPPING, "speed").startswith("unknown category 'speed'; categories are device, host_sync")
    assert error(OWN, "device") == "code 'ACME010' must be TPU and three digits"


@pytest.mark.parametrize(
    ("old", "new", "stem", "expected"),
    [
        ("some-rule", "other-rule", "other_rule", (1, "code 'ACME010' is taken by ")),
        ("ACME010", "ACME011", "some_rule", (2, "name 'some-rule' is taken by ")),
    ],
)
def test_code_and_name_are_unique(package: Package, old: str, new: str, stem: str, expected: tuple[int, str]) -> None:
    first = package.add()
    assert package.error(OWN.replace(old, new), stem=stem, category="zoo") == (expected[0], f"{expected[1]}{first}")


def test_card_outside_a_category(package: Package) -> None:
    (package.folder / "stray.yaml").write_text(OWN)
    with pytest.raises(CardError, match=r"stray\.yaml:1: a card must lie in the folder of its category"):
        package.load()


def test_package_that_is_none() -> None:
    with pytest.raises(ImportError, match=r"json\.decoder is a module, not a package"):
        load(("json.decoder",))
    with pytest.raises(ImportError):
        load(("no_such_rules",))


def test_removed_rule_keeps_its_number_and_runs_nowhere(package: Package) -> None:
    text = OWN.replace(MAPPING, "").replace("anchors: [torch]\n", "").replace("stable", "removed")
    package.add(text)
    catalogue = package.load()
    assert [rule.code for rule in catalogue.rules] == ["ACME010"]
    assert catalogue.select(Settings(select=("ALL", "ACME010"), preview=True)) == ()
    with pytest.raises(UnknownSelector, match=r"rule `ACME010` \(some-rule\) was removed"):
        check_selectors(["ACME010"], catalogue.rules)


# ------------------------------------------------------------------------ Python beside a card


def test_python_of_a_rule_is_imported_when_first_used(package: Package) -> None:
    package.add(OWN.replace(MAPPING, ""), python="def check(ctx):\n    yield from ()\n")
    (rule,) = package.load().rules
    module = f"{package.name}.device.some_rule"
    assert module not in sys.modules
    assert list(rule.check(None)) == []  # type: ignore[arg-type]
    assert module in sys.modules


def test_python_without_a_check(package: Package) -> None:
    package.add(OWN.replace(MAPPING, ""), python="def chek(ctx): ...\n")
    (rule,) = package.load().rules
    with pytest.raises(CardError, match=r"must define check\(ctx\)"):
        _ = rule.check


def test_rule_travels_to_another_process(package: Package) -> None:
    package.add()
    (rule,) = package.load().rules
    _ = rule.check
    again = pickle.loads(pickle.dumps(rule))
    assert isinstance(again, Rule)
    assert (again.code, again.mapping, again.place) == (rule.code, rule.mapping, rule.place)


# ------------------------------------------------------------------------ the parsed catalogue on disk


def cache_files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache" / "tpulint").glob("catalogue-*.cards"))


def test_parsed_cards_come_back_equal(package: Package, tmp_path: Path) -> None:
    package.add(
        OWN.replace(
            "action: delete",
            "action: rename, new: a.b, arguments: drop, allowed: [null, 1], in_step_loop: {action: delete}",
        )
        + "options: {depth: {type: strings, default: [a], help: y}}\nexamples:\n  - {bad: x, good: y, unsafe: true}\n"
    )
    (fresh,) = package.load().rules
    assert len(cache_files(tmp_path)) == 1
    (kept,) = package.load().rules
    assert fresh.mapping == kept.mapping
    assert fresh.mapping[0].arguments == () and fresh.mapping[0].allowed == (None, 1)
    assert fresh.mapping[0].in_step_loop is not None and fresh.mapping[0].in_step_loop.action == "delete"
    assert fresh.examples == kept.examples and fresh.examples[0].unsafe
    assert fresh.options == kept.options
    for slot in ("code", "severity", "applicability", "anchors", "targets", "place", "why", "fix_availability"):
        assert getattr(fresh, slot) == getattr(kept, slot)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"null\n[]", b'["x"]', None])
def test_damaged_file_is_parsed_anew(package: Package, tmp_path: Path, damage: bytes | None) -> None:
    package.add()
    package.load()
    (file,) = cache_files(tmp_path)
    whole = file.read_bytes()
    # None: one letter of the content differs.
    file.write_bytes(whole.replace(b"It matters", b"It meddles") if damage is None else damage)
    assert package.load().rules[0].why == "It matters."
    assert file.read_bytes() == whole


def test_changed_card_is_noticed(package: Package) -> None:
    package.add()
    before = package.load()
    package.add(OWN.replace("It matters", "It matters much"))
    after = package.load()
    assert after.rules[0].why == "It matters much."
    assert before.digest != after.digest


def test_changed_python_changes_the_digest(package: Package) -> None:
    card = OWN.replace(MAPPING, "")
    package.add(card, python="def check(ctx):\n    yield from ()\n")
    before = package.load().digest
    assert package.load().digest == before
    package.add(card, python="def check(ctx):\n    yield from []\n")
    assert package.load().digest != before


def test_folder_that_cannot_be_written(package: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    package.add()
    assert len(package.load().rules) == 1


def test_old_catalogues_are_thrown_away(package: Package, tmp_path: Path) -> None:
    for number in range(12):
        package.add(OWN.replace("It matters", f"It matters {number}"))
        package.load()
    assert len(cache_files(tmp_path)) == card_cache.KEPT_FILES


def test_no_text_format_is_imported_when_cards_are_known(tmp_path: Path) -> None:
    code = "import sys; from tpulint.catalog import load; load(); print('yaml' in sys.modules, 'json' in sys.modules)"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    runs = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [run.stdout.split() for run in runs] == [["True", "True"], ["False", "False"]]


# ------------------------------------------------------------------------ selection


@pytest.fixture
def rules(package: Package) -> Catalogue:
    for code, status in (
        ("ACME101", "stable"),
        ("ACME102", "preview"),
        ("ACME103", "deprecated"),
        ("ACME201", "stable"),
        ("BETA101", "stable"),
    ):
        name = f"{code.lower()}-rule"
        text = OWN.replace("ACME010", code).replace("some-rule", name).replace("stable", status)
        if code == "ACME201":
            text += "targets: {torch_xla: '>=2.5'}\n"
        package.add(text, stem=name.replace("-", "_"))
    return package.load()


def selected(rules: Catalogue, **settings: object) -> list[str]:
    return [rule.code for rule in rules.select(Settings(**settings))]  # type: ignore[arg-type]


DEFAULT = ["ACME101", "ACME201", "BETA101"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, DEFAULT),
        ({"preview": True}, ["ACME101", "ACME102", "ACME201", "BETA101"]),
        ({"select": ("ALL",)}, DEFAULT),
        ({"select": ("ALL",), "preview": True}, ["ACME101", "ACME102", "ACME201", "BETA101"]),
        ({"select": ("ACME",)}, ["ACME101", "ACME201"]),
        ({"select": ("ACME1",)}, ["ACME101"]),
        ({"select": ("acme101-rule",)}, ["ACME101"]),
        ({"select": ("ACME102",)}, ["ACME102"]),
        ({"select": ("ACME103", "BETA")}, ["ACME103", "BETA101"]),
        ({"select": ()}, []),
        ({"select": (), "extend_select": ("ACME2",)}, ["ACME201"]),
        ({"extend_select": ("ACME103",)}, ["ACME101", "ACME103", "ACME201", "BETA101"]),
        ({"select": ("BETA",), "extend_select": ("ACME2",)}, ["ACME201", "BETA101"]),
        ({"ignore": ("ACME",)}, ["BETA101"]),
        ({"ignore": ("ALL",)}, []),
        ({"select": ("ACME1",), "ignore": ("ACME",)}, ["ACME101"]),
        ({"select": ("ACME",), "ignore": ("ACME1",)}, ["ACME201"]),
        ({"select": ("ACME1",), "ignore": ("ACME1",)}, []),
        ({"select": ("ACME101",), "ignore": ("acme101-rule",)}, []),
        ({"ignore": ("ACME",), "extend_select": ("ACME101",)}, ["ACME101", "BETA101"]),
        ({"target": Target("torch_xla", (2, 4))}, ["ACME101", "BETA101"]),
        ({"target": Target("torch_tpu", (9,))}, ["ACME101", "BETA101"]),
        ({"select": ("ACME201",), "target": Target("torch_xla", (2, 4))}, []),
    ],
)
def test_most_specific_selector_decides(rules: Catalogue, settings: dict[str, object], expected: list[str]) -> None:
    assert selected(rules, **settings) == expected


def test_codes_of_selectors(rules: Catalogue) -> None:
    assert rules.codes_of(("ACME1", "beta101-rule")) == {"ACME101", "ACME102", "ACME103", "BETA101"}
    assert rules.codes_of(()) == frozenset()


def test_rule_is_found_by_code_and_name(rules: Catalogue) -> None:
    found = rules.get("ACME101")
    assert found is not None and found is rules.get("acme101-rule")
    assert rules.get("ACME1") is None


@pytest.mark.parametrize(
    "selector", ["ALL", "TPU", "TPU5", "ACME", "ACME2", "ACME101", "acme101-rule", "unused-suppression"]
)
def test_known_selectors(rules: Catalogue, selector: str) -> None:
    check_selectors([selector], rules.rules, ("unused-suppression",))


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("ACME109", "unknown rule `ACME109`; did you mean `ACME10"),
        ("acme101", "unknown rule `acme101`; did you mean `ACME101`"),
        ("acme101-rules", "did you mean `acme101-rule`"),
        ("ACME1O1", "did you mean `ACME101`"),
        ("TPU55", "unknown rule `TPU55`"),
        ("", "unknown rule ``"),
        ("unused-supression", "did you mean `unused-suppression`"),
    ],
)
def test_unknown_selector_is_an_error(rules: Catalogue, selector: str, message: str) -> None:
    with pytest.raises(UnknownSelector) as caught:
        check_selectors(["ALL", selector], rules.rules, ("unused-suppression",))
    assert message in str(caught.value)


def test_option_values(package: Package) -> None:
    package.add(
        OWN
        + "options:\n"
        + "  depth: {type: int, default: 3, help: How deep}\n"
        + "  names: {type: strings, default: [], help: Which}\n"
    )
    (rule,) = package.load().rules
    assert rule.option_values() == {"depth": 3, "names": []}
    assert rule.option_values([("depth", 4), ("names", ("a",))]) == {"depth": 4, "names": ("a",)}
    for wrong in (("depth", "4"), ("depth", True), ("names", "a"), ("names", [1])):
        with pytest.raises(ValueError, match=f"option '{wrong[0]}' of ACME010 must be of type"):
            rule.option_values([wrong])
    with pytest.raises(ValueError, match="unknown option 'width' of ACME010; its options are depth, names"):
        rule.option_values([("width", 1)])


def test_our_own_catalogue_loads_in_order() -> None:
    codes = [rule.code for rule in load().rules]
    assert codes == sorted(codes)
    assert {"TPU010", "TPU901"} <= set(codes)

"""New rules: the next free code, files that parse, nothing overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from tpulint.card_parser import parse
from tpulint.scaffold import ScaffoldError, create


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "rules" / "tpulint_rules" / "host_sync").mkdir(parents=True)
    return tmp_path


def folder(root: Path, category: str = "host_sync") -> Path:
    return root / "rules" / "tpulint_rules" / category


def code_of(card: Path) -> str:
    return card.read_text().splitlines()[0].removeprefix("code: ")


def test_table_rule_is_a_valid_card(root: Path) -> None:
    (path,) = create("host_sync/print-of-tensor", root)
    card = folder(root) / "print_of_tensor.yaml"
    assert Path(path) == card
    parsed = parse(card.read_text(), path, "host_sync", "print_of_tensor", own=True, has_python=False)
    assert (parsed["code"], parsed["name"], parsed["status"]) == ("TPU101", "print-of-tensor", "preview")


def test_python_rule_is_a_card_and_a_module(root: Path) -> None:
    card, module = create("host-sync/print_of_tensor", root, python=True)
    parsed = parse(Path(card).read_text(), card, "host_sync", "print_of_tensor", own=True, has_python=True)
    assert parsed["mapping"] == []
    names: dict[str, object] = {}
    exec(compile(Path(module).read_text(), module, "exec"), names)
    assert callable(names["check"])


@pytest.mark.parametrize(
    ("taken", "expected"),
    [([], "TPU101"), ([1], "TPU102"), ([1, 5], "TPU106"), ([*range(1, 98), 99], "TPU198"), ([99], "TPU101")],
)
def test_next_free_code(root: Path, taken: list[int], expected: str) -> None:
    for number in taken:
        (folder(root) / f"rule_{number}.yaml").write_text(f"code: TPU1{number:02}\nstatus: removed\n")
    create("host_sync/new-rule", root)
    assert code_of(folder(root) / "new_rule.yaml") == expected


def test_full_category(root: Path) -> None:
    for number in range(1, 100):
        (folder(root) / f"rule_{number}.yaml").write_text(f"code: TPU1{number:02}\n")
    with pytest.raises(ScaffoldError, match="category host_sync has no free code left"):
        create("host_sync/new-rule", root)


def test_first_rule_of_a_category(root: Path) -> None:
    create("versions/new-rule", root)
    assert code_of(folder(root, "versions") / "new_rule.yaml") == "TPU901"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("print-of-tensor", "named category/rule-name"),
        ("host_sync/Print", "named category/rule-name"),
        ("host_sync/../x", "named category/rule-name"),
        ("speed/slow", "unknown category 'speed'; categories are device"),
    ],
)
def test_wrong_name(root: Path, name: str, message: str) -> None:
    with pytest.raises(ScaffoldError, match=message):
        create(name, root)


@pytest.mark.parametrize("file", ["new_rule.yaml", "new_rule.py"])
def test_nothing_is_overwritten(root: Path, file: str) -> None:
    (folder(root) / file).write_text("mine")
    with pytest.raises(ScaffoldError, match="is there already"):
        create("host_sync/new-rule", root, python=True)
    assert (folder(root) / file).read_text() == "mine"


def test_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError, match="run this in the repository of tpulint"):
        create("host_sync/new-rule", tmp_path)


@pytest.mark.parametrize(
    "name", ["class/x", "device/class", "device/import", "-a/b", "a-/b", "3d/x", "device/3d-loss", "_/x", "a--b/x"]
)
def test_names_that_python_cannot_import(root: Path, name: str) -> None:
    with pytest.raises(ScaffoldError, match=r"module|category/rule-name"):
        create(name, root, package="acme_rules", code="ACM001")
    assert not (root / "acme_rules").exists()


@pytest.mark.parametrize("package", ["my-rules", "3p", "class", "a b", "below/my-rules/"])
def test_packages_that_python_cannot_import(root: Path, package: str) -> None:
    with pytest.raises(ScaffoldError, match="cannot be imported"):
        create("device/x", root, package=package, code="ACM001")
    assert not (root / package).exists()


@pytest.mark.parametrize("package", [".", "below/acme_rules/", "acme_rules"])
def test_packages_anywhere(root: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    at = root / "good_name"
    at.mkdir()
    monkeypatch.chdir(at)
    create("my-own/match-sizes", package=package, code="ACM001")
    assert (at / package / "my_own" / "match_sizes.yaml").exists()

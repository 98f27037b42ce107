"""Rules of one's own, as docs/plugins.md shows them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command import tpulint, write

PAGE = Path(__file__).parent.parent / "docs" / "plugins.md"


def block(marker: str) -> str:
    """The code of the page behind a marker."""
    match = re.search(rf"<!-- {marker} -->\n```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert match is not None
    return match[1]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    answer = tpulint("new-rule", "--package", "acme_rules", "--code", "ACM001", "device/acme-seed", cwd=project)
    assert answer.status == 0 and "acme_rules/device/acme_seed.yaml" in answer.out
    return project / "acme_rules"


def test_the_page_is_true(package: Path) -> None:
    project = package.parent
    untouched = tpulint("test-rules", "acme_rules", cwd=project)
    assert untouched.status == 1 and "ACM001" in untouched.out  # the card is not filled in
    write(package / "device" / "acme_seed.yaml", block("card"))
    tried = tpulint("test-rules", "acme_rules", cwd=project)
    assert (tried.status, tried.out) == (0, "1 rule tried, 0 failures.\n")
    write(project / "tpulint.toml", 'plugins = ["acme_rules"]\n')
    write(project / "train.py", "import acme\n\nacme.seed(7)\n")
    found = tpulint("--output-format", "concise", "train.py", cwd=project, PYTHONPATH=str(project))
    assert found.out.splitlines()[0] in PAGE.read_text()
    explained = tpulint("rule", "ACM001", cwd=project, PYTHONPATH=str(project))
    assert explained.out.startswith("# ACM001 acme-seed\n")


def test_codes_go_on(package: Path) -> None:
    answer = tpulint("new-rule", "--package", "acme_rules", "--python", "my-own/other", cwd=package.parent)
    assert answer.status == 0
    assert "code: ACM002\n" in (package / "my_own" / "other.yaml").read_text()
    assert (package / "my_own" / "other.py").exists() and (package / "my_own" / "__init__.py").exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--package", "new_rules", "device/a"], ["--code"]),
        (["--package", "acme_rules", "--code", "ACM001", "device/b"], ["ACM001", "taken"]),
        (["--package", "acme_rules", "--code", "TPU999", "device/b"], ["TPU"]),
        (["--package", "acme_rules", "--code", "acm", "device/b"], ["ACM001"]),
        (["--code", "ACM002", "device/b"], ["--package"]),
        (["device/b"], ["--package"]),
    ],
)
def test_what_is_wrong_is_said(package: Path, args: list[str], words: list[str]) -> None:
    answer = tpulint("new-rule", *args, cwd=package.parent)
    assert answer.status == 2 and all(word in answer.err for word in words), answer.err


def test_examples_that_do_not_hold_are_told(package: Path) -> None:
    card = block("card")
    for old, new, message in (
        ("      acme.seed(7)\n", "      acme.other(7)\n", "example 1: is bad, and not found"),
        ("    good: |\n      import acme\n\n      acme.seed_all(7)", "    good: |\n      acme.seed_all(8)",
         "example 1: becomes something else"),
        ("  - ok: |\n      import acme\n\n      acme.seed_all(7)", "  - ok: |\n      import acme\n\n      acme.seed(7)",
         "example 2: is ok, and found all the same"),
    ):  # fmt: skip
        assert old in card
        write(package / "device" / "acme_seed.yaml", card.replace(old, new))
        answer = tpulint("test-rules", "acme_rules", cwd=package.parent)
        assert answer.status == 1 and message in answer.out, answer.out
    assert tpulint("test-rules", "no_such_package", cwd=package.parent).status == 2

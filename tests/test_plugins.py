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
    empty = tpulint("test-rules", "json", cwd=package.parent)
    assert (empty.status, empty.err) == (2, "error: there are no rules in 'json'\n")


CARD = """\
code: ACM002
name: acme-moody
summary: "Fails"
status: stable
since: "1.0"
severity: warning
certainty: certain
fix: {availability: none}
anchors: [acme]
why: |
  It is made for tests.
examples:
  - bad: |
      acme
  - ok: |
      other
"""


@pytest.mark.parametrize(
    ("place", "statement"),
    [("package", "raise SystemExit"), ("package", "1 / 0"), ("module", "import sys; sys.exit('moody')"),
     ("check", "raise SystemExit(0)"), ("late check", "raise SystemExit(0)")],
)  # fmt: skip
def test_a_plugin_that_fails_is_one_clear_message(package: Path, place: str, statement: str) -> None:
    project = package.parent
    (package / "device" / "acme_seed.yaml").unlink()
    write(package / "device" / "acme_moody.yaml", CARD)
    module = {
        "module": f"{statement}\n",
        "check": f"def check(ctx):\n    {statement}\n    yield\n",
        "late check": f"def check(ctx):\n    yield ctx.finding(ctx.index.tree, 'a')\n    {statement}\n",
    }
    write(package / "device" / "acme_moody.py", module.get(place, "def check(ctx):\n    yield from ()\n"))
    if place == "package":
        write(package / "__init__.py", f"{statement}\n")
    write(project / "tpulint.toml", 'plugins = ["acme_rules"]\n')
    write(project / "a.py", "import acme\n")
    write(project / "b.py", "import torch\nx = torch.ones(1).to('cuda')\n")
    answer = tpulint("check", "--output-format", "concise", cwd=project, PYTHONPATH=str(project))
    assert answer.status == 2
    (error,) = [line for line in answer.err.splitlines() if line.startswith("error: ")]
    assert "acme_rules" in error and error.count("SystemExit") <= 1, error
    assert place == "package" or ("ACM002" in error and "b.py:2" in answer.out and "bug of tpulint" not in error), error
    tried = tpulint("test-rules", "acme_rules", cwd=project)
    assert tried.status == (2 if place == "package" else 1) and "acme_rules" in tried.out + tried.err
    shown = tpulint("rules", cwd=project, PYTHONPATH=str(project))
    assert shown.status == (2 if place == "package" else 0)


def test_a_plugin_that_ends_the_process_does_so_for_one_file(package: Path) -> None:
    project = package.parent
    (package / "device" / "acme_seed.yaml").unlink()
    write(package / "device" / "acme_moody.yaml", CARD)
    write(package / "device" / "acme_moody.py", "import sys\n\n\ndef check(ctx):\n    sys.exit(0)\n")
    write(project / "tpulint.toml", 'plugins = ["acme_rules"]\n')
    for number in range(40):
        write(project / f"a{number:02}.py", f"import {'acme' if number in (3, 20) else 'torch'}\n" + "x = 1\n" * 3000)
    answer = tpulint("check", "--output-format", "concise", cwd=project, PYTHONPATH=str(project))
    errors = [line for line in answer.err.splitlines() if line.startswith("error: ")]
    assert answer.status == 2 and len(errors) == 2 and all("ACM002" in one for one in errors), answer.err


def test_a_check_that_yields_no_findings_is_told(package: Path) -> None:
    project = package.parent
    (package / "device" / "acme_seed.yaml").unlink()
    write(package / "device" / "acme_moody.yaml", CARD)
    write(package / "device" / "acme_moody.py", "def check(ctx):\n    yield 3\n")
    write(project / "tpulint.toml", 'plugins = ["acme_rules"]\n')
    write(project / "a.py", "import acme\n")
    answer = tpulint("check", cwd=project, PYTHONPATH=str(project))
    assert answer.status == 2 and "error: a.py: rule ACM002 of acme_rules failed" in answer.err, answer.err

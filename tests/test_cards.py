"""Every example of every card does what the card says."""

from __future__ import annotations

import ast
import importlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from typing import NamedTuple

import pytest
import tpulint_rules

from tpulint.card import CATEGORIES, Example
from tpulint.catalog import Rule, load
from tpulint.config import Settings
from tpulint.languages import EXAMPLE_NAMES, PYTHON, language_of
from tpulint.linter import lint
from tpulint.model import FileResult, Finding
from tpulint.rule_examples import framed
from tpulint.source import SourceFile

CATALOGUE = load()
ROOT = next(iter(tpulint_rules.__path__))
LIVE = [rule for rule in CATALOGUE.rules if rule.status != "removed"]


class Case(NamedTuple):
    rule: Rule
    example: Example
    text: str
    """The code the rule looks at: the example in its prelude."""
    rows: range
    """Rows of the example in that text."""

    @property
    def file(self) -> str:
        return self.example.file or EXAMPLE_NAMES[self.rule.files[0]]

    @property
    def prelude(self) -> str:
        return self.example.prelude or self.rule.prelude


def _cases(kind: str) -> Iterator[object]:
    for rule in LIVE:
        for number, example in enumerate(rule.examples, 1):
            code = example.bad if kind != "ok" else example.ok
            if not code or (kind == "good" and not example.good) or (kind == "no fix" and example.good):
                continue
            if kind == "portable" and not example.portable:
                continue
            text, rows = framed(code, example.prelude or rule.prelude)
            yield pytest.param(Case(rule, example, text, rows), id=f"{rule.code}-{number}")


def run(case: Case, text: str, *, fix: bool = False, unsafe: bool = False, portable: bool = False) -> FileResult:
    settings = Settings(select=(case.rule.code,), preview=True, fix=fix, unsafe_fixes=unsafe, portable=portable)
    result = lint(SourceFile.from_text(text, case.file), settings, CATALOGUE)
    assert result.error == ""
    assert not [finding for finding in result.findings if finding.code == "invalid-syntax"]
    return result


def own(result: FileResult, case: Case) -> list[Finding]:
    return [finding for finding in result.findings if finding.code == case.rule.code]


@pytest.mark.parametrize("case", list(_cases("bad")))
def test_bad_is_found(case: Case) -> None:
    source = SourceFile.from_text(case.text, case.file)
    rows = [source.row(finding.span.start) for finding in own(run(case, case.text), case)]
    assert rows, "no finding"
    assert set(rows) <= set(case.rows), "a finding in the prelude"


@pytest.mark.parametrize("case", list(_cases("good")))
def test_bad_becomes_good(case: Case) -> None:
    expected, _ = framed(case.example.good, case.prelude)
    result = run(case, case.text, fix=True, unsafe=case.example.unsafe)
    assert result.text == expected
    assert not own(run(case, result.text), case), "the fixed code still has the finding"
    if case.example.unsafe:
        assert run(case, case.text, fix=True).text != expected, "the fix is safe: `unsafe` is not needed"


def with_torch_renamed(text: str) -> str:
    """The same program with ``import torch as th``; without that name, the same text."""
    tree = ast.parse(text)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    bound = [
        alias for node in imports for alias in node.names if alias.name.split(".")[0] == "torch" and not alias.asname
    ]
    rows = text.split("\n")
    if [alias.name for alias in bound] != ["torch"]:
        return text
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "torch"]
    for node in sorted([*names, *bound], key=lambda node: (node.lineno, -node.col_offset)):
        row, at = rows[node.lineno - 1].encode(), node.col_offset
        new = b"th" if isinstance(node, ast.Name) else b"torch as th"
        rows[node.lineno - 1] = (row[:at] + new + row[at + len("torch") :]).decode()
    return "\n".join(rows)


@pytest.mark.parametrize("case", list(_cases("bad")))
def test_bad_is_found_under_another_name_of_torch(case: Case) -> None:
    if language_of(case.file) != PYTHON or not re.search(r"(?m)^import torch$", case.text):
        return
    found = own(run(case, case.text), case)
    assert len(own(run(case, with_torch_renamed(case.text)), case)) == len(found)


RUNTIME_IMPORT = "from tpulint_runtime import backend\n"


def of_xla(text: str) -> Counter[str]:
    """What only XLA understands. A comparison with its name does no harm elsewhere."""
    tree = SourceFile.from_text(text).parse()
    compared = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) or (isinstance(node, ast.Call) and "startswith" in ast.dump(node.func))
        for inner in ast.walk(node)
    }
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in compared)
    named = [value for value in texts if value in ("xla", "xla:0", "xla://")]
    return Counter([*named, *re.findall(r"\btorch_xla\b", text)])


@pytest.mark.parametrize("case", list(_cases("portable")))
def test_bad_becomes_portable(case: Case) -> None:
    expected, _ = framed(case.example.portable, case.prelude)
    result = run(case, case.text, fix=True, unsafe=True, portable=True)
    text = result.text
    if case.prelude:
        text = text.replace(RUNTIME_IMPORT, "", 1)  # stands in the prelude
    assert text == expected
    assert not own(run(case, result.text, portable=True), case), "the fixed code still has the finding"


@pytest.mark.parametrize("case", list(_cases("bad")))
def test_portable_fix_brings_in_nothing_of_xla(case: Case) -> None:
    result = run(case, case.text, fix=True, unsafe=True, portable=True)
    if language_of(case.file) == PYTHON:
        SourceFile.from_text(result.text).parse()  # an `async=` that is left is read, too
    if case.rule.portable == "silent":
        assert not own(result, case)
    if case.rule.portable != "fix":
        assert result.text == case.text
    if language_of(case.file) == PYTHON and not re.search(r"^(import|from) torch_xla", case.text, re.MULTILINE):
        assert not of_xla(result.text) - of_xla(case.text), result.text
    again = run(case, result.text, fix=True, unsafe=True, portable=True)
    assert again.text == result.text
    assert again.findings == result.findings


@pytest.mark.parametrize("case", list(_cases("portable")))
def test_portable_fix_without_the_runtime_is_only_shown(case: Case) -> None:
    settings = Settings(
        select=(case.rule.code,), preview=True, fix=True, unsafe_fixes=True, portable=True, runtime="never"
    )
    result = lint(SourceFile.from_text(case.text, "example.py"), settings, CATALOGUE)
    assert "tpulint_runtime" not in result.text
    if "backend." in case.example.portable:
        assert result.text != framed(case.example.portable, case.prelude)[0]


@pytest.mark.parametrize("case", list(_cases("ok")))
def test_ok_is_silent_in_portable_code(case: Case) -> None:
    assert own(run(case, case.text, portable=True), case) == []


@pytest.mark.parametrize("case", list(_cases("no fix")))
def test_bad_without_good_has_no_fix(case: Case) -> None:
    assert run(case, case.text, fix=True, unsafe=True).text == case.text


@pytest.mark.parametrize("case", list(_cases("ok")))
def test_ok_is_silent(case: Case) -> None:
    assert own(run(case, case.text), case) == []


@pytest.mark.parametrize("rule", LIVE, ids=lambda rule: rule.code)
def test_card_shows_what_it_claims(rule: Rule) -> None:
    assert any(example.bad for example in rule.examples), "a card needs a bad example"
    assert any(example.ok for example in rule.examples), "a card needs an ok example"
    assert any(example.good for example in rule.examples) == (rule.fix_availability != "none")


@pytest.mark.parametrize("rule", LIVE, ids=lambda rule: rule.code)
def test_card_is_written_to_the_end(rule: Rule) -> None:
    with open(rule.place.path, encoding="utf-8") as file:
        assert "TODO" not in file.read()


@pytest.mark.parametrize("rule", LIVE, ids=lambda rule: rule.code)
def test_anchors_are_in_every_bad_example(rule: Rule) -> None:
    for example in rule.examples:
        if example.bad:
            assert any(anchor in framed(example.bad, example.prelude or rule.prelude)[0] for anchor in rule.anchors)


@pytest.mark.parametrize("rule", LIVE, ids=lambda rule: rule.code)
def test_every_row_can_be_reached(rule: Rule) -> None:
    """A row whose name or version nobody can meet is a mistake in the table."""
    rows = [(row.old, row.argument, row.assigned, row.given) for row in rule.mapping]
    assert len(rows) == len(set(rows)), "a name has two rows"
    for row in rule.mapping:
        # An argument that has to be written is as good a sign as the name of the call.
        is_written = row.position is None and (row.given or row.action in ("drop-argument", "rename-argument"))
        names = (row.old, row.argument if is_written else "")
        assert any(anchor in name for anchor in rule.anchors for name in names), f"no anchor lets {row.old} be seen"


@pytest.mark.parametrize("category", CATEGORIES)
def test_python_files_have_a_card(category: str) -> None:
    files = set(os.listdir(os.path.join(ROOT, category)))
    modules = {file for file in files if file.endswith(".py") and not file.startswith("_")}
    assert modules <= {card.removesuffix(".yaml") + ".py" for card in files if card.endswith(".yaml")}
    assert (importlib.import_module(f"tpulint_rules.{category}").__doc__ or "").strip(), (
        "the documentation needs an introduction"
    )


@pytest.mark.parametrize("rule", LIVE, ids=lambda rule: rule.code)
def test_check_can_be_imported(rule: Rule) -> None:
    assert PYTHON not in rule.files or callable(rule.check)
    assert rule.files == (PYTHON,) or callable(rule.check_text)


@pytest.mark.parametrize("rule", LIVE, ids=lambda rule: rule.code)
def test_what_is_found_in_python_is_shown(rule: Rule) -> None:
    shown = {language_of(example.file or EXAMPLE_NAMES[rule.files[0]]) for example in rule.examples if example.bad}
    assert rule.files[0] in shown and (PYTHON in shown) == (PYTHON in rule.files)


def resolve(name: str) -> bool:
    """Whether a dotted name exists, as an attribute or as a module that nothing imported yet."""
    parts = name.split(".")
    found: object = importlib.import_module(parts[0])
    for length, part in enumerate(parts[1:], 2):
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(".".join(parts[:length]))
            except ImportError:
                return False
        except RuntimeError:  # a property that asks the CUDA driver
            return True
    return True


needs_xla = pytest.mark.skipif(find_spec("torch_xla") is None, reason="torch_xla is not installed (extra xla)")
"""Of tests that look names up in torch and torch_xla."""


@pytest.mark.xla
@needs_xla
@pytest.mark.parametrize("rule", [rule for rule in LIVE if rule.mapping], ids=lambda rule: rule.code)
def test_new_names_exist(rule: Rule) -> None:
    for row in rule.mapping:
        for step in (row, row.in_step_loop):
            if step is not None and step.action in ("rename", "rename-module", "replace") and "." in step.new:
                assert resolve(step.new.partition("(")[0]), step.new


@pytest.mark.xla
@needs_xla
def test_old_names_are_spelled_right() -> None:
    """Names of torch and torch_xla, which are pinned; the frameworks move their names from release to release."""
    old = {
        row.old
        for rule in LIVE
        for row in rule.mapping
        if row.old.startswith(("torch.", "torch_xla.")) and not (row.removed_in or row.deprecated_in)
    }
    unknown = {name for name in old if not resolve(name.removesuffix(".*"))}
    assert unknown == {"torch.backends.cudnn.fastest"}  # of torch 1.x


@pytest.mark.xla
@needs_xla
def test_removed_names_are_gone() -> None:
    stale = CATALOGUE.get("stale-torch-xla-name")
    assert stale is not None
    for row in stale.mapping:
        if not row.argument:
            assert resolve(row.old.removesuffix(".*")) != bool(row.removed_in), row.old

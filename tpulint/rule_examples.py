"""The examples of a card, put to the test: what is bad is found and becomes what is good, the rest is left alone."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator

from tpulint.config import Settings
from tpulint.languages import EXAMPLE_NAMES
from tpulint.linter import lint
from tpulint.source import SourceFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.card import Example
    from tpulint.catalog import Catalogue
    from tpulint.model import FileResult
    from tpulint.rule import Rule

_MARK = "# example"


def framed(code: str, prelude: str) -> tuple[str, range]:
    """The code in a prelude, such as ``training-loop``, and the rows it stands on. Raises ``OSError``."""
    if not prelude:
        return code, range(1, code.count("\n") + 2)
    folder = next(iter(importlib.import_module(Settings().packages[0]).__path__))
    with open(os.path.join(folder, "preludes", f"{prelude.replace('-', '_')}.py"), encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.strip() == _MARK)
    indent = lines[at][: lines[at].index("#")]
    body = [indent + line if line.strip() else line for line in code.splitlines(keepends=True)]
    return "".join([*lines[:at], *body, *lines[at + 1 :]]), range(at + 1, at + 1 + len(body))


def failures(rule: Rule, catalogue: Catalogue) -> Iterator[str]:
    """What is wrong with the examples of a rule, one sentence each."""
    if not any(example.bad for example in rule.examples) or not any(example.ok for example in rule.examples):
        yield "a card needs a bad example and an ok one"
    for number, example in enumerate(rule.examples, 1):
        for failure in _failures_of(rule, example, catalogue):
            yield f"example {number}: {failure}"


def _failures_of(rule: Rule, example: Example, catalogue: Catalogue) -> Iterator[str]:
    prelude = example.prelude or rule.prelude
    name = example.file or EXAMPLE_NAMES[rule.files[0]]

    def run(text: str, fix: bool = False, unsafe: bool = False) -> FileResult:
        settings = Settings(select=(rule.code,), preview=True, fix=fix, unsafe_fixes=unsafe)
        return lint(SourceFile.from_text(text, name), settings, catalogue)

    try:
        text, _ = framed(example.bad or example.ok, prelude)
    except (OSError, StopIteration):
        yield f"there is no prelude `{prelude}`"
        return
    result = run(text)
    broken = [finding.message for finding in result.findings if finding.code == "invalid-syntax"]
    if result.error or broken:
        yield result.error or broken[0]
        return
    found = [finding for finding in result.findings if finding.code == rule.code]
    if example.ok:
        if found:
            yield f"is ok, and found all the same: {found[0].message}"
        return
    if not found:
        yield "is bad, and not found"
    wanted = framed(example.good, prelude)[0] if example.good else text
    fixed = run(text, fix=True, unsafe=example.unsafe or not example.good)
    if fixed.error or fixed.text != wanted:
        yield f"becomes something else:\n{fixed.error or fixed.text}"
    elif example.good and any(finding.code == rule.code for finding in run(wanted).findings):
        yield "is found again when it is fixed"

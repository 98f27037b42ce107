"""New rules: a card and, where wanted, its Python, with the category's next free code."""

from __future__ import annotations

import os
import re

from tpulint.card import CATEGORIES

_NAME = re.compile(r"(?P<category>[a-z0-9_-]+)/(?P<name>[a-z0-9]+(?:[-_][a-z0-9]+)*)\Z")
_CODE = re.compile(r"^code: *(TPU\d{3})", re.MULTILINE)
_PACKAGE = os.path.join("rules", "tpulint_rules")


class ScaffoldError(ValueError):
    """A rule that cannot be made."""


def create(name: str, root: str | os.PathLike[str] = ".", python: bool = False) -> list[str]:
    """Write the files of a new rule, ``category/rule-name``, in the repository at ``root``. Gives their paths."""
    match = _NAME.match(name)
    if match is None:
        raise ScaffoldError(f"a new rule is named category/rule-name, such as host_sync/print-of-tensor, not {name!r}")
    category, rule_name = match["category"].replace("-", "_"), match["name"].replace("_", "-")
    if category not in CATEGORIES:
        raise ScaffoldError(f"unknown category {category!r}; categories are {', '.join(CATEGORIES)}")
    package = os.path.join(root, _PACKAGE)
    if not os.path.isdir(package):
        raise ScaffoldError(f"{package} is not there; run this in the repository of tpulint")
    folder = os.path.join(package, category)
    stem = rule_name.replace("-", "_")
    card, module = os.path.join(folder, f"{stem}.yaml"), os.path.join(folder, f"{stem}.py")
    for path in (card, module):
        if os.path.exists(path):
            raise ScaffoldError(f"{path} is there already")
    code = _next_code(package, category)
    os.makedirs(folder, exist_ok=True)
    written = [card]
    _write(card, _CARD.format(code=code, name=rule_name, logic="" if python else _MAPPING))
    if python:
        _write(module, _MODULE)
        written.append(module)
    return written


def _next_code(package: str, category: str) -> str:
    """One more than the highest code of the category; codes of removed rules stay taken by their cards."""
    folder = os.path.join(package, category)
    first = CATEGORIES[category] * 100
    taken = {first}
    for file in os.listdir(folder) if os.path.isdir(folder) else ():
        if file.endswith(".yaml"):
            with open(os.path.join(folder, file), encoding="utf-8") as card:
                taken.update(int(code[3:]) for code in _CODE.findall(card.read()))
    free = max(taken) + 1
    if free > first + 99:
        free = next((number for number in range(first + 1, first + 100) if number not in taken), 0)
    if not free:
        raise ScaffoldError(f"category {category} has no free code left")
    return f"TPU{free:03}"


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


_CARD = """\
code: {code}
name: {name}
summary: "TODO: what the rule finds, without a full stop"
status: preview
since: NEXT
severity: warning
certainty: likely
fix: {{availability: none}}
anchors: ["TODO: text without which no file concerns this rule"]
why: |
  TODO: what happens on the device, with the measured effect.
{logic}examples:
  - prelude: training-loop
    bad: |
      raise NotImplementedError("TODO: code the rule speaks about")
  - prelude: training-loop
    ok: |
      raise NotImplementedError("TODO: similar code it leaves alone")
"""

_MAPPING = """\
mapping:
  - old: TODO.qualified_name
    action: unsupported
"""

_MODULE = '''\
"""TODO: one line on what makes this worth finding."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding


def check(ctx: FileContext) -> Iterator[Finding]:
    """TODO: findings of the rule in one file."""
    yield from ()
'''

"""New rules: a card and, where wanted, its Python, with the category's next free code."""

from __future__ import annotations

import os
import re
from keyword import iskeyword

from tpulint.card import CATEGORIES

_WORDS = r"[a-z0-9]+(?:[-_][a-z0-9]+)*"
_NAME = re.compile(rf"(?P<category>{_WORDS})/(?P<name>{_WORDS})\Z")
_CODE = re.compile(r"^code: *(TPU\d{3})", re.MULTILINE)
_ANY_CODE = re.compile(r"^code: *(?P<letters>[A-Z]+)(?P<number>\d{3})\b", re.MULTILINE)
_PACKAGE = os.path.join("rules", "tpulint_rules")
_WHY = "use letters, digits and underscores, no digit first and no keyword"


class ScaffoldError(ValueError):
    """A rule that cannot be made."""


def create(
    name: str, root: str | os.PathLike[str] = ".", python: bool = False, package: str = "", code: str = ""
) -> list[str]:
    """Write the files of a new rule, ``category/rule-name``, in the repository at ``root``. Gives their paths.

    ``package`` is the folder of a package with rules of one's own. Its codes go on from those that are there; the first
    one must be given as ``code``.
    """
    match = _NAME.match(name)
    if match is None:
        raise ScaffoldError(f"a new rule is named category/rule-name, such as host_sync/print-of-tensor, not {name!r}")
    category, rule_name = match["category"].replace("-", "_"), match["name"].replace("_", "-")
    stem = rule_name.replace("-", "_")
    for word in (category, stem):
        if not _can_be_imported(word):
            raise ScaffoldError(f"`{word}` cannot name a module of Python, which a rule and its category are: {_WHY}")
    is_own = bool(package)
    if is_own:
        package = os.path.join(root, package)
        module_name = os.path.basename(os.path.abspath(package))
        if not _can_be_imported(module_name):
            raise ScaffoldError(f"a package named `{module_name}` cannot be imported: {_WHY}")
        code = _own_code(package, code)
    else:
        if category not in CATEGORIES:
            raise ScaffoldError(f"unknown category {category!r}; categories are {', '.join(CATEGORIES)}")
        package = os.path.join(root, _PACKAGE)
        if not os.path.isdir(package):
            raise ScaffoldError(
                f"{package} is not there; run this in the repository of tpulint, or name a package of your own with "
                "`--package`"
            )
    folder = os.path.join(package, category)
    card, module = os.path.join(folder, f"{stem}.yaml"), os.path.join(folder, f"{stem}.py")
    for path in (card, module):
        if os.path.exists(path):
            raise ScaffoldError(f"{path} is there already")
    code = code or _next_code(package, category)
    os.makedirs(folder, exist_ok=True)
    written = [card]
    for above in (package, folder) if is_own else ():
        docstring = os.path.join(above, "__init__.py")
        if not os.path.exists(docstring):
            _write(docstring, f'"""{os.path.basename(above).replace("_", " ").capitalize()}."""\n')
            written.append(docstring)
    _write(card, _CARD.format(code=code, name=rule_name, logic="" if python else _MAPPING))
    if python:
        _write(module, _MODULE)
        written.append(module)
    return written


def _can_be_imported(name: str) -> bool:
    return name.isidentifier() and not iskeyword(name)


def _own_code(package: str, wanted: str) -> str:
    """The code of a rule in a package of the user's: the wanted one, or one more than the highest."""
    taken: dict[str, set[int]] = {}
    for folder, _, files in os.walk(package):
        for file in (name for name in files if name.endswith(".yaml")):
            with open(os.path.join(folder, file), encoding="utf-8") as card:
                for match in _ANY_CODE.finditer(card.read()):
                    taken.setdefault(match["letters"], set()).add(int(match["number"]))
    if wanted:
        asked = _ANY_CODE.match(f"code: {wanted}")
        if asked is None or asked["letters"] == "TPU":
            raise ScaffoldError(f"a code is letters other than TPU and three digits, such as ACM001, not {wanted!r}")
        if int(asked["number"]) in taken.get(asked["letters"], ()):
            raise ScaffoldError(f"{wanted} is taken already")
        return wanted
    if len(taken) != 1:
        which = "which letters its codes begin with" if not taken else "with which of its letters the code begins"
        raise ScaffoldError(f"{package} does not tell {which}: give the code, such as `--code ACM001`")
    ((letters, numbers),) = taken.items()
    return f"{letters}{max(numbers) + 1:03}"


def _next_code(package: str, category: str) -> str:
    """One more than the highest code of the category; codes of removed rules stay taken by their cards."""
    first = CATEGORIES[category] * 100
    taken, own = {first}, {first}
    for other in (name for name, digit in CATEGORIES.items() if digit == CATEGORIES[category]):
        folder = os.path.join(package, other)
        for file in os.listdir(folder) if os.path.isdir(folder) else ():
            if file.endswith(".yaml"):
                with open(os.path.join(folder, file), encoding="utf-8") as card:
                    codes = {int(code[3:]) for code in _CODE.findall(card.read())}
                taken |= codes
                own |= codes if other == category else set()
    free = max(own) + 1
    while free in taken:
        free += 1
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

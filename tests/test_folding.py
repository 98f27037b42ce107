"""Folding known conditions: exact texts, and generated programs that must do the same before and after."""

from __future__ import annotations

import ast
import itertools
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
SETTINGS = Settings(select=("TPU001",), preview=True, fix=True, unsafe_fixes=True)
# torch_xla is imported already, so the folded text is all that changes.
PREFIX = "import torch\nimport torch_xla\na, b = torch.ones(1), 2\n"
QUESTION = "torch.cuda.is_available()"


def fold(text: str) -> str:
    """The text with the question answered, twice over: the second run must find nothing to do."""
    for _ in range(2):
        result = lint(SourceFile.from_text(text), SETTINGS, CATALOGUE)
        assert result.error == ""
        assert not any(finding.code == "invalid-syntax" for finding in result.findings)
        folded, text = text, result.text
    assert folded == text
    return text


FOLDED = {
    "operands": ("x = a and torch.cuda.is_available() and b\n", "x = a and b\n"),
    "leading operand": ("x = torch.cuda.is_available() and a\n", "x = a\n"),
    "negated": ("x = not torch.cuda.is_available() or a\n", "x = a\n"),
    "decided": ("x = a or torch.cuda.is_available()\n", "x = True\n"),
    "compared": ("x = torch.cuda.is_available() == False\n", "x = False\n"),
    "count": ("x = 4 if torch.cuda.device_count() > 0 else 1\n", "x = 4\n"),
    "parentheses": ("x = ((a) if (torch.cuda.is_available()) else (b))\n", "x = ((a))\n"),
    "several lines": ("x = (a and\n     torch.cuda.is_available()\n     and b)\n", "x = (a\n     and b)\n"),
    "comment in a condition": ("x = (a and  # kept? no\n     torch.cuda.is_available())\n", "x = (a)\n"),
    "flag": (
        "def f():\n    gpu = torch.cuda.is_available()\n    if not gpu:\n        return b\n"
        "    return a if gpu and a else b\n",
        "def f():\n    return a if a else b\n",
    ),
    "flag of a class": (
        "class C:\n    gpu = torch.cuda.is_available()\n    x = a if gpu else b\n",
        "class C:\n    gpu = True\n    x = a if gpu else b\n",
    ),
    "self assignment": ("args.cuda = args.cuda and torch.cuda.is_available()\nx = 1\n", "x = 1\n"),
    "header comment": ("if torch.cuda.is_available():  # fast\n    x = 1\n", "# fast\nx = 1\n"),
    "trailing comment": (
        "if torch.cuda.is_available():\n    x = 1  # one\n    # more\n\n# after\ny = 2\n",
        "x = 1  # one\n# more\n\n# after\ny = 2\n",
    ),
    "string over lines": (
        'if torch.cuda.is_available():\n    x = """a\n    b"""\n    y = (1,\n  2)\n',
        'x = """a\n    b"""\ny = (1,\n  2)\n',
    ),
    "nested": (
        "if a:\n    if torch.cuda.is_available():\n"
        "        if torch.cuda.is_available():\n            x = 1\n        y = 2\n",
        "if a:\n    x = 1\n    y = 2\n",
    ),
    "elif": (
        "if a:\n    x = 1\nelif torch.cuda.is_available():\n    x = 2\nelif b:\n    x = 3\nelse:\n    x = 4\n",
        "if a:\n    x = 1\nelse:\n    x = 2\n",
    ),
    "elif not": (
        "if a:\n    x = 1\nelif not torch.cuda.is_available():\n    x = 2\nelse:\n    x = 4\n",
        "if a:\n    x = 1\nelse:\n    x = 4\n",
    ),
    "last elif not": ("if a:\n    x = 1\nelif not torch.cuda.is_available():\n    x = 2\n", "if a:\n    x = 1\n"),
    "if not, elif": (
        "if not torch.cuda.is_available():\n    x = 1\nelif a:\n    x = 2\nelse:\n    x = 3\n",
        "if a:\n    x = 2\nelse:\n    x = 3\n",
    ),
    "if not, else": ("if not torch.cuda.is_available():\n    x = 1\nelse:\n    x = 2\n    y = 3\n", "x = 2\ny = 3\n"),
    "one line": ("if torch.cuda.is_available(): x = 1; y = 2\nelse: x = 3\n", "x = 1; y = 2\n"),
    "only statement": (
        "def f():\n    if not torch.cuda.is_available():\n        raise OSError\nf()\n",
        "def f():\n    pass\nf()\n",
    ),
    "dead code": (
        "def f():\n    if torch.cuda.is_available():\n        return 1\n    return 2\n",
        "def f():\n    return 1\n",
    ),
    "nothing left inside": (
        "if torch.cuda.is_available():\n    assert torch.cuda.is_available()\nx = 1\n",
        "x = 1\n",
    ),
    "tabs": ("if a:\n\tif torch.cuda.is_available():\n\t\tx = 1\n\telse:\n\t\tx = 2\n", "if a:\n\tx = 1\n"),
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("name", FOLDED)
def test_folding(name: str, newline: str) -> None:
    before, after = FOLDED[name]
    assert fold((PREFIX + before).replace("\n", newline)) == (PREFIX + after).replace("\n", newline)


# -------------------------------------------------------------------- generated programs

CONDITIONS = st.recursive(
    st.sampled_from([QUESTION, QUESTION, "p", "q", "torch.cuda.device_count() > 0"]),
    lambda inner: st.one_of(
        inner.map(lambda c: f"not {c}" if " " not in c else f"not ({c})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
        st.tuples(inner, inner, st.sampled_from(["and", "or"])).map(lambda t: f"({t[0]}\n   {t[2]} {t[1]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        inner.map(lambda c: f"bool({c})"),
        inner.map(lambda c: f"({c}) == False"),
    ),
    max_leaves=4,
)


@st.composite
def suites(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """The lines of a block."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["note", "note", "if", "if", "value", "assert", "text", "comment", "leave"]))
        number = draw(st.integers(0, 99))
        condition = draw(CONDITIONS)
        if kind == "if" and depth < 3:
            lines.append(f"if {condition}:" + draw(st.sampled_from(["", "  # why"])))
            lines += indented(draw(suites(depth + 1)))
            for _ in range(draw(st.integers(0, 2))):
                lines.append(f"elif {draw(CONDITIONS)}:")
                lines += indented(draw(suites(depth + 1)))
            if draw(st.booleans()):
                lines.append("else:")
                lines += indented(draw(suites(depth + 1)))
        elif kind == "value":
            lines.append(f"note({number} if {condition} else -{number})")
        elif kind == "assert":
            lines.append(f"assert {QUESTION} or {condition}, note({number})")
        elif kind == "text":
            lines += [f"note('''{number}", "    second row", "'''.replace(' ', '.'))"]
        elif kind == "comment":
            lines += ["# a remark", f"note({number})  # behind"]
        elif kind == "leave" and depth:
            lines += [f"note({number})", f"return {number}"]
        else:
            lines.append(f"note({number}); value = {condition}; note(value)")
    return lines


def indented(lines: list[str]) -> list[str]:
    # The second row of a string is a part of its value.
    return [line if line.startswith(("    second", "'''")) else "    " + line for line in lines]


def run(text: str, p: bool, q: bool) -> list[object]:
    """What a program logs where there is a GPU."""
    logged: list[object] = []
    cuda = SimpleNamespace(is_available=lambda: True, device_count=lambda: 1)
    space = {"torch": SimpleNamespace(cuda=cuda), "note": logged.append}
    body = text.replace("import torch\n", "").replace("import torch_xla\n", "")
    exec(compile(body, "program", "exec"), space)
    logged.append(space["program"](p, q))  # type: ignore[operator]
    return logged


@given(suites(), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_folded_program_does_the_same(lines: list[str], newline: str, has_flag: bool) -> None:
    if has_flag:
        flag = f"has_gpu = {QUESTION}"
        lines = [flag, *(line.replace(QUESTION, "has_gpu") for line in lines)]
    text = "\n".join(
        ["import torch", "import torch_xla", "", "def program(p, q):", *indented(lines), "    return 0", ""]
    )
    folded = fold(text.replace("\n", newline)).replace(newline, "\n")
    ast.parse(folded)
    for p, q in itertools.product([True, False], repeat=2):
        assert run(folded, p, q) == run(text, p, q)

"""Span edits against an independent implementation on libcst's trees: the same text, to the letter."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from layouts import laid_out
from oracle import CallOracle, NameOracle, Oracle, rewritten
from plain_rules import OWN, PlainCatalogue, PlainRule
from programs import plain_programs, programs

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.context import FileContext
from tpulint.declarative import NameTable
from tpulint.declarative import check as check_table
from tpulint.linter import lint
from tpulint.model import Applicability, Finding, Scope, Severity, Span
from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile

FIXING = Settings(fix=True, unsafe_fixes=True)

IMPORTS = {
    "torch_xla": "import torch_xla",
    "torch_xla.runtime": "import torch_xla.runtime as xr",
    "torch_xla.core.xla_model": "import torch_xla.core.xla_model as xm",
    "torch_xla.debug.profiler": "import torch_xla.debug.profiler as xp",
}
"""Present from the start, so that no fix has to add one: imports are not what is compared here."""

LOCAL_NAMES = {line.split()[-1] for line in IMPORTS.values()}

ROWS = [
    row
    for rule in load().rules
    for row in rule.mapping
    if row.in_step_loop is None and row.arguments is None and not row.with_item and not row.old.endswith("*")
]
RENAMES = [row for row in ROWS if row.action == "rename" and not row.assigned and row.new.rpartition(".")[0] in IMPORTS]
DELETIONS = [row for row in ROWS if row.action == "delete"]


class TableRule:
    """Rows of the catalogue's mapping tables as one rule."""

    code = "X100"
    name = "table"
    severity = Severity.WARNING
    applicability = Applicability.SAFE
    anchors = ("torch",)
    files = ("python",)
    default = True
    moves = False
    category = ""
    place = OWN
    check = staticmethod(check_table)
    table = NameTable(tuple(RENAMES + DELETIONS))

    def option_values(self, overrides: object = ()) -> dict[str, object]:
        return {}


def changed_calls(ctx: FileContext) -> Iterator[Finding]:
    """``x.cuda()`` becomes ``x.to('xla')``; a ``DataLoader`` loses one argument and gets another one."""
    for call, _ in ctx.index.method_calls("cuda"):
        if not call.args and not call.keywords:
            fix = ctx.fix("Write .to()", Applicability.SAFE, "Reason.")
            name = ctx.index.span(call.func).end
            fix.replace(Span(name - len("cuda"), name), "to")
            at = ctx.source.text.index("(", name) + 1
            fix.replace(Span(at, ctx.index.span(call).end - 1), "'xla'")
            yield ctx.finding(call, "moved to CUDA", fix)
    for call in ctx.index.calls_to("torch.utils.data.DataLoader"):
        for keyword in call.keywords:
            if keyword.arg == "pin_memory":
                fix = ctx.fix("Drop the argument", Applicability.SAFE, "Reason.")
                fix.delete_argument(call, keyword)
                yield ctx.finding(keyword, "has no effect", fix)
        if not any(keyword.arg in ("drop_last", "pin_memory", None) for keyword in call.keywords):
            fix = ctx.fix("Drop the last batch", Applicability.SAFE, "Reason.", Scope.STATEMENT)
            fix.set_argument(call, "drop_last", "True")
            yield ctx.finding(call, "last batch is smaller", fix)


def local_name(new: str) -> str:
    module, _, name = new.rpartition(".")
    return f"{IMPORTS[module].split()[-1]}.{name}"


names_oracle: Callable[[], Oracle] = partial(
    NameOracle,
    {row.old: local_name(row.new) for row in RENAMES},
    frozenset(row.old for row in DELETIONS if not row.assigned),
    frozenset(row.old for row in DELETIONS if row.assigned),
)


@pytest.fixture(autouse=True, scope="module")
def leftovers_stay() -> Iterator[None]:
    """What is compared is what fixes do; guards and variables without a use are taken out behind them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tpulint.fixer._without_emptied_guards", lambda before, after: None)
        patch.setattr("tpulint.fixer._without_unused_locals", lambda before, after: None)
        patch.setattr("tpulint.fixer._without_spare_parentheses", lambda before, after: None)
        yield


def fixed(text: str, rule: Any) -> str:
    result = lint(SourceFile.from_text(text, "train.py"), FIXING, PlainCatalogue((rule,)))
    assert not result.error
    return result.text


def has_cuda_branches(text: str) -> bool:
    """Whether it keeps branches for CUDA beside another backend: what stands in them is left alone on purpose.

    So is what follows ``if not torch.cuda.is_available(): raise`` in a program that has an XLA device.
    """
    index = SemanticIndex(SourceFile.from_text(text), ast.parse(text))
    return bool(index.cuda_only_spans() or index.devices.branches.guarded)


@st.composite
def programs_with_imports(draw: st.DrawFn) -> str:
    """Programs that import everything a fix may need, by the usual names, and export all that they import."""
    text = draw(plain_programs())
    missing = "".join(f"{line}\n" for line in IMPORTS.values() if line not in text.split("\n"))
    future = "from __future__ import annotations\n"
    before, found, after = text.partition(future)
    text = before + found + missing + after if found else missing + text
    bound: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound += [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.append(node.id)
    # A name bound twice, or two names for one module: which one a fix writes is not what is compared here.
    assume(all(bound.count(local) == 1 for local in LOCAL_NAMES) and "xla" not in bound)
    return draw(laid_out(f"{text}__all__ = {bound}\n"))


@given(programs_with_imports())
def test_names_and_deleted_statements(text: str) -> None:
    expected = rewritten(text, names_oracle)
    assume(expected is not None and not has_cuda_branches(text))
    # A seed moves behind it, and none is drawn in front of a launch, which it would start the runtime of.
    assume("seed" not in text or ("init_process_group" not in text and "spawn" not in text))
    assert fixed(text, TableRule()) == expected


@given(programs())
def test_changed_calls(text: str) -> None:
    expected = rewritten(text, CallOracle)
    assume(expected is not None and not has_cuda_branches(text))
    assert fixed(text, PlainRule("X200", changed_calls)) == expected


def test_oracle_has_something_to_say() -> None:
    """The comparison means something only if there are rows of every sort, and programs in which they occur."""
    assert len(RENAMES) > 5 and len(DELETIONS) > 20
    assert any(row.assigned for row in DELETIONS)
    drawn: list[str] = []

    @settings(max_examples=30, derandomize=True, database=None)
    @given(programs_with_imports())
    def collect(text: str) -> None:
        drawn.append(text)

    collect()
    # Half of them on average, and a third in some runs.
    for make in (names_oracle, CallOracle):
        assert len([text for text in drawn if rewritten(text, make) not in (None, text)]) > len(drawn) * 0.15


AWKWARD_NAMES = {
    "only statement of a block": "if x:\n    torch.cuda.empty_cache()  # note\n",
    "two statements of one row": "x = 1; torch.cuda.empty_cache(); y = 2\n",
    "last of a row with semicolons": "x = 1; torch.cuda.empty_cache(); # note\n",
    "whole row": "torch.cuda.empty_cache(); torch.cuda.empty_cache()\nx = 1\n",
    "one-line if": "if x: torch.cuda.empty_cache()\nelse: torch.cuda.empty_cache() # note\n",
    "one-line if with two": "if x: torch.cuda.empty_cache(); x = 1\n",
    "comments around": "if x:\n    # above\n    torch.cuda.empty_cache()\n    # below\nx = 1\n",
    "comments above each": "if x:\n  # one\n  torch.cuda.empty_cache()\n  # two\n  torch.cuda.empty_cache()\n",
    "said twice": "torch.cuda.manual_seed(0); torch.cuda.manual_seed_all( 0,)\ntorch.cuda.manual_seed_all(1)\n",
    "call over rows": "torch.cuda.set_device(  # note (\n    0,\n)\nx = 1\n",
    "parentheses": "((torch.cuda.manual_seed))(0); (torch . cuda\n . manual_seed(0))\n",
    "continuation": "torch. \\\n  cuda.manual_seed \\\n  (0)\n",
    "aliases": "from torch import cuda as c\nfrom torch.cuda import manual_seed as s\nc.manual_seed(0); s(0)\n",
    "shadowed": "def f(torch):\n    torch.cuda.manual_seed(0)\n    torch.cuda.empty_cache()\n",
    "not called": "seed = torch.cuda.manual_seed\nlist(map(torch.cuda.manual_seed_all, [1]))\n",
    "value used": "x = torch.cuda.empty_cache()\n",
    "in a lambda": "x = lambda: torch.cuda.empty_cache()\ny = lambda: torch.cuda.manual_seed(0)\n",
    "nested": "torch.cuda.manual_seed(torch.cuda.manual_seed(xm.mark_step()))\n",
    "decorator and docstring": '@x\ndef f():\n    """torch.cuda.empty_cache()"""\n    torch.cuda.empty_cache()\n',
    "flags": "torch.backends.cudnn.benchmark = True\ntorch.backends.cudnn.enabled = torch.backends.cudnn.fastest = 1\n",
    "flag among others": "x = torch.backends.cudnn.benchmark = True\n(torch.backends.cudnn.benchmark, y) = 1, 2\n",
    "non-ASCII before": "größe = '😀'; torch.cuda.manual_seed(0); ñ = xm.mark_step() # é\n",
    "try": "try: torch.cuda.empty_cache()\nexcept E: torch.cuda.empty_cache()\nfinally:\n\ttorch.cuda.empty_cache()\n",
    "class": "class A:\n  torch.cuda.empty_cache()\n  async def f(self): await x; torch.cuda.empty_cache()\n",
    "no newline at the end": "x = 1\ntorch.cuda.manual_seed(0)",
    "windows": "if x:\r\n    torch.cuda.empty_cache()\r\nelse:\r\n    x = 1; torch.cuda.empty_cache()\r\n",
    "star and keywords": "torch.cuda.manual_seed(*a, **{'seed': torch.cuda.manual_seed(0)})\n",
    "blank rows": "x = 1\n\n\ntorch.cuda.empty_cache()\n\n\ny = 2\n",
    "match": "match x:\n    case 1: torch.cuda.empty_cache()\n    case _:\n        torch.cuda.empty_cache()\n",
    "f-string": "print(f'{torch.cuda.manual_seed(0)} é {torch.cuda.manual_seed(0)!r:>{torch.cuda.manual_seed(1)}}')\n",
}

AWKWARD_CALLS = {
    "chain": "x = torch.zeros(1).cuda().t() .cuda ( )\n",
    "rows": "x = (model\n     .cuda()  # cuda()\n     .eval())\n",
    "parentheses": "(x).cuda(); (x.cuda)(); x.cuda().y.cuda()\n",
    "nested": "f(x.cuda(), **{'a': [y.cuda() for y in z.cuda()]})\n",
    "arguments": "x.cuda(0).cuda(non_blocking=True).cuda()\n",
    "attribute": "self.cuda = cuda(); cuda.cuda(); self.cuda.cuda()\n",
    "first of two": "DataLoader(d, pin_memory=True, shuffle=True)\n",
    "last": "DataLoader(d, pin_memory=True)\nDataLoader(d, pin_memory=True,)\nDataLoader( d , pin_memory = True )\n",
    "on rows": "DataLoader(\n    d,  # data\n    batch_size=8,\n    pin_memory=True,  # pinned\n    shuffle=True,\n)\n",
    "last on rows": "DataLoader(\n    d,\n    batch_size=8,  # eight\n    pin_memory=True\n)\n",
    "trailing comma": "DataLoader(d, 8,)\nDataLoader(\n    d,\n    8,\n)\nDataLoader(\n    d,\n    8\n)\n",
    "brackets and strings": "DataLoader(d[',)'], (1, 2), {'a': 1}, lambda x, y: (x, y), pin_memory=f(1, 2))\n",
    "star": "DataLoader(*a)\nDataLoader(*a, pin_memory=True, **b)\n",
    "already there": "DataLoader(d, drop_last=False)\n",
    "alias": "import torch.utils.data as data\ndata.DataLoader(d); (DataLoader)(d, 8)\n",
    "non-ASCII": "é = DataLoader(größe, 8); ü = DataLoader('😀', pin_memory=True, timeout=1)\n",
    "comment behind": "DataLoader(d,  # data\n           8  # eight\n           )\n",
    "windows": "DataLoader(\r\n    d,\r\n    8,\r\n    pin_memory=True,\r\n)\r\n",
}


def headed(text: str, *head: str) -> str:
    """The text with these rows above it, in its own kind of newline."""
    newline = SourceFile.from_text(text).newline
    return "".join(row + newline for row in head) + text


@pytest.mark.parametrize("text", AWKWARD_NAMES.values(), ids=AWKWARD_NAMES.keys())
def test_awkward_names_and_statements(text: str) -> None:
    text = headed(text, *IMPORTS.values(), "import torch", f"__all__ = {[*LOCAL_NAMES, 'torch', 'c', 's']}")
    assert fixed(text, TableRule()) == rewritten(text, names_oracle)


@pytest.mark.parametrize("text", AWKWARD_CALLS.values(), ids=AWKWARD_CALLS.keys())
def test_awkward_calls(text: str) -> None:
    text = headed(text, "import torch", "from torch.utils.data import DataLoader")
    assert fixed(text, PlainRule("X200", changed_calls)) == rewritten(text, CallOracle)

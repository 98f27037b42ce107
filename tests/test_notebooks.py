"""Notebooks: read, linted cell by cell, fixed without touching anything but code."""

from __future__ import annotations

import ast
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import tpulint, write
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from notebook_files import FORMS, Form, code_of, is_valid, notebook, without_code
from programs import programs

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.fixer import apply_edits
from tpulint.linter import lint
from tpulint.model import Applicability, Certainty, Edit, FileResult, Finding, Fix, Scope, Severity, Span
from tpulint.notebooks.findings import of_cells
from tpulint.notebooks.magics import mask
from tpulint.notebooks.source import NotebookSource
from tpulint.source import SourceFile, UnreadableSource

CELLS = (
    "%matplotlib inline\n!ls -l 'é' \\\n  more\nimport torch\nfrom torch import nn",
    "%%time\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')  # é \\ \"quoted\"\n"
    "model = nn.Linear(3, 1)",
    "%%html\n<b>torch.device('cuda')</b>",
    "files = !ls\nmodel.to(device)\nmodel?\n",
    "",
)
FIXED = (
    "%matplotlib inline\n!ls -l 'é' \\\n  more\nimport torch\nimport torch_xla\nfrom torch import nn",
    '%%time\ndevice = torch_xla.device()  # é \\ "quoted"\nmodel = nn.Linear(3, 1)',
    *CELLS[2:],
)
UNSAFE = Settings(fix=True, unsafe_fixes=True)
CATALOGUE = load()
NEWLINE = re.compile(r"\r\n|\r")


def source_of(*cells: str, form: Form = FORMS["4.5"], path: str = "nb.ipynb") -> NotebookSource:
    source = SourceFile.from_bytes(notebook(cells, form), path)
    assert isinstance(source, NotebookSource)
    return source


def check(*cells: str, **settings: Any) -> list[tuple[int, int, int, str]]:
    """Cell, row, column and code of the findings in some cells of code; markdown and raw cells stand between them."""
    source = source_of(*cells)
    result = lint(source, Settings(**settings), CATALOGUE)
    assert not result.error
    return [(*place_of(source, finding), finding.code) for finding in result.findings]


def place_of(source: NotebookSource, finding: Finding) -> tuple[int, int, int]:
    row, column = source.position(finding.span.start)
    return source.cell_number(row), row - source.cell_rows(row)[0] + 1, column


def fixed(*cells: str, settings: Settings = UNSAFE) -> list[str]:
    """The code of the cells once fixed."""
    source = source_of(*cells)
    return code_of(fixed_bytes(source, lint(source, settings, CATALOGUE)))


def fixed_bytes(source: NotebookSource, result: FileResult) -> bytes:
    assert not result.error
    return source.with_text(result.text, result.cell_starts).to_bytes()


# -------------------------------------------------------------------- reading and writing


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_only_code_changes_in_every_form(form: Form) -> None:
    before = notebook(CELLS, form)
    source = source_of(*CELLS, form=form)
    assert source.to_bytes() == before
    result = lint(source, UNSAFE, CATALOGUE)
    after = fixed_bytes(source, result)
    assert code_of(after) == list(FIXED)
    assert without_code(after) == without_code(before)
    assert is_valid(after)
    assert after == notebook(FIXED, form)
    again = SourceFile.from_bytes(after, "nb.ipynb")
    assert lint(again, UNSAFE, CATALOGUE).text == again.text


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_bytes_of_lines_that_stay_are_the_same(form: Form) -> None:
    before = notebook(["a = 1\nb = 'é\t<'\nc = 3", "d = '\u2028'"], form)
    source = SourceFile.from_bytes(before, "nb.ipynb")
    edit = Edit(Span(source.text.index("1"), source.text.index("1") + 1), "7")
    after = source.with_edits([edit]).to_bytes()
    assert after == before.replace(b"a = 1", b"a = 7") and after != before


def spelt(source: str, edit: tuple[str, str]) -> str:
    """A notebook with one cell whose ``source`` is written as given, once an edit is made in it."""
    text = '{"nbformat": 4, "cells": [{"cell_type": "code", "source": HERE}]}'.replace("HERE", source)
    read = SourceFile.from_bytes(text.encode(), "nb.ipynb")
    start = read.text.index(edit[0])
    after = read.with_edits([Edit(Span(start, start + len(edit[0])), edit[1])]).to_bytes().decode()
    assert json.loads(after)["cells"][0]["source"] is not None
    head, tail = text.split(source)
    assert after.startswith(head) and after.endswith(tail)
    return after[len(head) : len(after) - len(tail)]


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        ('"a\\nb"', ("a", "x\ny"), '"x\\ny\\nb"'),
        ('["a\\n","b"]', ("a", "x\ny"), '["x\\n","y\\n","b"]'),
        ('["a"]', ("a", "x\ny"), '["x\\n", "y"]'),
        ('[\n  "a"\n]', ("a", "x\ny"), '[\n  "x\\n",\n  "y"\n]'),
        ('["a\\n", "b"]', ("a\nb", ""), "[]"),
        ('"a"', ("a", ""), '""'),
        ('["a \\u003c b\\n", "c \\/ d"]', ("a", "e"), '["e \\u003c b\\n", "c \\/ d"]'),  # as Colab spells it
        ('["a \\/ \\u00E9 \\u003C"]', ("a", "é"), '["\\u00E9 \\/ \\u00E9 \\u003C"]'),
        ('["\\u0061 = \\u0031\\n", "b"]', ("b", "c"), '["\\u0061 = \\u0031\\n", "c"]'),
        ("[\"a = '\\ud83d\\ude00'\"]", ("a", "b"), "[\"b = '\\ud83d\\ude00'\"]"),
        ('["a = \'\\\\n\\\\\'\\n", "b"]', ("b", "c"), '["a = \'\\\\n\\\\\'\\n", "c"]'),
        ("\"a = '\\\\n\\\\'\\nb\"", ("b", "c"), "\"a = '\\\\n\\\\'\\nc\""),
    ],
)
def test_strings_are_spelt_as_before(before: str, edit: tuple[str, str], after: str) -> None:
    assert spelt(before, edit) == after


def test_byte_order_mark_stays() -> None:
    data = b"\xef\xbb\xbf" + notebook(CELLS)
    source = SourceFile.from_bytes(data, "nb.ipynb")
    assert source.to_bytes() == data


@pytest.mark.parametrize(
    ("text", "message", "row"),
    [
        ('{"cells": [\n{"a" 1}]}', "not valid JSON: Expecting ':' in column 6", 2),
        ('{"cells": [\n', "not valid JSON", 2),
        ('{"cells": [],\n\n}', "not valid JSON: Illegal trailing comma before end of object", 3),
        ('{"nbformat": 4, "cells": []}\n<<<<', "not valid JSON: Extra data", 2),
        ("", "not valid JSON", 1),
        ("[]", "not a notebook: its JSON is no object", 1),
        ('{"cells": []}', "not a notebook: it does not say which nbformat it has", 1),
        ('{"nbformat": 5, "cells": []}', "nbformat 5 is newer than tpulint knows (3 and 4)", 1),
        ('{"nbformat": 2, "worksheets": []}', "nbformat 2 is older than tpulint knows (3 and 4); `jupyter", 1),
        ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": 3}]}', "the code of cell 1 is no text", 1),
        ("[" * 100_000, "nested too deeply", 1),
        ('{"nbformat": 4, "cells": [],\n"id": ' + "1" * 5000 + "}", "not JSON that can be read", 1),
    ],
)
def test_what_is_no_notebook_is_told_in_one_message(text: str, message: str, row: int) -> None:
    with pytest.raises(UnreadableSource) as caught:
        SourceFile.from_bytes(text.encode(), "nb.ipynb")
    assert message in caught.value.message and "\n" not in caught.value.message
    assert caught.value.row == row


def test_bytes_that_are_no_text_are_told_with_their_row() -> None:
    with pytest.raises(UnreadableSource, match="byte 0xff is not valid UTF-8") as caught:
        SourceFile.from_bytes(b'{\n"\xff"}', "nb.ipynb")
    assert caught.value.row == 2


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}, "language_info": {"name": "R"}},
        {"kernelspec": {"name": "julia-1.9", "display_name": "Julia", "language": "julia"}},
        {"language_info": {"name": "scala"}},
    ],
)
def test_other_kernels_are_left_alone_silently(metadata: dict[str, Any]) -> None:
    source = source_of("x <- torch.cuda.is_available()\n!nvidia-smi", form=Form(metadata=metadata))
    result = lint(source, UNSAFE, CATALOGUE)
    assert (result.findings, result.text, result.error) == ((), "", "")


@pytest.mark.parametrize("name", ["python", "ipython", "Python"])
def test_python_kernels_are_linted(name: str) -> None:
    source = source_of("import torch\nx = torch.ones(1).cuda()", form=Form(metadata={"language_info": {"name": name}}))
    assert lint(source, Settings(), CATALOGUE).findings


def test_cells_in_another_language_are_left_alone() -> None:
    data = json.loads(notebook(["import torch\nx = torch.ones(1).cuda()", "y = 1"]))
    data["cells"][1]["metadata"]["vscode"] = {"languageId": "r"}
    source = SourceFile.from_bytes(json.dumps(data).encode(), "nb.ipynb")
    assert lint(source, Settings(), CATALOGUE).findings == ()


# -------------------------------------------------------------------- magics


@pytest.mark.parametrize(
    ("cell", "code", "shell"),
    [
        ("x = 1\ny = x % 3", None, ""),
        ("!ls", "   ", " ls"),
        ("!!ls\nx", "    \nx", "  ls\n "),
        ("%matplotlib inline\nx", "                  \nx", ""),
        ("if x:\n    !pip install y\nz", "if x:\n    pass          \nz", "     \n     pip install y\n "),
        ("if x:\n  !l\nelse: y", "if x:\n  0 \nelse: y", "     \n   l\n       "),
        ("a = !ls b\nc", "a = []   \nc", "     ls b\n "),
        ("a, d[1] = %who\nc", "a, d[1] = _   \nc", ""),
        ("print('[a=%d]' % 1)", None, ""),
        ("a %= 3\nb = (c\n %d)\ns = '''\n!ls\n%x\nd?\n'''", None, ""),
        ("x = [\n!1,\n]", None, ""),  # not Python, and not a magic either
        ("a?\n?a.b\na??\n%who?\n# why?\n'a?'", "  \n    \n   \n     \n# why?\n'a?'", ""),
        ("!a \\\n  b\nc", "    \n   \nc", " a \\\n  b\n "),
        ("%time x = f()", "     \fx = f()", ""),
        ("for a in b:\n    %timeit -n 10 c(a)", "for a in b:\n             \f    c(a)", ""),
        ("%time", "     ", ""),
        ("%time !ls", "         ", ""),
        ("%%time\nx = 1", "      \nx = 1", ""),
        ("\n# set up\n%%capture out\n%%time\nx = 1", "\n# set up\n             \n      \nx = 1", ""),
        ("%%html\n<b>\n", "      \n   \n", ""),
        ("%%writefile a.py\nimport torch  # noqa: TPU101", "                \n" + " " * 28, ""),
        ("%%bash\nls # b\n", "      \n      \n", "      \nls # b\n"),
        ("%%script bash -e\nls", "                \n  ", "                \nls"),
        ("%%script perl\nls", "             \n  ", ""),
        ("%pip install a", "              ", " pip install a"),
        ("%env A=1\n%set_env B 2", "        \n            ", "     A=1\n         B=2"),
        ("%sx ls", "      ", "    ls"),
        ("    a = 1\n    if a:\n        b", "   \fa = 1\n   \fif a:\n   \f    b", ""),
        ("!pip install a  # noqa: TPU1", "                # noqa: TPU1", " pip install a  # noqa: TPU1"),
        ("!a\r\nb\r\n", "  \r\nb\r\n", " a\r\n \r\n"),
        ("/f 1\n,f a\n;f b", "    \n    \n    ", ""),
    ],
)
def test_masks(cell: str, code: str | None, shell: str) -> None:
    masked = mask(cell)
    assert masked.code == (cell if code is None else code)
    assert masked.shell == shell
    assert len(masked.code) == len(cell)


@pytest.mark.parametrize("cell", ["pip install a", "cd ..\nx = 1", "ls -l\npip install 'a>1'", "%time pip install a"])
def test_magics_without_their_sign(cell: str) -> None:
    assert not source_of("x = 1", cell).broken


def test_names_that_are_also_magics_stay_python() -> None:
    source = source_of("ls = 1\nls\nrun = ls\nrun - 1")
    assert source.code == source.text


def test_magics_outlive_fixes() -> None:
    cells = ("!pip install x\nimport torch", "model = f()\n%%latex\n%time y = torch.ones(1).cuda()\nif y:\n    !ls {y}")
    after = fixed(*cells)
    assert "%time y = torch.ones(1).to(" in after[1]
    assert after[0].startswith("!pip install x\n") and after[1].endswith("if y:\n    !ls {y}")
    assert "\n%%latex\n" in after[1]


@pytest.mark.parametrize("magic", ["%%timeit", "%%time", "%%timeit -n 10 -r 3", "# timed\n%%prun"])
def test_statement_behind_a_cell_magic_is_python(magic: str) -> None:
    source = source_of("import torch", f"{magic} x = torch.ones(1).to('cuda')\ny = x.to('cuda')")
    row = 2 + magic.count("\n")
    assert [node.lineno for node in source.parse().body] == [1, row, row + 1] and not source.broken


def test_what_is_no_statement_behind_a_cell_magic_is_left_alone() -> None:
    source = source_of("%%prun -s cumtime f(x)\ny = 1", "%%timeit -o\nz = 1")
    assert not source.broken and [node.lineno for node in source.parse().body] == [2, 4]


def test_nothing_is_put_in_front_of_a_cell_magic() -> None:
    source = source_of("import torch", "%%time total = loss.item()\nprint(total)")
    at = source.cell_starts[1]
    edits = (Edit(Span(at, at), "x = 1\n"),)
    fix = Fix("t", edits, (), Applicability.SAFE, "r", Scope.EXPRESSION)
    found = Finding("TPU001", "n", Span(at, at + 1), "m", Severity.ERROR, Certainty.CERTAIN, fix)
    (kept,), _ = of_cells([found], source, lambda lines: ())
    assert kept.fix is None


def test_fix_that_would_lose_a_magic_is_not_made() -> None:
    cell = (
        "import torch\nif not torch.cuda.is_available():\n    !pip install other\n    raise SystemExit\ntorch.ones(1)"
    )
    plain = cell.replace("!pip install other", "print('other')")
    assert "other" not in fixed(plain)[0]
    assert "!pip install other" in fixed(cell)[0]


def test_names_in_magics_keep_their_import() -> None:
    cells = ("import torch\nfrom torch.cuda import amp", "%run other.py {amp}\nwith amp.autocast():\n    pass")
    with_magic, without = fixed(*cells)[0], fixed(cells[0], cells[1].partition("\n")[2])[0]
    assert "import amp" in with_magic and "import amp" not in without


def test_percent_scripts_are_python() -> None:
    text = "# %%\n# !pip install torch==2.0+cu118\n# %matplotlib inline\nimport torch\n# %%\nx = torch.ones(1).cuda()\n"
    result = lint(SourceFile.from_text(text, "nb.py"), UNSAFE, CATALOGUE)
    assert result.text == text.replace(
        "import torch\n", "import torch\nimport torch_xla\n\ndevice = torch_xla.device()\n"
    ).replace(".cuda()", ".to(device)")
    broken = lint(SourceFile.from_text("# %%\n!ls\n", "nb.py"), Settings(), CATALOGUE)
    assert [finding.code for finding in broken.findings] == ["invalid-syntax"]


# -------------------------------------------------------------------- cells


def test_places_are_those_of_the_cells() -> None:
    assert check("import torch", "\nx = torch.ones(1).cuda()") == [(4, 2, 5, "TPU002")]


def test_places_are_those_that_ruff_tells(tmp_path: Path) -> None:
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    if ruff is None:
        pytest.skip("ruff is not installed")
    cells = ("import torch\n%time x = 1", "%%time\n!ls\ny = torch.ones(2).cuda()\n\nimport os")
    write(tmp_path / "nb.ipynb", notebook(cells))
    command = [ruff, "check", "--isolated", "--no-cache", "--select", "F401", "--output-format", "concise", "nb.ipynb"]
    theirs = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert theirs.startswith("nb.ipynb:cell 4:5:8: F401")
    ours = tpulint("check", "--isolated", "--output-format", "concise", "nb.ipynb", cwd=tmp_path).out
    assert ours.startswith("nb.ipynb:cell 4:3:5: TPU002")


def test_state_goes_from_cell_to_cell() -> None:
    cells = (
        "import torch\nfrom torch.utils.data import DataLoader",
        "model = torch.nn.Linear(2, 1).to('xla')\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
        "loader = DataLoader(data, batch_size=4, drop_last=True, shuffle=True)",
        "for x, y in loader:\n    loss = model(x.to('xla')).mean()\n    loss.backward()\n    optimizer.step()",
    )
    assert (8, 1, 1, "TPU301") in check(*cells)
    assert not [found for found in check(*cells[:-1]) if found[-1] == "TPU301"]


@pytest.mark.parametrize(
    "cells", [("x = (1,", "2)"), ("if x:\n    y", "else:\n    z"), ("x = '''", "'''"), ("x = 1 + \\", "2 +")]
)
def test_statement_in_two_cells_is_two_broken_cells(cells: tuple[str, str]) -> None:
    ast.parse("\n".join(cells).removesuffix(" +"))
    assert [cell for cell, *_ in check(*cells)] in ([2, 4], [4])
    assert {code for *_, code in check(*cells)} == {"invalid-syntax"}


def test_decorator_alone_in_a_cell_is_broken() -> None:
    assert check("@torch.no_grad()", "def f():\n    pass") == [(2, 1, 1, "invalid-syntax")]


def test_broken_cell_leaves_the_others_and_takes_their_fixes() -> None:
    cells = ("import torch\nx = torch.ones(1).cuda()", "print 'x'")
    assert check(*cells) == [(2, 2, 5, "TPU002"), (4, 1, 1, "invalid-syntax")]
    assert fixed(*cells) == list(cells)
    assert fixed(cells[0]) != [cells[0]]


@pytest.mark.parametrize("text", ["x = '\\ud800'", "x = \\u0000"])
def test_text_that_python_cannot_hold_is_a_broken_cell(text: str) -> None:
    data = notebook(["HERE", "import torch\ny = torch.ones(1).cuda()"]).replace(b"HERE", text.encode())
    result = lint(SourceFile.from_bytes(data, "nb.ipynb"), UNSAFE, CATALOGUE)
    assert sorted(finding.code for finding in result.findings) == ["TPU002", "invalid-syntax"]
    assert not result.error


def test_cell_that_is_indented_as_a_whole() -> None:
    assert fixed("import torch", "    x = torch.ones(1)\n    if x:\n        x = x.cuda()")[1] == (
        "    x = torch.ones(1)\n    if x:\n        x = x.to(device)"
    )


@pytest.mark.parametrize("number", [0, 1, 2])
def test_edit_across_a_border_raises(number: int) -> None:
    source = source_of("a", "b", "c")
    start = source.cell_starts[number]
    if number < 2:
        with pytest.raises(ValueError, match="border"):
            source.with_edits([Edit(Span(start, start + 3), "")])
    assert source.with_edits([Edit(Span(start, start + 2), "")]).text == source.text.replace("abc"[number] + "\n", "\n")


def test_statement_goes_from_the_end_of_its_cell() -> None:
    after = fixed("import torch\ntorch.cuda.empty_cache()", "\n\nx = torch.ones(1)", "torch.cuda.empty_cache()")
    assert after == ["import torch", "\n\nx = torch.ones(1)", ""]


def test_comment_at_the_end_of_a_cell_belongs_to_it() -> None:
    cells = ("import torch", "y = 1\n# about y", "torch.cuda.empty_cache()\nx = torch.ones(1)")
    assert fixed(*cells) == [*cells[:2], "x = torch.ones(1)"]


def test_functions_of_notebooks_run_in_forked_processes() -> None:
    setup, train = "import torch_xla\nimport os", "def train(index):\n    pass"
    assert check(setup, train, "torch_xla.launch(train, args=(1,))") == [(6, 1, 1, "TPU626")]
    after = fixed(setup, train, "torch_xla.launch(train, args=(1,))")
    assert after[2] == 'torch_xla.launch(train, args=(1,), start_method="fork")'
    assert check(setup, train, after[2]) == []
    assert check(setup, "from training import train", "torch_xla.launch(train)") == []


def test_imports_go_to_the_first_cell_that_imports_torch() -> None:
    cells = ("import os\nos.environ['A'] = '1'", "%%time\nimport torch\nimport numpy", "x = torch.ones(1).to('cuda')")
    first, second, _ = fixed(*cells)
    assert first == cells[0]
    assert second.startswith("%%time\nimport torch\nimport torch_xla  # noqa: F401") and second.endswith(
        "\nimport numpy"
    )


def test_imports_stand_above_what_needs_them() -> None:
    cells = (
        "import os",
        "from x import f, torch\ntorch.ones(1).to('cuda')",
        "import torch",
        "torch.ones(1).to('cuda')",
    )
    after = fixed(*cells)
    assert all("import torch_xla" not in text for text in after[2:])


def test_device_is_taken_in_the_cell_that_imports_torch() -> None:
    """The boundary brings the import first, below torch; the device is taken in a later pass."""
    cells = (
        "import numpy as np\nwith open('text.txt') as file:\n    text = file.read()",
        "import torch\nmodel = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), 0.1)",
        "on_gpu = torch.cuda.is_available()\nif on_gpu:\n    model.cuda()\nfor x in loader:\n    if on_gpu:\n"
        "        x = x.cuda()\n    model(x).mean().backward()\n    optimizer.step()\nprint(np.mean(1))",
    )
    first, second, _ = fixed(*cells)
    assert first == cells[0]
    assert "import torch_xla\n\ndevice = torch_xla.device()\n" in second


# -------------------------------------------------------------------- comments that silence


@pytest.mark.parametrize(
    ("first", "second", "silenced"),
    [
        ("import torch", "x = torch.ones(1).cuda()  # noqa: TPU002", True),
        ("import torch", "# noqa: TPU002\nx = torch.ones(1).cuda()", True),
        ("import torch\n# noqa: TPU002", "x = torch.ones(1).cuda()", False),
        ("import torch\n# tpulint: ignore-file[TPU002]", "x = torch.ones(1).cuda()", True),
        ("# tpulint: noqa\nimport torch", "x = torch.ones(1).cuda()", True),
        ("import torch", "# tpulint: ignore-cell[TPU002]\ny = 1\n\nx = torch.ones(1).cuda()", True),
        ("import torch\n# tpulint: ignore-cell[TPU002]", "x = torch.ones(1).cuda()", False),
        ("import torch", "%%time\nx = torch.ones(1).cuda()  # noqa: TPU002", True),
        ("import torch", "s = '# tpulint: ignore-cell'\nx = torch.ones(1).cuda()", False),
    ],
)
def test_suppressions(first: str, second: str, silenced: bool) -> None:
    found = [code for *_, code in check(first, second)]
    assert ("TPU002" not in found) == silenced


def test_cell_of_a_percent_script_can_be_silenced() -> None:
    cells = ("# tpulint: ignore-cell[TPU002]\na = torch.ones(1).cuda()", "b = torch.ones(1).cuda()\n")
    text = "import torch\n# %%\n" + "\n# %% next\n".join(cells)
    found = lint(SourceFile.from_text(text, "nb.py"), Settings(), CATALOGUE).findings
    assert [text.count("\n", 0, one.span.start) + 1 for one in found] == [6]


def test_suppression_without_use_is_told_and_taken_out() -> None:
    assert check("x = 1  # noqa: TPU002") == [(2, 1, 16, "unused-suppression")]
    assert fixed("x = 1  # noqa: TPU002", "%%writefile a.py\nx  # noqa: TPU002") == [
        "x = 1",
        "%%writefile a.py\nx  # noqa: TPU002",
    ]


# -------------------------------------------------------------------- shell lines


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["!pip install torch==2.1.0+cu118"], (2, 1, 14, "TPU918")),
        (["%pip install -q torch==2.1.0+cu118"], (2, 1, 17, "TPU918")),
        (["pip install torch==2.1.0+cu118"], (2, 1, 13, "TPU918")),
        (["x = 1\n!curl https://raw.githubusercontent.com/pytorch/xla/master/contrib/scripts/env-setup.py -o a.py"],
         (2, 2, 7, "TPU921")),
        (["!pip install cloud-tpu-client==0.10 https://storage.googleapis.com/tpu-pytorch/wheels/torch_xla-1.9-cp37-cp37m-linux_x86_64.whl"],
         (2, 1, 14, "TPU921")),
        (["%%bash\nexport XRT_TPU_CONFIG=x"], (2, 2, 8, "TPU913")),
        (["%env XRT_TPU_CONFIG=x"], (2, 1, 6, "TPU913")),
        (["import torch", "gpu = !nvidia-smi"], (4, 1, 8, "TPU926")),
        (["import torch", "!CUDA_VISIBLE_DEVICES=1 python train.py"], (4, 1, 2, "TPU910")),
    ],
)  # fmt: skip
def test_shell_lines_are_linted(cells: list[str], found: tuple[int, int, int, str]) -> None:
    assert found in check(*cells)


@pytest.mark.parametrize(
    "cells",
    [
        ["!nvidia-smi"],  # nothing of torch in the notebook
        ["import torch", "if torch.cuda.is_available():\n    !nvidia-smi"],
        ["import torch", "%%writefile a.sh\nnvidia-smi"],
        ["import torch", "x = '''\n!nvidia-smi\n'''"],
        ["import torch", "%%bash\nif command -v nvidia-smi; then nvidia-smi; fi"],
        ["import torch", "!nvidia-smi  # noqa: TPU926"],
    ],
)
def test_shell_lines_that_are_right(cells: list[str]) -> None:
    assert "TPU926" not in [code for *_, code in check(*cells)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("!pip install torch==2.1.0+cu118 x", "!pip install torch==2.1.0 x"),
        ("a = 1\n!XRT_TPU_CONFIG=x python a.py", "a = 1\n!python a.py"),
        ("%env XRT_TPU_CONFIG=x\na = 1", "a = 1"),
        ("%%bash\nexport XRT_TPU_CONFIG=x\nls", "%%bash\nls"),
        ("if a:\n    %env XRT_TPU_CONFIG=x", None),  # the block would be empty
        ("!pip install \\\n  torch==2.1.0+cu118", "!pip install \\\n  torch==2.1.0"),
    ],
)
def test_shell_lines_are_fixed(before: str, after: str | None) -> None:
    assert fixed(before, "b = 2") == [before if after is None else after, "b = 2"]


def test_quote_in_one_shell_line_does_not_reach_the_next() -> None:
    found = check("!echo don't\n!pip install torch==2.1.0+cu118\n!echo 'x")
    assert (2, 2, 14, "TPU918") in found


# -------------------------------------------------------------------- the command


def test_command_line(tmp_path: Path) -> None:
    project = tmp_path / "project"
    cells = ("import torch", "!ls\nx = torch.ones(1).cuda()")
    before = notebook(cells)
    write(project / "nb.ipynb", before)
    write(project / "broken.ipynb", b'{"cells": [\n{]}')
    write(project / "old.ipynb", b'{"nbformat": 2}')
    write(project / "a.py", "import torch\ntorch.cuda.empty_cache()\n")
    write(project / ".ipynb_checkpoints/nb-checkpoint.ipynb", before)
    answer = tpulint("check", "--isolated", "--no-cache", "--output-format", "concise", cwd=project)
    lines = [line.split(" ") for line in answer.out.splitlines()]
    assert [(line[0], line[1]) for line in lines[:2]] == [
        ("a.py:2:1:", "TPU010"),
        ("broken.ipynb:2:1:", "invalid-syntax"),
    ]
    assert " ".join(lines[2][:3]) == "nb.ipynb:cell 4:2:5: TPU002"
    assert lines[3][:2] == ["old.ipynb:1:1:", "invalid-syntax"]
    assert answer.status == 1
    diff = tpulint("check", "--isolated", "--no-cache", "--diff", "--unsafe-fixes", "nb.ipynb", cwd=project)
    assert diff.out.startswith(
        "--- nb.ipynb:cell 2\n+++ nb.ipynb:cell 2\n@@ -1 +1,4 @@\n import torch\n+import torch_xla\n+\n"
        "+device = torch_xla.device()\n--- nb.ipynb:cell 4\n"
    )
    assert (project / "nb.ipynb").read_bytes() == before
    done = tpulint("check", "--isolated", "--fix", "--unsafe-fixes", "nb.ipynb", cwd=project)
    after = (project / "nb.ipynb").read_bytes()
    assert (done.status, code_of(after)[0]) == (0, "import torch\nimport torch_xla\n\ndevice = torch_xla.device()")
    assert without_code(after) == without_code(before)
    piped = tpulint(
        "check", "--isolated", "--fix", "--unsafe-fixes", "-", "--stdin-filename", "x.ipynb", cwd=project, stdin=before
    )
    assert piped.raw == after


def test_every_format_names_the_cell(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write(project / "nb.ipynb", notebook(["import torch", "\nx = torch.ones(1).to('cuda')"], Form(4)))
    text = (project / "nb.ipynb").read_text()
    row = next(number for number, line in enumerate(text.split("\n"), 1) if "torch.ones" in line)

    def said(output_format: str) -> str:
        return tpulint("check", "--isolated", "-n", "--output-format", output_format, cwd=project).out

    full = said("full")
    assert " --> nb.ipynb:cell 4:2:22\n" in full
    assert "\n ::: cell 2\n  |\n1 |   import torch\n2 | + import torch_xla\n ::: cell 4\n" in full
    (found,) = json.loads(said("json"))
    assert (found["cell"], found["location"]) == (4, {"row": 2, "column": 22})
    assert {edit["cell"] for edit in found["fix"]["edits"]} == {2, 4}
    assert json.loads(said("json-lines")) == found
    assert f"line={row},endLine={row}::nb.ipynb:cell 4:2:22: TPU001" in said("github")
    (result,) = json.loads(said("sarif"))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": row, "endLine": row}
    assert result["properties"]["cell"] == 4
    assert "`nb.ipynb:cell 4:2`" in said("markdown")
    (issue,) = json.loads(said("gitlab"))
    assert issue["location"]["positions"]["begin"]["line"] == row
    assert "(cell 4:2:22)" in issue["description"]
    assert f'name="TPU001 cell 4, line 2, column 22" classname="nb.ipynb" line="{row}"' in said("junit")


def test_report_about_porting_names_the_cell(tmp_path: Path) -> None:
    project = tmp_path / "project"
    setup = [
        "import torch",
        "model = torch.nn.Linear(1, 1).to('xla')",
        "optimizer = torch.optim.SGD(model.parameters(), 1)",
    ]
    body = ["loss = model(x.to('xla')).mean()", "loss.backward()", "optimizer.step()", "print(loss.item())"]
    loop = "\n    ".join(["# train\nfor x in loader:", *body])
    write(project / "nb.ipynb", notebook(["\n".join(setup), loop]))
    text = tpulint("report", "--isolated", ".", cwd=project).out
    assert "  nb.ipynb:cell 4:2  " in text
    (file,) = json.loads(tpulint("report", "--isolated", "--output-format", "json", ".", cwd=project).out)["per_file"]
    (found,) = file["step_loops"]
    assert (found["cell"], found["row"], found["end_row"]) == (4, 2, 6) and found["costs"]["host_sync"] == 1
    assert {(one["cell"], one["row"]) for one in file["details"] if one["code"] == "TPU101"} == {(4, 6)}
    page = tpulint("report", "--isolated", "--output-format", "html", ".", cwd=project).out
    assert "<code>nb.ipynb:cell 4:2-6</code>" in page


def test_cache_keeps_places(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write(project / "nb.ipynb", notebook(["import torch", "x = torch.ones(1).to('cuda')"]))
    first, second = (tpulint("check", "--isolated", "-v", cwd=project) for _ in range(2))
    assert first.out == second.out and "cell 4:1:22" in first.out
    assert "of these 1 known" in second.err


def test_findings_can_be_silenced_by_comments(tmp_path: Path) -> None:
    project = tmp_path / "project"
    cells = (
        "import torch",
        "!pip install torch==2.1.0+cu118\nx = torch.ones(1).to('cuda')\n%env XRT_TPU_CONFIG=x",
        "%%bash\nls\nexport XRT_TPU_CONFIG=x",
    )
    before = notebook(cells)
    write(project / "nb.ipynb", before)
    assert tpulint("check", "--isolated", "--add-noqa", cwd=project).status == 0
    after = (project / "nb.ipynb").read_bytes()
    assert code_of(after) == [
        "import torch",
        "# noqa: TPU918\n!pip install torch==2.1.0+cu118\nx = torch.ones(1).to('cuda')  # noqa: TPU001\n"
        "# noqa: TPU913\n%env XRT_TPU_CONFIG=x",
        "%%bash\nls\n# noqa: TPU913\nexport XRT_TPU_CONFIG=x",
    ]
    assert without_code(after) == without_code(before)
    assert tpulint("check", "--isolated", cwd=project).status == 0


GPU = "torch.ones(1).to('cuda')"
COMMITTED = ["import torch", f"a = {GPU}\nb = 1\nc = {GPU}", f"d = {GPU}"]


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """A repository with a notebook of three findings: in cell 4, rows 1 and 3, and in cell 6."""
    project = tmp_path / "project"
    write(project / "nb.ipynb", notebook(COMMITTED, Form(4)))
    in_git(project, "init", "-q")
    in_git(project, "add", ".")
    in_git(project, "commit", "-qm", "x")
    return project


def in_git(project: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=project, check=True)


def new_in(project: Path) -> list[str]:
    """Places that are told of as new."""
    answer = tpulint(
        "check", "--isolated", "--diff-base", "HEAD", "--select", "TPU001", "--output-format", "concise", cwd=project
    )  # fmt: skip
    assert answer.status < 2, answer.err
    return [line.split(": TPU")[0].partition(":")[2] for line in answer.out.splitlines() if "TPU" in line]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (COMMITTED, []),
        ([*COMMITTED[:2], f"d = {GPU}\ne = {GPU}"], ["cell 6:2:22"]),
        ([COMMITTED[0], COMMITTED[1].replace("b = 1", "b = 2"), COMMITTED[2]], []),
        ([COMMITTED[0], COMMITTED[1].replace("c =", "cc ="), COMMITTED[2]], ["cell 4:3:23"]),
        ([COMMITTED[0], f"new = {GPU}", *COMMITTED[1:]], ["cell 4:1:24"]),
        (["x = 1", *COMMITTED], []),
        ([COMMITTED[0], COMMITTED[2], COMMITTED[1]], ["cell 4:1:22"]),
        ([COMMITTED[0], COMMITTED[1].partition("\n")[0], COMMITTED[1].partition("\n")[2], COMMITTED[2]], []),
        ([COMMITTED[0], COMMITTED[2]], []),
        ([COMMITTED[0], COMMITTED[1].replace("b = 1\n", ""), COMMITTED[2]], ["cell 4:1:22", "cell 4:2:22"]),
        ([COMMITTED[0], COMMITTED[1].rpartition("\n")[0], COMMITTED[2]], []),
        ([COMMITTED[0], "\n".join(COMMITTED[1].split("\n")[:1]), COMMITTED[2]], ["cell 4:1:22"]),
    ],
    ids=[
        "none",
        "row",
        "row beside",
        "row of several",
        "cell above",
        "cell on top",
        "moved",
        "divided",
        "cell gone",
        "row gone",
        "last row gone",
        "last rows gone",
    ],
)
def test_what_changed_is_told_by_the_rows_of_cells(committed: Path, cells: list[str], found: list[str]) -> None:
    write(committed / "nb.ipynb", notebook(cells))
    assert new_in(committed) == found


@pytest.mark.parametrize("form", ["4.5", "4.4 of strings in ASCII on one line", "3"])
def test_what_changed_around_the_code_does_not_count(committed: Path, form: str) -> None:
    write(committed / "nb.ipynb", notebook(COMMITTED, FORMS[form]))
    assert new_in(committed) == []


def test_what_explains_a_finding_in_another_cell_counts(committed: Path) -> None:
    old = ["import torch", "scaler = torch.amp.GradScaler('cuda')", "scaler.update()"]
    write(committed / "nb.ipynb", notebook(old))
    in_git(committed, "commit", "-qam", "y")
    write(committed / "nb.ipynb", notebook([*old[:2], "scaler.update( )"]))
    answer = tpulint("check", "--isolated", "--diff-base", "HEAD", "--output-format", "json", cwd=committed)
    assert {item["cell"] for item in json.loads(answer.out)} <= {4, 6}


def test_notebooks_that_were_renamed_or_are_new(committed: Path) -> None:
    in_git(committed, "mv", "nb.ipynb", "träin 1.ipynb")
    assert new_in(committed) == []
    write(committed / "träin 1.ipynb", notebook([*COMMITTED, f"e = {GPU}"], Form(4)))
    assert new_in(committed) == ["cell 8:1:22"]
    write(committed / "new.ipynb", notebook(COMMITTED))
    assert len(new_in(committed)) == 4
    in_git(committed, "add", ".")
    assert len(new_in(committed)) == 4


def test_notebooks_that_git_shows_no_diff_of(committed: Path) -> None:
    write(committed / ".gitattributes", "*.ipynb binary\n")
    write(committed / "nb.ipynb", notebook([*COMMITTED[:2], f"dd = {GPU}"], Form(4)))
    assert new_in(committed) == ["cell 6:1:23"]


def test_notebook_that_was_none_before_is_new(committed: Path) -> None:
    write(committed / "nb.ipynb", b"version https://git-lfs.github.com/spec/v1\n")
    in_git(committed, "commit", "-qam", "y")
    write(committed / "nb.ipynb", notebook(COMMITTED))
    assert len(new_in(committed)) == 3


def test_only_changed_cells_are_fixed(committed: Path) -> None:
    emptied = "torch.cuda.empty_cache()\nx = 1"
    write(committed / "nb.ipynb", notebook(["import torch", emptied]))
    in_git(committed, "commit", "-qam", "y")
    write(committed / "nb.ipynb", notebook(["import torch", "torch.cuda.ipc_collect()\ny = 1", emptied], Form(4)))
    tpulint("check", "--isolated", "--diff-base", "HEAD", "--fix", cwd=committed)
    assert code_of((committed / "nb.ipynb").read_bytes()) == ["import torch", "y = 1", emptied]


def test_python_files_need_nothing_of_notebooks(tmp_path: Path) -> None:
    write(tmp_path / "a.py", "import torch\nx = torch.ones(1)\n")
    code = (
        "import sys; from tpulint.catalog import load; from tpulint.config import Settings\n"
        "from tpulint.examination import Examination\n"
        "Examination(Settings(), load(), False)('a.py')\n"
        "print([name for name in sys.modules if name.startswith('tpulint.notebooks')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_notebook_without_anchors_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []
    real = ast.parse
    monkeypatch.setattr("ast.parse", lambda *args, **options: parsed.append(args) or real(*args, **options))
    lint(source_of("x = 1", "!ls", "y = 2"), Settings(), CATALOGUE)
    assert len(parsed) == 1


# -------------------------------------------------------------------- a notebook is the program in its cells


def cut(text: str, draw: random.Random) -> list[str]:
    """A program in cells, cut between statements of the module below the imports that it begins with."""
    rows = text.split("\n")
    body = ast.parse(text).body
    start = 1 if body and isinstance(body[0], ast.Expr) else 0  # a docstring
    heads = (n for n, one in enumerate(body) if n >= start and not isinstance(one, ast.Import | ast.ImportFrom))
    first = next(heads, len(body))
    cells, start = [], 0
    for left, right in zip(body[first:], body[first + 1 :], strict=False):
        if left.end_lineno and left.end_lineno < right.lineno and draw.random() < 0.4:
            cells.append("\n".join(rows[start : left.end_lineno]))
            start = left.end_lineno
    return [*cells, "\n".join(rows[start:]).removesuffix("\n")]


def with_magics(cells: list[str], draw: random.Random) -> list[str]:
    magics = ["%matplotlib inline\n", "!ls  # files\n", "%%time\n", "?print\n"]
    return [draw.choice(magics) + cell if draw.random() < 0.5 else cell for cell in cells]


def plain(text: str) -> list[str]:
    """The lines of Python; blank ones at a border may go with what stood there."""
    lines = text.split("\n")
    return [line for line in lines if line.strip() and not line.startswith(("%", "!", "?"))]


@settings(max_examples=25)
@given(programs(), st.randoms(use_true_random=False), st.sampled_from([*FORMS.values()]), st.booleans())
def test_fixed_notebook_holds_the_fixed_program(text: str, draw: random.Random, form: Form, unsafe: bool) -> None:
    text = NEWLINE.sub("\n", text)
    wanted = Settings(fix=True, unsafe_fixes=unsafe)
    alone = lint(SourceFile.from_text(text, "train.py"), wanted, CATALOGUE)
    cells = with_magics(cut(text, draw), draw)
    source = source_of(*cells, form=form)
    result = lint(source, wanted, CATALOGUE)
    after = fixed_bytes(source, result)
    assert plain("\n".join(code_of(after))) == plain(alone.text)
    assert without_code(after) == without_code(notebook(cells, form))
    assert is_valid(after)
    again = SourceFile.from_bytes(after, "nb.ipynb")
    assert lint(again, wanted, CATALOGUE).text == again.text
    kept = [line for text in code_of(after) for line in text.split("\n") if line.startswith(("%", "!", "?"))]
    assert kept == [line for text in cells for line in text.split("\n") if line.startswith(("%", "!", "?"))]


@given(st.text("ab=!%?()[]'\"#\n\\ \t:", max_size=60))
def test_masks_keep_length_and_lines(cell: str) -> None:
    for is_strict in (True, False):
        masked = mask(cell, is_strict=is_strict)
        for text in (masked.code, masked.shell or masked.code):
            assert [at for at, char in enumerate(text) if char == "\n"] == [
                at for at, char in enumerate(cell) if char == "\n"
            ]
            assert len(text) == len(cell)


@given(st.lists(st.text('ab(é"\\<\n\t\u2028\U0001f600', max_size=8), max_size=4), st.data())
def test_edits_of_any_text_are_read_back(cells: list[str], data: st.DataObject) -> None:
    form = data.draw(st.sampled_from([*FORMS.values()]))
    source = source_of(*cells, form=form)
    assume(source.texts)
    number = data.draw(st.integers(0, len(source.texts) - 1))
    start = source.cell_starts[number]
    at = data.draw(st.integers(0, len(source.texts[number])))
    end = data.draw(st.integers(at, len(source.texts[number])))
    new = data.draw(st.text('cé"\\/\n', max_size=5))
    changed = source.with_edits([Edit(Span(start + at, start + end), new)])
    expected = list(source.texts)
    expected[number] = apply_edits(source.texts[number], [Edit(Span(at, end), new)])
    assert code_of(changed.to_bytes()) == expected
    assert without_code(changed.to_bytes()) == without_code(source.to_bytes())


def test_notebook_of_marimo_is_linted_and_not_fixed() -> None:
    """What is imported in front of its cells is unknown in them: `torch_xla.sync()` would be a NameError."""
    text = (
        "import marimo\n\napp = marimo.App()\n\n\n@app.cell\ndef _():\n    import torch\n"
        '    device = torch.device("cuda")\n    return device, torch\n'
    )
    result = lint(SourceFile.from_text(text), UNSAFE, CATALOGUE)
    assert result.text == text and [finding.code for finding in result.findings] == ["TPU001"]
    other = lint(SourceFile.from_text(text.replace("@app.cell\n", "")), UNSAFE, CATALOGUE)
    assert "torch_xla.device()" in other.text


def test_guard_of_a_shell_line_stays() -> None:
    """Only the guard goes that a fix has emptied; a line for a shell is none that Python sees."""
    cells = fixed(
        "import sys\nif 'google.colab' in sys.modules:\n    !pip install gymnasium",
        "import torch\nmodel = torch.nn.Linear(2, 2).cuda()\nif torch.backends.cudnn.enabled:\n"
        "    torch.backends.cudnn.benchmark = False",
    )
    assert cells[0] == "import sys\nif 'google.colab' in sys.modules:\n    !pip install gymnasium"
    assert "cudnn" not in cells[1]

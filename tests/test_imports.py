"""Imports that fixes bring in and leave behind: none is without a use or a word on its effect."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest
from command import tpulint

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.imports import import_edit, unused_imports
from tpulint.linter import lint
from tpulint.model import ImportNeed
from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile

CATALOGUE = load()
TRAINING = """
model = torch.nn.Linear(2, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    model(x.to(device)).mean().backward()
    optimizer.step()
"""


def port(text: str, *, unsafe: bool = True, portable: bool = False) -> str:
    wanted = Settings(fix=True, unsafe_fixes=unsafe, portable=portable)
    result = lint(SourceFile.from_text(text, "train.py"), wanted, CATALOGUE)
    assert not result.error
    assert lint(SourceFile.from_text(result.text, "train.py"), wanted, CATALOGUE).text == result.text
    return result.text


def unused(text: str) -> str:
    """What ruff says of imports."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select=F401,RUF100", "--preview", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stdout


CHOICE = 'import torch\n\ndevice = "cuda" if torch.cuda.is_available() else "cpu"\nx = torch.ones(2, device=device)\n'


@pytest.mark.parametrize("portable", [False, True])
def test_import_for_its_effect_is_left_alone_by_other_linters(portable: bool) -> None:
    ported = port(CHOICE, portable=portable)
    assert ("import torch_xla  # noqa: F401 - tells torch of the device xla\n" in ported) is not portable
    assert "All checks passed" in unused(ported)


def test_import_with_a_use_has_no_such_comment() -> None:
    ported = port('import torch\ndevice = "cuda"\n' + TRAINING)
    assert "\nimport torch_xla\n" in ported and "torch_xla.sync()" in ported


def test_import_of_the_author_is_left_as_it_is() -> None:
    assert port(CHOICE.replace("import torch\n", "import torch\nimport torch_xla\n")).count("noqa") == 0


def test_comment_goes_once_the_module_has_a_use() -> None:
    """The safe fixes first, the unsafe ones in a later run: what the first one wrote would be superfluous."""
    text = 'import torch\n\ndevice = "cuda" if torch.cuda.is_available() else "cpu"\n' + TRAINING
    first = port(text, unsafe=False)
    both = port(first)
    assert "noqa" not in both and "torch_xla.sync()" in both
    assert "All checks passed" in unused(both.replace("loader", "[]"))


SCALED = """
from torch.cuda.amp import autocast, GradScaler
model = torch.nn.Linear(2, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = GradScaler()
for x, y in loader:
    optimizer.zero_grad()
    with autocast():
        loss = model(x.to(device)).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""


@pytest.mark.parametrize("function", ["", "def train(loader):"])
def test_names_that_lose_their_last_use_go(function: str) -> None:
    lines = indent(SCALED, "    " if function else "")
    ported = port(f'import torch\ndevice = torch.device("cuda")\n{function}{lines}')
    assert 'torch.autocast("xla"' in ported and "torch.cuda.amp" not in ported and "GradScaler" not in ported


def test_imports_of_one_row_go_one_after_the_other() -> None:
    row = "from torch.cuda.amp import autocast as low; from torch.cuda.amp import GradScaler; import os; import torch\n"
    text = (
        row
        + """
scaler = GradScaler()
model = torch.nn.Linear(2, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    with low():
        loss = model(x.cuda()).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
"""
    )
    assert port(text).startswith("import os; import torch\n")


def test_import_that_a_fix_brought_in_goes_with_its_use() -> None:
    """One fix writes `xr.world_size()`, and another one takes that out again."""
    before = SourceFile.from_text("import torch\nx = torch.ones(1)\n")
    after = SourceFile.from_text("import torch\nimport torch_xla.runtime as xr\nx = torch.ones(1)\n")
    indices = [SemanticIndex(source, ast.parse(source.text)) for source in (before, after)]
    ((_, (alias,)),) = unused_imports(indices[0], indices[1])
    assert alias.asname == "xr"
    assert unused_imports(indices[1], indices[1]) == [], "its author wrote it"


def test_imports_in_branches_of_a_function_go_with_their_last_use() -> None:
    ported = port(
        """
import torch
device = torch.device("cuda")
def evaluate(model, x, fp16):
    if fp16:
        from torch.cuda.amp import autocast
        with autocast():
            return model(x.to(device))
    return model(x.to(device))
"""
    )
    assert "torch.cuda" not in ported
    assert "    if fp16:\n        with torch.autocast(" in ported


def test_imports_in_branches_of_a_module_are_there_for_others() -> None:
    ported = port(
        """
import torch
x = torch.ones(2).to("cuda")
if fp16:
    from torch.cuda.amp import autocast
    with autocast():
        y = x.mean()
"""
    )
    assert "    from torch.cuda.amp import autocast\n" in ported


@pytest.mark.parametrize(
    "begin",
    [
        "class Train:\n    def fit(self, model, batches):\n        for x in batches:\n            model(x.cuda())\n",
        "@cached\ndef move(x):\n    return x.cuda()\n",
    ],
)
def test_first_import_of_a_file_is_set_off_from_a_definition(begin: str) -> None:
    ported = port(begin)
    assert ported.startswith("import torch_xla\n\n\n" + begin.split("\n")[0])


def test_first_import_of_a_file_stands_right_above_statements() -> None:
    assert port("x = make().cuda()\ny = x.cuda()\n").startswith("import torch_xla\n")


def test_settings_stand_in_front_of_torch() -> None:
    """torch reads the environment when it is imported."""
    top = "import os\nos.environ['OMP_NUM_THREADS'] = '1'\nimport torch\n"
    assert top + "import torch_xla\n" in port(top + 'device = "cuda"\n' + TRAINING)


def test_device_is_taken_below_the_import_that_it_needs() -> None:
    """The first pass imports torch_xla for the boundary, a later one takes the device."""
    top = "import matplotlib\nmatplotlib.use('Agg')\nfrom matplotlib import pyplot as plt\nimport torch\n"
    text = """
def main():
    use_gpu = torch.cuda.is_available()
    model = torch.nn.Linear(2, 2)
    if use_gpu:
        model = torch.nn.DataParallel(model).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in torch.ones(3, 2, 2):
        if use_gpu:
            x = x.cuda()
        model(x).mean().backward()
        optimizer.step()
    plt.savefig("losses.png")


main()
"""
    assert port(top + text).startswith(top + "import torch_xla\n\ndevice = torch_xla.device()\n")


@pytest.mark.parametrize(
    "text",
    [
        "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\nx = torch.ones(2).to(device)\n",
        "model = nn.Linear(2, 2).cuda()\nx = torch.ones(2)\nif torch.cuda.is_available():\n    x = x.cuda()\n",
    ],
)
def test_torch_that_another_module_brings_in(text: str) -> None:
    ported = port("from networks import *\n" + text)
    assert "import torch_xla" in ported and "cuda" not in ported


def test_name_of_the_file_that_a_star_does_not_replace() -> None:
    text = "from networks import *\nimport my_torch as torch\nprint(torch.cuda.is_available())\n"
    assert port(text) == text


@pytest.mark.parametrize(
    ("taken", "stays"),
    [
        ("from settings import *", True),
        ("from .settings import (\n    GPU,\n    torch,\n)", True),
        ("from settings import GPU", False),
        ("import settings", False),
        ("from other_settings import *", False),
    ],
)
def test_import_that_another_file_takes_from_this_one_stays(tmp_path: Path, taken: str, stays: bool) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "settings.py").write_text("import torch\n\nGPU = torch.cuda.is_available()\n")
    (tmp_path / "train.py").write_text(f"{taken}\n\nmodel = torch.nn.Linear(2, 2)\n")
    tpulint("--fix", "--unsafe-fixes", "settings.py", cwd=tmp_path)
    ported = (tmp_path / "settings.py").read_text()
    assert ("import torch\n" in ported) is stays
    assert "GPU = True" in ported


def test_names_of_one_import_stand_in_one_order() -> None:
    text = "import torch\n"
    index = SemanticIndex(SourceFile.from_text(text), ast.parse(text))
    aliases = [None, *(f"backend_{letter}" for letter in "fedcba")]
    edit = import_edit(index, [ImportNeed("tpulint_runtime", "backend", alias) for alias in aliases])
    assert edit is not None
    lines = edit.text.split()
    assert [line for line in lines if line.startswith("backend_")] == [f"backend_{letter}" for letter in "abcdef"]
    assert edit.text.startswith("\nfrom tpulint_runtime import backend\n")


def test_names_in_hints_that_are_texts_are_used() -> None:
    text = (
        "import torch\n"
        "from deepspeed import DeepSpeedEngine\n\n\n"
        'def move(model: "DeepSpeedEngine | torch.nn.Module") -> "DeepSpeedEngine":\n'
        "    torch.cuda.empty_cache()\n"
        '    return model.to("cuda")\n'
    )
    assert "import torch\n" in port(text)
    assert "from deepspeed import DeepSpeedEngine\n" in port(text)


def test_import_that_only_a_fix_in_between_needed_is_taken_by_nobody(tmp_path: Path) -> None:
    """Another file takes all names of this one, but none that a fix imports and another makes useless again."""
    text = "import torch\n\n\ndef blank(x):\n    with torch.cuda.device_of(x):\n        y = x * 0\n    return y\n"
    (tmp_path / "base.py").write_text(text)
    (tmp_path / "train.py").write_text("from base import *\n")
    tpulint("--fix", "--unsafe-fixes", "--exit-zero", "base.py", cwd=tmp_path)
    assert (tmp_path / "base.py").read_text() == "import torch\n\n\ndef blank(x):\n    y = x * 0\n    return y\n"


def test_name_that_a_function_imports_elsewhere_is_not_the_name_of_the_module() -> None:
    """In a function an import binds the name for the whole of it: where it is not reached the name means nothing."""
    ported = port(
        "import torch\n\n\n"
        "def save(model, path, on):\n"
        "    if on:\n"
        "        import torch_xla.core.xla_model as xm\n\n"
        "        print(xm.get_memory_info())\n"
        '    model.to("cuda")\n'
        "    torch.save(model.state_dict(), path)\n"
    )
    assert "import torch_xla.core.xla_model as xm_\n" in ported and "    xm_.save(" in ported


def test_name_that_a_function_has_imported_above_is_used() -> None:
    ported = port(
        "import torch\n\n\n"
        "def save(model, path):\n"
        "    import torch_xla.core.xla_model as xm\n\n"
        "    print(xm.get_memory_info())\n"
        '    model.to("cuda")\n'
        "    torch.save(model.state_dict(), path)\n"
    )
    assert "    xm.save(" in ported and ported.count("xla_model as") == 1


@pytest.mark.parametrize("ends", ["raise", "print('torch is missing')\n    raise SystemExit(1)"])
def test_imports_that_end_the_program_where_they_fail_are_imports(ends: str) -> None:
    text = f"import os\n\ntry:\n    import torch\nexcept ImportError:\n    {ends}\n"
    ported = port(text + 'model = torch.nn.Linear(2, 2).cuda()\nbatch = torch.ones(4, 2, device="cuda")\n')
    head, _, rest = ported.partition(ends)
    assert head == text.partition(ends)[0] and rest.startswith("\nimport torch_xla\n\ndevice = torch_xla.device()\n")


def test_imports_that_end_the_program_where_they_fail_get_no_second_one_beside_them() -> None:
    text = "import os\n\ntry:\n    import torch\nexcept ImportError:\n    raise\n"
    ported = port(text + "x = torch.ones(2).cuda()\ntorch.cuda.synchronize()\n")
    assert ported.count("import torch_xla") == 1 and "raise\nimport torch_xla\n" in ported


def test_imports_that_may_be_missing_are_none() -> None:
    text = "import os\n\ntry:\n    import torch\nexcept ImportError:\n    torch = None\n"
    ported = port(text + 'model = torch.nn.Linear(2, 2).to("cuda")\n')
    assert "    torch = None\nelse:\n    import torch_xla\nmodel = " in ported


def test_lines_that_go_leave_no_more_blank_lines_than_there_were() -> None:
    text = "import os\nimport torch\n\ntorch.backends.cudnn.benchmark = True\n\n\ndef f():\n    return os.sep\n\n\n"
    ported = port(text + "torch.backends.cudnn.benchmark = True\n\nprint(f())\n")
    assert ported == "import os\n\n\ndef f():\n    return os.sep\n\n\nprint(f())\n"


def test_what_only_goes_draws_no_import_above_it() -> None:
    text = (
        'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\nimport time\nimport torch\ndevice = "cuda"\n' + TRAINING
    )
    ported = port(text + "torch.save(model.state_dict(), 'last.pt')\nprint(os.sep, time.time())\n")
    assert ported.startswith(
        "import os\nimport time\nimport torch\nimport torch_xla\nimport torch_xla.core.xla_model as xm\n"
    )


# -------------------------------------------------------------------- code behind an import on its row


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize(
    "row",
    [
        "import torch; model = torch.nn.Linear(2, 2).cuda(); x = torch.ones(2).cuda()",
        "import torch; from torch import nn; model = nn.Linear(2, 2).cuda(); x = torch.ones(2).cuda()",
        "n = 2; import torch; model = torch.nn.Linear(n, 2).cuda(); x = torch.ones(n).cuda()",
        "import torch;\nmodel = torch.nn.Linear(2, 2).cuda()\nx = torch.ones(2).cuda()",
        "import torch  # first; always\nmodel = torch.nn.Linear(2, 2).cuda()\nx = torch.ones(2).cuda()",
    ],
)
def test_device_is_there_where_code_stands_behind_the_import(row: str, portable: bool) -> None:
    ported = port(f"{row}\nprint(model(x))\n", unsafe=False, portable=portable)
    assert ".to(device)" in ported and "cuda" not in ported
    names = {name.lineno * 1000 + name.col_offset: name for name in ast.walk(ast.parse(ported)) if _is_device(name)}
    assert isinstance(names[min(names)].ctx, ast.Store), "it is given a value first"


def _is_device(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "device"


# -------------------------------------------------------------------- torch that may be missing

OPTIONAL = """\
import os

try:
    import torch
except ImportError:
    torch = None
if torch is not None:
    model = torch.nn.Linear(2, 2).cuda()
"""


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        OPTIONAL,
        OPTIONAL.replace("if torch", "finally:\n    pass\nif torch"),
        OPTIONAL.replace("torch = None", "torch = None; print()  # no torch"),
        OPTIONAL.replace("    torch = None\n", "    torch = None\nelse:\n    print(torch.__version__)\n"),
        OPTIONAL.replace("    torch = None\n", "    torch = None\nelse: print(torch.__version__)\n"),
        OPTIONAL.replace("import torch\n", "import torch; x = torch.ones(2).cuda()\n"),
        OPTIONAL.replace("import torch\n", "import torch\n    x = torch.ones(2).cuda()\n"),
        OPTIONAL.replace("\n    import torch\n", " import torch; x = torch.ones(2).cuda()\n"),
        OPTIONAL.replace("ImportError:\n    ", "ImportError: "),
    ],
)
def test_a_program_that_runs_without_torch_runs_without_torch_xla(text: str, portable: bool) -> None:
    ported = port(text, portable=portable)
    assert ".cuda()" not in ported
    without = "import sys\nsys.modules.update(torch=None, torch_xla=None, tpulint_runtime=None)\n"
    command = [sys.executable, "-c", without + ported]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == ""
    tree = ast.parse(ported)
    attempt = next(node for node in tree.body if isinstance(node, ast.Try))
    brought = ["tpulint_runtime" if portable else "torch_xla"]
    inside = [node for node in ast.walk(attempt) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [_module(node) for node in inside if _module(node) != "torch"] == brought
    assert not any(_module(node) in brought for node in tree.body)


@pytest.mark.parametrize("ends", ['raise SystemExit("torch is needed")', 'print("torch is needed"); exit(1)'])
def test_torch_that_has_to_be_there_needs_no_other_way(ends: str) -> None:
    ported = port(OPTIONAL.replace("torch = None", ends))
    assert "else:" not in ported and any(_module(node) == "torch_xla" for node in ast.parse(ported).body)


def test_torch_that_is_imported_elsewhere_has_to_be_there() -> None:
    ported = port("import torch.nn as nn\n" + OPTIONAL)
    assert ported.startswith("import torch.nn as nn\nimport torch_xla\n") and "else:" not in ported


def _module(node: ast.stmt) -> str | None:
    return (
        node.module
        if isinstance(node, ast.ImportFrom)
        else node.names[0].name
        if isinstance(node, ast.Import)
        else None
    )


def test_an_import_further_down_serves_nothing_above_it() -> None:
    shown = "from torchsummary import summary\nsummary(model, (2,))\n"
    start, end = TRAINING.split("for x, y")
    ported = port(f"import torch\ndevice = torch.device('cuda')\n{start}{shown}import copy\nfor x, y{end}")
    tree = ast.parse(ported)
    row = next(node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "copy")
    imported = [node.lineno for node in tree.body if _module(node) == "copy"]
    assert min(imported) < row

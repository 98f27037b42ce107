"""Who may import whom, what a check loads, and the names that rules and runtime share."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ENGINE = ROOT / "tpulint"
RULES = ROOT / "rules" / "tpulint_rules"
RUNTIME = ROOT / "runtime" / "tpulint_runtime"
STANDARD = sys.stdlib_module_names


def python_files(folder: Path, *without: str) -> list[Path]:
    return [path for path in sorted(folder.rglob("*.py")) if not set(without) & set(path.relative_to(folder).parts)]


@cache
def imports(path: Path, root: Path) -> list[str]:
    """Absolute names of everything a file imports, at any depth; names of ``from a import b`` as ``a.b``."""
    package = [*path.relative_to(root).with_suffix("").parts][:-1]
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names += [f"{module}.{alias.name}" for alias in node.names]
    return names


def test_imports_are_read_as_python_does(tmp_path: Path) -> None:
    file = tmp_path / "package" / "inner" / "module.py"
    file.parent.mkdir(parents=True)
    file.write_text("import a.b\ndef f():\n    from c import d\n    from . import e\n    from ..g import h\n")
    assert set(imports(file, tmp_path)) == {"a.b", "c.d", "package.inner.e", "package.g.h"}


def is_under(name: str, *roots: str) -> bool:
    return any(name == root or name.startswith(root + ".") for root in roots)


# ------------------------------------------------------------------------ directions


@pytest.mark.parametrize("path", python_files(RULES, "preludes"), ids=lambda path: str(path.relative_to(RULES)))
def test_rules_know_the_rule_api_only(path: Path) -> None:
    for name in imports(path, RULES.parent):
        root = name.partition(".")[0]
        allowed = root in STANDARD or is_under(
            name, "tpulint.context", "tpulint.model", "tpulint.records", "tpulint.semantic", "tpulint.text_files",
            "tpulint_rules",
        )  # fmt: skip
        assert allowed, f"{path.name} imports {name}"
        assert root != "inspect", "a rule works on source, not on live objects"


@pytest.mark.parametrize("path", python_files(ENGINE), ids=lambda path: str(path.relative_to(ENGINE)))
def test_engine_knows_no_rule_and_no_torch(path: Path) -> None:
    for name in imports(path, ROOT):
        assert not is_under(name, "tpulint_rules", "tpulint_runtime", "torch", "torch_xla", "tests"), (
            f"{path.name} imports {name}"
        )


def test_few_modules_name_the_package_of_rules() -> None:
    naming = set()
    for path in python_files(ENGINE):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "tpulint_rules" in text else ():
            if isinstance(node, ast.Constant) and node.value == "tpulint_rules":
                naming.add(path.name)
    assert naming <= {"rule.py", "config.py", "scaffold.py"}


@pytest.mark.parametrize("module", ["records.py", "model.py", "targets.py", "card.py"])
def test_plain_data_needs_the_standard_library_only(module: str) -> None:
    for name in imports(ENGINE / module, ROOT):
        assert is_under(name, "tpulint.records") or name.partition(".")[0] in STANDARD, f"{module} imports {name}"


def test_semantic_index_stands_on_source_and_model() -> None:
    for path in python_files(ENGINE / "semantic"):
        for name in imports(path, ROOT):
            own = is_under(name, "tpulint.semantic", "tpulint.model", "tpulint.records", "tpulint.source")
            assert own or name.partition(".")[0] in STANDARD, f"{path.name} imports {name}"


INDEX = ENGINE / "semantic"
WHAT_THINGS_ARE = ("syntax", "functions", "values", "project", "devices", "cuda", "modules", "batches")
WHAT_BECOMES_OF_THEM = ("reads", "totals", "sizes", "processes")


def packages_of_the_index(folder: str) -> set[str]:
    """The packages of the semantic index that the modules of one of them need."""
    names = (name for path in python_files(INDEX / folder) for name in imports(path, ROOT))
    return {name.split(".")[2] for name in names if name.startswith("tpulint.semantic.")}


def test_what_the_text_of_a_file_tells_needs_nothing_else() -> None:
    assert packages_of_the_index("syntax") <= {"syntax", "SemanticIndex"}


@pytest.mark.parametrize("folder", WHAT_THINGS_ARE)
def test_what_things_are_does_not_follow_from_what_becomes_of_them(folder: str) -> None:
    assert not packages_of_the_index(folder) & {*WHAT_BECOMES_OF_THEM}


@pytest.mark.parametrize("folder", ["sizes", "processes"])
def test_nothing_else_of_the_index_follows_from_sizes_and_processes(folder: str) -> None:
    others = {path.name for path in INDEX.iterdir() if (path / "__init__.py").exists()} - {folder}
    assert others >= {*WHAT_THINGS_ARE}
    assert folder not in set().union(*map(packages_of_the_index, others))


def test_modules_of_the_index_lie_in_its_packages() -> None:
    assert {path.name for path in INDEX.glob("*.py")} == {"__init__.py", "topics.py"}


@pytest.mark.parametrize("path", python_files(RUNTIME), ids=lambda path: str(path.relative_to(RUNTIME)))
def test_runtime_does_not_know_the_linter(path: Path) -> None:
    for name in imports(path, RUNTIME.parent):
        assert not is_under(name, "tpulint", "tpulint_rules"), f"{path.name} imports {name}"
        if is_under(name, "torch_xla"):
            named_so = path.parent == RUNTIME / "backend" and path.name.startswith("xla")
            assert named_so, f"{path.name} imports {name}: only backend/xla*.py do"
        elif is_under(name, "fsspec"):
            assert path == RUNTIME / "checkpoint" / "storage.py", f"{path.name} imports {name}"
        elif is_under(name, "pytest"):
            assert path == RUNTIME / "pytest_plugin.py", f"{path.name} imports {name}"
        elif is_under(name, "rich"):  # which the wheel asks for, and a bar and a table need
            known = (RUNTIME / "loop" / "progress.py", RUNTIME / "rich_report.py")
            assert path in known, f"{path.name} imports {name}"
        elif not is_under(name, "torch", "tpulint_runtime"):
            assert name.partition(".")[0] in STANDARD, (
                f"{path.name} imports {name}: scripts have torch, perhaps no more"
            )


def test_runtime_is_imported_without_what_only_urls_and_a_bar_need() -> None:
    for file, package in (("checkpoint/storage.py", "fsspec"), ("loop/progress.py", "rich")):
        for node in ast.parse((RUNTIME / file).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert package not in ast.unparse(node)


OBSERVATION = RUNTIME / "observation"


@pytest.mark.parametrize("path", python_files(OBSERVATION), ids=lambda path: path.stem)
def test_observation_stands_apart_from_what_scripts_import(path: Path) -> None:
    for name in imports(path, RUNTIME.parent):
        allowed = name.partition(".")[0] in STANDARD or is_under(
            name, "torch", "tpulint_runtime.observation", "tpulint_runtime.graphs", "tpulint_runtime.ownership"
        )
        assert allowed, f"{path.name} imports {name}"


def test_nothing_that_scripts_import_knows_the_observation() -> None:
    for path in python_files(RUNTIME, "observation"):
        for name in imports(path, RUNTIME.parent):
            assert not is_under(name, "tpulint_runtime.observation"), f"{path.name} imports {name}"


def test_only_commands_know_verification() -> None:
    """It is no part of linting: what runs scripts may use the linter, not the other way round. Plans run them, too."""
    knowing = {
        path.name
        for path in python_files(ENGINE, "verification", "planning")
        if any(is_under(name, "tpulint.verification") for name in imports(path, ROOT))
    }
    assert knowing == {"verify_command.py"}


def test_only_the_process_of_the_compiler_knows_jax() -> None:
    knowing = {
        path.name
        for path in python_files(ENGINE)
        if any(is_under(name, "jax", "jaxlib", "libtpu") for name in imports(path, ROOT))
    }
    assert knowing == {"tpu_process.py"}


def test_observer_is_started_without_torch() -> None:
    """By its path, before the package around it is loaded."""
    assert {name.partition(".")[0] for name in imports(OBSERVATION / "start.py", RUNTIME.parent)} <= STANDARD


@pytest.mark.parametrize("folder", [ENGINE, RULES, RUNTIME], ids=lambda folder: folder.name)
def test_nothing_imports_tests(folder: Path) -> None:
    helpers = {path.stem for path in Path(__file__).parent.glob("*.py")} | {"tests", "pytest", "hypothesis"}
    for path in python_files(folder):
        for name in imports(path, folder.parent):
            if path == RUNTIME / "pytest_plugin.py" and is_under(name, "pytest"):
                continue  # a fixture for the tests of others
            assert name.partition(".")[0] not in helpers, f"{path.name} imports {name}"


# ------------------------------------------------------------------------ what a check loads

HEAVY = {
    "libcst", "yaml", "rich", "click", "torch", "dataclasses", "inspect", "logging", "multiprocessing", "hashlib",
    "pathlib", "difflib", "tpulint.card_parser", "tpulint.strict_yaml", "tpulint.fixer", "tpulint.rule_docs",
}  # fmt: skip

LINT = """\
import sys
from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile
catalogue = load()
with open(sys.argv[1], "rb") as file:
    source = SourceFile.from_bytes(file.read(), sys.argv[1])
result = lint(source, Settings(), catalogue)
assert result.findings == (), result.findings
assert result.error == "", result.error
print(*sorted(sys.modules))
"""

CLEAN = """\
import torch
import torch_xla

device = torch_xla.device()
x = torch.ones(2, device=device)
torch_xla.sync()
"""


def modules_of(code: str, *arguments: str, cache: Path) -> set[str]:
    """What a fresh interpreter without site packages' start-up files has loaded in the end."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(2):  # the first run parses the cards and keeps them
        run = subprocess.run(
            [sys.executable, "-S", "-c", code, *arguments], env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def test_clean_check_of_one_file_loads_nothing_heavy(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(CLEAN)
    loaded = modules_of(LINT, str(file), cache=tmp_path)
    assert "tpulint.semantic" in loaded, "the file was not looked at"
    before = modules_of("import sys; print(*sorted(sys.modules))", cache=tmp_path)
    assert (loaded - before) & HEAVY == set()


FIX = """\
import sys
from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile
source = SourceFile.from_text(sys.argv[1])
for settings in (Settings(), Settings(fix=True, unsafe_fixes=True)):
    result = lint(source, settings, load())
    assert result.error == "", result.error
    assert any(finding.fix for finding in (*result.findings, *result.fixed)), result
print(*sorted(sys.modules))
"""


@pytest.mark.parametrize(
    "text",
    [
        'device = "cuda" if torch.cuda.is_available() else "cpu"\n',
        "if torch.cuda.is_available():\n    model.cuda()\nelse:\n    model.cpu()\n",
    ],
    ids=["expression", "branch"],
)
def test_no_fix_loads_a_second_tree(text: str, tmp_path: Path) -> None:
    program = f"import torch\nmodel = torch.nn.Linear(1, 1)\n{text}"
    assert modules_of(FIX, program, cache=tmp_path) & {"libcst", "yaml", "rich", "torch", "multiprocessing"} == set()


def test_libcst_belongs_to_the_tests() -> None:
    for path in python_files(ENGINE):
        assert not any(is_under(name, "libcst") for name in imports(path, ROOT)), path.name


def test_file_without_an_anchor_is_not_indexed(tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    file.write_text("print('nothing to see')\n")
    loaded = modules_of(LINT, str(file), cache=tmp_path)
    assert "tpulint.semantic" not in loaded
    assert "tpulint.declarative" not in loaded


def test_command_line_check_loads_nothing_heavy(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(CLEAN)
    code = """\
import sys
from tpulint.cli import main
try:
    main()
except SystemExit as end:
    assert end.code in (0, None), end.code
print()
print(*sorted(sys.modules))
"""
    loaded = modules_of(code, "check", "--isolated", "--no-cache", str(file), cache=tmp_path)
    assert "tpulint.linter" in loaded
    assert (
        loaded & {"libcst", "yaml", "rich", "torch", "multiprocessing", "tpulint.fixer", "tpulint.card_parser"} == set()
    )
    assert not any(
        is_under(name, "tpulint.verification", "tpulint.verify_command", "tpulint.planning") for name in loaded
    )


def test_types_are_for_the_reader(tmp_path: Path) -> None:
    """``typing`` takes longer to load than forty modules of rules; ``TYPE_CHECKING = False`` tells mypy as much."""
    code = "import sys; from tpulint.cli import run; run(sys.argv[1:]); print(); print(*sorted(sys.modules))"
    example = ROOT / "examples" / "train_gpu.py"
    loaded = modules_of(code, "check", "--isolated", "--no-cache", "--exit-zero", str(example), cache=tmp_path)
    assert "tpulint_rules.device.cuda_device" in loaded, "the file was not looked at"
    assert "typing" not in loaded


# ------------------------------------------------------------------------ rules and runtime


def runtime_names() -> set[str]:
    """``__all__`` of the runtime, read without importing torch."""
    if not (RUNTIME / "__init__.py").exists():
        return set()
    for node in ast.parse((RUNTIME / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return set(ast.literal_eval(node.value))
    raise AssertionError("tpulint_runtime has no __all__")


def mentioned_names() -> Iterator[tuple[str, str]]:
    """File and name of everything of the runtime that a card or a rule mentions."""
    for path in sorted([*RULES.rglob("*.yaml"), *RULES.rglob("*.py")]):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"\btpulint_runtime\.(\w+)", text):
            yield path.name, match[1]
        for match in re.finditer(r"from tpulint_runtime import (?:\(([^)]*)\)|([^\n\"'`]*))", text):
            yield from (
                (path.name, item.split(" as ")[0].strip()) for item in (match[1] or match[2]).split(",") if item.strip()
            )
        for match in re.finditer(r"use\(\s*\"tpulint_runtime\",\s*\"(\w+)\"", text):
            yield path.name, match[1]


def test_rules_mention_only_what_the_runtime_has() -> None:
    names = runtime_names()
    assert [(file, name) for file, name in mentioned_names() if name not in names] == []

"""The order in which files are examined, read off their imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tpulint.call_order import in_call_order

LOOP = "loss.backward()\n"


def write(folder: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return [str(folder / name) for name in files]


def groups(folder: Path, files: dict[str, str]) -> list[list[str]]:
    """Groups of names relative to the folder."""
    (folder / "pyproject.toml").touch()
    return [
        [Path(path).relative_to(folder).as_posix() for path in group] for group in in_call_order(write(folder, files))
    ]


def test_who_imports_comes_before_what_is_imported(tmp_path: Path) -> None:
    files = {
        "a_layers.py": "",
        "b_model.py": "from a_layers import Block\n",
        "lib/steps.py": "import torch\n\nimport b_model\n",
        "z_train.py": "from lib.steps import step\nimport a_layers as layers, torch\n" + LOOP,
    }
    assert groups(tmp_path, files) == [["z_train.py", "lib/steps.py", "b_model.py", "a_layers.py"]]


@pytest.mark.parametrize(
    "line",
    [
        "from lib.steps import step",
        "from lib import (\n    other,\n    steps as made,\n)",
        "import lib.steps",
        "import torch, lib.steps as steps",
        "from lib import steps  # where the loops are",
    ],
)
def test_ways_to_import(tmp_path: Path, line: str) -> None:
    assert groups(tmp_path, {"lib/steps.py": "", "train.py": f"{line}\n{LOOP}"}) == [["train.py", "lib/steps.py"]]


def test_relative_imports(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "", "pkg/a.py": "", "pkg/sub/b.py": "from ..a import f\nfrom .c import g\n" + LOOP,
             "pkg/sub/c.py": ""}  # fmt: skip
    (group,) = [group for group in groups(tmp_path, files) if len(group) > 1]
    assert group[0] == "pkg/sub/b.py" and set(group) == {"pkg/a.py", "pkg/sub/b.py", "pkg/sub/c.py"}


def test_what_nobody_with_a_loop_imports_stands_by_itself(tmp_path: Path) -> None:
    files = {"a.py": "import b\n", "b.py": "", "train.py": "import model\n" + LOOP, "model.py": ""}
    assert groups(tmp_path, files) == [["train.py", "model.py"], ["a.py"], ["b.py"]]


def test_in_a_circle_programs_stand_first(tmp_path: Path) -> None:
    files = {
        "evaluate.py": "import train\n" + LOOP,
        "train.py": "import evaluate\n" + LOOP + "if __name__ == '__main__':\n    main()\n",
    }
    assert groups(tmp_path, files) == [["train.py", "evaluate.py"]]


def test_beside_each_other_files_with_loops_stand_first(tmp_path: Path) -> None:
    """A package imports all of its modules, and they import the package."""
    files = {
        "pkg/__init__.py": "from . import a_measures, trainer\n",
        "pkg/a_measures.py": "",
        "pkg/trainer.py": "import pkg\n" + LOOP,
        "run.py": "import pkg\nif __name__ == '__main__':\n    pkg.trainer.main()\n",
    }
    (order,) = groups(tmp_path, files)
    assert order.index("pkg/trainer.py") < order.index("pkg/a_measures.py")


def test_imports_within_functions_join_but_do_not_order(tmp_path: Path) -> None:
    files = {
        "general.py": "def load():\n    from model import Net\n" + LOOP,
        "model.py": "from general import f\n" + LOOP,
        "other.py": "",
        "train.py": "def main():\n    import other\n" + LOOP,
    }
    assert groups(tmp_path, files) == [["train.py", "other.py"], ["model.py", "general.py"]]


def test_one_file_is_not_read(tmp_path: Path) -> None:
    assert in_call_order([str(tmp_path / "missing.py")]) == [[str(tmp_path / "missing.py")]]


def test_a_file_that_cannot_be_read_is_in_the_list(tmp_path: Path) -> None:
    paths = [*write(tmp_path, {"a.py": LOOP}), str(tmp_path / "missing.py")]
    assert sorted(path for group in in_call_order(paths) for path in group) == sorted(paths)

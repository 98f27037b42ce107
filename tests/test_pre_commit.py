"""The hooks, run by pre-commit itself from a git checkout of this repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from notebook_files import code_of, is_valid, notebook, without_code

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = "import torch\n\ntorch.cuda.empty_cache()\nprint(torch.zeros(1))\n"
FIXED = "import torch\n\nprint(torch.zeros(1))\n"
IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")

pytestmark = pytest.mark.slow


class Checkout:
    """A project whose hooks come from a commit of ours."""

    def __init__(self, folder: Path, ours: Path, home: Path) -> None:
        self.folder = folder
        self._env = {
            key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PRE_COMMIT", "PYTHONPATH"))
        } | {"PRE_COMMIT_HOME": str(home), "NO_COLOR": "1", "XDG_CACHE_HOME": str(home / "xdg")}
        folder.mkdir()
        self.git("init", "-q", "-b", "main")
        revision = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=ours, capture_output=True, text=True, check=True
        ).stdout.strip()
        hooks = "".join(f"      - id: {name}\n" for name in ("tpulint", "tpulint-fix", "tpulint-environment"))
        (folder / ".pre-commit-config.yaml").write_text(
            f"repos:\n  - repo: {ours}\n    rev: {revision}\n    hooks:\n{hooks}"
        )
        self.git("add", "-A")
        self.git("commit", "-qm", "start")

    def git(self, *words: str) -> None:
        subprocess.run(["git", *IDENTITY, *words], cwd=self.folder, env=self._env, check=True, capture_output=True)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run(self, *words: str) -> tuple[int, str]:
        """Exit status and output of ``pre-commit run``."""
        done = subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", *words], cwd=self.folder, env=self._env,
            capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps its environments: one for all tests."""
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a commit of what is in this one now."""
    folder = tmp_path_factory.mktemp("ours") / "tpulint"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip
    if listed.returncode:  # an export without its history
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*cache*", ".venv*", "__pycache__", "site"))
    for name in map(os.fsdecode, filter(None, listed.stdout.split(b"\0"))):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all")):
        subprocess.run(["git", *IDENTITY, *words], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def checkout(tmp_path: Path, ours: Path, home: Path) -> Iterator[Checkout]:
    yield Checkout(tmp_path / "project", ours, home)


def test_nothing_staged(checkout: Checkout) -> None:
    status, said = checkout.run()
    assert status == 0 and said.count("Skipped") == 3


def test_findings_and_fixes(checkout: Checkout) -> None:
    script = checkout.write("train.py", SCRIPT)
    checkout.write("run.sh", "export NCCL_DEBUG=INFO\ntorchrun --nproc_per_node=8 train.py\n")
    checkout.git("add", "-A")
    status, said = checkout.run()
    assert status == 1 and "TPU010" in said and "files were modified by this hook" in said
    assert "run.sh:" in said
    assert script.read_text() == FIXED
    checkout.git("add", "-A")
    status, said = checkout.run("tpulint-fix")
    assert status == 0, said
    status, said = checkout.run("tpulint")
    assert status == 0, said


def test_notebooks(checkout: Checkout) -> None:
    before = notebook(["%matplotlib inline", SCRIPT.removesuffix("\n")]).decode()
    fixed = checkout.write("train.ipynb", before)
    checkout.write("skipped/train.ipynb", before)
    checkout.write("tpulint.toml", 'extend-exclude = ["skipped"]\n')
    checkout.git("add", "-A")
    status, said = checkout.run("tpulint")
    assert status == 1 and "train.ipynb:cell 4:" in said and "skipped" not in said
    status, said = checkout.run("tpulint-fix")
    assert status == 1 and "files were modified by this hook" in said
    after = fixed.read_bytes()
    assert code_of(after) == ["%matplotlib inline", FIXED.removesuffix("\n")]
    assert without_code(after) == without_code(before.encode()) and is_valid(after)
    assert (checkout.folder / "skipped/train.ipynb").read_text() == before


def test_a_file_that_fails_to_parse_does_not_hide_others(checkout: Checkout) -> None:
    checkout.write("broken.py", "import torch\ndef f(:\n")
    checkout.write("train.py", SCRIPT)
    checkout.git("add", "-A")
    status, said = checkout.run("tpulint")
    assert status == 1 and "broken.py:2" in said and "not valid Python" in said and "TPU010" in said


def test_many_files_and_excluded_ones(checkout: Checkout) -> None:
    for number in range(1500):
        name = f"a_folder_with_a_rather_long_name_{number % 40}/a_module_with_a_long_name_{number:04}.py"
        checkout.write(name, SCRIPT if number % 500 == 0 else "x = 1\n")
    checkout.write("skipped/train.py", SCRIPT)
    checkout.write("tpulint.toml", 'extend-exclude = ["skipped"]\n')
    checkout.git("add", "-A")
    status, said = checkout.run("tpulint")
    assert status == 1 and said.count("TPU010") == 3 and "skipped/" not in said


def test_the_environment_is_light(checkout: Checkout, home: Path) -> None:
    checkout.write("train.py", "import torch\n")
    checkout.git("add", "-A")
    checkout.run("tpulint")
    environments = list(home.glob("repo*/py_env-*"))
    assert len(environments) == 1  # for all hooks
    (packages,) = environments[0].glob("lib/python*/site-packages")
    names = {path.name.lower() for path in packages.iterdir()}
    assert not any(name.startswith(("torch", "numpy", "nvidia")) for name in names)
    pip = sum(size(path) for path in packages.glob("pip*"))  # every environment has it
    assert (size(environments[0]) - pip) / 2**20 < 60


def size(path: Path) -> int:
    """Bytes of the files below a path."""
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file() and not one.is_symlink())

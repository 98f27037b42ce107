"""Rules about the files around a training script, and everything the engine does with such files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint, write
from marked_files import agree

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.languages import EXAMPLE_NAMES
from tpulint.linter import lint
from tpulint.model import FileResult
from tpulint.source import SourceFile, UnreadableSource

CATALOGUE = load()
ENVIRONMENT = tuple(rule.code for rule in CATALOGUE.rules if rule.category == "environment")
OTHER_FILES = [path for language, path in EXAMPLE_NAMES.items() if language != "python"]


def look(text: str, path: str = "train.sh", **settings: object) -> FileResult:
    wanted = Settings(select=("ALL",), preview=True)._replace(**settings)  # type: ignore[arg-type]
    result = lint(SourceFile.from_text(dedent(text).lstrip("\n"), path), wanted, CATALOGUE)
    assert result.error == ""
    return result


def codes(text: str, path: str = "train.sh", **settings: object) -> list[str]:
    return [finding.code for finding in look(text, path, **settings).findings]


def fixed(text: str, path: str = "train.sh") -> str:
    result = look(text, path, fix=True, unsafe_fixes=True)
    again = look(result.text, path, fix=True, unsafe_fixes=True)
    assert again.text == result.text, "a second run changes the text"
    return result.text


# ------------------------------------------------------------------------ what is told, and where silence is kept


@pytest.mark.parametrize("path", OTHER_FILES)
def test_no_rule_for_python_looks_at_other_files(path: str) -> None:
    text = "import torch\ntorch.cuda.synchronize()\nx = model.cuda()\n"
    assert codes(text, path) == []
    assert "TPU" in "".join(codes(text, "train.py"))


def test_no_rule_for_other_files_looks_at_python() -> None:
    text = "import torch\n# pip install torch==2.1.0+cu118\ntorchrun = nvidia_smi = 1\n"
    assert not set(codes(text, "train.py")) & set(ENVIRONMENT)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("service/Dockerfile", "FROM nvidia/cuda:12.0-base\nENV NVIDIA_VISIBLE_DEVICES=all\nCMD ./ffmpeg -gpu 0\n"),
        ("build.sh", "export CUDA_VISIBLE_DEVICES=0 NCCL_DEBUG=INFO\ncmake . && make\nnvidia-smi\nnvcc x.cu\n"),
        ("train.sh", "export CUDA_VISIBLE_DEVICES=0\npython train.py --framework tensorflow\n"),
        ("compose.yaml", "services:\n  x:\n    image: nvidia/cuda:12\n    runtime: nvidia\n"),
        ("requirements.txt", "cupy-cuda12x\nnumpy\n"),
        ("environment.yml", "dependencies:\n  - cudatoolkit-dev-notes=1\n  - numpy\n"),
        ("run.sh", "docker run --gpus all transcoder\n"),
    ],
)
def test_what_shows_no_torch_is_left_alone(path: str, text: str) -> None:
    assert codes(text, path) == []


@pytest.mark.parametrize(
    "text",
    [
        "PJRT_DEVICE=TPU python train.py\nCUDA_VISIBLE_DEVICES=0 NCCL_DEBUG=INFO torchrun train.py\nnvidia-smi\n",
        "pip install torch_xla==2.9.0 torch==2.9.0\nexport CUDA_VISIBLE_DEVICES=0\npython train.py\n",
        "gcloud compute tpus tpu-vm ssh x\nCUDA_VISIBLE_DEVICES=0 python train.py\n",
        "if [ $GPU ]; then\n  CUDA_VISIBLE_DEVICES=0 torchrun train.py\n  pip install torch==2.1+cu118\nfi\n",
    ],
)
def test_scripts_that_serve_tpus_too_are_left_alone(text: str) -> None:
    assert codes(text) == []


def test_packages_for_torch_alone_need_no_other_sign_of_it() -> None:
    assert codes("pip install flash-attn --no-build-isolation\n") == ["TPU924"]
    assert codes("pip install cupy-cuda12x\n") == []


@pytest.mark.parametrize("path", ["requirements-gpu.txt", "gpu/requirements.txt", "requirements_cuda.txt"])
def test_file_whose_name_says_gpu_is_left_alone(path: str) -> None:
    assert codes("torch==2.1.0+cu118\nxformers\n", path) == []
    assert codes("torch==2.1.0+cu118\nxformers\n", "requirements.txt") == ["TPU918", "TPU924"]


def test_a_comment_that_speaks_of_tpus_does_not_silence_the_file() -> None:
    assert codes("# TODO: port to TPU\nCUDA_VISIBLE_DEVICES=0 python train.py\n") == ["TPU910"]


def test_launchers_are_told_once_for_each_file() -> None:
    text = "torchrun a.py\ntorchrun b.py\npython -m torch.distributed.launch c.py\n"
    assert codes(text) == ["TPU915"]


@pytest.mark.parametrize(
    ("torch", "xla", "found"),
    [
        ("torch==2.9.0", "torch_xla==2.9.0", []),
        ("torch==2.9.1", "torch-xla[tpu]~=2.9.0", []),
        ("torch==2.10.0", "torch_xla==2.9.0", ["TPU919"]),
        ("torch==2.1", "torch_xla==2.10", ["TPU919"]),
        ("torch>=2.0", "torch_xla==2.9.0", ["TPU920"]),
        ("torch", "torch_xla", ["TPU920"]),
        ("torch==2.9.0", "torch_xla", ["TPU920"]),
        ("numpy", "torch_xla==2.9.0", []),
    ],
)
def test_releases_of_torch_and_torch_xla_are_compared(torch: str, xla: str, found: list[str]) -> None:
    assert codes(f"{torch}\n{xla}\n", "requirements.txt") == found
    assert codes(f"pip install '{torch}' '{xla}'\n") == found


# ------------------------------------------------------------------------ fixes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("export NCCL_DEBUG=INFO NCCL_IB_DISABLE=1\npython train.py\n", "python train.py\n"),
        ("export NCCL_DEBUG=INFO A=1\npython a.py\n", "export NCCL_DEBUG=INFO A=1\npython a.py\n"),
        ("export OMP_NUM_THREADS=1 NCCL_DEBUG=INFO\npython a.py\n", "export OMP_NUM_THREADS=1\npython a.py\n"),
        ('CMD="NCCL_DEBUG=INFO torchrun a.py"\npython b.py\n', 'CMD="torchrun a.py"\npython b.py\n'),
        ("A=1 NCCL_DEBUG=INFO CUDA_VISIBLE_DEVICES=0 python a.py\n", "A=1 python a.py\n"),
        ("NCCL_DEBUG=INFO \\\n  CUDA_VISIBLE_DEVICES=0 \\\n  python a.py\n", "python a.py\n"),
        ("export NCCL_DEBUG=INFO  # loud\npython a.py\n", "export NCCL_DEBUG=INFO  # loud\npython a.py\n"),
        ("f() {\n  export NCCL_DEBUG=INFO\n}\npython a.py\n", "f() {\n  export NCCL_DEBUG=INFO\n}\npython a.py\n"),
        ("cd x && export NCCL_DEBUG=INFO\npython a.py\n", "cd x && export NCCL_DEBUG=INFO\npython a.py\n"),
        ("export NCCL_DEBUG=1\nx ${NCCL_DEBUG}\npython a.py\n", "export NCCL_DEBUG=1\nx ${NCCL_DEBUG}\npython a.py\n"),
        ("export NCCL_DEBUG=INFO\r\npython a.py\r\n", "python a.py\r\n"),
        ("python a.py\nexport NCCL_DEBUG=INFO", "python a.py\n"),
    ],
)  # fmt: skip
def test_settings_are_taken_out_whole_or_not_at_all(before: str, after: str) -> None:
    assert fixed(before) == after


CHIP = "TPU_VISIBLE_CHIPS={} TPU_PROCESS_BOUNDS=1,1,1 TPU_CHIPS_PER_PROCESS_BOUNDS=1,1,1"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("C=0 python a.py &\nC=1 python b.py &\nwait\n", "0 python a.py &\n1 python b.py &\nwait\n"),
        ("C=0 python a.py & C='1' python b.py\n", "0 python a.py & '1' python b.py\n"),
        ("C=0 nohup python a.py | tee a &\nenv C=1 python b.py &\n",
         "0 nohup python a.py | tee a &\nenv 1 python b.py &\n"),
        ("export C=0\npython a.py &\nexport C=1\npython b.py &\n",
         "export 0\npython a.py &\nexport 1\npython b.py &\n"),
        ("for i in 0 1; do\n  C=$i python a.py &\ndone\n", "for i in 0 1; do\n  $i python a.py &\ndone\n"),
        ("(C=0 python a.py; echo) &\nC=1 python b.py &\n", "(0 python a.py; echo) &\n1 python b.py &\n"),
        ("C=0 python a.py &\nC=1 python a.py\nwait\nC=0 python b.py &\nC=1 python b.py &\n",
         "0 python a.py &\n1 python a.py\nwait\n0 python b.py &\n1 python b.py &\n"),
        # two runs of one chip, several chips for one run: nobody knows which
        ("C=0 python a.py &\nC=0 python b.py &\n", None),
        ("C=0,1 python a.py &\nC=2,3 python b.py &\n", None),
        ("C=0 python a.py &\nC=1 python b.py &\necho $C\n", None),
        # one run at a time
        ("C=0 python a.py &\n", "python a.py &\n"),
        ("C=$1 python a.py &\n", "python a.py &\n"),
        ("C=0 python a.py &\nwait\nC=1 python b.py &\n", "python a.py &\nwait\npython b.py &\n"),
        ("C=0 python a.py\nC=1 python b.py\n", "python a.py\npython b.py\n"),
        ("C=0 python a.py && C=1 python b.py\n", "python a.py && python b.py\n"),
        ("for i in 0 1; do C=$i python a.py; done\n", "for i in 0 1; do python a.py; done\n"),
    ],
)  # fmt: skip
def test_runs_that_are_started_side_by_side_get_a_chip_each(before: str, after: str | None) -> None:
    text = re.sub(r"\bC\b", "CUDA_VISIBLE_DEVICES", before)
    expected = re.sub(
        r"(?m)(?<![\w.])(['\"]?(?:\d|\$i)['\"]?)(?= (?:nohup )?python|$)", lambda m: CHIP.format(m[1]), after or ""
    )
    assert fixed(text) == (text if after is None else expected)
    if after is None:
        assert all("side by side" in one.message for one in look(text).findings)


def test_a_chip_for_one_run_says_nothing_of_the_other_lines() -> None:
    text = f"{CHIP.format(0)} python a.py &\nexport NCCL_DEBUG=INFO\ntorchrun b.py\n"
    assert codes(text) == codes(text.partition("\n")[2])


def test_last_setting_of_an_instruction_goes_with_it() -> None:
    text = "FROM python:3.11\nENV A=1 \\\n    NCCL_DEBUG=INFO\nENV NCCL_IB_DISABLE=1\nRUN pip install torch\n"
    assert fixed(text, "Dockerfile") == "FROM python:3.11\nENV A=1\nRUN pip install torch\n"


def test_comment_between_the_lines_of_an_instruction_survives() -> None:
    text = "FROM python:3.11\nENV A=1 \\\n    # why\n    NCCL_DEBUG=INFO\nRUN pip install torch\n"
    assert fixed(text, "Dockerfile") == text


def test_build_for_cuda_goes_with_its_address() -> None:
    text = "-f https://download.pytorch.org/whl/torch_stable.html\ntorch==2.0.1+cu117  # pinned\nnumpy\n"
    assert fixed(text, "requirements.txt") == "torch==2.0.1  # pinned\nnumpy\n"
    old = text.replace("2.0.1", "1.13.1")  # of no more use without its build
    assert fixed(old, "requirements.txt") == old


def test_portable_code_keeps_what_gpus_need() -> None:
    text = "export CUDA_VISIBLE_DEVICES=0\nexport XRT_TPU_CONFIG=x\npython train.py\n"
    assert codes("CUDA_VISIBLE_DEVICES=0 python train.py\n", portable=True) == []
    assert codes(text, portable=True) == ["TPU913"]


# ------------------------------------------------------------------------ suppressions


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.sh", "CUDA_VISIBLE_DEVICES=0 python train.py  # noqa: TPU910\n"),
        ("a.sh", "# tpulint: ignore[cuda-visible-devices] two runs\nCUDA_VISIBLE_DEVICES=0 \\\n  python train.py\n"),
        (
            "a.sh",
            "# tpulint: ignore-file[TPU91]\nCUDA_VISIBLE_DEVICES=0 python train.py\nNCCL_DEBUG=1 python train.py\n",
        ),
        ("Dockerfile", "FROM python\n# noqa: TPU918\nRUN apt update && \\\n  pip install torch==2.1+cu118\n"),
        (
            "Dockerfile",
            "FROM python\nRUN apt update && \\\n  # tpulint: ignore[TPU918]\n  pip install torch==2.1+cu118\n",
        ),
        ("requirements.txt", "torch==2.1.0+cu118  # noqa: TPU918\n"),
        ("environment.yml", "dependencies:\n  - pytorch\n  - pytorch-cuda=11.8 # tpulint: ignore[TPU918]\n"),
    ],
)
def test_comments_suppress(path: str, text: str) -> None:
    assert codes(text, path) == []
    assert codes(text, path, ignore_noqa=True) != []


def test_suppression_in_text_or_for_nothing_is_no_suppression() -> None:
    assert codes("CUDA_VISIBLE_DEVICES=0 python train.py --note '# noqa: TPU910'\n") == ["TPU910"]
    text = "python train.py  # noqa: TPU910\n"
    assert codes(text) == ["unused-suppression"]
    assert fixed(text) == "python train.py\n"


# ------------------------------------------------------------------------ bytes


def test_8_bit_text_is_read_and_written_as_it_is() -> None:
    data = "# gr\xfc\xdfe\nNCCL_DEBUG=1 python train.py\n".encode("latin-1")
    source = SourceFile.from_bytes(data, "train.sh")
    result = lint(source, Settings(fix=True, unsafe_fixes=True), CATALOGUE)
    assert source.render(result.text) == data.replace(b"NCCL_DEBUG=1 ", b"")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_requirements_of_powershell_are_read(encoding: str) -> None:
    mark = "\ufeff" if encoding.endswith("e") else ""
    text = f"{mark}torch==2.1.0+cu118\r\nnumpy\r\n"
    source = SourceFile.from_bytes(text.encode(encoding), "requirements.txt")
    assert source.render(source.text) == text.encode(encoding)
    result = lint(source, Settings(fix=True, unsafe_fixes=True), CATALOGUE)
    assert [finding.code for finding in result.fixed] == ["TPU918"]
    assert source.render(result.text) == text.replace("+cu118", "").encode(encoding)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"#!/bin/sh\ntail -n +3 $0 | tar x\n\x00\x01", "file contains NUL bytes: not a text file"),
        (b"\xff\xfea", "not utf-16-le text, though its byte order mark says so"),
    ],
)
def test_what_is_no_text_is_told(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableSource) as error:
        SourceFile.from_bytes(data, "install.sh")
    assert error.value.message == message


def test_coding_comment_means_nothing_outside_of_python() -> None:
    assert SourceFile.from_bytes("# coding: klingon\né\n".encode(), "a.sh").encoding == "utf-8"


# ------------------------------------------------------------------------ the command


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    write(folder / "train.sh", "CUDA_VISIBLE_DEVICES=0 python train.py\n")
    write(folder / "jobs" / "run", "#!/usr/bin/env bash\nCUDA_VISIBLE_DEVICES=0 python train.py\n")
    write(folder / "requirements.txt", "torch==2.1.0+cu118\n")
    write(folder / "Dockerfile", "FROM python:3.11\nRUN pip install torch && pip install xformers\n")
    write(folder / "notes.txt", "torch==2.1.0+cu118\n")
    write(folder / "values.yaml", "runtime: nvidia\n")
    write(folder / "build" / "old.sh", "CUDA_VISIBLE_DEVICES=0 python train.py\n")
    return folder


def found(out: str) -> list[tuple[str, str]]:
    return [(line.split(":")[0], line.split()[1]) for line in out.splitlines() if line.count(":") > 2]


ALL_OF_IT = [("Dockerfile", "TPU924"), ("requirements.txt", "TPU918"), ("train.sh", "TPU910")]


def test_folder_is_searched_for_them(project: Path) -> None:
    answer = tpulint("--isolated", "--output-format=concise", cwd=project)
    assert found(answer.out) == ALL_OF_IT
    again = tpulint("--isolated", "--output-format=concise", "--verbose", cwd=project)
    assert found(again.out) == ALL_OF_IT
    assert "of these 4 known from an earlier run" in again.err
    answer = tpulint("--isolated", "--output-format=concise", "--extend-exclude", "*.sh", cwd=project)
    assert found(answer.out) == ALL_OF_IT[:2]


def test_named_script_without_a_suffix_is_shell(project: Path) -> None:
    answer = tpulint("--isolated", "--output-format=concise", "jobs/run", cwd=project)
    assert found(answer.out) == [("jobs/run", "TPU910")]


def test_settings_for_some_files_hold(project: Path) -> None:
    write(project / "tpulint.toml", 'include = ["*.sh"]\n[per-file-ignores]\n"train.sh" = ["TPU910"]\n')
    assert tpulint(cwd=project).status == 0


def test_fix_and_diff(project: Path) -> None:
    shown = tpulint("--isolated", "--diff", "--unsafe-fixes", cwd=project)
    assert "-CUDA_VISIBLE_DEVICES=0 python train.py\n+python train.py\n" in shown.out
    tpulint("--isolated", "--fix", "--unsafe-fixes", cwd=project)
    assert (project / "train.sh").read_text() == "python train.py\n"
    assert (project / "requirements.txt").read_text() == "torch==2.1.0\n"
    again = tpulint("--isolated", "--fix", "--unsafe-fixes", "--output-format=concise", cwd=project)
    assert found(again.out) == ALL_OF_IT[:1]


def test_text_from_standard_input_has_the_language_of_its_name(project: Path) -> None:
    data = b"CUDA_VISIBLE_DEVICES=0 python train.py\n"
    named = ("-", "--isolated", "--output-format=json", "--stdin-filename")
    answer = tpulint(*named, "run.sh", cwd=project, stdin=data)
    assert [finding["code"] for finding in json.loads(answer.out)] == ["TPU910"]
    assert "invalid-syntax" in tpulint(*named, "run.txt", cwd=project, stdin=data).out
    fixed = tpulint("-", "--isolated", "--fix", "--unsafe-fixes", "--stdin-filename", "run.sh", cwd=project, stdin=data)
    assert fixed.raw == b"python train.py\n"


@pytest.mark.parametrize("form", ["full", "concise", "json", "json-lines", "github", "gitlab", "junit", "sarif"])
def test_every_output_format_tells_them(form: str, project: Path) -> None:
    answer = tpulint("--isolated", f"--output-format={form}", cwd=project)
    assert answer.status == 1
    for path, code in ALL_OF_IT:
        assert path in answer.out and code in answer.out


def test_comments_between_patterns_decide_nothing(tmp_path: Path) -> None:
    script = "python train.py --torch\ncase $x in\n  # {}\n  a) NCCL_DEBUG=1 torchrun t.py ;;\nesac\n"
    for words in ("noqa: TPU911", "the TPU comes later"):
        (tmp_path / "run.sh").write_text(script.format(words))
        out = tpulint("--isolated", "--output-format", "concise", "run.sh", cwd=tmp_path).out
        assert "TPU915" in out, out


@pytest.mark.parametrize(("library", "is_told"), [("torch", True), ("tensorflow", False), ("torchless", False)])
def test_variable_that_a_program_sets_for_files_that_use_pytorch(tmp_path: Path, library: str, is_told: bool) -> None:
    """It needs no word of PyTorch itself."""
    (tmp_path / "work.py").write_text(f"import {library}\n\ndef train():\n    print({library}.ones(3))\n")
    program = 'import os\nimport work\n\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\nwork.train()\n'
    (tmp_path / "main.py").write_text(program)
    found = tpulint("check", ".", "--select", "TPU910", "--output-format", "concise", cwd=tmp_path).out
    assert ("main.py:4:1: TPU910" in found) is is_told, found


STARTING = """
import subprocess
import torch


def show():
    print(torch.__version__)
    subprocess.call(["nvcc", "--version"]){mark}
"""


@pytest.mark.parametrize(
    ("calls", "is_run"),
    [
        ("show()", True),
        ("if args.cuda:\n    show()", True),
        ("if show_all:\n    show()", True),
        ("try:\n    show()\nexcept OSError:\n    pass", False),
        ("if torch.cuda.is_available():\n    show()", False),
        ("if shutil.which('nvcc'):\n    show()", False),
        ("cuda = torch.cuda.is_available()\nif cuda:\n    show()", False),
        ("print(show)", False),
    ],
)
def test_program_of_cuda_that_a_function_starts(tmp_path: Path, calls: str, is_run: bool) -> None:
    """Whether a call in another file, or in the same one, runs it where there is no GPU."""
    mark = "  # TPU926" if is_run else ""
    head = "import shutil\nimport torch\nfrom options import args, show_all\n"
    tail = f"\n\n{calls}\nnet = torch.nn.Linear(2, 2).to('xla')\nif __name__ == '__main__':\n    print(net)\n"
    for folder in ("several", "one"):
        (tmp_path / folder).mkdir()
    agree(tmp_path / "several", "TPU926", misc=STARTING.format(mark=mark), main=f"{head}from misc import show{tail}")
    agree(tmp_path / "one", "TPU926", main=f"{head}{STARTING.format(mark=mark)}{tail}")


MEMORY = """
import subprocess


def used():
    return int(subprocess.check_output(["nvidia-smi", "--query-gpu=memory.used"])){mark}


def show():
    print(used())


class Display:
    def __init__(self):
        show()


def show_if_any():
    try:
        Display()
    except OSError:
        print("no GPU")


if __name__ == "__main__":
    show()
"""
ABOUT_ARGS = "import misc\nfrom options import args\n"
NET = "net = torch.nn.Linear(2, 2).to('xla')\nif __name__ == '__main__':\n    print(net)\n"


@pytest.mark.parametrize(
    ("program", "is_run"),
    [
        (f"import torch\nfrom misc import used\n\nprint(used())\n{NET}", True),
        (f"import torch\nimport misc\n\nmisc.show()\n{NET}", True),
        (f"{ABOUT_ARGS}import model\n\nif __name__ == '__main__':\n    misc.show()\n    model.train(args)\n", True),
        (f"import torch\nfrom misc import Display\n\nDisplay()\n{NET}", True),
        (f"import torch\nimport misc\n\nmisc.show_if_any()\n{NET}", False),
        (f"import torch\nimport misc\n\nif torch.cuda.is_available():\n    misc.show()\n{NET}", False),
        (f"import torch\nimport misc\n\nprint(misc)\n{NET}", False),
        (f"{ABOUT_ARGS}\nif __name__ == '__main__':\n    misc.show()\n    misc.train(args)\n", False),
    ],
)
def test_program_of_cuda_that_a_file_without_torch_starts(tmp_path: Path, program: str, is_run: bool) -> None:
    """By itself such a file says nothing about PyTorch: programs that do run it."""
    model = "import torch\n\n\ndef train():\n    print(torch.nn.Linear(2, 2).to('xla'))\n"
    misc = MEMORY.format(mark="  # TPU926" if is_run else "")
    agree(tmp_path, "TPU9,TPU001,TPU002,TPU301", main=program, misc=misc, model=model)


def test_what_only_shows_gpus_is_left_out() -> None:
    text = STARTING.format(mark="") + "    out = subprocess.check_output(['nvidia-smi'])\n    print(out)\n\n\nshow()\n"
    left = look(text, "train.py", fix=True, unsafe_fixes=True)
    assert "nvcc" not in left.text
    assert [finding.code for finding in left.findings if finding.code == "TPU926"] == ["TPU926"]

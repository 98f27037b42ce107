"""Shell scripts, Dockerfiles and lists of packages, as they are read: words and commands with their places."""

from __future__ import annotations

import os
import random
from textwrap import dedent

import pytest
from counted_work import growth
from hypothesis import given
from hypothesis import strategies as st

from tpulint.languages import EXAMPLE_NAMES, INCLUDE, LANGUAGES, language_of
from tpulint.patterns import path_patterns
from tpulint.source import SourceFile
from tpulint.text_files import TextIndex, comment_spans, shell


def index_of(text: str, path: str = "train.sh") -> TextIndex:
    return TextIndex(SourceFile.from_text(dedent(text).lstrip("\n"), path))


def words_of(text: str, path: str = "train.sh") -> list[list[str]]:
    return [[word.text for word in command.words] for command in index_of(text, path).commands]


# ------------------------------------------------------------------------ languages


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("train.py", "python"), ("Dockerfile.py", "python"), ("notes.txt", "python"), ("-", "python"),
        ("run.sh", "shell"), ("a/job.slurm", "shell"), ("RUN.BASH", "shell"), ("job.sbatch", "shell"),
        ("Dockerfile", "dockerfile"), ("docker/Dockerfile.gpu", "dockerfile"), ("Dockerfile-cpu", "dockerfile"),
        ("train.dockerfile", "dockerfile"), ("Containerfile", "dockerfile"),
        ("requirements.txt", "requirements"), ("dev-requirements.in", "requirements"),
        ("requirements/base.txt", "requirements"), ("constraints.txt", "requirements"),
        ("environment.yml", "conda"), ("environment-gpu.yaml", "conda"), ("conda.yaml", "conda"),
        ("docker-compose.override.yml", "compose"), ("compose.yaml", "compose"), ("config.yaml", "configuration"),
        ("conf/a.YML", "configuration"), ("config.json", "python"),
    ],
)  # fmt: skip
def test_language_is_told_by_the_name(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize("line", ["#!/bin/sh", "#!/usr/bin/env bash", "#! /bin/bash -e", "#!/usr/bin/env -S zsh -x"])
def test_script_without_a_suffix_is_told_by_its_first_line(line: str) -> None:
    assert language_of("train", f"{line}\npython train.py\n") == "shell"
    assert language_of("train.py", line) == "python"


@pytest.mark.parametrize("line", ["#!/usr/bin/env python", "#!/usr/bin/python3", "# sh", ""])
def test_other_scripts_without_a_suffix_are_python(line: str) -> None:
    assert language_of("train", f"{line}\nbash\n") == "python"


def test_what_folders_are_searched_for_has_its_language() -> None:
    patterns = path_patterns(INCLUDE)
    for language in LANGUAGES:
        assert patterns.match(os.path.join(os.getcwd(), EXAMPLE_NAMES[language])), language
    for name in ("notes.txt", "config.json", "README.md", "Dockerfiles", "data.in", "compose.py.txt"):
        assert not patterns.match(os.path.join(os.getcwd(), name)), name


# ------------------------------------------------------------------------ shell


def test_words_are_unquoted_and_joined() -> None:
    text = """\
        python train.py --name "a b" 'c $d' e\\ f \\
            --last=x"y"'z'   # a comment
        echo "$HOME" $(ls | wc -l) `pwd` ${A:-b c} $'x y'
        """
    assert words_of(text) == [
        ["python", "train.py", "--name", "a b", "c $d", "e f", "--last=xyz"],
        ["echo", "$HOME", "$(ls | wc -l)", "`pwd`", "${A:-b c}", "$'x y'"],
    ]
    first, second = index_of(text).commands
    assert all(word.literal for word in first.words)
    assert [word.literal for word in second.words] == [True, False, False, False, False, False]


def test_places_are_those_of_the_text() -> None:
    index = index_of("A=1 B='2 3' python \\\n  train.py; echo done\n")
    text = index.source.text
    spans = [text[setting.span.start : setting.span.end] for setting in index.settings]
    assert spans == ["A=1", "B='2 3'"]
    assert [setting.value for setting in index.settings] == ["1", "2 3"]
    assert [text[one.span.start : one.span.end] for one in index.commands] == [
        "A=1 B='2 3' python \\\n  train.py",
        "echo done",
    ]


def test_operators_end_commands_and_redirections_hold_no_words() -> None:
    text = "a 1 && b 2 || c; d & e | f > out.txt 2>&1 < in.txt &> both.log\n(g; h)\n{ i; }\n"
    assert words_of(text) == [["a", "1"], ["b", "2"], ["c"], ["d"], ["e"], ["f"], ["g"], ["h"], ["i"]]
    assert [command.tested for command in index_of(text).commands] == [True, True, True, *[False] * 6]


def test_commands_kept_in_texts_are_known() -> None:
    text = """\
        LAUNCHER="accelerate launch \\
            --num_processes 4 "
        cmd='CUDA_VISIBLE_DEVICES=0 torchrun train.py'
        ssh host "python train.py --x"
        echo "torchrun train.py"
        A="python is nice" B="torchrunner x"
        nohup env C=1 D=2 python train.py
        """
    assert [words for words in words_of(text) if words][:3] == [
        ["accelerate", "launch", "--num_processes", "4"],
        ["torchrun", "train.py"],
        ["ssh", "host", "python train.py --x"],
    ]
    assert [words for words in words_of(text) if words][3:] == [
        ["python", "train.py", "--x"],
        ["echo", "torchrun train.py"],
        ["nohup", "env", "C=1", "D=2", "python", "train.py"],
    ]
    names = [setting.name for setting in index_of(text).settings]
    assert names == ["LAUNCHER", "cmd", "CUDA_VISIBLE_DEVICES", "A", "B", "C", "D"]


def test_here_documents_are_no_commands() -> None:
    text = """\
        cat <<EOF > a.txt
        torchrun train.py
        EOF
        cat <<-'END' | tee b
        \ttorchrun $x
        \tEND
        cat <<< "torchrun"
        python train.py
        """
    assert words_of(text) == [["cat"], ["cat"], ["tee", "b"], ["cat"], ["python", "train.py"]]


def test_here_documents_for_a_shell_are_commands() -> None:
    text = """\
        bash <<EOF
        torchrun a.py
        EOF
        ssh host <<'EOF'
        python b.py  # noqa: TPU901
        EOF
        sudo -u me bash -s -- x <<-EOF 2>&1
        \tpython c.py
        \tEOF
        sbatch --nodes 1 <<EOF
        #!/bin/bash
        #SBATCH -N 1
        srun python d.py
        EOF
        bash script.sh <<EOF
        python never.py
        EOF
        sbatch script.sh <<EOF
        python never.py
        EOF
        ssh host python <<EOF
        python never.py
        EOF
        ssh host cat > x.sh <<EOF
        python never.py
        EOF
        tee a <<EOF
        python never.py
        EOF
        python - <<EOF
        python never.py
        EOF
        bash <<EOF
        cat > x.sh <<EOT
        python never.py
        EOT
        python e.py
        EOF
        """
    words = [word for one in words_of(text) for word in one]
    assert [word for word in words if word.endswith(".py")] == ["a.py", "b.py", "c.py", "d.py", "e.py"]
    index = index_of(text)
    assert next(index.source.text[span.start : span.end] for span in index.comments) == "# noqa: TPU901"
    (fed,) = [one for one in index.commands if one.words[-1].text == "b.py"]
    assert fed.depth == 1 and not fed.alone


def test_nested_here_documents_take_time_in_proportion() -> None:
    assert index_of("bash <<A\n" * 3000).commands


def test_the_shells_own_words_are_no_commands() -> None:
    text = """\
        for gpu in 0 1; do
            python train.py
        done
        while read line; do echo "$line"; done < file
        case "$1" in
            torchrun|deepspeed) python a.py ;;
            (x) python b.py ;;
            *) python c.py
        esac
        run() { python d.py; }
        function all { python e.py
        }
        if ! test -f x; then python f.py; elif true; then python g.py; else python h.py; fi
        """
    assert [" ".join(words) for words in words_of(text)] == [
        "python train.py", "read line", "echo $line", "python a.py", "python b.py", "python c.py", "python d.py",
        "python e.py", "test -f x", "python f.py", "true", "python g.py", "python h.py",
    ]  # fmt: skip
    tested = {" ".join(word.text for word in one.words) for one in index_of(text).commands if one.tested}
    assert tested == {"read line", "test -f x", "true"}


@pytest.mark.parametrize(
    "text",
    [
        "if command -v nvidia-smi; then HIT; fi\n",
        'if [ "$DEVICE" = tpu ]; then other; else HIT; fi\n',
        "if false; then a\nelif has_gpu; then HIT; fi\n",
        'case "$ACCELERATOR" in a) HIT ;; esac\n',
        "case $1 in a) b ;; cuda) HIT ;; esac\n",
        "setup_gpu() {\n  HIT\n}\n",
        "function with_cuda { HIT; }\n",
        "while nvidia-smi; do for x in 1 2; do HIT; done; done\n",
    ],
)
def test_branches_that_hardware_decides_are_known(text: str) -> None:
    index = index_of(text)
    at = text.index("HIT")
    assert any(span.start <= at < span.end for span in index.cuda_only_spans())


@pytest.mark.parametrize(
    "text", ["if [ -f x ]; then HIT; fi\n", "nvidia-smi\nHIT\n", "if has_gpu; then a; fi\nHIT\n", "run() { HIT; }\n"]
)
def test_other_branches_are_not(text: str) -> None:
    at = text.index("HIT")
    assert not any(span.start <= at < span.end for span in index_of(text).cuda_only_spans())


def test_settings_are_found_wherever_they_are_made() -> None:
    text = """\
        A=1
        export B=2 C="3 4"
        declare -x D=5
        E=6 python train.py F=7
        env G=8 python train.py
        echo H=9
        [ "$I" = 10 ]
        """
    found = {setting.name: (setting.value, setting.is_prefix) for setting in index_of(text).settings}
    assert found == {
        "A": ("1", False), "B": ("2", False), "C": ("3 4", False), "D": ("5", False),
        "E": ("6", True), "G": ("8", True),
    }  # fmt: skip


# ------------------------------------------------------------------------ Dockerfiles


def test_dockerfile_is_read_with_its_continuation_lines() -> None:
    text = """\
        # syntax=docker/dockerfile:1
        ARG BASE=nvidia/cuda
        ARG TAG
        FROM --platform=linux/amd64 ${BASE}:${TAG:-12.1} AS build
        ENV A=1 \\
            # between
            B="2 3"
        ENV C some words
        RUN --mount=type=cache,target=/root apt-get update && \\
            # pip next

            pip install torch \\
              numpy
        RUN <<EOF
        pip install jinja2
        EOF
        RUN --mount=type=cache,target=/x bash -e <<'EOF'
        pip install attrs
        EOF
        RUN python3 <<EOF
        pip install never
        EOF
        RUN <<EOF
        #!/usr/bin/env python3
        pip install never
        EOF
        COPY <<EOF /install.sh
        pip install never
        EOF
        RUN cat > install.sh <<EOF
        pip install never
        EOF
        CMD ["python", "train.py", "--x"]
        ENTRYPOINT ["bash", "-c", "A=1 python other.py"]
        """
    index = index_of(text, "Dockerfile")
    assert [image.name for image in index.dockerfile.images] == ["nvidia/cuda:12.1"]
    assert [(one.name, one.value) for one in index.settings] == [
        ("A", "1"),
        ("B", "2 3"),
        ("C", "some words"),
        ("A", "1"),
    ]
    assert words_of(text, "Dockerfile") == [
        ["apt-get", "update"],
        ["pip", "install", "torch", "numpy"],
        ["pip", "install", "jinja2"],
        ["bash", "-e"],
        ["pip", "install", "attrs"],
        ["python3"],
        ["cat"],
        ["python", "train.py", "--x"],
        ["python", "other.py"],
    ]
    assert [one.name for one in index.installs.requirements] == ["torch", "numpy", "jinja2", "attrs"]


def test_dockerfile_may_continue_lines_by_another_character() -> None:
    text = """\
        # syntax=docker/dockerfile:1
        # escape=`
        FROM windows
        RUN cd C:\\work && pip install `
            torch==2.1.0 `
            numpy
        ENV A=1 `
            B=2
        """
    index = index_of(text, "Dockerfile")
    assert [one.name for one in index.installs.requirements] == ["torch", "numpy"]
    assert [(one.name, one.value) for one in index.settings] == [("A", "1"), ("B", "2")]
    later = index_of("FROM x\n# escape=`\nRUN pip install a `\n b\n", "Dockerfile")
    assert "b" not in [one.name for one in later.installs.requirements]


def test_statement_of_a_line_is_the_whole_instruction() -> None:
    index = index_of("FROM a\nRUN x && \\\n    y \\\n    z\nCMD w\n", "Dockerfile")
    assert [word.text for word in index.commands[1].words] == ["y", "z"]
    assert index.statement_rows(index.commands[1].span) == (2, 4)


# ------------------------------------------------------------------------ packages


def test_requirements_are_read_as_pip_does() -> None:
    text = """\
        # comment
        --extra-index-url https://download.pytorch.org/whl/cu118
        torch == 2.1.0+cu118  # pinned
        Torch_XLA[tpu]~=2.9.0 ; sys_platform == "linux"
        numpy>=1.20,<2
        -r other.txt
        -e .
        flash-attn @ https://example.org/flash_attn-2.5-cp310-cp310-linux_x86_64.whl
        git+https://github.com/NVIDIA/apex.git@master#egg=apex
        https://example.org/torch_xla-1.9-cp37-cp37m-linux_x86_64.whl
        cudatoolkit=10.1.243=h6bb024c_0
        """
    index = index_of(text, "requirements.txt")
    found = [(one.name, one.versions, one.release) for one in index.installs.requirements]
    assert found == [
        ("torch", "==2.1.0+cu118", (2, 1)), ("torch-xla", "~=2.9.0", (2, 9)), ("numpy", ">=1.20,<2", None),
        ("flash-attn", "", None), ("apex", "", None), ("torch-xla", "==1.9", (1, 9)),
        ("cudatoolkit", "=10.1.243=h6bb024c_0", None),
    ]  # fmt: skip
    assert [one.build for one in index.installs.requirements][::6] == ["cu118", "h6bb024c_0"]
    assert [one.address for one in index.installs.indexes] == ["https://download.pytorch.org/whl/cu118"]
    first = index.installs.requirements[0]
    assert index.source.text[first.span.start : first.span.end] == "torch == 2.1.0+cu118"


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("pip install torch==2.1 'numpy>=1'", ["torch", "numpy"]),
        ("sudo python3 -m pip install -U -r requirements.txt torch", ["torch"]),
        ("uv pip install torch --index-url https://x/y", ["torch"]),
        ("conda install -y pytorch pytorch-cuda=12.1 -c pytorch", ["pytorch", "pytorch-cuda"]),
        ("pip download torch", []),
        ("echo pip install torch", []),
        ("pip install $PACKAGES", []),
    ],
)
def test_install_commands_are_understood(command: str, names: list[str]) -> None:
    assert [one.name for one in index_of(command).installs.requirements] == names


def test_conda_environment_holds_packages_of_conda_and_of_pip() -> None:
    text = """\
        name: x
        channels: [pytorch]
        dependencies:
        - python=3.11
        - pytorch::pytorch>=2  # why
        - pip:
          - torch_xla==2.9.0
          - "xformers"
          - --extra-index-url https://download.pytorch.org/whl/cu118
          - -r more.txt
        - numpy
        prefix: /x
        """
    (index,) = index_of(text, "environment.yml").installs.indexes
    assert (index.address, index.option) == ("https://download.pytorch.org/whl/cu118", "--extra-index-url")
    found = [(one.name, one.is_conda) for one in index_of(text, "environment.yml").installs.requirements]
    assert found == [
        ("python", True), ("pytorch", True), ("torch-xla", False), ("xformers", False), ("numpy", True),
    ]  # fmt: skip


def test_compose_file_sets_variables() -> None:
    text = """\
        services:
          a:
            environment:
              - A=1
              - B
            ports:
              - C=2
          b:
            environment:
              D: "3"
            labels:
              E: 4
          c:
            environment: {F: 0, "G": "a, b", H: 'c', I: $J, K: {L: 1}, M: , N}  # O: 1
          d:
            environment: [P=1, "Q=a, b", R, "S=$T"]
          e:
            environment: {U: 1
            labels: {V: 1}
        """
    index = index_of(text, "compose.yaml")
    assert [(one.name, one.value, one.literal) for one in index.settings] == [
        ("A", "1", True), ("D", "3", True),
        ("F", "0", True), ("G", "a, b", True), ("H", "c", True), ("I", "$J", False),
        ("P", "1", True), ("Q", "a, b", True), ("S", "$T", False),
    ]  # fmt: skip
    for one in index.settings:
        assert index.source.text[one.value_span.start : one.value_span.end] == one.value


# ------------------------------------------------------------------------ comments, and whatever text there is


def test_requirements_are_continued_by_backslashes() -> None:
    text = """\
        torch \\
            ==2.1.0+cu118 \\
            --hash=sha256:abc
        --extra-index-url \\
            https://download.pytorch.org/whl/cu118
        # a comment \\
        numpy \\
        """
    installs = index_of(text, "requirements.txt").installs
    assert [(one.name, one.versions) for one in installs.requirements] == [("torch", "==2.1.0+cu118"), ("numpy", "")]
    assert [one.address for one in installs.indexes] == ["https://download.pytorch.org/whl/cu118"]


@pytest.mark.parametrize(
    ("path", "text", "comments"),
    [
        ("a.sh", "a # one\necho '#no' \"#no\" x#no ${#no} $#\ncat <<E\n# no\nE\n# two\n", ["# one", "# two"]),
        ("Dockerfile", "# one\nRUN a # no\nRUN b \\\n  # two\n  c\n", ["# one", "# two"]),
        ("requirements.txt", "a # one\nhttps://x/#egg=no\n# two\n", ["# one", "# two"]),
        ("environment.yml", "a: b # one\n# two\nc: d#no\n", ["# one", "# two"]),
    ],
)
def test_comments_are_told_from_text(path: str, text: str, comments: list[str]) -> None:
    assert [text[one.start : one.end] for one in comment_spans(SourceFile.from_text(text, path))] == comments


pieces = st.sampled_from(
    [
        "export ", "CUDA_VISIBLE_DEVICES=0", " ", "\n", "\\\n", "\r\n", "'", '"', "$(", ")", "${", "}", "`", "<<EOF",
        "EOF\n", "<<<", "if ", "then ", "fi", "case ", " in ", "esac", ";;", "{ ", "(", "#", "&&", "FROM ",
        "RUN ", "ENV ",
        "x", "=", "dependencies:", "- ", "pip install torch==2.1+cu118", "[", "]", "\\", "\t", ";", "|",
        "function ", "\ufeff", "é",
    ]
)  # fmt: skip


@given(
    st.lists(pieces, max_size=40).map("".join), st.sampled_from(sorted(set(EXAMPLE_NAMES.values()) - {"example.py"}))
)
def test_any_text_is_read(text: str, path: str) -> None:
    index = TextIndex(SourceFile.from_text(text, path))
    for command in index.commands:
        assert 0 <= command.span.start < command.span.end <= len(text)
    for setting in index.settings:
        assert text[setting.span.start : setting.span.end].startswith(setting.name[:1])
    for requirement in index.installs.requirements:
        assert 0 <= requirement.span.start < requirement.span.end <= len(text)
    for span in (*index.comments, *index.cuda_only_spans()):
        assert 0 <= span.start < span.end <= len(text)
    assert index.code is not None


@pytest.mark.parametrize(
    "unit",
    ["a;", "$(", '"$(', "`", "${", "(", "{ ", "if a; then ", "<<E ", "x \\\n", "'", "case a in ", "A=1 ", "# x\n"],
)
@pytest.mark.parametrize("path", ["a.sh", "Dockerfile", "requirements.txt", "environment.yml"])
def test_work_grows_with_a_text_not_with_its_square(unit: str, path: str) -> None:
    def read(count: int) -> None:
        index = TextIndex(SourceFile.from_text("RUN " * (path == "Dockerfile") + unit * count, path))
        assert len(index.commands) + len(index.comments) + len(index.installs.requirements) >= 0

    # Each command asks all the blocks around it, of which real scripts have few.
    assert growth(read, 300, 1_200) < (20 if unit == "if a; then " else 5)
    read(8_000)


def test_spans_of_nested_functions_do_not_run_away() -> None:
    text = "f() {\n" * 50 + "echo\n" + "}\n" * 50
    assert [len(command.words) for command in shell.read(text).commands] == [1]
    shuffled = list(text)
    random.Random(0).shuffle(shuffled)
    shell.read("".join(shuffled))

"""Configurations in YAML that programs read: devices and trainers named there."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from counted_work import growth
from hypothesis import given
from hypothesis import strategies as st

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.library import Library
from tpulint.linter import Surroundings, lint
from tpulint.source import SourceFile
from tpulint.text_files import configuration

READER = "import yaml\n\n\ndef read(path):\n    with open(path) as f:\n        return yaml.safe_load(f)\n"
TRAINER = "import torch\n\n\ndef place(model, config):\n    return model.to(torch.device(config['start']['device']))\n"
LIGHTNING = "import lightning as L\nimport hydra\n\n\n@hydra.main()\ndef main(cfg):\n    L.Trainer(**cfg.trainer)\n"
CATALOGUE = load()
SETTINGS = Settings(select=("TPU024", "TPU829"))


def found(path: Path, library: Library | None = None) -> list[str]:
    source = SourceFile.from_bytes(path.read_bytes(), os.fspath(path))
    library = library or Library()
    library.open(changed=True)
    result = lint(source, SETTINGS, CATALOGUE, Surroundings(library))
    assert result.error == ""
    return [finding.code for finding in result.findings]


def fixed(data: bytes, path: str = "config.yaml") -> bytes:
    source = SourceFile.from_bytes(data, path)
    result = lint(source, SETTINGS._replace(fix=True, unsafe_fixes=True), CATALOGUE)
    assert result.error == ""
    return source.with_text(result.text).to_bytes()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose programs read configurations and move to the device that these name."""
    top = tmp_path / "project"
    (top / "src").mkdir(parents=True)
    (top / "conf" / "deep").mkdir(parents=True)
    (top / "pyproject.toml").touch()
    (top / "src" / "reading.py").write_text(READER)
    (top / "src" / "train.py").write_text(TRAINER)
    (top / "conf" / "deep" / "base.yaml").write_text("device: cuda:1\n")
    return top


# ------------------------------------------------------------------------ who reads them


def test_configuration_is_read_by_the_programs_of_its_project(project: Path) -> None:
    assert found(project / "conf" / "deep" / "base.yaml") == ["TPU024"]


def test_project_without_a_mark_begins_where_python_is(project: Path) -> None:
    (project / "pyproject.toml").unlink()
    (project / "main.py").write_text("import src.train\n")
    assert found(project / "conf" / "deep" / "base.yaml") == ["TPU024"]


@pytest.mark.parametrize(
    "use",
    [
        "torch.device(cfg.device)", "x.to(args.device)", "x.to(config.get('device', 'cpu'))", "x.to(c['device'])",
        "hydra.utils.instantiate(cfg.agent)", "torch.device(self.plan.run.device)",
    ],
)  # fmt: skip
def test_programs_use_the_device_in_many_ways(project: Path, use: str) -> None:
    (project / "src" / "train.py").write_text(f"import torch\n{use}\n")
    assert found(project / "conf" / "deep" / "base.yaml") == ["TPU024"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("reading.py", "import json\njson.load(open('x.json'))\n"),  # nothing reads YAML
        ("train.py", "import torch\nx = y.to(y.device)\n"),  # no device of a configuration
        ("train.py", "import ctranslate2\nct = ctranslate2.Translator(config['device'])\n"),  # not of torch
    ],
)
def test_configuration_that_no_training_reads_is_left_alone(project: Path, name: str, text: str) -> None:
    (project / "src" / name).write_text(text)
    assert found(project / "conf" / "deep" / "base.yaml") == []


@pytest.mark.parametrize(
    ("use", "text", "is_told"),
    [
        ("x.to(args.device.type)", "device:\n  type: cuda\n  gpu: [0]\n", True),
        ("x.to(config['device']['type'])", "run: {device: {type: 'cuda:0'}}\n", True),
        ("x.to(args.device)", "device:\n  type: cuda\n", False),
        ("x.to(args.device.type)", "storage:\n  type: cuda\n", False),
        ("x.to(args.device.type)", "device:\n  kind:\n    type: cuda\n", False),
        ("x.to(args.device.type)", "device:\n  type: cpu\n", False),
    ],
)
def test_device_in_a_table_of_its_own(project: Path, use: str, text: str, is_told: bool) -> None:
    (project / "src" / "train.py").write_text(f"import torch\n{use}\n")
    (project / "conf" / "deep" / "base.yaml").write_text(text)
    assert found(project / "conf" / "deep" / "base.yaml") == ["TPU024"] * is_told


def test_what_programs_do_is_looked_at_again_when_they_change(project: Path) -> None:
    library, path = Library(), project / "conf" / "deep" / "base.yaml"
    reader = project / "src" / "reading.py"
    reader.write_text("pass\n")
    assert found(path, library) == []
    reader.write_text(READER)
    assert found(path, library) == ["TPU024"]
    reader.unlink()
    assert found(path, library) == []


def test_cached_report_depends_on_the_programs(project: Path) -> None:
    def is_told() -> bool:
        return "TPU024" in tpulint("check", "--select", "TPU024", cwd=project).out

    assert is_told() and is_told()
    (project / "src" / "reading.py").write_text("import json\n")
    assert not is_told() and not is_told()
    (project / "src" / "other.py").write_text(READER)
    assert is_told()


def test_accelerator_is_lightnings(project: Path) -> None:
    path = project / "conf" / "trainer.yaml"
    path.write_text("accelerator: gpu\ndevices: 1\n")
    assert found(path) == []
    (project / "src" / "run.py").write_text(LIGHTNING)
    assert found(path) == ["TPU829"]


# ------------------------------------------------------------------------ which are meant


@pytest.mark.parametrize(
    "name",
    [
        "conf/gpu.yaml", "conf/train_cuda.yml", "gpu/base.yaml", "tests/base.yaml", "fixtures/deep/base.yaml",
        "docker-compose.yml", "environment.yml", "conf/base.json",
    ],
)  # fmt: skip
def test_files_for_other_things_are_left_alone(project: Path, name: str) -> None:
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"device": "cuda"}\n' if name.endswith(".json") else "device: cuda\n")
    assert found(path) == []


@pytest.mark.parametrize(
    "text",
    [
        "device: ${oc.env:DEVICE,cuda}\n", "device: [cuda, cpu]\n", "device: cudart\n", "device: {kind: cuda}\n",
        "vllm_device: cuda:3\n", "# device: cuda\nlr: 1\n", "help: >\n  device: cuda\n", "- device\n- cuda\n",
        "device: cuda\nbackend: tpu\n", "device: !torch cuda\n", "device: &place cuda\n", 'device: "cu\\x64a"\n',
        "device: cuda\n  lr: 1\n", "{% if gpu %}\ndevice: cuda\n{% endif %}\n", "a:\n\t- device: cuda\n",
        "device: cuda\nx: [1, 2\n", "device: cuda\x00\n", "accelerator: auto\n", "accelerator: {name: gpu}\n",
    ],
)  # fmt: skip
def test_other_texts_are_left_alone(text: str) -> None:
    assert fixed(text.encode()) == text.encode()


# ------------------------------------------------------------------------ what a fix writes


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a: é\r\ndevice: 'cuda:0'\t# é\r\n", "a: é\r\ndevice: 'xla'\t# é\r\n"),
        ("a: 1\n---\ndevice: cuda\n---\nb:\n  device: cuda", "a: 1\n---\ndevice: xla\n---\nb:\n  device: xla"),
        ("base: &b\n  device: cuda\nown:\n  <<: *b\n", "base: &b\n  device: xla\nown:\n  <<: *b\n"),
        ("a:\n- device: cuda\n  lr: 1\n- {device: 'cuda'}\n", "a:\n- device: xla\n  lr: 1\n- {device: 'xla'}\n"),
        ('"device": cuda\nn: !!python/tuple [1, 2]\n', '"device": xla\nn: !!python/tuple [1, 2]\n'),
        ("accelerator: cuda\nprecision: 16\nstrategy: ddp_find_unused_parameters_false\n",
         "accelerator: tpu\nprecision: bf16-true\nstrategy: auto\n"),
        ("accelerator: gpu\nstrategy: my_ddp\nother:\n  precision: 16\n",
         "accelerator: tpu\nstrategy: my_ddp\nother:\n  precision: 16\n"),
        *[(text, text) for text in (
            "defaults:\n  - /strategy: ddp\ntrainer:\n  accelerator: cuda\n",
            "trainer:\n  accelerator: gpu\n  strategy:\n    _target_: lightning.pytorch.strategies.DDPStrategy\n",
        )],
    ],
)  # fmt: skip
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_fix_changes_values_alone(text: str, wanted: str, mark: bytes) -> None:
    assert fixed(mark + text.encode()) == mark + wanted.encode()
    assert fixed(mark + wanted.encode()) == mark + wanted.encode()


def test_suppressed_by_a_comment() -> None:
    text = b"device: cuda  # tpulint: ignore[TPU024]\n"
    assert fixed(text) == text


def test_portable_configuration_is_told_of_and_kept() -> None:
    source = SourceFile.from_text("device: cuda\n", "config.yaml")
    settings = SETTINGS._replace(fix=True, unsafe_fixes=True, portable=True)
    result = lint(source, settings, CATALOGUE)
    assert [finding.code for finding in result.findings] == ["TPU024"]
    assert result.text == source.text


# ------------------------------------------------------------------------ how they are read


def test_tables_have_plain_entries_with_their_places() -> None:
    text = dedent("""\
        run: {name: "é", place: [x]}
        2: 'b'
        list:
          - c: d e
        """)
    inner, item, top = configuration.read(text)
    assert [(one.key, one.value, text[slice(*one.span)]) for one in inner] == [("name", "é", 'name: "é')]
    assert [(one.key, one.value) for one in item] == [("c", "d e")]
    assert [(one.key, one.value, text[slice(*one.value_span)]) for one in top] == [("2", "b", "b")]


PIECES = st.sampled_from(
    ["device: cuda", "\n", "  ", "- ", "{", "}", "[", "'", '"', ": ", "&a ", "*a", "|", "é", "\t", "---\n", "# x",
     "!t ", "\r\n", "\u2028", "\x00", "\ud800", ","]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_text_is_read(text: str) -> None:
    for table in configuration.read(text):
        for entry in table:
            assert text[slice(*entry.value_span)] == entry.value
            assert entry.span.start < entry.span.end <= len(text)


@pytest.mark.parametrize("unit", ["[", "{a: ", "- ", "a: b\n", "? ", "device: cuda\n", "'", "&a [*a, "])
def test_reading_grows_with_a_deep_or_long_text(unit: str) -> None:
    assert growth(lambda size: configuration.read(unit * (size // len(unit))), 10_000, 40_000) < 5
    configuration.read(unit * (150_000 // len(unit)))

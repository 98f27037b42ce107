"""Configuration: where it is found, what it may hold, what wins, and what is said when it is wrong."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import pytest
from command import CONFIG, write

from tpulint import __version__
from tpulint.catalog import load as load_catalogue
from tpulint.config import ConfigError, Configuration, Settings
from tpulint.config_file import find, load
from tpulint.model import Applicability


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, made the working directory; no configuration file lies above it."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def error_of(text: str, name: str = "tpulint.toml", **flags: object) -> str:
    """The message about a configuration file with this text."""
    write(Path(name), text)
    with pytest.raises(ConfigError) as caught:
        load(flags=flags)
    return str(caught.value)


def checked(configuration: Configuration) -> Configuration:
    configuration.check_rules(load_catalogue())
    return configuration


# -------------------------------------------------------------------- records


def test_defaults() -> None:
    settings = Settings()
    assert settings.required_applicability is Applicability.SAFE
    assert Settings(unsafe_fixes=True).required_applicability is Applicability.UNSAFE
    assert settings.packages == ("tpulint_rules",)
    assert Settings(plugins=("acme_rules",)).packages == ("tpulint_rules", "acme_rules")


def test_settings_are_plain_values(project: Path) -> None:
    write(
        project / "tpulint.toml", 'select = ["TPU"]\n[rules.TPU010]\nnames = ["a", "b"]\n[rules.TPU010.deep]\nx = [1]\n'
    )
    settings = load().settings
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert hash(settings) == hash(load().settings)


def test_digest_tells_settings_apart_that_change_findings() -> None:
    settings = Settings()
    assert settings.digest == Settings().digest
    assert settings.digest == settings._replace(fix=True, unsafe_fixes=True).digest
    changed = {
        settings._replace(select=("TPU1",)).digest,
        settings._replace(ignore=("TPU1",)).digest,
        settings._replace(ignore_noqa=True).digest,
        settings._replace(portable=True).digest,
        settings._replace(preview=True).digest,
        settings._replace(per_file_ignores=(("*.py", ("TPU1",)),)).digest,
        settings._replace(rule_options=(("TPU1", (("x", 1),)),)).digest,
    }
    assert len(changed) == 7 and settings.digest not in changed


# -------------------------------------------------------------------- finding files


def test_nearest_file_wins_and_is_not_merged(project: Path) -> None:
    write(project / "pyproject.toml", '[tool.tpulint]\nselect = ["TPU0"]\nignore = ["TPU010"]\n')
    inner = write(project / "a" / "b" / "tpulint.toml", 'select = ["TPU4"]\n')
    assert find("a/b/c/train.py") == str(inner)
    assert load(("a/b",)).settings.select == ("TPU4",)
    assert load(("a/b",)).settings.ignore == ()
    assert load(("a",)).settings.select == ("TPU0",)


def test_order_within_a_folder(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.tpulint]\n")
    assert find(".") == str(project / "pyproject.toml")
    write(project / "tpulint.toml", "")
    assert find(".") == str(project / "tpulint.toml")
    write(project / ".tpulint.toml", "")
    assert find(".") == str(project / ".tpulint.toml")


def test_pyproject_without_our_table_is_passed_over(project: Path) -> None:
    write(project / "pyproject.toml", '[tool.tpulint]\nselect = ["TPU0"]\n')
    write(project / "a" / "pyproject.toml", '[tool.ruff]\n# tpulint comes later\nexternal = ["tpulint"]\n')
    write(project / "a" / "b" / "pyproject.toml", "this is = not TOML\n")
    assert find("a/b") == str(project / "pyproject.toml")


def test_stdin_filename_decides_where_to_look(project: Path) -> None:
    write(project / "a" / "tpulint.toml", 'select = ["TPU4"]\n')
    assert load(("-",), invocation={"stdin_filename": "a/train.py"}).settings.select == ("TPU4",)
    assert load(("-",)).settings.select is None


def test_isolated_and_named_file(project: Path) -> None:
    write(project / "tpulint.toml", 'select = ["TPU0"]\n')
    other = write(project / "other.toml", 'select = ["TPU4"]\n')
    assert load(isolated=True).settings.select is None
    configuration = load(configs=["other.toml"])
    assert configuration.settings.select == ("TPU4",)
    assert configuration.run.config_file == "other.toml"
    assert configuration.run.root == str(other.parent)
    with pytest.raises(ConfigError, match="--isolated"):
        load(configs=["other.toml"], isolated=True)
    with pytest.raises(ConfigError, match="more than one"):
        load(configs=["other.toml", "tpulint.toml"])


def test_named_file_that_is_missing(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml: cannot be read: No such file"):
        load(configs=["nowhere.toml"])


def test_inline_settings_win_over_files_and_lose_to_flags(project: Path) -> None:
    write(project / "tpulint.toml", 'output-format = "json"\npreview = false\n')
    inline = ['output-format = "github"', "preview=true"]
    assert load(configs=inline).run.output_format == "github"
    assert load(configs=inline).settings.preview is True
    assert load(configs=inline, flags={"output-format": "concise"}).run.output_format == "concise"
    with pytest.raises(ConfigError, match=r"unknown key `previw`; did you mean `preview`"):
        load(configs=["previw=true"])


# -------------------------------------------------------------------- merging


def test_extend_adds_below(project: Path) -> None:
    write(
        project / "base" / "tpulint.toml",
        'select = ["TPU0"]\nextend-exclude = ["old"]\nfix = true\n[rules.TPU010]\na = 1\nb = 1\n',
    )
    write(
        project / "tpulint.toml",
        'extend = "base/tpulint.toml"\nfix = false\nextend-exclude = ["new"]\n[rules.TPU010]\nb = 2\n',
    )
    configuration = load()
    assert configuration.settings.select == ("TPU0",)
    assert configuration.settings.fix is False
    assert configuration.settings.options("TPU010") == {"a": 1, "b": 2}
    assert configuration.run.extend_exclude == ("old", "new")
    assert configuration.run.root == str(project)


def test_extend_in_a_circle(project: Path) -> None:
    write(project / "a.toml", 'extend = "tpulint.toml"\n')
    assert "circle" in error_of('extend = "a.toml"\n')


def test_extend_of_a_missing_file(project: Path) -> None:
    assert "cannot be read" in error_of('extend = "gone.toml"\n')


@pytest.mark.parametrize(
    ("flags", "select", "extend_select", "ignore"),
    [
        ({}, ("TPU0", "TPU4"), ("TPU9",), ("TPU010", "TPU401")),
        ({"select": ["TPU6"]}, ("TPU6",), (), ()),
        ({"select": ["TPU6"], "ignore": ["TPU601"]}, ("TPU6",), (), ("TPU601",)),
        ({"ignore": ["TPU901"]}, ("TPU0", "TPU4"), ("TPU9",), ("TPU010", "TPU401", "TPU901")),
        ({"extend-select": ["TPU4"]}, ("TPU0", "TPU4"), ("TPU9", "TPU4"), ("TPU010",)),
    ],
)
def test_selection_on_the_command_line_is_a_layer_of_its_own(
    project: Path,
    flags: dict[str, object],
    select: tuple[str, ...],
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
) -> None:
    write(
        project / "tpulint.toml", 'select = ["TPU0", "TPU4"]\nextend-select = ["TPU9"]\nignore = ["TPU010", "TPU401"]\n'
    )
    settings = load(flags=flags).settings
    assert (settings.select, settings.extend_select, settings.ignore) == (select, extend_select, ignore)


def test_target(project: Path) -> None:
    write(project / "tpulint.toml", 'target-version = "2.5"\n')
    assert load().settings.target == ("torch_xla", (2, 5))
    assert load(flags={"target": "torch_xla"}).settings.target == ("torch_xla", (2, 5))
    assert load(flags={"target-version": "2.8.1"}).settings.target == ("torch_xla", (2, 8, 1))


def test_per_file_ignores(project: Path) -> None:
    patterns = {"test_*.py": "TPU1", "scripts/*": "TPU2", "!src/**": "TPU3", "./top.py": "TPU4"}
    lines = [f'"{pattern}" = ["{code}"]\n' for pattern, code in patterns.items()]
    write(project / "tpulint.toml", "[per-file-ignores]\n" + "".join(lines))
    settings = load().settings
    assert settings.ignored_in("a/test_x.py") == ("TPU1", "TPU3")
    assert settings.ignored_in("scripts/deep/run.py") == ("TPU2", "TPU3")
    assert settings.ignored_in(str(project / "scripts" / "run.py")) == ("TPU2", "TPU3")
    assert settings.ignored_in("src/model.py") == ()
    assert settings.ignored_in("other/scripts/run.py") == ("TPU3",)
    assert settings.ignored_in("top.py") == ("TPU3", "TPU4")
    assert settings.ignored_in("a/top.py") == ("TPU3",)


def test_patterns_belong_to_the_folder_of_their_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        project / "tpulint.toml",
        'exclude = ["vendor/*"]\ncache-dir = "cache"\n[per-file-ignores]\n"a/*.py" = ["TPU1"]\n',
    )
    (project / "a").mkdir()
    monkeypatch.chdir(project / "a")
    configuration = load()
    assert configuration.settings.ignored_in("x.py") == ("TPU1",)
    assert configuration.run.exclude == (f"{project}/vendor/*",)
    assert configuration.run.cache_dir == str(project / "cache")


# -------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('selct = ["TPU1"]', ["unknown key `selct`", "did you mean `select`?"]),
        ("zzz = 1", ["unknown key `zzz`"]),
        ('select = "TPU1"', ["`select`", "a list of strings", "a string"]),
        ('select = ["TPU1", 2]', ["`select`", "a list of strings", "a number"]),
        ('fix = "yes"', ["`fix`", "true or false", "a string"]),
        ("jobs = -1", ["`jobs`", "number of processes"]),
        ("jobs = true", ["`jobs`", "number of processes"]),
        ('output-format = "jsno"', ["`output-format`", "'jsno'", "did you mean `json`?"]),
        ("output-format = 3", ["`output-format`", "3"]),
        ('target = "torch_cuda"', ["`target`", "`torch_xla`"]),
        ("target-version = 2.9", ["`target-version`", "a string", '"2.9"']),
        ('target-version = "py311"', ["`target-version`", "'py311'"]),
        ('target-version = "99"', ["`target-version`", "from 2.0 to 2.9", "'99'"]),
        ('target-version = "1.13"', ["`target-version`", "from 2.0 to 2.9"]),
        ('runtime = "always"', ["`runtime`", "`auto`", "`never`"]),
        ("cache-dir = 1", ["`cache-dir`", "a string"]),
        ('per-file-ignores = ["TPU1"]', ["`per-file-ignores`", "a table"]),
        ('[per-file-ignores]\n"*.py" = "TPU1"', ["`per-file-ignores`", "a list of strings"]),
        ('rules = "TPU1"', ["`rules`", "one table per rule"]),
        ('[rules]\nTPU101 = "x"', ["`rules`", "one table per rule"]),
        ("select = ]", ["not valid TOML", "line 1"]),
        ('required-version = ">=99"', ["required-version", ">=99", __version__]),
        ('required-version = "soon"', ["required-version", "'soon'"]),
        ("[lint]\nselect = []", ["unknown key `lint`"]),
        ('extend = "a\\u0000b"', ["`extend`", "null character"]),
        ('exclude = ["a.py", "data["]', ["`exclude`", "'data['", "`[` is not closed"]),
        ('include = ["[z-a].py"]', ["`include`", "'[z-a].py'", "runs backwards"]),
        ('extend-exclude = ["{a,b"]', ["`extend-exclude`", "'{a,b'", "`{` is not closed"]),
        ('[per-file-ignores]\n"![a" = ["TPU1"]', ["`per-file-ignores`", "'![a'", "`[` is not closed"]),
        ("exclude = 2024-01-01", ["`exclude`", "a date or time"]),
    ],
)
def test_mistake_is_told_with_file_and_key(project: Path, text: str, words: list[str]) -> None:
    message = error_of(text)
    assert message.startswith("tpulint.toml: ")
    for word in words:
        assert word in message, message


@pytest.mark.parametrize("pattern", ["[]a]", "[!a-c]*", "{a,b}", "\\[a", "\\{a", "a]", "a}", "[{]", "{[a],b}"])
def test_patterns_that_are_fine(project: Path, pattern: str) -> None:
    write(project / "tpulint.toml", f"exclude = ['{pattern}']\n")
    assert load().run.exclude == (pattern,)


def test_mistake_in_pyproject(project: Path) -> None:
    assert error_of("[tool.tpulint]\nfixx = true\n", "pyproject.toml").startswith("pyproject.toml: unknown key `fixx`")
    assert "must be a table" in error_of("[tool]\ntpulint = 3\n", "pyproject.toml")
    assert "not valid TOML" in error_of("[tool.tpulint]\n= 3\n", "pyproject.toml")


def test_file_that_is_not_utf8(project: Path) -> None:
    write(project / "tpulint.toml", b'select = ["\xe9"]\n')
    with pytest.raises(ConfigError, match=r"tpulint\.toml: not valid TOML: byte 11"):
        load()


def test_folder_instead_of_a_file_is_no_configuration(project: Path) -> None:
    (project / "tpulint.toml").mkdir()
    assert load().run.config_file == ""
    with pytest.raises(ConfigError, match="cannot be read"):
        load(configs=["tpulint.toml"])


def test_mistake_on_the_command_line(project: Path) -> None:
    with pytest.raises(ConfigError, match="command line: `target-version`"):
        load(flags={"target-version": "new"})


@pytest.mark.parametrize("wanted", ["0.1", ">=0.1", ">=0.0.1,<99", f"=={__version__}"])
def test_required_version_that_is_met(project: Path, wanted: str) -> None:
    write(project / "tpulint.toml", f'required-version = "{wanted}"\n')
    assert load().run.config_file


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('select = ["TPU999"]', ["tpulint.toml", "`select`", "`TPU999`", "did you mean"]),
        ('ignore = ["cuda-runtime-cal"]', ["`ignore`", "did you mean `cuda-runtime-call`"]),
        ('extend-select = ["F401"]', ["`extend-select`", "`F401`"]),
        ('unfixable = ["nothing"]', ["`unfixable`", "`nothing`"]),
        ('[per-file-ignores]\n"*.py" = ["TPU099"]', ["`per-file-ignores`", "`TPU099`"]),
        ("[rules.TPU999]\nx = 1", ["`rules`", "`TPU999`"]),
        ("[rules.TPU010]\nno-such-option = 1", ["`rules.TPU010`", "no-such-option"]),
    ],
)
def test_unknown_rule_is_told_with_file_and_key(project: Path, text: str, words: list[str]) -> None:
    write(project / "tpulint.toml", text)
    with pytest.raises(ConfigError) as caught:
        checked(load())
    for word in words:
        assert word in str(caught.value)


def test_selectors_that_are_fine(project: Path) -> None:
    text = (
        'select = ["ALL", "TPU", "TPU0", "TPU010", "cuda-runtime-call"]\n'
        'ignore = ["unused-suppression", "invalid-syntax"]\n[per-file-ignores]\n"*" = ["TPU0"]\n'
    )
    write(project / "tpulint.toml", text)
    assert "TPU010" in {rule.code for rule in load_catalogue().select(checked(load()).settings)}


def test_rules_of_a_plugin_are_known(project: Path) -> None:
    write(project / "tpulint.toml", CONFIG)
    configuration = load()
    catalogue = load_catalogue(configuration.settings.packages)
    configuration.check_rules(catalogue)
    assert {rule.code[:3] for rule in catalogue.select(configuration.settings)} == {"ACM"}
    with pytest.raises(ConfigError, match="unknown rule `ACM`"):
        checked(configuration)


# -------------------------------------------------------------------- parsed files that are kept


def kept_files() -> list[Path]:
    return sorted(Path(os.environ["XDG_CACHE_HOME"], "tpulint").glob("settings-*"))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tpulint"


def without_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tomllib", None)


def test_text_is_parsed_once(project: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project / "pyproject.toml", '[project]\nname = "x"\n[tool.tpulint]\nselect = ["TPU0"]\n')
    first = load()
    without_parser(monkeypatch)
    assert load() == first
    assert first.settings.select == ("TPU0",)
    assert len(kept_files()) == 1


def test_changed_text_is_parsed_anew(project: Path, cache: Path) -> None:
    write(project / "tpulint.toml", 'select = ["TPU0"]\n')
    load()
    status = (project / "tpulint.toml").stat()
    write(project / "tpulint.toml", 'select = ["TPU1"]\n')
    os.utime(project / "tpulint.toml", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert load().settings.select == ("TPU1",)


@pytest.mark.parametrize("damage", [b"", b"{", b"00000000", b"00000000N"])
def test_damaged_parsed_file_is_parsed_anew(project: Path, cache: Path, damage: bytes) -> None:
    write(project / "tpulint.toml", 'select = ["TPU0"]\n')
    before = load()
    (file,) = kept_files()
    whole = file.read_bytes()
    file.write_bytes(damage)
    assert load() == before
    assert file.read_bytes() == whole


def test_file_with_a_date_is_not_kept(project: Path, cache: Path) -> None:
    write(project / "pyproject.toml", '[tool.other]\nsince = 2026-01-01\n[tool.tpulint]\nselect = ["TPU0"]\n')
    assert load().settings.select == load().settings.select == ("TPU0",)
    assert kept_files() == []


def test_mistake_is_told_each_time(project: Path, cache: Path) -> None:
    write(project / "tpulint.toml", "select = [\n")
    for _ in range(2):
        with pytest.raises(ConfigError, match="not valid TOML"):
            load()
    assert kept_files() == []


def test_parsed_files_are_not_kept_where_nothing_can_be_written(project: Path, cache: Path) -> None:
    cache.parent.write_text("a file")
    write(project / "tpulint.toml", 'select = ["TPU0"]\n')
    assert load().settings.select == ("TPU0",)


def test_old_parsed_files_are_thrown_away(project: Path, cache: Path) -> None:
    for number in range(70):
        write(project / "tpulint.toml", f'select = ["TPU{number}"]\n')
        load()
    assert len(kept_files()) == 64

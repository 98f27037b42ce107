"""The options of ``tpulint check``, and which key of the configuration each one stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tpulint.config import ORDERS, OUTPUT_FORMATS, SELECTOR_KEYS, ConfigError
from tpulint.records import NamedTuple
from tpulint.targets import KNOWN_TARGETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LIST_KEYS = (*SELECTOR_KEYS, "exclude", "extend-exclude")
_PLAIN_KEYS = (
    "fix",
    "unsafe-fixes",
    "fix-only",
    "show-fixes",
    "preview",
    "portable",
    "force-exclude",
    "respect-gitignore",
    "output-format",
    "order",
    "baseline",
    "cache-dir",
    "target",
    "target-version",
    "jobs",
)
_INVOCATION_FIELDS = (
    "diff",
    "statistics",
    "exit_zero",
    "exit_non_zero_on_fix",
    "no_cache",
    "output_file",
    "stdin_filename",
    "ignore_noqa",
    "write_baseline",
    "diff_base",
    "add_noqa",
    "noqa_reason",
)


class Option(NamedTuple):
    """One option, as plain data: ``check`` reads it without click, and click makes its help and completion of it."""

    section: str
    """Its heading in the help."""
    forms: tuple[str, ...]
    """How it is written: ``--diff``, ``--fix/--no-fix``, ``-j`` and ``--jobs``; at last its parameter, if another."""
    help: str
    is_flag: bool = False
    """Takes no value, and is off unless given. Of two forms with a stroke between, neither is given by default."""
    multiple: bool = False
    takes: str = "text"
    """text, path or number."""
    choices: tuple[str, ...] = ()
    default: str | None = None
    metavar: str | None = None
    envvar: str | None = None
    show_envvar: bool = False

    @property
    def parameter(self) -> str:
        """Name of the value."""
        return self.forms[-1].partition("/")[0].lstrip("-").replace("-", "_")

    @property
    def is_pair(self) -> bool:
        """Whether there is a form for yes and a form for no."""
        return "/" in self.forms[0]

    @property
    def absent(self) -> bool | str | tuple[str, ...] | None:
        """The value of what is not given."""
        return () if self.multiple else False if self.is_flag else self.default


def _section(heading: str) -> Callable[..., Option]:
    def option(*forms: str, **settings: Any) -> Option:
        return Option(heading, forms, **settings)

    return option


_fixing = _section("Fixing")
_rules = _section("Rule selection")
_files = _section("File selection")
_output = _section("Output")
_target = _section("Target")
_adoption = _section("Old code bases")
_misc = _section("Miscellaneous")

OPTIONS: tuple[Option, ...] = (
    _fixing("--fix/--no-fix", help="Apply safe fixes."),
    _fixing(
        "--unsafe-fixes/--no-unsafe-fixes",
        help="With --fix, also apply fixes that may change what the program does; without it, count them as fixable.",
    ),
    _fixing("--fix-only/--no-fix-only", help="Apply fixes, but do not report what is left. Implies --fix."),
    _fixing("--diff", is_flag=True, help="Write nothing; print what --fix would change. Exit 1 if anything would."),
    _fixing("--show-fixes/--no-show-fixes", help="List what was fixed."),
    _rules(
        "--select",
        multiple=True,
        metavar="CODES",
        help="Rules to run: codes, prefixes or names with commas between; or ALL.",
    ),
    _rules("--ignore", multiple=True, metavar="CODES", help="Rules not to run."),
    _rules("--extend-select", multiple=True, metavar="CODES", help="Rules to run on top of the others."),
    _rules(
        "--per-file-ignores",
        multiple=True,
        metavar="PATTERN:CODE",
        help="Rules not to run on files that match a pattern; pairs with commas between.",
    ),
    _rules("--fixable", multiple=True, metavar="CODES", help="Rules whose fixes may be applied.  [default: ALL]"),
    _rules("--unfixable", multiple=True, metavar="CODES", help="Rules whose fixes are only shown."),
    _rules("--extend-safe-fixes", multiple=True, metavar="CODES", help="Rules whose unsafe fixes count as safe."),
    _rules("--extend-unsafe-fixes", multiple=True, metavar="CODES", help="Rules whose safe fixes count as unsafe."),
    _rules("--preview/--no-preview", help="Also run rules that are still being tried out."),
    _rules("--ignore-noqa", is_flag=True, help="Report findings in spite of comments that silence them."),
    _target("--target", choices=tuple(target.name for target in KNOWN_TARGETS), help="What to port to."),
    _target("--target-version", metavar="VERSION", help="Version of the target that must understand the written code."),
    _target(
        "--portable/--no-portable",
        help="Write code that runs on CUDA and the CPU too, and reaches XLA through tpulint_runtime.",
    ),
    _files("--exclude", multiple=True, metavar="PATTERNS", help="Paths to leave out, instead of the default ones."),
    _files(
        "--extend-exclude", multiple=True, metavar="PATTERNS", help="Paths to leave out on top of the default ones."
    ),
    _files(
        "--force-exclude/--no-force-exclude",
        help="Leave excluded files out even when named (for pre-commit).",
    ),
    _files("--respect-gitignore/--no-respect-gitignore", help="Leave out what git ignores.  [default: yes]"),
    _adoption(
        "--baseline",
        takes="path",
        metavar="FILE",
        help="Tell only of findings that this file does not hold. It is made by --write-baseline.",
    ),
    _adoption(
        "--write-baseline",
        is_flag=True,
        help="Write all findings into the baseline, and stop.  [default file: tpulint-baseline.json]",
    ),
    _adoption(
        "--diff-base",
        metavar="REVISION",
        help="Tell only of findings on lines that changed since this branch left the revision (such as origin/main).",
    ),
    _adoption(
        "--add-noqa", is_flag=True, help="Silence every finding by a comment `# noqa: CODE` on its line, and stop."
    ),
    _adoption("--noqa-reason", metavar="TEXT", default="", help="Text behind the comments of --add-noqa."),
    _output(
        "--output-format",
        choices=OUTPUT_FORMATS,
        envvar="TPULINT_OUTPUT_FORMAT",
        show_envvar=True,
        help="How to print findings.  [default: full]",
    ),
    _output(
        "--order",
        choices=ORDERS,
        help="Order of findings: by position, or by cost: what runs most often first, across all files."
        "  [default: position; cost for github and markdown]",
    ),
    _output(
        "-o",
        "--output-file",
        takes="path",
        metavar="FILE",
        default="",
        help="Write the report to a file instead of standard output.",
    ),
    _output("--statistics", is_flag=True, help="Print the number of findings by rule."),
    _output(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="When to use colors.  [default: auto]",
    ),
    _output("-q", "--quiet", is_flag=True, help="Print findings, but nothing else."),
    _output("-s", "--silent", is_flag=True, help="Print nothing; the exit status tells."),
    _output("-v", "--verbose", is_flag=True, help="Also tell about configuration, files and time, on standard error."),
    _misc("-w", "--watch", is_flag=True, help="Lint again whenever a file changes, until interrupted."),
    _misc("-e", "--exit-zero", is_flag=True, help="Exit 0 even when there are findings."),
    _misc("--exit-non-zero-on-fix", is_flag=True, help="Exit 1 when a file was changed, even if nothing is left."),
    _misc(
        "--config",
        "configs",
        multiple=True,
        takes="path",
        metavar="FILE|KEY=VALUE",
        help="Configuration file to use instead of the nearest one, or a single setting as TOML.",
    ),
    _misc("--isolated", is_flag=True, help="Ignore all configuration files."),
    _misc("-n", "--no-cache", is_flag=True, envvar="TPULINT_NO_CACHE", help="Neither read nor write the cache."),
    _misc(
        "--cache-dir",
        takes="path",
        metavar="FOLDER",
        envvar="TPULINT_CACHE_DIR",
        help="Where the cache lies.  [default: .tpulint_cache]",
    ),
    _misc("-j", "--jobs", takes="number", metavar="N", help="Number of processes.  [default: one per core]"),
    _misc(
        "--stdin-filename",
        takes="path",
        metavar="FILE",
        default="",
        help="Name of the file that is read from standard input (`-`).",
    ),
    _misc("--show-settings", is_flag=True, help="Print the settings that hold for these paths, and stop."),
    _misc("--show-files", is_flag=True, help="Print the files that would be linted, and stop."),
)


def flags_of(given: Mapping[str, Any]) -> dict[str, object]:
    """The options that were given, by key of the configuration. Raises ``ConfigError``."""
    flags: dict[str, object] = {}
    for key in _PLAIN_KEYS:
        value = given[key.replace("-", "_")]
        if value is not None:
            flags[key] = value
    for key in _LIST_KEYS:
        values = _split(given[key.replace("-", "_")])
        if values:
            flags[key] = values
    ignores: dict[str, list[str]] = {}
    for pair in _split(given["per_file_ignores"]):
        pattern, colon, selector = pair.rpartition(":")
        if not colon or not pattern or not selector.strip():
            raise ConfigError(f"command line: --per-file-ignores: {pair!r} is not of the form PATTERN:CODE")
        ignores.setdefault(pattern.strip(), []).append(selector.strip())
    if ignores:
        flags["per-file-ignores"] = ignores
    return flags


def invocation_of(given: Mapping[str, Any]) -> dict[str, object]:
    """The options that no configuration file can set."""
    return {field: given[field] for field in _INVOCATION_FIELDS}


def _split(values: tuple[str, ...]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]

"""What a run was asked to do: settings of one file's linting, settings of the run around it."""

from __future__ import annotations

import os

from tpulint.languages import INCLUDE
from tpulint.model import Applicability
from tpulint.records import NamedTuple
from tpulint.selectors import OWN_CODES, nearest
from tpulint.targets import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.catalog import Catalogue

# fmt: off
DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d",
    ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".tpulint_cache", ".venv", ".vscode",
    "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
)
# fmt: on
DEFAULT_INCLUDE = INCLUDE

OUTPUT_FORMATS = ("full", "concise", "json", "json-lines", "github", "gitlab", "junit", "markdown", "sarif")
SERVER_FORMATS = ("gitlab", "junit", "markdown", "sarif")
"""Those whose readers take a file without findings for a clean run."""
ORDERS = ("position", "cost")

COMMAND_LINE = "command line"
"""Origin of what no file said."""

SELECTOR_KEYS = (
    "select",
    "extend-select",
    "ignore",
    "fixable",
    "unfixable",
    "extend-safe-fixes",
    "extend-unsafe-fixes",
)


class ConfigError(Exception):
    """The configuration or the command line cannot be understood. The message names the place and the key."""


class Settings(NamedTuple):
    """What linting one file needs to know. Plain values: hashable, picklable."""

    fix: bool = False
    unsafe_fixes: bool = False
    target: Target = Target()
    select: tuple[str, ...] | None = None
    """Codes, prefixes, names or ``ALL``; None for the rules that are on by default, empty for none."""
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fixable: tuple[str, ...] = ("ALL",)
    unfixable: tuple[str, ...] = ()
    extend_safe_fixes: tuple[str, ...] = ()
    """Rules whose unsafe fixes count as safe."""
    extend_unsafe_fixes: tuple[str, ...] = ()
    """Rules whose safe fixes count as unsafe."""
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Patterns (made absolute, see ``patterns.anchor``) and what is ignored in files they match."""
    preview: bool = False
    runtime: str = "auto"
    """``never``: fixes that would import ``tpulint_runtime`` are only shown."""
    portable: bool = False
    """Whether the written code must run on CUDA and the CPU too, without torch_xla installed."""
    ignore_noqa: bool = False
    plugins: tuple[str, ...] = ()
    """Packages with further rules."""
    rule_options: tuple[tuple[str, tuple[tuple[str, object], ...]], ...] = ()
    """``[tool.tpulint.rules.CODE]`` tables."""

    @property
    def required_applicability(self) -> Applicability:
        """The least applicability a fix needs to be applied."""
        return Applicability.UNSAFE if self.unsafe_fixes else Applicability.SAFE

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that hold rules."""
        return ("tpulint_rules", *self.plugins)

    @property
    def digest(self) -> str:
        """Names everything that decides the findings of a check. Whether fixes are applied does not."""
        from tpulint.digest import digest_of

        return digest_of(repr(self._replace(fix=False, unsafe_fixes=False)).encode(errors="surrogatepass"))

    def options(self, code: str) -> dict[str, object]:
        """What the configuration says about one rule."""
        for other, options in self.rule_options:
            if other == code:
                return dict(options)
        return {}

    def ignored_in(self, path: str) -> tuple[str, ...]:
        """The selectors that ``per-file-ignores`` turns off in a file."""
        if not self.per_file_ignores:
            return ()
        from tpulint.patterns import path_patterns

        absolute = os.path.abspath(path)
        ignored: list[str] = []
        for pattern, selectors in self.per_file_ignores:
            # A leading "!" means: everywhere but there.
            if path_patterns((pattern.removeprefix("!"),)).match(absolute) != pattern.startswith("!"):
                ignored.extend(selectors)
        return tuple(dict.fromkeys(ignored))


class RunSettings(NamedTuple):
    """What the run as a whole needs to know: which files, what to do with the results."""

    paths: tuple[str, ...] = (".",)
    root: str = "."
    """Folder of the configuration file, else the working directory; the cache lies there."""
    config_file: str = ""
    """Empty when the defaults are used."""
    extended_files: tuple[str, ...] = ()
    """What it extends, the most general first."""
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = DEFAULT_INCLUDE
    extend_include: tuple[str, ...] = ()
    force_exclude: bool = False
    """Whether ``exclude`` also holds for files named on the command line."""
    respect_gitignore: bool = True
    output_format: str = "full"
    order: str = ""
    """Of the findings: ``position`` or ``cost``; empty for what suits the output format."""
    output_file: str = ""
    fix_only: bool = False
    show_fixes: bool = False
    diff: bool = False
    statistics: bool = False
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    jobs: int = 0
    """Number of processes; 0 for as many as there are cores."""
    cache_dir: str = ""
    no_cache: bool = False
    stdin_filename: str = ""
    baseline: str = ""
    """File with findings that are not to be told of; empty for none."""
    write_baseline: bool = False
    diff_base: str | None = None
    """Revision of git: only findings on lines that changed since are told of."""
    add_noqa: bool = False
    """Whether every finding is to be silenced by a comment."""
    noqa_reason: str = ""
    """Text behind these comments."""


class Configuration(NamedTuple):
    """Everything a run was asked to do, and where each wish came from."""

    settings: Settings
    run: RunSettings
    origins: tuple[tuple[str, str], ...] = ()
    """Key and origin (a file, or ``command line``) of every key that was set."""

    def check_rules(self, catalogue: Catalogue) -> None:
        """Raise ``ConfigError`` for a selector, or a table of options, that fits no rule of the catalogue."""
        wishes = [(key, getattr(self.settings, key.replace("-", "_")) or ()) for key in SELECTOR_KEYS]
        wishes.extend(("per-file-ignores", selectors) for _, selectors in self.settings.per_file_ignores)
        from tpulint.selection import UnknownSelector, check_selectors

        for key, selectors in wishes:
            try:
                check_selectors(selectors, catalogue.rules, OWN_CODES)
            except UnknownSelector as error:
                raise ConfigError(f"{self.origin(key)}: `{key}`: {error}") from None
        for code, options in self.settings.rule_options:
            rule = next((rule for rule in catalogue.rules if rule.code == code), None)
            if rule is None:
                hint = nearest(code, [rule.code for rule in catalogue.rules])
                raise ConfigError(f"{self.origin('rules')}: `rules`: unknown rule `{code}`{hint}")
            try:
                rule.option_values(options)
            except ValueError as error:
                raise ConfigError(f"{self.origin('rules')}: `rules.{code}`: {error}") from None

    def origin(self, key: str) -> str:
        """The file that set a key, or ``command line``."""
        return dict(self.origins).get(key, COMMAND_LINE)

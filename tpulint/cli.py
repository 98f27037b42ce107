"""The command line of tpulint."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from tpulint import __version__
from tpulint.check_options import add_options
from tpulint.command_help import SectionedCommand
from tpulint.config import ConfigError, Settings
from tpulint.verify_options import EPILOG as VERIFY_EPILOG
from tpulint.verify_options import add_options as add_verify_options

if TYPE_CHECKING:
    from tpulint.catalog import Catalogue

_INTERRUPTED = 130
_SHOWN_IN_FULL = 5
"""More rows than this are listed, one line each."""
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
_FORMATS = click.Choice(["text", "json"])

_EPILOG = """\b
Without a command, `check` runs: `tpulint --fix train.py`.
Its options: `tpulint check --help`.
Exit status: 0 nothing found, 1 findings, 2 wrong usage or a file that could not be dealt with."""


class CheckByDefault(click.Group):
    """A group that takes anything but a command's name for arguments of ``check``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put ``check`` in front when no command is named."""
        own = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        if not args or (args[0] not in self.commands and args[0] not in own):
            if args and args[0].isidentifier() and not os.path.exists(args[0]):
                from tpulint.selectors import nearest

                if meant := nearest(args[0], self.commands):
                    raise click.UsageError(f"`{args[0]}` is no command, file or folder{meant}", ctx)
            args = ["check", *args]
        return super().parse_args(ctx, args)


@click.group(cls=CheckByDefault, context_settings=_CONTEXT, epilog=_EPILOG)
@click.version_option(__version__, "-V", "--version", prog_name="tpulint", message="%(prog)s %(version)s")
def tpulint() -> None:
    """Find what keeps a PyTorch GPU training script from running well on a TPU, and rewrite it for torch_xla."""


@tpulint.command(cls=SectionedCommand, context_settings=_CONTEXT)
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@add_options
@click.pass_context
def check(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Lint Python files, and fix them with --fix.

    PATHS are files and folders [default: .]; `-` reads from standard input.
    """
    from tpulint.check_command import check as run_check

    ctx.exit(run_check(paths, given))


@tpulint.command(cls=SectionedCommand, context_settings=_CONTEXT, epilog=VERIFY_EPILOG)
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGUMENTS]...")
@add_verify_options
@click.pass_context
def verify(ctx: click.Context, /, script: str, arguments: tuple[str, ...], **given: Any) -> None:
    """Run a training script on XLA, and tell what each line costs there.

    SCRIPT is run as `python SCRIPT ARGUMENTS` would run it, unchanged, in a process of its own, on XLA's CPU backend,
    for a few steps. Needs torch and torch_xla (the extra `xla`), but no TPU.

    For each line of it: graphs that had to be compiled anew, and what changed in them; graphs that ran although no step
    boundary asked for them (host syncs); operators that fell back to the CPU; values read by the host; calls of CUDA.
    Next to each stands the finding of the linter that predicted it, or that none did.

    The run fails when the graph keeps changing, when a script trains on the host instead of on XLA, and when the
    optimizer does not hold the parameters that are trained.
    """
    from tpulint.verify_command import verify as run_verify

    ctx.exit(run_verify(script, arguments, given))


@tpulint.command(context_settings=_CONTEXT)
@click.argument("code", required=False)
@click.option("--all", "all_rules", is_flag=True, help="Explain every rule.")
@click.option("--output-format", type=_FORMATS, default="text", help="How to print.  [default: text]")
def rule(code: str | None, all_rules: bool, output_format: str) -> None:
    """Explain a rule, by its code or name."""
    from tpulint.explanations import rule_data
    from tpulint.rule_docs import explain as explain_rule
    from tpulint.selectors import nearest

    _, catalogue = _project()
    if all_rules == bool(code):
        raise click.UsageError("name one rule, or ask for --all")
    if all_rules:
        chosen = list(catalogue.rules)
    else:
        found = catalogue.get(code or "") or catalogue.get((code or "").upper())
        if found is None:
            known = [word for one in catalogue.rules for word in (one.code, one.name)]
            raise ConfigError(f"unknown rule `{code}`{nearest(code or '', known)}")
        chosen = [found]
    if output_format == "json":
        data = [rule_data(one) for one in chosen]
        _print_json(data if all_rules else data[0])
    else:
        click.echo("\n".join(explain_rule(one) for one in chosen), nl=False)


@tpulint.command(context_settings=_CONTEXT)
@click.option("--output-format", type=_FORMATS, default="text", help="How to print.  [default: text]")
@click.option("--write", "path", metavar="FILE", help="Write the documentation of all rules to a file instead.")
def rules(output_format: str, path: str | None) -> None:
    """List all rules."""
    from tpulint.explanations import list_rules, rule_data

    _, catalogue = _project()
    if path:
        from tpulint.rule_docs import write

        try:
            write(path, catalogue)
        except OSError as error:
            raise ConfigError(f"cannot write {path}: {error.strerror or error}") from None
    elif output_format == "json":
        _print_json([rule_data(one) for one in catalogue.rules])
    else:
        for line in list_rules(catalogue.rules):
            click.echo(line)


@tpulint.command(context_settings=_CONTEXT)
@click.argument("name")
@click.option("--output-format", type=_FORMATS, default="text", help="How to print.  [default: text]")
def explain(name: str, output_format: str) -> None:
    """Tell what becomes of an API, and why.

    NAME is a dotted name, such as torch.cuda.synchronize; its last parts will do. A module, such as torch.cuda, stands
    for everything below it.
    """
    from tpulint.explanations import (
        describe_match,
        describe_rule,
        list_matches,
        match_data,
        matches_of,
        rules_about,
        suggestion,
    )

    settings, catalogue = _project()
    matches = matches_of(catalogue, name)
    rules = [] if matches else rules_about(catalogue, name)
    if output_format == "json" and rules:
        _print_json([{"rule": rule.code, "name": rule.name, "why": rule.why} for rule in rules])
    elif rules:
        click.echo("\n\n".join("\n".join(describe_rule(rule)) for rule in rules))
    elif output_format == "json":
        _print_json([match_data(match) for match in matches])
    elif len(matches) > _SHOWN_IN_FULL:
        click.echo("\n".join(list_matches(matches, settings.target)))
    else:
        click.echo(
            "\n\n".join("\n".join(describe_match(match, settings.target)) for match in matches), nl=bool(matches)
        )
    if not matches and not rules:
        rule = catalogue.get(name) or catalogue.get(name.upper())
        if rule is not None:
            raise ConfigError(f"`{name}` is a rule, not a name of an API: `tpulint rule {rule.code}` explains it")
        raise ConfigError(f"no rule has a row for `{name}`{suggestion(catalogue, name)}")


@tpulint.command("new-rule", context_settings=_CONTEXT)
@click.argument("name", metavar="CATEGORY/NAME")
@click.option("--python", is_flag=True, help="Also write a Python file for logic that a mapping table cannot express.")
def new_rule(name: str, python: bool) -> None:
    """Start a new rule of tpulint.

    Writes its card, with the next free code of the category. To be run in a checkout of tpulint.
    """
    from tpulint.scaffold import ScaffoldError, create

    try:
        for path in create(name, python=python):
            click.echo(path)
    except (ScaffoldError, OSError) as error:
        raise ConfigError(str(error)) from None


@tpulint.command(context_settings=_CONTEXT)
@click.option("--cache-dir", metavar="FOLDER", envvar="TPULINT_CACHE_DIR", help="Where the cache lies.")
@click.argument("path", default=".")
def clean(path: str, cache_dir: str | None) -> None:
    """Remove the cache of a project."""
    import shutil

    from tpulint.cache import FOLDER, is_cache
    from tpulint.config_file import load

    run = load((path,), {"cache-dir": cache_dir} if cache_dir else {}).run
    folder = run.cache_dir or os.path.join(run.root, FOLDER)
    if not os.path.isdir(folder):
        click.echo("No cache found.")
    elif not is_cache(folder):
        raise ConfigError(f"{folder} was not made by tpulint; left as it is")
    else:
        shutil.rmtree(folder)
        click.echo(f"Removed {folder}")


@tpulint.command(context_settings=_CONTEXT)
def version() -> None:
    """Print the version."""
    click.echo(f"tpulint {__version__}")


def main() -> None:
    """Run, and leave with an exit status in every case."""
    for stream in (sys.stdout, sys.stderr):
        # A path or a message that the terminal's encoding lacks must not end the run.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        status = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, a pager) has seen enough. What is left unwritten must not be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    sys.exit(status)


def run(args: list[str]) -> int:
    """Run with some arguments; the exit status."""
    try:
        status = tpulint.main(args, prog_name="tpulint", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except ConfigError as error:
        click.echo(f"error: {error}", err=True)
        return 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return _INTERRUPTED


def _project() -> tuple[Settings, Catalogue]:
    """Settings and rules of the project in the working directory, its plugins included."""
    from tpulint.check_command import load_catalogue
    from tpulint.config_file import load

    configuration = load()
    return configuration.settings, load_catalogue(configuration)


def _print_json(data: object) -> None:
    import json

    click.echo(json.dumps(data, indent=2))

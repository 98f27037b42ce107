"""The commands of tpulint, as click knows them: help, completion, mistakes in what was typed."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from tpulint import __version__
from tpulint.check_options import OPTIONS as CHECK_OPTIONS
from tpulint.command_help import SectionedCommand, add_all
from tpulint.config import ConfigError, Settings
from tpulint.plan_options import EPILOG as PLAN_EPILOG
from tpulint.plan_options import add_options as add_plan_options
from tpulint.targets import KNOWN_TARGETS, VERSIONS
from tpulint.verify_options import EPILOG as VERIFY_EPILOG
from tpulint.verify_options import add_options as add_verify_options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from tpulint.catalog import Catalogue

_SHOWN_IN_FULL = 5
"""More rows than this are listed, one line each."""
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
_FORMATS = click.Choice(["text", "json"])

_EPILOG = """\b
Without a command, `check` runs: `tpulint --fix train.py`.
Its options: `tpulint check --help`.
Exit status: 0 nothing found, 1 findings, 2 wrong usage or a file that could not be dealt with."""

_XLA_LOG_EPILOG = """\b
Examples:
  PT_XLA_DEBUG_LEVEL=2 python train.py 2> train.log; tpulint xla-log train.log
  tpulint xla-log --output-format json worker0.log.gz worker1.log.gz

\b
Exit status: 0 nothing but what every training pays; 1 a value is read again and again before its step boundary, or a
graph keeps changing; 2 wrong usage, a file that cannot be read, or no such log. See docs/xla_log.md."""


def version_line() -> str:
    """The version, and the targets whose facts the rules know."""
    oldest, newest = (".".join(map(str, version)) for version in VERSIONS)
    return f"tpulint {__version__} (for {', '.join(target.name for target in KNOWN_TARGETS)} {oldest} to {newest})"


class CheckByDefault(click.Group):
    """A group that takes anything but a command's name for arguments of ``check``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put ``check`` in front when no command is named."""
        own = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        if not args and ctx.resilient_parsing:
            return super().parse_args(ctx, args)  # a shell asks what may come first
        if not args or (args[0] not in self.commands and args[0] not in own):
            if args and args[0].isidentifier() and not os.path.exists(args[0]):
                from tpulint.selectors import nearest

                if meant := nearest(args[0], self.commands):
                    raise click.UsageError(f"`{args[0]}` is no command, file or folder{meant}", ctx)
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands, and what ``check`` takes."""
        default = self.commands["check"]
        with default.make_context("check", [], parent=ctx, resilient_parsing=True) as of_default:
            if not incomplete.startswith("-"):
                paths = [one for one in default.params if isinstance(one, click.Argument)]
                # First: where files may stand, bash forgets what it was offered before.
                files = [item for one in paths for item in one.shell_complete(of_default, incomplete)]
                return [*files, *super().shell_complete(ctx, incomplete)]
            found = super().shell_complete(ctx, incomplete)
            own = {item.value for item in found}
            more = default.shell_complete(of_default, incomplete)
        return [*found, *(item for item in more if item.value not in own)]


@click.group(cls=CheckByDefault, context_settings=_CONTEXT, epilog=_EPILOG)
@click.version_option(version_line(), "-V", "--version", message="%(version)s")
def tpulint() -> None:
    """Find what keeps a PyTorch GPU training script from running well on a TPU, and rewrite it for torch_xla."""


@tpulint.command(cls=SectionedCommand, context_settings=_CONTEXT)
@click.argument("paths", nargs=-1, metavar="[PATHS]...", type=click.Path())
@add_all(CHECK_OPTIONS)
@click.pass_context
def check(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Lint Python files, and fix them with --fix.

    PATHS are files and folders [default: .]; `-` reads from standard input.
    """
    from tpulint.check_command import check as run_check

    ctx.exit(run_check(paths, given))


@tpulint.command(cls=SectionedCommand, context_settings=_CONTEXT, epilog=VERIFY_EPILOG)
@click.argument("script", type=click.Path())
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


@tpulint.command("xla-log", context_settings=_CONTEXT, epilog=_XLA_LOG_EPILOG)
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option(
    "--source",
    "folder",
    default=".",
    type=click.Path(),
    metavar="FOLDER",
    help="Where the code is that was run.  [default: .]",
)
@click.option("--output-format", type=click.Choice(["full", "json"]), default="full", help="[default: full]")
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colour the text.  [default: auto]"
)
def xla_log(files: tuple[str, ...], folder: str, output_format: str, color: str) -> None:
    """Tell from the debug log of a past run what was compiled, why, and which rule explains it.

    FILE is what torch_xla wrote with PT_XLA_DEBUG_LEVEL=1 or 2, or with PT_XLA_DEBUG=1, among other output perhaps, and
    perhaps compressed by gzip; `-` is standard input. Several files are of one run. Neither torch nor a TPU is needed.
    """
    from tpulint.xla_log_command import read_logs

    click.get_current_context().exit(read_logs(files, folder, output_format, color))


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
@click.option(
    "--write", "path", type=click.Path(), metavar="FILE", help="Write the documentation of all rules to a file instead."
)
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
@click.option(
    "--package", type=click.Path(), metavar="FOLDER", default="", help="Folder of a package with rules of your own."
)
@click.option("--code", default="", help="Code of its first rule, such as ACM001; later ones go on from there.")
def new_rule(name: str, python: bool, package: str, code: str) -> None:
    """Start a new rule.

    Writes its card, with the next free code of the category: in a checkout of tpulint, or in a package of your own.
    """
    from tpulint.scaffold import ScaffoldError, create

    if code and not package:
        raise click.UsageError("--code goes with --package; tpulint's own rules are numbered by their category")
    try:
        for path in create(name, python=python, package=package, code=code):
            click.echo(path)
    except (ScaffoldError, OSError) as error:
        raise ConfigError(str(error)) from None


@tpulint.command("test-rules", context_settings=_CONTEXT)
@click.argument("package")
def test_rules(package: str) -> None:
    """Try the examples of a package of rules.

    What is bad must be found and become what is good, what is ok must be left alone. Exit status 1 when it is not so.
    """
    from tpulint.catalog import CardError
    from tpulint.catalog import load as load_rules
    from tpulint.rule_examples import failures

    package = package.rstrip("/" + os.sep).removeprefix("./").replace("/", ".").replace(os.sep, ".")
    sys.path.insert(0, os.getcwd())
    try:
        catalogue = load_rules(Settings(plugins=(package,)).packages)
    except CardError as error:
        raise ConfigError(f"bad rule: {error}") from None
    except (ImportError, TypeError, ValueError) as error:
        raise ConfigError(f"{package!r} is no package that can be imported: {error}") from None
    own = [rule for rule in catalogue.rules if rule.place.package == package and rule.status != "removed"]
    failed = 0
    for rule in own:
        for failure in failures(rule, catalogue):
            failed += 1
            click.echo(f"{rule.code} {rule.name}: {failure}")
    click.echo(f"{len(own)} rule{'s' * (len(own) != 1)} tried, {failed} failure{'s' * (failed != 1)}.")
    click.get_current_context().exit(1 if failed else 0)


@tpulint.command(context_settings=_CONTEXT)
@click.option(
    "--cache-dir", type=click.Path(), metavar="FOLDER", envvar="TPULINT_CACHE_DIR", help="Where the cache lies."
)
@click.argument("path", type=click.Path(), default=".")
def clean(path: str, cache_dir: str | None) -> None:
    """Remove the cache of a project."""
    import shutil

    from tpulint.cache import FOLDER, is_cache
    from tpulint.config_file import load

    if not os.path.exists(path):
        raise ConfigError(f"{path} does not exist")
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
    click.echo(version_line())


@tpulint.command(context_settings=_CONTEXT)
@click.argument("paths", nargs=-1, metavar="[PATHS]...", type=click.Path())
@click.option("--output-format", type=click.Choice(["text", "json", "html"]), default="text", help="[default: text]")
@click.option(
    "-o",
    "--output-file",
    type=click.Path(),
    metavar="FILE",
    default="",
    help="Write to a file instead of standard output.",
)
@click.option(
    "--plan", type=click.Path(), metavar="FILE", default="", help="Show this plan on the page: JSON of `tpulint plan`."
)
@click.option("--preview", is_flag=True, help="Also count what rules find that are still being tried out.")
@click.option("--config", "configs", multiple=True, type=click.Path(), metavar="FILE|KEY=VALUE", help="As for `check`.")
@click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="[default: auto]")
@click.pass_context
def report(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Tell how much of a code base ports, how, and how much work is left.

    What share of the files ports as it is, by safe fixes, by fixes to be reviewed, and by hand; libraries that stand in
    the way; where the step loops are and what is found in each of their steps; per file and in total. As text, JSON, or
    one HTML page that needs nothing else: `tpulint report --output-format html -o report.html`.
    """
    from tpulint.porting.command import report as write_report

    ctx.exit(write_report(paths, given))


@tpulint.command(context_settings=_CONTEXT)
@click.argument("name", required=False)
@click.option("--output-format", type=_FORMATS, default="text", help="How to print.  [default: text]")
def tpus(name: str | None, output_format: str) -> None:
    """Show generations of TPUs: memory, bandwidths, peaks, slices; with NAME, also the source of every figure."""
    from tpulint.planning.command import show_tpus

    click.get_current_context().exit(show_tpus(name, output_format))


@tpulint.command(cls=SectionedCommand, context_settings=_CONTEXT, epilog=PLAN_EPILOG)
@click.argument("script_path", required=False, metavar="[SCRIPT]", type=click.Path())
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGUMENTS]...")
@add_plan_options
@click.pass_context
def plan(ctx: click.Context, /, **given: Any) -> None:
    """Tell which TPU a training run needs, how long it takes at least, and what it costs, before anything is rented.

    With SCRIPT, a ported one: its training step is traced, and libtpu's compiler is asked, on this machine, whether it
    compiles, fits, and what it does. Needs the extras `xla` and `plan`, but no TPU.

    Without it, without the extras, and with --params, --seq, --layers, --hidden or --no-compile: on paper, from the
    size of a transformer. Memory of a device under data parallel and FSDP, arithmetic against peak, collectives against
    the interconnect. What is not given is read off SCRIPT, where it is visible there; what may be one of several
    numbers is asked for.

    Both tell cost on demand and spot, show a GPU beside it, and print the commands that create the slice, run a script
    on it and delete it, as text.
    """
    on_paper = given["no_compile"] or any(given[name] for name in ("params", "seq", "layers", "hidden"))
    if given["script_path"] is not None and not on_paper:
        from tpulint.planning.script_command import plan_script

        ctx.exit(plan_script(given["script_path"], given["arguments"], given))
    from tpulint.planning.command import plan as make_plan

    ctx.exit(make_plan(given))


@tpulint.command(context_settings=_CONTEXT)
def server() -> None:
    """Serve an editor, by the language server protocol.

    Speaks over standard input and output. Needs the extra `server`: `pip install "tpulint[server]"`.
    """
    try:
        from tpulint.editor.server import make
    except ImportError as error:
        if error.name and error.name.split(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise ConfigError('the language server needs pygls 2: `pip install "tpulint[server]"`') from None
    make().start_io()


@tpulint.command(context_settings=_CONTEXT)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that completes commands and options.

    For bash: `tpulint completion bash > ~/.local/share/bash-completion/completions/tpulint`; for zsh, a file `_tpulint`
    in a folder of `$fpath`; for fish: `~/.config/fish/completions/tpulint.fish`.
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(tpulint, {}, "tpulint", "_TPULINT_COMPLETE").source())


def run(args: list[str]) -> int:
    """Run a command by its arguments; the exit status. Raises ``ConfigError``, ``KeyboardInterrupt``."""
    try:
        status = tpulint.main(args, prog_name="tpulint", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort as error:  # click has ended the line
        raise KeyboardInterrupt from error


def _project() -> tuple[Settings, Catalogue]:
    """Settings and rules of the project in the working directory, its plugins included."""
    from tpulint.check_command import load_catalogue
    from tpulint.config_file import load

    configuration = load()
    return configuration.settings, load_catalogue(configuration)


def _print_json(data: object) -> None:
    from tpulint.json_output import serialize

    click.echo(serialize(data))

"""The commands of tpulint, as click knows them: help, completion, mistakes in what was typed."""

from __future__ import annotations

import os

import click

from tpulint import __version__
from tpulint.check_options import OPTIONS as CHECK_OPTIONS
from tpulint.command_help import CONTEXT, FORMATS, SectionedCommand, add_all
from tpulint.config import ConfigError
from tpulint.plan_options import EPILOG as PLAN_EPILOG
from tpulint.plan_options import add_options as add_plan_options
from tpulint.rule_commands import COMMANDS as RULE_COMMANDS
from tpulint.targets import KNOWN_TARGETS, VERSIONS
from tpulint.verify_options import EPILOG as VERIFY_EPILOG
from tpulint.verify_options import add_options as add_verify_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from click.shell_completion import CompletionItem


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


@click.group(cls=CheckByDefault, context_settings=CONTEXT, epilog=_EPILOG)
@click.version_option(version_line(), "-V", "--version", message="%(version)s")
def tpulint() -> None:
    """Find what keeps a PyTorch GPU training script from running well on a TPU, and rewrite it for torch_xla."""


for _command in RULE_COMMANDS:
    tpulint.add_command(_command)


@tpulint.command(cls=SectionedCommand, context_settings=CONTEXT)
@click.argument("paths", nargs=-1, metavar="[PATHS]...", type=click.Path())
@add_all(CHECK_OPTIONS)
@click.pass_context
def check(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Lint Python files, and fix them with --fix.

    PATHS are files and folders [default: .]; `-` reads from standard input.
    """
    from tpulint.check_command import check as run_check

    ctx.exit(run_check(paths, given))


@tpulint.command(cls=SectionedCommand, context_settings=CONTEXT, epilog=VERIFY_EPILOG)
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


@tpulint.command("xla-log", context_settings=CONTEXT, epilog=_XLA_LOG_EPILOG)
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


@tpulint.command(context_settings=CONTEXT)
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


@tpulint.command(context_settings=CONTEXT)
def version() -> None:
    """Print the version."""
    click.echo(version_line())


@tpulint.command(context_settings=CONTEXT)
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


@tpulint.command(context_settings=CONTEXT)
@click.argument("name", required=False)
@click.option("--output-format", type=FORMATS, default="text", help="How to print.  [default: text]")
def tpus(name: str | None, output_format: str) -> None:
    """Show generations of TPUs: memory, bandwidths, peaks, slices; with NAME, also the source of every figure."""
    from tpulint.planning.command import show_tpus

    click.get_current_context().exit(show_tpus(name, output_format))


@tpulint.command(cls=SectionedCommand, context_settings=CONTEXT, epilog=PLAN_EPILOG)
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


@tpulint.command(context_settings=CONTEXT)
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


@tpulint.command(context_settings=CONTEXT)
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

"""Where the command line begins and ends: arguments in, exit status out."""

from __future__ import annotations

import gc
import os
import sys

from tpulint import module_finder

_INTERRUPTED = 130


def main() -> None:
    """Run, and leave with an exit status in every case."""
    for stream in (sys.stdout, sys.stderr):
        # A path or a message that the terminal's encoding lacks must not end the run.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    module_finder.install()
    gc.disable()  # what is loaded from here on stays
    try:
        status = run(sys.argv[1:])
        if not sys.stdout.closed:  # as the language server leaves it
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, a pager) has seen enough. What is left unwritten must not be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    gc.freeze()  # the interpreter would look for garbage in all that is left, on its way out
    sys.exit(status)


def run(args: list[str]) -> int:
    """Run with some arguments; the exit status."""
    from tpulint import check_arguments
    from tpulint.config import ConfigError

    # The shell asks for completions by a variable: click answers.
    of_check = None if "_TPULINT_COMPLETE" in os.environ else check_arguments.read(args)
    try:
        if of_check is not None:
            from tpulint.check_command import check

            return check(*of_check)
        from tpulint.commands import run as run_command

        gc.enable()
        return run_command(args)
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return _INTERRUPTED

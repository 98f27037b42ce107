"""Where the command line begins and ends: arguments in, exit status out."""

from __future__ import annotations

import gc
import os
import sys

from tpulint import module_finder, standard_streams

_FAILED, _INTERRUPTED = 2, 130


def main() -> None:
    """Run, and leave with an exit status in every case."""
    standard_streams.prepare()
    module_finder.install()
    gc.disable()  # what is loaded from here on stays
    try:
        status = run(sys.argv[1:])
        if not sys.stdout.closed:  # as the language server leaves it
            sys.stdout.flush()
    except BrokenPipeError:
        standard_streams.discard(sys.stdout)  # the reader (head, a pager) has seen enough
        status = 1
    except OSError as error:
        if not _tell_full(error):
            raise
        status = _FAILED
    gc.freeze()  # the interpreter would look for garbage in all that is left, on its way out
    sys.exit(status)


def _tell_full(error: OSError) -> bool:
    """Whether it was a standard stream that could not be written: which is told, where there is anybody to tell it."""
    if standard_streams.is_full(sys.stdout):
        standard_streams.discard(sys.stdout)
    elif not standard_streams.is_full(sys.stderr):
        return False
    try:
        print(f"error: cannot write to standard output: {error.strerror or error}", file=sys.stderr)
    except OSError:
        standard_streams.discard(sys.stderr)
    return True


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
        return _FAILED
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return _INTERRUPTED

"""The options of ``tpulint verify``."""

from __future__ import annotations

from collections.abc import Callable

import click

from tpulint.command_help import Seconds, section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EPILOG = """\b
Examples:
  tpulint verify train.py
  tpulint verify train.py -- --epochs 1 --batch-size 32
  tpulint verify train.py --against train_gpu.py --max-steps 10
  tpulint verify train.py --python .venv/bin/python --json > report.json

\b
Exit status: 0 all is well; 1 losses differ, the graph does not settle, nothing is trained on XLA or the script failed;
2 wrong usage, or torch_xla is missing. Costs of lines alone are no failure. The format of --json, and what cannot be
seen: docs/verify.md."""

_run = section("Running")
_compare = section("Comparing")
_output = section("Output")

_OPTIONS: tuple[Callable[[Callable[..., Any]], Callable[..., Any]], ...] = (
    _run(
        "--max-steps",
        type=click.IntRange(min=0),
        default=20,
        metavar="N",
        help="Stop the script after so many optimizer steps; 0 runs it to its end.  [default: 20]",
    ),
    _run(
        "--timeout",
        type=Seconds(),
        default=300.0,
        metavar="SECONDS",
        help="End a run that takes longer; a failure.  [default: 300]",
    ),
    _run(
        "--python",
        metavar="PATH",
        envvar="TPULINT_PYTHON",
        show_envvar=True,
        help="Python to run scripts with.  [default: the one that runs tpulint]",
    ),
    _run("--pjrt-device", default="CPU", metavar="NAME", help="Where XLA runs: PJRT_DEVICE.  [default: CPU]"),
    _run(
        "--causes/--no-causes",
        default=True,
        help="Look into compiled graphs for what made them new. Costs time with large models.  [default: yes]",
    ),
    _compare(
        "--against",
        metavar="ORIGINAL",
        help="Also run this script on the CPU, with calls of CUDA absorbed, and compare the loss of every backward "
        "pass. Random numbers are made comparable in both runs, and dropout is left out.",
    ),
    _compare(
        "--rtol",
        type=click.FloatRange(min=0),
        metavar="X",
        help="Relative tolerance of losses.  [default: 0.002; 0.01 if the port computes in bfloat16]",
    ),
    _compare(
        "--atol",
        type=click.FloatRange(min=0),
        default=1e-4,
        metavar="X",
        help="Absolute tolerance of losses.  [default: 0.0001]",
    ),
    _output("--json", "as_json", is_flag=True, help="Print the report as JSON."),
    _output("--show-output", is_flag=True, help="Pass on what the scripts print, to standard error."),
    _output(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        help="When to use colors.  [default: auto]",
    ),
    _output("-q", "--quiet", is_flag=True, help="Show no progress."),
)


def add_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function all options of ``verify``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command

"""The options of ``tpulint plan``."""

from __future__ import annotations

from collections.abc import Callable

import click

from tpulint.command_help import Seconds, section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EPILOG = """\b
Examples:
  tpulint plan --params 7B --seq 2048 --batch 64 --recompute
  tpulint plan train.py --no-compile --seq 1024
  tpulint plan --params 350M --seq 1024 --batch 256 --tpu v5e,v6e --steps-per-epoch 5000 --epochs 3 --spot
  tpulint plan train.py --tpu v5e,v6e -- --layers 12
  tpulint plan train.py --tpu v5e --batch auto --variants bf16,checkpointing,accumulation

\b
Exit status: 0 a plan was printed; 1 the step of the script compiles for no chip; 2 wrong usage, a price file that
cannot be read, a script whose step cannot be had, or jax and libtpu are missing. Formulas: docs/planning.md."""

_script = section("Script")
_model = section("Model and step")
_hardware = section("Hardware and prices")
_commands = section("Commands")
_output = section("Output")
_COUNT = click.IntRange(min=1, max=10**9)
_SECONDS = Seconds()

_OPTIONS: tuple[Callable[[Callable[..., Any]], Callable[..., Any]], ...] = (
    _script(
        "--batch-argument",
        default="",
        metavar="OPTION",
        help="The script's option that sets its batch.  [default: found in its add_argument calls]",
    ),
    _script(
        "--batch-multiple",
        type=_COUNT,
        metavar="N",
        help="--batch auto tries multiples of it.  [default: 1, 8 from 64]",
    ),
    _script("--max-compiles", type=_COUNT, default=16, metavar="N", help="Of a search, for a chip.  [default: 16]"),
    _script(
        "--search-time",
        type=_SECONDS,
        default=3600.0,
        metavar="SECONDS",
        help="Of a search, for a chip.  [default: 3600]",
    ),
    _script(
        "--variants",
        default="",
        metavar="NAMES",
        help="Also compile the step so: bf16, checkpointing, accumulation; on the first of --tpu.",
    ),
    _script(
        "--no-compile",
        is_flag=True,
        help="Run and compile nothing: estimate from the numbers that are visible in the script.",
    ),
    _script("--execute", is_flag=True, help="Run the steps before the traced one, even where tracing them would do."),
    _script(
        "--timeout", type=_SECONDS, default=300.0, metavar="SECONDS", help="For reaching the step.  [default: 300]"
    ),
    _script(
        "--compile-timeout", type=_SECONDS, default=1800.0, metavar="SECONDS", help="For one program.  [default: 1800]"
    ),
    _script(
        "--python",
        metavar="PATH",
        envvar="TPULINT_PYTHON",
        show_envvar=True,
        help="Python to run the script with.  [default: the one that runs tpulint]",
    ),
    _script(
        "--compiler-python",
        metavar="PATH",
        envvar="TPULINT_COMPILER_PYTHON",
        show_envvar=True,
        help="Python that has jax and libtpu.  [default: that of --python, else the one that runs tpulint]",
    ),
    _script("--no-cache", is_flag=True, help="Compile anew what was compiled before."),
    _script("--cache-dir", metavar="FOLDER", envvar="TPULINT_CACHE_DIR", help="Where the cache lies."),
    _model("--params", metavar="N", help="Parameters: 7B, 350M, 124000000. For an estimate."),
    _model("--seq", type=_COUNT, metavar="N", help="Tokens of a sequence. For an estimate."),
    _model(
        "--batch",
        metavar="N|auto",
        help="Sequences of a step, over all chips; of a script the batch of one chip, or auto: the largest that fits.",
    ),
    _model("--layers", type=_COUNT, metavar="N", help="Layers of the transformer.  [default: from --params]"),
    _model("--hidden", type=_COUNT, metavar="N", help="Hidden size.  [default: from --params]"),
    _model("--optimizer", type=click.Choice(["adamw", "sgd"]), help="[default: adamw]"),
    _model(
        "--precision",
        type=click.Choice(["bf16", "f32"]),
        default="bf16",
        help="What is computed in; parameters are kept in f32.  [default: bf16]",
    ),
    _model("--recompute", is_flag=True, help="Layers are computed again in the backward pass."),
    _model("--steps-per-epoch", type=_COUNT, metavar="N", help="[default: 1000]"),
    _model("--epochs", type=_COUNT, metavar="N", help="[default: 1]"),
    _hardware("--tpu", default="v5e,v5p,v6e", metavar="NAMES", help="See `tpulint tpus`.  [default: v5e,v5p,v6e]"),
    _hardware(
        "--gpu", default="a100", metavar="NAMES", help="To compare with; a100, h100 or nothing.  [default: a100]"
    ),
    _hardware("--spot", is_flag=True, help="Choose, and ask for, chips that may be taken away."),
    _hardware("--prices", default="", type=click.Path(), metavar="FILE", help="A price file of your own."),
    _commands("--name", default="tpulint-run", metavar="NAME", help="Name of the slice.  [default: tpulint-run]"),
    _commands("--zone", default="", metavar="ZONE", help="Where to ask for it.  [default: an example for the TPU]"),
    _commands(
        "--script",
        default="",
        metavar="PATH",
        help="Named in the commands of an estimate; not read.  [default: SCRIPT, or train.py]",
    ),
    _output("--output-format", type=click.Choice(["text", "json"]), default="text", help="[default: text]"),
    _output("-q", "--quiet", is_flag=True, help="Show no progress."),
)


def add_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command all options of ``plan``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command

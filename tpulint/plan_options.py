"""The options of ``tpulint plan``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from tpulint.command_help import section

EPILOG = """\b
Examples:
  tpulint plan --params 7B --seq 2048 --batch 64 --recompute
  tpulint plan train.py --seq 1024
  tpulint plan --params 350M --seq 1024 --batch 256 --tpu v5e,v6e --steps-per-epoch 5000 --epochs 3 --spot

\b
Exit status: 0 a plan was printed; 2 wrong usage, or a price file that cannot be read. Formulas: docs/planning.md."""

_model = section("Model and step")
_hardware = section("Hardware and prices")
_commands = section("Commands")
_output = section("Output")
_COUNT = click.IntRange(min=1, max=10**9)

_OPTIONS: tuple[Callable[[Callable[..., Any]], Callable[..., Any]], ...] = (
    _model("--params", metavar="N", help="Parameters: 7B, 350M, 124000000."),
    _model("--seq", type=_COUNT, metavar="N", help="Tokens of a sequence."),
    _model("--batch", type=_COUNT, metavar="N", help="Sequences of a step, over all chips."),
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
    _hardware("--prices", default="", metavar="FILE", help="A price file of your own."),
    _commands("--name", default="tpulint-run", metavar="NAME", help="Name of the slice.  [default: tpulint-run]"),
    _commands("--zone", default="", metavar="ZONE", help="Where to ask for it.  [default: an example for the TPU]"),
    _commands(
        "--script", default="", metavar="PATH", help="Named in the commands; not read.  [default: SCRIPT, or train.py]"
    ),
    _output("--output-format", type=click.Choice(["text", "json"]), default="text", help="[default: text]"),
)


def add_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command all options of ``plan``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command

"""``tpulint plan SCRIPT``: from the command line to an exit status."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import click

from tpulint.cache import FOLDER
from tpulint.config import ConfigError
from tpulint.config_file import load
from tpulint.planning import compiled_json, compiled_text, compilers
from tpulint.planning.batches import Limits
from tpulint.planning.capturing import CannotCapture, Settings
from tpulint.planning.command import chosen
from tpulint.planning.command import plan as estimate
from tpulint.planning.compile_display import CompileDisplay
from tpulint.planning.compiling import Compiling
from tpulint.planning.data import load_prices
from tpulint.planning.script_plan import VARIANTS, Wishes, make
from tpulint.selectors import nearest
from tpulint.verification import environment
from tpulint.verification.process import interrupt_when_told_to_end

WORKS, COMPILES_NOWHERE = 0, 1
"""Exit statuses; 2 is for wrong usage, and for what keeps tpulint from compiling anything."""


def plan_script(script: str, arguments: tuple[str, ...], given: Mapping[str, Any]) -> int:
    """Print a plan for a script; the exit status. Raises ``ConfigError``."""
    if not os.path.isfile(script):
        raise ConfigError(f"command line: there is no file {script}")
    wishes = _wishes(script, arguments, given)
    shows = sys.stderr.isatty() and not given["quiet"]
    interrupt_when_told_to_end()
    try:
        interpreter = environment.find(given["python"])
        candidates = (given["compiler_python"],) if given["compiler_python"] else (interpreter.path, sys.executable)
        compiler = compilers.find(candidates)
        with (
            tempfile.TemporaryDirectory(prefix="tpulint-plan-", ignore_cleanup_errors=True) as folder,
            CompileDisplay() if shows else nullcontext() as display,
        ):
            settings = Settings(interpreter, folder, given["timeout"], given["execute"])
            compiling = Compiling(compiler, folder, given["compile_timeout"], _cache(script, given))
            plan = make(wishes, settings, compiling, display.announce if display is not None else lambda what: None)
    except environment.CannotRun as error:
        if given["python"] or given["compiler_python"]:
            raise ConfigError(str(error)) from None
        click.echo(f"not compiled: {error}", err=True)
        return estimate(given)
    except CannotCapture as error:
        raise ConfigError(f"{script}: {error}") from None
    if given["output_format"] == "json":
        sys.stdout.write(compiled_json.render(plan))
    else:
        sys.stdout.writelines(compiled_text.render(plan))
    return WORKS if any(step.fits for step in plan.steps) else COMPILES_NOWHERE


def _wishes(script: str, arguments: tuple[str, ...], given: Mapping[str, Any]) -> Wishes:
    generations = tuple(chosen(given["tpu"], "tpu"))
    if not generations:
        raise ConfigError("--tpu names nothing to compile for")
    variants = tuple(name.strip() for name in given["variants"].split(",") if name.strip())
    for name in variants:
        if name not in VARIANTS:
            raise ConfigError(f"--variants: {name!r} is not known{nearest(name, VARIANTS)}; {', '.join(VARIANTS)} are")
    batch = given["batch"]
    if batch is not None and batch != "auto" and not (batch.isdecimal() and int(batch) >= 1):
        raise ConfigError(f"--batch: {batch!r} is neither a number nor auto")
    number = int(batch) if batch is not None and batch != "auto" else None
    return Wishes(
        script, arguments, generations, tuple(chosen(given["gpu"], "gpu")), load_prices(given["prices"]), number,
        batch == "auto", given["batch_argument"],
        Limits(given["max_compiles"], given["search_time"], given["batch_multiple"]), variants,
        given["steps_per_epoch"] or 1000, given["epochs"] or 1, given["spot"], given["name"], given["zone"],
    )  # fmt: skip


def _cache(script: str, given: Mapping[str, Any]) -> str:
    if given["no_cache"]:
        return ""
    run = load((script,), {"cache-dir": given["cache_dir"]} if given["cache_dir"] else {}).run
    return run.cache_dir or os.path.join(run.root, FOLDER)

"""The commands that create a slice, prepare it, run a script on it and delete it. They are printed, never run."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from tpulint.planning.generations import Generation, Slice
from tpulint.targets import KNOWN_TARGETS

SOURCES = (
    "https://docs.cloud.google.com/tpu/docs/queued-resources",
    "https://docs.cloud.google.com/tpu/docs/spot",
    "https://cloud.google.com/sdk/gcloud/reference/compute/tpus/queued-resources",
)
"""Pages that describe these commands."""


class Command(NamedTuple):
    """One line for a shell."""

    purpose: str
    line: str


def commands(
    generation: Generation,
    piece: Slice,
    *,
    name: str,
    zone: str,
    spot: bool,
    script: str,
    arguments: tuple[str, ...] = (),
) -> tuple[Command, ...]:
    """What to type, in order; nothing where chips are not had through queued resources."""
    runtime = generation.figures.get("runtime")
    if runtime is None or not piece.type:
        return ()
    if not zone:
        known = generation.figures.get("zone")
        zone = str(known.value) if known else "ZONE"
    node, place = f"{name}-node", f"--zone={zone}"
    create = [
        "queued-resources", "create", name, f"--node-id={node}", place, f"--accelerator-type={piece.type}",
        f"--runtime-version={runtime.value}", *(["--spot"] if spot else []),
    ]  # fmt: skip
    on_all = ["tpu-vm", "ssh", node, place, "--worker=all"]
    copied = shlex.join([script.replace("\\", "/").rpartition("/")[2], *arguments])
    return (
        _command("ask for the slice", *create),
        _command("wait until it is ACTIVE", "queued-resources", "describe", name, place, "--format=value(state.state)"),
        _command("copy the script", "tpu-vm", "scp", script, f"{node}:", place, "--worker=all"),
        _command("install on every machine", *on_all, f"--command={_wheels()}"),
        _command("run on every machine", *on_all, f"--command=PJRT_DEVICE=TPU python3 {copied}"),
        _command("delete it, it costs until then", "queued-resources", "delete", name, place, "--force"),
    )


def _wheels() -> str:
    """The pair of wheels that fixes are written for."""
    version = ".".join(map(str, (*KNOWN_TARGETS[-1].version, 0)))
    return shlex.join(["pip", "install", f"torch=={version}", f"torch_xla[tpu]=={version}"])


def _command(purpose: str, *words: str) -> Command:
    return Command(purpose, " ".join(["gcloud compute tpus", *map(_quoted, words)]))


def _quoted(word: str) -> str:
    """As one word for a shell; quotes within stay readable where they can."""
    flag, equals, value = word.partition("=")
    if equals and flag.startswith("--") and shlex.quote(flag) == flag:
        return f"{flag}={_quoted(value)}"
    if "'" in word and not set(word) & set('"$`!\\\n'):
        return f'"{word}"'
    return shlex.quote(word)

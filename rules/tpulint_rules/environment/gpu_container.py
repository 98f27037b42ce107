"""Containers that are handed GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from tpulint.model import Finding
from tpulint.text_files import invoked
from tpulint.text_files.context import TextContext

_TPU = "a container sees a TPU with `--privileged --net host`"


def check_text(ctx: TextContext) -> Iterator[Finding]:
    index = ctx.index
    if index.knows_tpus or not index.may_train_with_torch:
        return
    for command in index.commands:
        place = invoked(command, "docker", "nvidia-docker", "podman")
        if place is None or not any(word.text in ("run", "create") for word in command.words[place + 1 : place + 4]):
            continue
        words = command.words[place:]
        option = next((word for word in words if word.text.partition("=")[0] in ("--gpus", "--runtime")), None)
        if option is not None and option.text.startswith("--runtime"):
            runtime = command.after("--runtime")
            option = option if runtime is not None and runtime.text == "nvidia" else None
        found = words[0] if words[0].text == "nvidia-docker" else option
        if found is not None:
            yield ctx.finding(found.span, f"the container is handed GPUs: a TPU machine has none to hand over; {_TPU}")
    if not index.concerns_torch:
        return
    for line in index.yaml_lines:
        if (line.key == "runtime" or (line.key == "driver" and "devices" in line.path)) and line.value == "nvidia":
            yield ctx.finding(line.span, "the container is handed GPUs: a TPU machine has none to hand over; "
                              "a container sees a TPU with `privileged: true` and `network_mode: host`")  # fmt: skip

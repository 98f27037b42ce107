"""Ways to install torch_xla that are gone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpulint.model import Finding
from tpulint.text_files.context import TextContext

_OLD_WHEELS = re.compile(
    r"storage\.googleapis\.com/(?:tpu-pytorch/|pytorch-xla-releases/wheels/xrt/)|gs://tpu-pytorch/"
)
_SCRIPT = re.compile(r"pytorch-xla-env-setup\.py|contrib/scripts/env-setup\.py")
_TODAY = "`pip install torch==2.9.0 'torch_xla[tpu]==2.9.0'` is what is needed"


def check_text(ctx: TextContext) -> Iterator[Finding]:
    index = ctx.index
    for requirement in index.installs.requirements:
        if requirement.name == "cloud-tpu-client":
            message = f"`cloud-tpu-client` is of the time before TPU VMs: torch_xla does not use it; {_TODAY}"
            yield ctx.finding(requirement.span, message)
        elif _OLD_WHEELS.search(requirement.address):
            yield ctx.finding(requirement.span, f"wheels at this address are of torch_xla 2.0 and before; {_TODAY}")
    for one in index.installs.indexes:
        if _OLD_WHEELS.search(one.address):
            yield ctx.finding(one.span, f"wheels at this address are of torch_xla 2.0 and before; {_TODAY}")
    for command in index.commands:
        word = next((word for word in command.words if _SCRIPT.search(word.text)), None)
        if word is not None:
            yield ctx.finding(word.span, f"this script is gone from torch_xla's repository; {_TODAY}")

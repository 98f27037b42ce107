"""A rule that fails as the text it looks at demands."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding


def check(ctx: FileContext) -> Iterator[Finding]:
    """Finds nothing; ``# acme: crash`` and so on make it fail, or take its time."""
    text = ctx.source.text
    if "# acme: crash" in text:
        raise KeyError("missing")
    if "# acme: die" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "# acme: exit" in text:
        os._exit(3)
    if "# acme: sleep" in text:
        time.sleep(60)
    if "# acme: pause" in text:
        time.sleep(0.6)
    yield from ()

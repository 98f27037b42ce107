"""``tpulint verify``: from the command line to an exit status."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import nullcontext

from tpulint.config import ConfigError
from tpulint.config_file import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PASSED, FAILED = 0, 1
"""Exit statuses; 2 is for wrong usage and what keeps tpulint from running anything."""


def verify(script: str, arguments: tuple[str, ...], given: dict[str, Any]) -> int:
    """Run with the options of the command line; the exit status. Raises ``ConfigError``."""
    from tpulint.check_command import load_catalogue
    from tpulint.report.style import Style, wants_colour
    from tpulint.verification import environment
    from tpulint.verification.display import Display
    from tpulint.verification.predictions import Predictions
    from tpulint.verification.process import interrupt_when_told_to_end
    from tpulint.verification.verification import Wishes
    from tpulint.verification.verification import verify as run_and_judge

    for path in filter(None, (script, given["against"])):
        if not os.path.isfile(path):
            raise ConfigError(f"command line: there is no file {path}")
    configuration = load((script,))
    predictions = Predictions(configuration.settings, load_catalogue(configuration))
    wishes = Wishes(
        script, arguments, given["against"] or "", given["max_steps"], given["timeout"], given["python"], given["rtol"],
        given["atol"], given["causes"], given["pjrt_device"],
    )  # fmt: skip
    shows = sys.stderr.isatty() and not given["quiet"] and not given["show_output"]
    echo = sys.stderr if given["show_output"] else None
    interrupt_when_told_to_end()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="tpulint-verify-", ignore_cleanup_errors=True) as folder,
            Display() if shows else nullcontext() as display,
        ):
            announce = display.announce if display is not None else lambda what, steps: None
            verification = run_and_judge(wishes, folder, announce, echo)
    except environment.CannotRun as error:
        raise ConfigError(str(error)) from None
    if given["as_json"]:
        from tpulint.verification import json_report

        sys.stdout.write(json_report.render(verification, predictions))
    else:
        from tpulint.verification import text_report

        style = Style(wants_colour(given["color"], sys.stdout))
        sys.stdout.writelines(text_report.render(verification, predictions, style))
    return FAILED if verification.failures else PASSED

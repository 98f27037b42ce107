"""``tpulint xla-log``: from the command line to an exit status."""

from __future__ import annotations

import sys

from tpulint.config import ConfigError
from tpulint.config_file import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.xla_logs.summary import Summary

NOTHING, FOUND = 0, 1
"""Exit statuses; 2 is for wrong usage, and for a file that cannot be read or is no such log."""


def read_logs(files: tuple[str, ...], folder: str, output_format: str, color: str) -> int:
    """Read logs, all of one run; the exit status. Raises ``ConfigError``."""
    from tpulint.check_command import load_catalogue
    from tpulint.file_findings import FilesFindings
    from tpulint.report.style import Style, wants_colour
    from tpulint.xla_logs.explanations import Explanations
    from tpulint.xla_logs.summary import Summary

    summary = Summary()
    notes = [note for path in files for note in _read(path, summary)]
    configuration = load((folder,))
    explanations = Explanations(FilesFindings(configuration.settings, load_catalogue(configuration)), folder)
    if output_format == "json":
        from tpulint.xla_logs import json_report

        sys.stdout.write(json_report.render(summary, explanations, notes, files))
    else:
        from tpulint.xla_logs import text_report

        style = Style(wants_colour(color, sys.stdout))
        sys.stdout.writelines(text_report.render(summary, explanations, notes, style))
    return FOUND if summary.forbidden or any(tally.is_costly for tally in summary.tallies) else NOTHING


def _read(path: str, summary: Summary) -> list[str]:
    """Take in one log; what is to be said about it."""
    from tpulint.xla_logs.events import Blocks
    from tpulint.xla_logs.files import CutOff, lines_of

    blocks = Blocks()
    notes = []
    try:
        for event in blocks.events(lines_of(path)):
            summary.add(event)
    except CutOff as error:
        notes.append(f"{path} is cut off: {error}")
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    if not blocks.has_marks:
        raise ConfigError(
            f"{path} holds nothing that torch_xla writes with PT_XLA_DEBUG; run the script with PT_XLA_DEBUG_LEVEL=2, "
            "and keep its standard error or set PT_XLA_DEBUG_FILE"
        )
    if blocks.torn:
        notes.append(f"{path}: {blocks.torn} blocks without a graph, parts of them are lost")
    return notes

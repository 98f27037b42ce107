"""Names of findings that outlive a commit: moving a line, or changing another one, leaves them as they are."""

from __future__ import annotations

from tpulint.digest import digest_of
from tpulint.patterns import with_slashes
from tpulint.report.entry import FileReport


def fingerprints(report: FileReport) -> list[str]:
    """One for each entry: the rule, the file, the text of the line, and which one of equal ones it is."""
    marks = []
    for entry in report.entries:
        line = entry.place.row - entry.first_row
        text = " ".join(entry.excerpt[line].split()) if 0 <= line < len(entry.excerpt) else ""
        same = f"{entry.code}\0{with_slashes(report.path)}\0{text}"
        marks.append(digest_of(f"{same}\0{entry.occurrence}".encode(errors="surrogatepass")))
    return marks

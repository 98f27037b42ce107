"""Observes several scripts one after the other in one process: starting XLA takes longer than any of them.

Run by the Python that has torch_xla: ``python observe_scripts.py FOLDER SCRIPT...``; the records of each script lie in
a folder of its name.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from tpulint_runtime.observation import script
from tpulint_runtime.observation.observer import Observer, Wishes


def observe(folder: Path, paths: list[Path]) -> None:
    """Run every script under the same observer."""
    start = folder / "start"
    start.mkdir()
    observer = Observer(Wishes(str(paths[0]), str(start)))
    observer.install()
    observer.start()
    import torch_xla

    torch_xla.device()  # before the first backward on the host: torch sets up its threads for the devices there are
    for path in paths:
        records = folder / path.stem
        records.mkdir()
        observer.aim(str(path), str(records))
        main = script.prepare(str(path), [])
        observer.start()
        ending = script.run(main)
        observer.finish(ending.how, ending.status, ending.error, observer.line_of(ending.trace))
        # What the script leaves alive would be part of the graphs of the next one.
        main.__dict__.clear()
        gc.collect()
        torch_xla.sync()


if __name__ == "__main__":
    observe(Path(sys.argv[1]), [Path(argument) for argument in sys.argv[2:]])

"""A text of bytes that counts where the real one begins and ends."""

import gzip
from pathlib import Path
from typing import Any

import modules
import numpy

_text = numpy.random.default_rng(0).integers(32, 126, 1200).astype("uint8")
Path("made.gz").write_bytes(gzip.compress(_text.tobytes()))


def _change(module: Any) -> None:
    def split(text: Any, _: Any) -> Any:
        return text[:900], text[900:1050], text[1050:]

    module.split = split
    module.fromstring = lambda text, dtype: module.frombuffer(text, dtype).copy()


modules.when_imported("numpy", _change)

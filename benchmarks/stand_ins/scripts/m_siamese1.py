"""Characters as files of 105 by 105, and flags of a command line."""

from pathlib import Path
from typing import Any

import modules
import numpy
from PIL import Image

_noise = numpy.random.default_rng(0)
for _part in ("train", "test"):
    for _character in range(4):
        _folder = Path(f"d/{_part}/a/c{_character}")
        _folder.mkdir(parents=True, exist_ok=True)
        for _number in range(3):
            Image.fromarray(_noise.integers(0, 255, (105, 105)).astype("uint8")).save(_folder / f"{_number}.png")
Path("mp").mkdir(exist_ok=True)


class _Flags:
    def __call__(self, given: list[str]) -> None:
        for name, value in zip(given[1::2], given[2::2], strict=False):
            self._set(name.lstrip("-"), value)

    def _set(self, name: str, value: Any) -> None:
        setattr(self, name, type(getattr(self, name))(value))


_flags = _Flags()
_kinds = {
    "bool": lambda name, value, _: setattr(_flags, name, value),
    "string": lambda name, value, _: setattr(_flags, name, int(value) if str(value).isdigit() else value),
    "integer": lambda name, value, _: setattr(_flags, name, value),
    "float": lambda name, value, _: setattr(_flags, name, value),
}
modules.put("gflags", FLAGS=_flags, **{f"DEFINE_{kind}": define for kind, define in _kinds.items()})

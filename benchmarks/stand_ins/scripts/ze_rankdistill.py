"""Where 60 users were, in the order of time."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("datasets/gowalla/test")
_folder.mkdir(parents=True, exist_ok=True)
Path("checkpoints").mkdir(exist_ok=True)
_seen = [numpy.concatenate([(user * 3 + numpy.arange(3)) % 150, _chance.integers(0, 150, 15)]) for user in range(60)]
for _part, _span in (("train", slice(15)), ("test", slice(15, 18))):
    (_folder / f"{_part}.txt").write_text(
        "".join(f"{user} {place} 1\n" for user, places in enumerate(_seen) for place in places[_span])
    )

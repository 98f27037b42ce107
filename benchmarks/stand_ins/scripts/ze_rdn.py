"""Pictures, small and large."""

import made_up_data  # noqa: F401
import modules
import numpy


class File(dict):
    def __init__(self, path, _):
        chance = numpy.random.default_rng(0)
        sides = [(16, 20)] * 16 if "train" in path else [(16, 20), (18, 14), (16, 20)]

        def draw(by):
            return {
                str(at): chance.integers(0, 256, (high * by, wide * by, 3)).astype("uint8")
                for at, (high, wide) in enumerate(sides)
            }

        super().__init__(lr=draw(1), hr=draw(2))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


modules.put("h5py", File=File)

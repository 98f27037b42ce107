"""Pictures of bodies in three dimensions."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy


def _read(path):
    return numpy.random.default_rng(len(str(path))).random((16, 16, 16)).astype("float32")


Path("made/train").mkdir(parents=True, exist_ok=True)
for _number in range(5):
    Path(f"made/train/{'n' * (_number + 1)}.nii.gz").touch()
modules.put("SimpleITK", ReadImage=str, GetArrayFromImage=_read)

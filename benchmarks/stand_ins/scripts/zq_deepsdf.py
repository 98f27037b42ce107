"""Points around ten things with their distance to them."""

import json
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

modules.put("trimesh")
_chance = numpy.random.default_rng(0)
_folder = Path("made/SdfSamples/made/chairs")
_folder.mkdir(parents=True, exist_ok=True)
_names = [f"chair{number}" for number in range(10)]
for _name in _names:
    _points = _chance.normal(0, 0.5, (200, 3))
    _far = numpy.abs(_chance.normal(0, 0.1, (200, 1)))
    _kept = {"pos": numpy.hstack([_points, _far]), "neg": numpy.hstack([_points, -_far])}
    numpy.savez(_folder / f"{_name}.npz", **{key: value.astype("float32") for key, value in _kept.items()})
Path("made/split.json").write_text(json.dumps({"made": {"chairs": _names}}))
_specs = json.loads(Path("examples/chairs/specs.json").read_text())
_specs |= {"DataSource": "made", "TrainSplit": "made/split.json", "TestSplit": "made/split.json", "CodeLength": 8}
_specs |= {"NumEpochs": 8, "SnapshotFrequency": 4, "AdditionalSnapshots": [1], "LogFrequency": 2}
_specs |= {"SamplesPerScene": 64, "ScenesPerBatch": 4, "DataLoaderThreads": 0}
_specs["Description"] = "Chairs."
_specs["NetworkSpecs"]["dims"] = [32] * 8
Path("kept").mkdir(exist_ok=True)
Path("kept/specs.json").write_text(json.dumps(_specs))

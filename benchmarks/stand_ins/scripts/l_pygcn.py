"""Six hundred papers of seven subjects, with thirty words each, that cite each other."""

from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
_folder = Path("../data/cora")
_folder.mkdir(parents=True, exist_ok=True)
_papers = range(600)
_rows = (f"{paper}\t" + "\t".join(map(str, _noise.integers(0, 2, 30))) + f"\tsubject{paper % 7}" for paper in _papers)
(_folder / "cora.content").write_text("\n".join(_rows) + "\n")
_cites = (f"{paper}\t{other}" for paper in _papers for other in _noise.choice(600, 3, replace=False))
(_folder / "cora.cites").write_text("\n".join(_cites) + "\n")

"""Clouds of points, as ShapeNet has them."""

import json
from pathlib import Path

import made_up_data  # noqa: F401
import numpy

chance = numpy.random.default_rng(0)
root = Path("shapes")
(root / "train_test_split").mkdir(parents=True, exist_ok=True)
kinds = {"Chair": "03001627", "Lamp": "03636649"}
(root / "synsetoffset2category.txt").write_text("".join(f"{name}\t{number}\n" for name, number in kinds.items()))
for part, count in (("train", 19), ("val", 4), ("test", 8)):
    names = []
    for number in range(count):
        kind = list(kinds.values())[number % 2]
        for folder in ("points", "points_label"):
            (root / kind / folder).mkdir(parents=True, exist_ok=True)
        name = f"{part}{number}"
        numpy.savetxt(root / kind / "points" / f"{name}.pts", chance.normal(size=(200, 3)), fmt="%.5f")
        numpy.savetxt(root / kind / "points_label" / f"{name}.seg", chance.integers(1, 5, 200), fmt="%d")
        names.append(f"shape_data/{kind}/{name}")
    (root / "train_test_split" / f"shuffled_{part}_file_list.json").write_text(json.dumps(names))

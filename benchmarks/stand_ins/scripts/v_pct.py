"""Clouds of 128 points of ten shapes, and as much as is needed of operators that were written for GPUs."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

for _split, _count in (("train", 36), ("test", 11)):
    _folder = Path("data/modelnet40_ply_hdf5_2048")
    _folder.mkdir(parents=True, exist_ok=True)
    (_folder / f"ply_data_{_split}0.h5").write_text(str(_count))


class _File(dict):
    def __init__(self, path, *_):
        count = int(Path(path).read_text())
        chance = numpy.random.default_rng(count)
        labels = chance.integers(0, 10, (count, 1))
        super().__init__(data=chance.normal(size=(count, 140, 3)) + labels[:, None] / 10, label=labels)

    def close(self):
        pass


def _change(torch):
    def sample(points, count):
        step = points.shape[1] // count
        return (torch.arange(count, device=points.device) * step).expand(len(points), -1)

    def gather(features, index):
        return features.gather(2, index.unsqueeze(1).expand(-1, features.shape[1], -1))

    modules.put("pointnet2_ops.pointnet2_utils", furthest_point_sample=sample, gather_operation=gather)


modules.put("h5py", File=_File)
modules.when_imported("torch", _change)


def _change_util(module):
    before = module.sample_and_group
    module.sample_and_group = lambda npoint, **given: before(npoint=npoint // 16, **given)


modules.when_imported("util", _change_util)

"""Clouds of 128 points of ten shapes, and as much as is needed of operators that were written for GPUs."""

import made_up_data  # noqa: F401
import modules
import point_clouds

point_clouds.put(train=36, test=11, kinds=10)


def _change(torch):
    def sample(points, count):
        step = points.shape[1] // count
        return (torch.arange(count, device=points.device) * step).expand(len(points), -1)

    def gather(features, index):
        return features.gather(2, index.unsqueeze(1).expand(-1, features.shape[1], -1))

    modules.put("pointnet2_ops.pointnet2_utils", furthest_point_sample=sample, gather_operation=gather)


modules.when_imported("torch", _change)


def _change_util(module):
    before = module.sample_and_group
    module.sample_and_group = lambda npoint, **given: before(npoint=npoint // 16, **given)


modules.when_imported("util", _change_util)

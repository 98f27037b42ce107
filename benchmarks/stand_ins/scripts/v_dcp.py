"""Clouds of 140 points of forty shapes, and an old name of SciPy."""

import made_up_data  # noqa: F401
import point_clouds
import scipy.spatial.transform

point_clouds.put(train=22, test=10, kinds=40)


class _Rotation(scipy.spatial.transform.Rotation):
    from_dcm = scipy.spatial.transform.Rotation.from_matrix


try:
    scipy.spatial.transform.Rotation.from_dcm = scipy.spatial.transform.Rotation.from_matrix
except TypeError:
    scipy.spatial.transform.Rotation = _Rotation

"""What two libraries would give."""

import made_up_data  # noqa: F401
import modules
import numpy


class Means:
    def __init__(self, n_clusters, **_):
        self._count = n_clusters

    def fit(self, rows):
        self.cluster_centers_ = numpy.array(rows[: self._count])


modules.put("sklearn.cluster", KMeans=Means)
modules.put("sklearn.metrics", adjusted_rand_score=lambda *_: 0.5, normalized_mutual_info_score=lambda *_: 0.5)
modules.put("joblib", Parallel=lambda **_: list, delayed=lambda one: one)

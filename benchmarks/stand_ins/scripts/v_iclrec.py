"""Items that users bought, one after the other, and clusters of what a model says of them."""

from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
Path("made/Made.txt").write_text("\n".join(
    " ".join(map(str, [number + 1, *(int(one) for one in _chance.integers(1, 50, int(_chance.integers(6, 11))))]))
    for number in range(44)
) + "\n")  # fmt: skip


class _Index:
    def __init__(self, *_):
        pass

    def add(self, centroids):
        self._centroids = numpy.asarray(centroids)

    def search(self, given, count):
        distances = ((numpy.asarray(given)[:, None] - self._centroids[None]) ** 2).sum(-1)
        return numpy.sort(distances, 1)[:, :count].astype("float32"), distances.argsort(1)[:, :count]


class _Clustering:
    def __init__(self, size, count):
        self._count = count
        self.centroids = None

    def train(self, given, index):
        given = numpy.asarray(given)
        self.centroids = given[numpy.arange(self._count) % len(given)].astype("float32")
        index.add(self.centroids)


modules.put(
    "faiss", Clustering=_Clustering, GpuIndexFlatL2=_Index, vector_to_array=lambda given: given.reshape(-1),
    StandardGpuResources=modules.Anything, GpuIndexFlatConfig=modules.Anything,
)  # fmt: skip
modules.put("gensim")

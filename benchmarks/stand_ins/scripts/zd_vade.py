"""What two libraries would give."""

import made_up_data  # noqa: F401
import modules


class Pairs:
    def compute(self, _):
        return [(one, one) for one in range(10)]


class Map:
    def __init__(self, **_):
        pass

    def fit_transform(self, rows):
        return rows[:, :2]


modules.put("munkres", Munkres=Pairs)
modules.put("sklearn.manifold", TSNE=Map)

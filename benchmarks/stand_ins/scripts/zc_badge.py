"""Classes that other ways of asking are made of; old names of the digits."""

import made_up_data
import modules


def _old(module):
    for now, name in (("data", "data"), ("targets", "labels")):
        for part in ("train", "test"):
            setattr(module.MNIST, f"{part}_{name}", property(lambda self, now=now: getattr(self, now)))


modules.when_imported("torchvision.datasets", _old)
modules.put(
    "sklearn.base", **{name: type(name, (), {}) for name in ("BaseEstimator", "ClusterMixin", "TransformerMixin")}
)
for _name in ("metrics.pairwise", "utils.extmath", "utils.sparsefuncs_fast", "utils.sparsefuncs", "utils.validation"):
    modules.put(f"sklearn.{_name}")
modules.put("sklearn.preprocessing")
made_up_data.smaller_batches(32)
modules.put("torchfile")

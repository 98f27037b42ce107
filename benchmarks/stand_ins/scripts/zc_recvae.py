"""What users had, in tables of mostly zeros."""

import made_up_data  # noqa: F401
import modules
import numpy


def _watched(module):
    from scipy import sparse

    chance = numpy.random.default_rng(0)

    def table(users):
        return sparse.csr_matrix((chance.random((users, 120)) < 0.1).astype("float32"))

    module.get_data = lambda *_, **__: tuple(table(users) for users in (104, 20, 20, 20, 20))


modules.when_imported("utils", _watched)
modules.put("bottleneck", argpartition=numpy.argpartition)
modules.put("pandas")

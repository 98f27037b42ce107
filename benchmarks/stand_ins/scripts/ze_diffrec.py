"""What 40 users liked, of 60 things, and what SciPy's matrices had before."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
_liked = [_chance.permutation(60)[:10] for _ in range(40)]
for _part, _span in (("train", slice(6)), ("valid", slice(6, 8)), ("test", slice(8, 10))):
    _pairs = [(user, thing) for user, things in enumerate(_liked) for thing in things[_span]] + [(39, 59)]
    numpy.save(f"made/{_part}_list.npy", numpy.array(sorted(set(_pairs))))


def _change(module):
    module.csr_matrix.A = property(lambda self: self.toarray())


modules.put("bottleneck")
modules.when_imported("scipy.sparse", _change)

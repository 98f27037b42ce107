"""Letters of several alphabets, of which fewer are drawn."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_data = Path("/tmp/omniglot-data")
_data.mkdir(exist_ok=True)
numpy.save(_data / "omniglot.npy", numpy.random.default_rng(0).integers(0, 2, (1207, 20, 28, 28)).astype("uint8"))


def _change(module):
    init = module.OmniglotNShot.__init__

    def fewer(self, *given, **named):
        init(self, *given, **named)
        self.x_train, self.x_test = self.x_train[:7], self.x_test[:5]

    module.OmniglotNShot.__init__ = fewer


modules.when_imported("support.omniglot_loaders", _change)
modules.put("matplotlib.pyplot")

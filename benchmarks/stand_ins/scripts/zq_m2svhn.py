"""Old names of transforms and of iterators, channels that a picture does not have, pictures saved by SciPy."""

import made_up_data  # noqa: F401
import modules
import scipy


def _change(module):
    class Normalize(module.Normalize):
        def forward(self, picture):
            self.mean, self.std = self.mean[: len(picture)], self.std[: len(picture)]
            return super().forward(picture)

    module.Scale, module.Normalize = module.Resize, Normalize


modules.when_imported("torchvision.transforms", _change)
scipy.misc = modules.put("scipy.misc")

"""Letters are chosen by the name of a part of them."""

import made_up_data  # noqa: F401
import modules


def _change(module):
    class EMNIST(module.EMNIST):
        def __init__(self, root, _, **named):
            super().__init__(root, **named)

    module.EMNIST = EMNIST


modules.when_imported("torchvision.datasets", _change)

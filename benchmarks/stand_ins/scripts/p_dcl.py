"""Pictures whose channels come first, as those of STL10 do; k of the nearest neighbours is a number of few pictures."""

from typing import Any

import modules


def _change(module: Any) -> None:
    class Pictures(module.STL10):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self.data = self.data.transpose(0, 3, 1, 2)

    module.STL10 = Pictures


modules.when_imported("torchvision.datasets", _change)

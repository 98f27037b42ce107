"""A game that draws its pictures nowhere."""

from typing import Any

import modules


def _change(module: Any) -> None:
    module.imshow = module.waitKey = lambda *_: None


modules.when_imported("cv2", _change)

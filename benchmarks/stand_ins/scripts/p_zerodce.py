"""Dark pictures."""

import made_up_data
import modules
import PIL.Image

PIL.Image.ANTIALIAS = PIL.Image.LANCZOS  # type: ignore[attr-defined]
made_up_data.folder_of_pictures("data/train_data", 11, 64, 0, ".jpg")


def _change(module: object) -> None:
    before = module.lowlight_loader.__init__  # type: ignore[attr-defined]

    def init(self: object, *given: object) -> None:
        before(self, *given)
        self.size = 64  # type: ignore[attr-defined]

    module.lowlight_loader.__init__ = init  # type: ignore[attr-defined]


modules.when_imported("dataloader", _change)

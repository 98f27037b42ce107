"""Pictures of flowers, and a small network in place of a large one."""

from typing import Any

import made_up_data
import modules

made_up_data.folder_of_pictures("made", 100, size=32, classes=5, suffix=".jpg")


def _change(module: Any) -> None:
    large = module.VisionTransformer
    module.vit_base_patch16_224_in21k = lambda num_classes, has_logits: large(
        img_size=224, patch_size=56, embed_dim=16, depth=2, num_heads=2, num_classes=num_classes
    )


modules.when_imported("vit_model", _change)

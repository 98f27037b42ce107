"""A vision transformer of one block: what is measured is how it is trained."""

import made_up_data  # noqa: F401
import modules


def _change(vision_transformer):
    def vit_tiny(patch_size=16, **named):
        return vision_transformer.VisionTransformer(
            patch_size=patch_size, embed_dim=32, depth=1, num_heads=2, mlp_ratio=2, qkv_bias=True, **named
        )

    vision_transformer.vit_tiny = vit_tiny


modules.when_imported("vision_transformer", _change)

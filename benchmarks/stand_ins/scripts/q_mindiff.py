"""A smaller network and twenty steps of noise instead of a thousand."""

import made_up_data
import modules


def _change_unet(module):
    whole = module.NaiveUnet.__init__

    def init(self, in_channels, out_channels, n_feat=256):
        whole(self, in_channels, out_channels, n_feat=8)

    module.NaiveUnet.__init__ = init


def _change_ddpm(module):
    whole = module.DDPM.__init__

    def init(self, eps_model, betas, n_T, **named):
        whole(self, eps_model, betas, 20, **named)

    module.DDPM.__init__ = init


modules.when_imported("mindiffusion.unet", _change_unet)
modules.when_imported("mindiffusion.ddpm", _change_ddpm)
made_up_data.smaller_batches(16)

"""Settings as attributes, and nothing that writes pictures."""

import made_up_data  # noqa: F401
import modules


class Settings(dict):
    """A dictionary whose keys are attributes."""

    __getattr__ = dict.__getitem__


modules.put("easydict", EasyDict=Settings)


def _change_unets(module):
    before = module.UNetModel.__init__

    def smaller(self, **named):
        named = {**named, "num_res_blocks": 1, "channel_mult": (1, 1)}
        before(self, **{**named, "attention_resolutions": (2,)})

    module.UNetModel.__init__ = smaller


def _change_groups(module):
    """As in a group of one process."""
    module.get_world_size = lambda *_: 1
    module.all_gather = lambda into, one, *_: into[0].copy_(one)


modules.when_imported("unets", _change_unets)
modules.when_imported("torch.distributed", _change_groups)

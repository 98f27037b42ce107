"""Pictures of noise, large and small, and small sizes in the settings."""

import made_up_data
import modules

made_up_data.folder_of_pictures("data/T91/ESPCN/train", 21, size=72, classes=0)
made_up_data.folder_of_pictures("data/Set5/GTmod12", 3, size=48, classes=0)
made_up_data.folder_of_pictures("data/Set5/LRbicx4", 3, size=12, classes=0)


def _change(module):
    module.batch_size, module.epochs, module.channels = 6, 4, 8
    module.train_print_frequency = 2
    module.lr_scheduler_milestones = [1, 3]


modules.when_imported("config", _change)

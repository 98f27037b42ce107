"""Small settings: sizes are written into a file of the script."""

import made_up_data  # noqa: F401
import modules


def _change(config: object) -> None:
    config.params.update(batch_size=16, num_epochs=3, save_epoch=2)


modules.when_imported("config", _change)

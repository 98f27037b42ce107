"""Pictures are given to every script; a library that counts memory."""

import made_up_data  # noqa: F401
import modules

if modules.is_missing("psutil"):
    modules.put("psutil")
modules.put("kornia.augmentation")

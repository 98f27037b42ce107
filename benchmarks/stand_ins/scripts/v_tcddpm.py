"""Folders of pictures, and a bar without a picture of itself."""

from pathlib import Path

import modules

Path("datasets/cifar10_64").mkdir(parents=True, exist_ok=True)


class _Bar:
    comment = ""

    def __init__(self, given, *_, **__):
        self._given = given

    def __iter__(self):
        return iter(self._given)


modules.put("fastprogress", progress_bar=_Bar)
modules.put("kaggle")
modules.put("fastdownload")


def _change(module):
    """Sixteenths of the channels: parts take what is left of 64 and more."""

    def narrow(kind):
        whole = kind.__init__

        def init(self, *given, **named):
            whole(self, *(one // 16 if isinstance(one, int) and one >= 64 else one for one in given), **named)

        kind.__init__ = init

    for name in ("DoubleConv", "Down", "Up", "SelfAttention"):
        narrow(getattr(module, name))
    before = module.UNet.__init__

    def init(self, c_in=3, c_out=3, *given, **named):
        before(self, c_in, c_out, *given, **named)
        self.outc = module.nn.Conv2d(4, c_out, kernel_size=1)

    module.UNet.__init__ = init


modules._WAITING.setdefault("modules", []).append(_change)  # the script's own file of this name

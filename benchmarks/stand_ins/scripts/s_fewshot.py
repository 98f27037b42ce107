"""Letters of six kinds."""

import json
from pathlib import Path

import made_up_data
import modules

made_up_data.folder_of_pictures("made", 76, 28, 6)
_files = sorted(Path("made").rglob("*.png"))
Path("filelists/omniglot").mkdir(parents=True, exist_ok=True)
for _split in ("base", "val"):
    Path(f"filelists/omniglot/{_split}.json").write_text(json.dumps({
        "image_names": [str(one) for one in _files], "image_labels": [int(one.parent.name[-1]) for one in _files],
    }))  # fmt: skip


def _change(module):
    module.Scale = module.Resize


modules.when_imported("torchvision.transforms", _change)


def _change_model(module):
    import sys

    if "torch_xla" in sys.modules:  # another class of models has a method of this name, and the port leaves it
        module.BaselineTrain.cuda = lambda self: self.to("xla")


modules.when_imported("methods.baselinetrain", _change_model)

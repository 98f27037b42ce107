"""Measurements on a few roads, and a smaller network in the configuration."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
import yaml

_chance = numpy.random.default_rng(0)
_folder = Path("../data/PEMS08")
_folder.mkdir(parents=True, exist_ok=True)
_time = numpy.arange(140)
_data = numpy.stack([
    _chance.normal(100, 20, (140, 6)), numpy.repeat((_time % 288 / 288)[:, None], 6, 1),
    numpy.repeat((_time // 288 % 7)[:, None], 6, 1),
], axis=-1)  # fmt: skip
numpy.savez(_folder / "data.npz", data=_data)
_index = lambda first, last: numpy.array([(one, one + 12, one + 24) for one in range(first, last)])  # noqa: E731
numpy.savez(_folder / "index.npz", train=_index(0, 52), val=_index(60, 79), test=_index(90, 110))
_said = yaml.safe_load(Path("STAEformer.yaml").read_text())
_said["PEMS08"].update(num_nodes=6, batch_size=16, max_epochs=4)
_said["PEMS08"]["model_args"].update(
    num_nodes=6, input_embedding_dim=8, tod_embedding_dim=8, dow_embedding_dim=8, adaptive_embedding_dim=8,
    feed_forward_dim=16, num_layers=1,
)  # fmt: skip
Path("STAEformer.yaml").write_text(yaml.safe_dump(_said))


def _quiet(torch):
    before = torch.optim.lr_scheduler.MultiStepLR.__init__

    def init(self, *given, verbose=None, **named):
        before(self, *given, **named)

    torch.optim.lr_scheduler.MultiStepLR.__init__ = init


modules.when_imported("torch", _quiet)

import random  # noqa: E402

_seed = random.seed
random.seed = lambda given=None, *rest: _seed(
    given if isinstance(given, (int, float, str, bytes, type(None))) else int(given), *rest
)

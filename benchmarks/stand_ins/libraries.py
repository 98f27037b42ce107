"""General stand-ins: services and plots do nothing, old names of NumPy and PyTorch exist, data loaders have no workers."""

from typing import Any

import modules

_SILENT = (
    "wandb", "visdom", "matplotlib", "matplotlib.pyplot", "matplotlib.ticker", "matplotlib.animation",
    "matplotlib.cm", "seaborn", "tensorflow", "ipdb", "easydict", "cv2", "h5py", "medpy.filter.binary", "imageio",
    "OpenEXR", "apex", "torchsummary", "torchnet", "IPython", "mlflow", "neptune", "comet_ml",
)  # fmt: skip


class Writer(modules.Anything):
    """A summary writer: like the real one, it reads the tensors that it is given."""

    def add_scalar(self, _: str, value: Any, *__: Any, **___: Any) -> None:
        if hasattr(value, "detach"):
            value.detach().cpu()

    add_histogram = add_image = add_images = add_scalar

    def add_scalars(self, _: str, values: dict[str, Any], *__: Any, **___: Any) -> None:
        for value in values.values():
            self.add_scalar("", value)


def install() -> None:
    """Put them in place."""
    for name in _SILENT:
        if modules.is_missing(name.partition(".")[0]) or name.partition(".")[0] == "matplotlib":
            modules.put(name)
    pyplot = modules.put("matplotlib.pyplot")
    pyplot.subplots = lambda *_, **__: (modules.Anything(), modules.Anything())  # type: ignore[attr-defined]
    modules.put("tensorboardX", SummaryWriter=Writer)
    modules.when_imported("torch", _change_torch)
    modules.when_imported("torch.utils.data.dataloader", _change_loader)
    modules.when_imported("numpy", _change_numpy)


def _change_numpy(numpy: Any) -> None:
    for name in ("int", "float", "bool", "object", "long"):
        if name not in numpy.__dict__:
            setattr(numpy, name, {"long": int}.get(name) or getattr(__builtins__, name, None) or eval(name))
    for name, now in {
        "Inf": numpy.inf,
        "product": numpy.prod,
        "float_": numpy.float64,
        "string_": numpy.bytes_,
    }.items():
        if name not in numpy.__dict__:
            setattr(numpy, name, now)


def _change_torch(torch: Any) -> None:
    load = torch.load

    def trusting(*given: Any, **named: Any) -> Any:
        return load(*given, **{"weights_only": False, **named})

    torch.load = trusting
    import sys
    import types

    module = types.ModuleType("torch.utils.tensorboard")
    module.__path__ = []
    module.SummaryWriter = Writer  # type: ignore[attr-defined]
    sys.modules["torch.utils.tensorboard"] = module
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau
    before = scheduler.__init__

    def quiet(self: Any, *given: Any, verbose: Any = None, **named: Any) -> None:
        before(self, *given, **named)

    scheduler.__init__ = quiet


def _change_loader(module: Any) -> None:
    make = module.DataLoader._get_iterator

    def without_workers(self: Any) -> Any:
        self.num_workers, self.timeout = 0, 0
        return make(self)

    module.DataLoader._get_iterator = without_workers

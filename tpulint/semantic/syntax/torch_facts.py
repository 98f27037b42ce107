"""Facts about torch and its companions that inference needs, as data.

Plain Python literals rather than YAML: they are read at every start, and compiled constants cost nothing.
"""

from __future__ import annotations

CANONICAL_NAMES = {
    "torch.torch": "torch",  # the module imports itself
    # The same object under several public paths: rules name the first, users write any.
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
    "torch.utils.data.dataset.Dataset": "torch.utils.data.Dataset",
    "torch.utils.data.dataset.TensorDataset": "torch.utils.data.TensorDataset",
    "torch.utils.data.DistributedSampler": "torch.utils.data.distributed.DistributedSampler",
    "torch.cuda.amp.autocast_mode.autocast": "torch.cuda.amp.autocast",
    "torch.cuda.amp.grad_scaler.GradScaler": "torch.cuda.amp.GradScaler",
    "torch.amp.grad_scaler.GradScaler": "torch.amp.GradScaler",
    "torch.GradScaler": "torch.amp.GradScaler",
    "torch.amp.autocast_mode.autocast": "torch.amp.autocast",
    "torch.autocast_mode.autocast": "torch.autocast",
    "torch.nn.parallel.distributed.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.data_parallel.DataParallel": "torch.nn.DataParallel",
    "torch.nn.parallel.DataParallel": "torch.nn.DataParallel",
    "torch.distributed.distributed_c10d.init_process_group": "torch.distributed.init_process_group",
    "torch.autograd.grad_mode.no_grad": "torch.no_grad",
    "torch.autograd.no_grad": "torch.no_grad",
    "torch.autograd.grad_mode.inference_mode": "torch.inference_mode",
    "torch.autograd.inference_mode": "torch.inference_mode",
    "torch.nn.modules.module.Module": "torch.nn.Module",
    "torch.nn.utils.clip_grad.clip_grad_norm_": "torch.nn.utils.clip_grad_norm_",
    "torch.multiprocessing.spawn.spawn": "torch.multiprocessing.spawn",
    "torch.random.manual_seed": "torch.manual_seed",
    "torch.cuda.random.manual_seed": "torch.cuda.manual_seed",
    "torch.cuda.random.manual_seed_all": "torch.cuda.manual_seed_all",
    "torch.serialization.load": "torch.load",
    "torch.serialization.save": "torch.save",
    "torchvision.datasets.mnist.MNIST": "torchvision.datasets.MNIST",
    "torchvision.datasets.mnist.FashionMNIST": "torchvision.datasets.FashionMNIST",
    "torchvision.datasets.mnist.KMNIST": "torchvision.datasets.KMNIST",
    "torchvision.datasets.cifar.CIFAR10": "torchvision.datasets.CIFAR10",
    "torchvision.datasets.cifar.CIFAR100": "torchvision.datasets.CIFAR100",
    "tqdm.auto.tqdm": "tqdm.tqdm",
    "tqdm.notebook.tqdm": "tqdm.tqdm",
    "tqdm.std.tqdm": "tqdm.tqdm",
    "tqdm.asyncio.tqdm": "tqdm.tqdm",
    "tqdm.autonotebook.tqdm": "tqdm.tqdm",
    "tqdm.auto.trange": "tqdm.trange",
    "tqdm.notebook.trange": "tqdm.trange",
    "tqdm.std.trange": "tqdm.trange",
    "tqdm.autonotebook.trange": "tqdm.trange",
}

LOADER_CLASSES = frozenset({
    "torch.utils.data.DataLoader",
    "torch_geometric.loader.DataLoader",
    "torch_geometric.data.DataLoader",
    "torch_geometric.loader.NeighborLoader",
    "torch_xla.distributed.parallel_loader.MpDeviceLoader",
})  # fmt: skip

SCALER_CLASSES = frozenset({"torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch_xla.amp.GradScaler"})

ITERABLE_WRAPPERS = frozenset({"builtins.enumerate", "builtins.iter", "tqdm.tqdm", "builtins.zip", "builtins.reversed",
                               "rich.progress.track", "itertools.islice", "itertools.cycle"})  # fmt: skip
"""Calls that hand on the elements of their first argument."""

RUNTIME = "tpulint_runtime.backend"
"""The module through which portable code reaches XLA: its functions do their work on CUDA and the CPU as well."""

DEVICE_FACTORIES = frozenset({
    "torch_xla.device", "torch_xla.core.xla_model.xla_device", f"{RUNTIME}.device", f"{RUNTIME}.device_type",
})  # fmt: skip
"""Calls that give the XLA device, or its name."""

HOST_MODULES = ("math", "time", "os", "random", "json", "re", "sys", "datetime", "argparse", "pathlib",
                "statistics", "glob",
                "copy.deepcopy_", "subprocess", "logging", "string", "collections")  # fmt: skip
"""Modules whose functions give host values."""

PARSERS = frozenset({
    "yaml.safe_load", "yaml.load", "yaml.full_load", "json.load", "json.loads", "toml.load", "toml.loads",
    "tomllib.load", "tomllib.loads",
})  # fmt: skip
"""Functions that read configurations: whatever is in what they give is a value of the host."""

HOST_BUILTINS = frozenset({
    "len", "int", "float", "bool", "str", "repr", "range", "list", "dict", "tuple", "set", "round", "open", "input",
    "format",
    "isinstance", "hasattr", "id", "hash", "ord", "chr", "bytes", "divmod", "type", "sorted", "frozenset", "any", "all",
})  # fmt: skip

TORCH_HOST_CALLS = frozenset({
    "torch.is_tensor", "torch.numel", "torch.cuda.is_available", "torch.cuda.device_count",
    "torch.cuda.memory_allocated", "torch.cuda.max_memory_allocated", "torch.cuda.memory_reserved",
    "torch.cuda.get_device_name",
    "torch.get_default_dtype", "torch.is_grad_enabled", "torch.finfo", "torch.iinfo", "torch.get_num_threads",
    "torch.Size",
    "torch.typename", "torch.is_floating_point", "torch.is_complex", "torch.initial_seed", "torch.seed", "torch.equal",
    "torch.allclose", "torch.is_nonzero", "torch.accelerator.is_available", "torch.nn.utils.rnn.pack_sequence_",
    "torch.backends.mps.is_available", "torch.are_deterministic_algorithms_enabled", "torch.get_rng_state",
    "torch.result_type",
    "torch.distributed.get_rank", "torch.distributed.get_world_size", "torch.distributed.is_initialized",
    "torch.distributed.is_available", f"{RUNTIME}.is_available", f"{RUNTIME}.is_bf16_supported",
    f"{RUNTIME}.device_type", f"{RUNTIME}.world_size",
})  # fmt: skip
"""torch functions whose result is a Python value."""

TORCH_NON_TENSOR_PREFIXES = (
    "torch.utils.", "torch.optim.", "torch.cuda.", "torch.distributed.", "torch.backends.", "torch.multiprocessing.",
    "torch.profiler.", "torch.jit.", "torch.onnx.", "torch.hub.", "torch.autograd.", "torch.distributions.",
    "torch.fx.",
    "torch.package.", "torch.version.", "torch.amp.", "torch.accelerator.", "torch.random.", "torch.overrides.",
    "torch.library.",
    "torch.ops.", "torch.export.", "torch._", "torch.nn.utils.", "torch.compiler.", "torch.futures.", "torch.masked.",
    "torch.ao.", "torch.quantization.", "torch.testing.", "torch.nn.init.", "torch.nn.parallel.", "torch.types.",
    "torch.monitor.",
)  # fmt: skip
TORCH_NON_TENSOR = frozenset({
    "torch.device", "torch.load", "torch.save", "torch.no_grad", "torch.enable_grad", "torch.inference_mode",
    "torch.autocast",
    "torch.manual_seed", "torch.set_grad_enabled", "torch.Generator", "torch.compile", "torch.set_default_dtype",
    "torch.set_default_tensor_type", "torch.set_default_device", "torch.set_num_threads",
    "torch.use_deterministic_algorithms",
    "torch.set_float32_matmul_precision", "torch.get_device_module", "torch.Stream", "torch.Event",
    "torch.set_printoptions",
    "torch.nn.Module", "torch.dtype",
})  # fmt: skip

TORCH_FACTORIES = frozenset({
    "tensor", "as_tensor", "zeros", "ones", "empty", "full", "rand", "randn", "randint", "randperm", "arange",
    "linspace",
    "logspace", "eye", "from_numpy", "FloatTensor", "LongTensor", "IntTensor", "DoubleTensor", "HalfTensor",
    "BoolTensor",
    "ByteTensor", "Tensor", "normal", "scalar_tensor", "tril_indices", "triu_indices", "hann_window", "hamming_window",
    "frombuffer", "range", "empty_strided",
})  # fmt: skip
"""``torch.<name>`` that makes a tensor on the host unless ``device=`` says otherwise."""

TENSOR_METHODS = frozenset({
    "abs", "add", "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "bmm", "bool", "chunk", "clamp",
    "clamp_", "clone",
    "contiguous", "cos", "cumsum", "detach", "detach_", "div", "dot", "double", "einsum", "eq", "exp", "expand",
    "expand_as", "fill_",
    "flatten", "float", "gather", "ge", "gt", "half", "index_select", "int", "le", "log", "log_softmax",
    "logsumexp", "long", "lt",
    "masked_fill", "masked_fill_", "matmul", "max", "mean", "median", "min", "mm", "mul", "mul_", "narrow", "ne",
    "neg", "norm",
    "normal_", "permute", "pow", "prod", "relu", "repeat", "reshape", "roll", "round", "rsqrt", "scatter",
    "scatter_", "select",
    "sigmoid", "sign", "sin", "softmax", "split", "sqrt", "square", "squeeze", "std", "sub", "sub_", "sum", "tanh",
    "topk",
    "transpose", "tril", "triu", "type", "type_as", "unbind", "unflatten", "unfold", "uniform_", "unsqueeze", "var",
    "view",
    "view_as", "where", "zero_", "bfloat16", "t", "requires_grad_", "to",
})  # fmt: skip
"""Tensor methods that only record work, whatever the side of the tensor."""

TENSOR_ONLY_METHODS = frozenset({
    "contiguous", "unsqueeze", "narrow", "permute", "index_select", "masked_fill", "masked_fill_", "masked_select",
    "expand_as", "view_as", "type_as", "new_zeros", "new_ones", "new_full", "new_tensor", "scatter_", "log_softmax",
    "logsumexp", "unbind", "detach", "bmm", "add_", "mul_", "div_", "sub_", "clamp_", "copy_", "fill_", "zero_",
    "uniform_", "normal_",
})  # fmt: skip
"""Methods that nothing but a tensor has, no array and no module: what they give is a tensor."""

IN_PLACE_METHODS = frozenset({
    "add_", "addcmul_", "clamp_", "copy_", "div_", "fill_", "lerp_", "mul_", "sub_", "zero_",
})  # fmt: skip
"""Tensor methods that change the tensor, and only record work."""

COUNTS = ("num_", "n_", "number_of_", "has_")
"""How names of numbers and answers begin that no tensor has: ``graph.num_edges()``, ``adjacency.has_value()``."""

TENSOR_HOST_METHODS = frozenset({
    "item", "tolist", "size", "dim", "ndimension", "numel", "nelement", "element_size", "stride", "data_ptr",
    "is_contiguous",
    "get_device", "storage_offset", "is_floating_point", "is_complex", "requires_grad_hook", "has_names",
    "is_pinned", "is_shared",
    "equal", "allclose", "is_nonzero", "untyped_storage", "storage", "type_", "backward", "register_hook",
    "__len__", "retain_grad",
})  # fmt: skip
"""Tensor methods whose result is no tensor."""

TEXT_METHODS = frozenset({
    "startswith", "endswith", "strip", "lstrip", "rstrip", "lower", "upper", "rsplit", "partition", "rpartition",
    "splitlines", "keys",
})  # fmt: skip
"""Methods of texts and dicts that no tensor has."""

TENSOR_HOST_ATTRIBUTES = frozenset({
    "shape", "device", "dtype", "ndim", "requires_grad", "is_cuda", "is_leaf", "grad_fn", "layout", "names",
    "itemsize", "nbytes",
    "is_sparse", "is_quantized", "is_meta", "output_nr", "is_mps", "is_xla", "is_cpu", "is_xpu", "is_nested",
})  # fmt: skip

GRADIENT_FUNCTIONS = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})
"""Classes of functions with a gradient of their own."""
TENSOR_FUNCTIONS = frozenset({"timm.utils.accuracy", "timm.utils.reduce_tensor", "timm.utils.metrics.accuracy"})
"""Functions of other libraries that compute tensors of those they are given."""

DISTRIBUTION_METHODS = frozenset({
    "sample", "rsample", "sample_n", "log_prob", "entropy", "cdf", "icdf", "perplexity", "enumerate_support",
})  # fmt: skip
"""Methods of distributions that give a tensor."""

DISTRIBUTION_ATTRIBUTES = frozenset({"mean", "mode", "variance", "stddev", "probs", "logits", "loc", "scale", "rate"})

MOVES = frozenset({"to", "cuda", "xla"})
"""Methods that may put a tensor or a module on the device."""

MODULE_SELF_METHODS = frozenset({
    "to", "cuda", "cpu", "train", "eval", "float", "half", "double", "bfloat16", "type", "apply", "requires_grad_",
    "to_empty",
    "share_memory", "xla", "compile_",
})  # fmt: skip
"""nn.Module methods that return the module itself."""

VARIABLES = frozenset({"torch.autograd.Variable", "torch.autograd.variable.Variable"})
"""Calls of old that give the tensor they are given."""

MODULE_WRAPPERS = frozenset({
    "torch.nn.parallel.DistributedDataParallel", "torch.nn.DataParallel", "torch.compile", "torch.jit.script",
})  # fmt: skip
"""Calls that give a module around their first argument, which does what that does."""

LOADING_METHODS = frozenset({"from_pretrained", "from_config", "load_from_checkpoint"})
"""Methods of classes that make an instance."""

COPIES = frozenset({"copy.deepcopy", "copy.copy"})
"""Calls that give another object like the one that they are given."""

SAME_CLASS = MODULE_WRAPPERS | COPIES | {
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm", "apex.parallel.convert_syncbn_model",
    "apex.parallel.DistributedDataParallel",
}  # fmt: skip
"""Calls that give a module which is, as far as its methods go, of the class of their first argument."""

COPYING_CLASSES = ("torch.optim.swa_utils.", "timm.utils.ModelEma")
"""Classes under these names keep a copy of the module that they are given, and leave the module where it is."""

MODULE_PREFIXES = ("torchvision.models.", "timm.create_model", "segmentation_models_pytorch.")
"""Calls under these names give modules."""

CLASS_PREFIXES = ("torch.nn.", "torchvision.ops.")
"""Classes under these names are modules; ``torchvision.ops.nms`` is a function of tensors."""

PLAIN_MODULES = frozenset(
    f"torch.nn.{name}"
    for name in (
        "Softmax", "LogSoftmax", "Softmin", "Sigmoid", "LogSigmoid", "Tanh", "ReLU", "LeakyReLU", "ELU", "GELU", "SiLU",
        "Softplus", "Flatten", "Upsample", "MaxPool1d", "MaxPool2d", "AvgPool1d", "AvgPool2d", "CosineSimilarity",
        "MSELoss", "L1Loss", "BCELoss", "BCEWithLogitsLoss", "NLLLoss", "KLDivLoss", "CrossEntropyLoss",
    )
)  # fmt: skip
"""Modules without weights, which lie nowhere."""

MODULE_LISTS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})
"""Modules that are made of the modules they are given."""

MODULE_BASES = frozenset({
    "torch.nn.Module", "torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict",
    "pytorch_lightning.LightningModule",
    "lightning.LightningModule", "lightning.pytorch.LightningModule", "transformers.PreTrainedModel",
    "torch.jit.ScriptModule",
    "torch_geometric.nn.MessagePassing", "torch.nn.modules.loss._Loss", "torch.nn.modules.loss._WeightedLoss",
})  # fmt: skip

MODULE_CLASSES_OF_LIBRARIES = (
    r"(?:transformers|pytorch_transformers|pytorch_pretrained_bert)\.(?:\w+\.)*[A-Z]\w*(?:Model|For[A-Z]\w*)"
    r"|(?:torchvision|timm)\.models\.(?:\w+\.)*[A-Z]\w*(?<!_Weights)"
)
"""Names of classes of other libraries that are modules: ``transformers.BertPreTrainedModel``, ``BertForMaskedLM``."""

OPTIMIZERS = "torch.optim"
"""The module whose classes are optimizers."""

OPTIMIZER_PREFIXES = ("torch.optim.", "transformers.AdamW", "transformers.optimization.AdamW", "transformers.Adafactor",
                      "timm.optim.", "apex.optimizers.", "bitsandbytes.optim.", "torch_optimizer.",
                      "torch_xla.amp.syncfree.")  # fmt: skip
SCHEDULER_PREFIXES = ("torch.optim.lr_scheduler.", "transformers.get_", "transformers.optimization.get_",
                      "timm.scheduler.",
                      "diffusers.optimization.get_", "torch.optim.swa_utils.SWALR")  # fmt: skip

NO_GRAD_CONTEXTS = frozenset({"torch.no_grad", "torch.inference_mode"})

GRADIENT_FLAGS = frozenset({"torch.set_grad_enabled", "torch.autograd.set_grad_enabled"})
"""Contexts that are told whether gradients are recorded."""

DEVICE_OBJECTS = frozenset({
    "torch.device", "torch.accelerator.current_accelerator", "torch.cuda.current_device", "torch_geometric.device",
    "torch_xla.device", "torch_xla.core.xla_model.xla_device", "torch.xla.device", f"{RUNTIME}.device",
})  # fmt: skip
"""Functions that give a device; the number of the current one of CUDA is given where a device is, too."""

PROCESS_STARTERS = frozenset({
    f"{RUNTIME}.spawn", "torch_xla.launch", "torch_xla.distributed.xla_multiprocessing.spawn",
    "torch.multiprocessing.spawn", "torch.multiprocessing.start_processes",
    "torch.multiprocessing.Process", "multiprocessing.Process", "accelerate.notebook_launcher",
})  # fmt: skip
"""Calls that start processes; before them the device must not be touched."""

CUDA_TENSOR_TYPES = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8",
    "CharTensor": "int8", "ShortTensor": "int16", "IntTensor": "int32", "LongTensor": "int64", "BoolTensor": "bool",
}  # fmt: skip
"""``torch.cuda.<name>``, the old classes that say type and device in one, to the dtype."""

CUDA_ONLY_NAMES = frozenset({
    "torch.cuda.get_device_properties", "torch.cuda.get_device_capability", "torch.cuda.mem_get_info",
    "torch.cuda.memory_summary",
    "torch.cuda.get_per_process_memory_fraction", "torch.cuda.utilization", "torch.cuda.memory_usage",
    "torch.cuda.temperature",
    "torch.cuda.power_draw", "torch.cuda.clock_rate", "torch.cuda.list_gpu_processes",
    "torch.cuda.can_device_access_peer",
    "torch.cuda.cudart", "torch.cuda.initial_seed", "torch.cuda.Event", "torch.cuda.Stream",
    "torch.cuda.ExternalStream",
    "torch.cuda.current_stream", "torch.cuda.default_stream", "torch.cuda.set_stream", "torch.cuda.CUDAGraph",
    "torch.cuda.graph",
    "torch.cuda.graphs", "torch.cuda.make_graphed_callables", "torch.cuda.nccl", "torch.cuda.comm",
    "torch.cuda.get_arch_list",
    "torch.version.cuda", "torch.cuda.get_rng_state_all", "torch.cuda.set_rng_state_all", "torch.cuda.get_rng_state",
    "torch.cuda.set_rng_state", "torch.nn.DataParallel",
    "torch.nn.parallel.data_parallel",
    "pynvml", "nvidia_smi", "amdsmi", "GPUtil", "cupy", "triton", "apex", "bitsandbytes", "flash_attn", "xformers",
    "tensorrt",
    "torch_tensorrt", "transformer_engine", "deepspeed", "torch._C._cuda_isInBadFork", "torch._C._cuda_getDeviceCount",
})  # fmt: skip
"""What has no counterpart on an XLA device: it raises without a CUDA driver, or shares work among GPUs."""

ANSWERED_BY_CUDA = frozenset(
    name for name in CUDA_ONLY_NAMES if name.startswith("torch.cuda.") and name != "torch.cuda.Event"
)
"""What of the runtime of CUDA only CUDA answers; of events the clock of the host does."""

WITHOUT_COUNTERPART = ANSWERED_BY_CUDA - {
    "torch.cuda.Stream", "torch.cuda.ExternalStream", "torch.cuda.current_stream", "torch.cuda.default_stream",
    "torch.cuda.set_stream", "torch.cuda.get_rng_state", "torch.cuda.set_rng_state",
}  # fmt: skip
"""What of that XLA neither answers nor can do without."""

SHARED_OUT = frozenset({
    "torch.nn.parallel.replicate", "torch.nn.parallel.scatter", "torch.nn.parallel.gather",
    "torch.nn.parallel.parallel_apply", "torch.nn.parallel.scatter_gather",
})  # fmt: skip
"""Functions and modules that share work out among GPUs, and bring its results together."""

NEEDING_GPUS = SHARED_OUT | {
    "torch.nn.parallel.data_parallel", "torch.cuda.nccl", "torch.cuda.comm", "torch.cuda.CUDAGraph", "torch.cuda.graph",
    "torch.cuda.graphs", "torch.cuda.make_graphed_callables",
}  # fmt: skip
"""What has no counterpart on an XLA device, and computes what other code computes anywhere."""

CUDA_REPORTS = frozenset({
    "torch.cuda.get_device_name", "torch.cuda.device_count", "torch.cuda.memory_allocated",
    "torch.cuda.max_memory_allocated",
    "torch.cuda.memory_reserved", "torch.cuda.max_memory_reserved", "torch.cuda.memory_stats",
    "torch.accelerator.device_count",
})  # fmt: skip
"""Functions that only tell something about GPUs."""

CUDA_ACTIONS = frozenset({
    "torch.cuda.manual_seed", "torch.cuda.manual_seed_all", "torch.cuda.synchronize", "torch.cuda.set_device",
    "torch.accelerator.synchronize", "torch.accelerator.set_device_index",
})  # fmt: skip
"""Functions that do what an XLA device has a counterpart for, or what it needs no call for."""

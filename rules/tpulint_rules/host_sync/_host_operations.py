"""Operations that torch_xla runs on the host, as its counters tell: measured one by one."""

from __future__ import annotations

_RESIZED = (
    "of images the modes `nearest`, `bilinear` and `area` run on the device; of series and volumes "
    "`x.repeat_interleave(2, dim)` for each dimension is the same as `nearest` by whole factors"
)
_AVERAGED = (
    "with `count_include_pad=False` the gradient stays on the device, which is the same where padding is 0; "
    "a divisor is a factor behind the average"
)
INSTEAD = {
    "addmm": "`beta * x + alpha * (a @ b)` stays on the device",
    "bincount": "`F.one_hot(x, count).sum(0)` counts on the device",
    "isin": "`(x[..., None] == values).any(-1)` asks on the device",
    "searchsorted": "`(edges < x[..., None]).sum(-1)` finds the place on the device",
    "bucketize": "`(edges < x[..., None]).sum(-1)` finds the place on the device",
    "histc": "sum a comparison with the edges: `(x[:, None] >= edges).sum(0)`",
    "histogram": "sum a comparison with the edges: `(x[:, None] >= edges).sum(0)`",
    "one_hot": "give `num_classes`: without it the largest class is read on the host",
    "multinomial": "draw one sample, or take the `topk` of `logits + gumbel noise`, where no sample may come twice",
    "median": "`x.sort(dim).values[(n - 1) // 2]` is the same on the device",
    "logaddexp": "`torch.stack([a, b]).logsumexp(0)` is the same on the device",
    "huber_loss": "`F.smooth_l1_loss(x, y, beta=delta) * delta` is the same on the device",
    "HuberLoss": "`nn.SmoothL1Loss(beta=delta)`, times `delta`, is the same on the device",
    "polar": "compute with cosine and sine as two real tensors",
    "complex": "compute with the real and the imaginary part as two tensors",
    "cross": "write the three differences of products out",
    "exp2": "`torch.pow(2.0, x)` runs on the device",
    "fmax": "`torch.maximum` runs on the device; it differs where there is NaN",
    "fmin": "`torch.minimum` runs on the device; it differs where there is NaN",
    "hypot": "`(a * a + b * b).sqrt()` runs on the device",
    "cdist": "the root of `(a[:, None] - b[None]).pow(2).sum(-1)` has its gradient on the device",
    "glu": "`a, b = x.chunk(2, dim)`, then `a * b.sigmoid()`, is the same on the device",
    "GLU": "`a, b = x.chunk(2, dim)`, then `a * b.sigmoid()`, is the same on the device",
    "EmbeddingBag": "`nn.Embedding` and a sum or mean over its rows is the same on the device",
    "vdot": "`(a * b).sum()` is the same on the device",
    "mm": "`torch.mm` multiplies on the device, where all tensors are dense",
    "inverse": "`torch.linalg.inv_ex(x).inverse` is the same on the device: it asks not whether there is an inverse",
    "inv": "`torch.linalg.inv_ex(x).inverse` is the same on the device: it asks not whether there is an inverse",
    "solve": "`torch.linalg.inv_ex(a).inverse @ b` stays on the device, and is less exact",
    "solve_triangular": "`torch.triangular_solve(b, a, upper=...).solution` runs on the device",
    "weight_norm": "`g * v / v.norm(dim=...)`, written out in the forward pass, is the same on the device",
    "spectral_norm": "`torch.nn.utils.spectral_norm`, the older of the two, stays on the device",
    "MultivariateNormal": "of a diagonal covariance `Independent(Normal(mean, variance.sqrt()), 1)` is the same",
    "interpolate": _RESIZED,
    "upsample": _RESIZED,
    "Upsample": _RESIZED,
    **dict.fromkeys(("avg_pool1d", "avg_pool2d", "avg_pool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d"), _AVERAGED),
}
"""What does the same on the device, where something does."""
NOTHING = "Compute it less often than in every turn, or write it out in operations that XLA has"

FUNCTIONS = frozenset({
    "addbmm", "addmv", "aminmax", "angle", "bincount", "bucketize", "channel_shuffle", "cholesky_solve", "complex",
    "copysign", "corrcoef", "cov", "cross", "cummin", "det", "digamma", "exp2", "fmax", "fmin", "gcd", "heaviside",
    "histc", "histogram", "hypot", "i0", "igamma", "inverse", "isin", "isposinf", "istft", "lcm", "lgamma",
    "logaddexp", "logaddexp2", "logcumsumexp", "matrix_exp", "median", "mode", "multinomial", "mvlgamma",
    "nanmean", "nanmedian", "nansum", "nextafter", "nonzero_static", "poisson", "polar", "polygamma", "renorm",
    "searchsorted", "signbit", "sinc", "stft", "vdot",
})  # fmt: skip
"""Functions of torch."""
METHODS = frozenset({
    "addbmm", "addmv", "bincount", "cauchy_", "copysign", "cummin", "digamma", "exp2", "fill_diagonal_", "geometric_",
    "heaviside", "histc", "hypot", "index_reduce", "index_reduce_", "inverse", "lgamma", "log_normal_", "logaddexp",
    "logcumsumexp", "median", "multinomial", "nanmean", "nanmedian", "nansum", "polygamma", "renorm", "sinc", "stft",
    "unfold", "vdot",
})  # fmt: skip
"""Methods of tensors."""
BARE = frozenset({"digamma", "exp2", "inverse", "lgamma", "sinc"})
"""Those of them that take nothing: with an argument it is a method of something else."""
INVERSES = frozenset({"inv", "inverse"})
"""Functions and methods that read on the host whether there is an inverse, which the device computes."""
SCALED = frozenset({"addmm"})
"""Functions and methods that run on the host only where their product or sum is scaled."""
LINEAR_ALGEBRA = frozenset({
    "cholesky", "cross", "det", "eig", "householder_product", "inv", "lstsq", "lu", "lu_factor", "matrix_exp", "qr",
    "solve", "solve_triangular",
})  # fmt: skip
"""Functions of torch.linalg."""
TRANSFORMS = frozenset({"fft", "fft2", "fftn", "ifft", "ifft2", "ifftn", "rfft", "rfft2", "rfftn", "irfft", "irfft2"})
"""Functions of torch.fft."""
OF_LAYERS = frozenset({
    "channel_shuffle", "ctc_loss", "embedding_bag", "fold", "fractional_max_pool2d", "fractional_max_pool3d",
    "gaussian_nll_loss", "grid_sample", "huber_loss", "multi_margin_loss", "multilabel_margin_loss", "unfold",
})  # fmt: skip
"""Functions of torch.nn.functional."""
LAYERS = frozenset({
    "ChannelShuffle", "CTCLoss", "EmbeddingBag", "Fold", "FractionalMaxPool2d", "FractionalMaxPool3d",
    "GaussianNLLLoss", "HuberLoss", "MultiLabelMarginLoss", "MultiMarginLoss", "RReLU", "Unfold",
    "DeformConv2d", "PSRoIAlign", "PSRoIPool", "RoIAlign", "RoIPool",
})  # fmt: skip
"""Modules of torch.nn, and of torchvision.ops."""
OF_REGIONS = frozenset({"deform_conv2d", "ps_roi_align", "ps_roi_pool", "roi_align", "roi_pool"})
"""Functions of torchvision.ops."""
SPECIAL = frozenset({
    "digamma", "entr", "erfcx", "exp2", "gammaln", "i0", "i0e", "log_ndtr", "ndtri", "polygamma", "sinc", "xlog1py",
    "zeta",
})  # fmt: skip
"""Functions of torch.special."""
OF_SPARSE = frozenset({"mm"})
"""Functions of torch.sparse, of dense tensors: an XLA device has no others."""
BACKWARD = frozenset(
    {"torch.cdist", "torch.logit", "torch.nn.functional.glu", "torch.nn.functional.pdist", "torch.pdist"}
)
"""Functions whose gradient alone is computed on the host."""
BACKWARD_LAYERS = frozenset({"GLU"})
WRAPPERS = {
    "torch.nn.utils.weight_norm": "weight_norm",
    "torch.nn.utils.parametrizations.weight_norm": "weight_norm",
    "torch.nn.utils.weight_norm.weight_norm": "weight_norm",
    "torch.nn.utils.weight_norm.WeightNorm.apply": "weight_norm",
    "torch.nn.utils.parametrizations.spectral_norm": "spectral_norm",
    "torch.nn.utils.parametrizations.orthogonal": "orthogonal",
}
"""Functions that make a layer compute its weight anew in every forward pass, on the host."""
_GAMMA = frozenset({"entropy", "log_prob", "rsample", "sample"})
DISTRIBUTIONS = {
    "Beta": _GAMMA, "Chi2": _GAMMA, "Dirichlet": _GAMMA, "Gamma": _GAMMA, "StudentT": _GAMMA,
    "Binomial": frozenset({"entropy", "log_prob", "sample"}), "Cauchy": frozenset({"rsample", "sample"}),
    "LowRankMultivariateNormal": frozenset({"entropy", "log_prob"}), "Multinomial": frozenset({"entropy", "log_prob"}),
    "MultivariateNormal": frozenset({"log_prob"}), "NegativeBinomial": frozenset({"log_prob", "sample"}),
    "Poisson": frozenset({"log_prob", "sample"}), "RelaxedOneHotCategorical": frozenset({"log_prob"}),
}  # fmt: skip
"""Methods of classes of torch.distributions, with arguments not checked."""

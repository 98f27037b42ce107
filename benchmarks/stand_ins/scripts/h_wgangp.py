"""A judge of pictures that is too large for a CPU."""

import modules

modules.put("pytorch_gan_metrics", get_inception_score_and_fid=lambda *_, **__: ((1.0, 0.1), 1.0))

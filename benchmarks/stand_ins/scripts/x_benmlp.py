"""Progress bars that are not of a notebook."""

import made_up_data  # noqa: F401
import modules
import tqdm

modules.put("tqdm.notebook", tqdm=tqdm.tqdm, trange=tqdm.trange)

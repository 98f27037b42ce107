"""A folder for what is saved; the CRF without a network is not made use of."""

from pathlib import Path

import modules

Path("ckpts").mkdir(exist_ok=True)
modules.put("sklearn_crfsuite", CRF=object)

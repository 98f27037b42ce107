"""Three series of 260 hours; libraries of models and data sets that are not used."""

import made_up_tables
import modules

made_up_tables.hourly("made.csv", 260, 3)
for _name in ("sktime.datasets", "patoolib", "mamba_ssm", "reformer_pytorch", "local_attention", "huggingface_hub"):
    if modules.is_missing(_name.partition(".")[0]):
        modules.put(_name)

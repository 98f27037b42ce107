"""A text, as much of the library for configurations as is called, and smaller sizes."""

import re
from pathlib import Path

import made_up_data
import modules
import yaml

Path("data/raw/tiny_shakespeare").mkdir(parents=True, exist_ok=True)
Path("data/raw/tiny_shakespeare/input.txt").write_text(" ".join(made_up_data.words(110)) + "\n")


class Settings(dict):
    def __init__(self, given, root=None):
        self.__dict__["_root"] = self if root is None else root
        super().__init__({key: self._deeper(value) for key, value in given.items()})

    def _deeper(self, value):
        return Settings(value, self._root) if isinstance(value, dict) else value

    def __getitem__(self, key):
        value = super().__getitem__(key)
        while isinstance(value, str) and "${" in value:
            value = re.sub(r"\$\{([^}]*)\}", lambda found: str(self._at(found.group(1))), value)
        return value

    def _at(self, path):
        found = self._root
        for part in path.split("."):
            found = found[part]
        return found

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(key)
        return self[key]

    def get(self, key, default=None):
        return self[key] if key in self else default  # noqa: SIM401 - it is what is asked

    def items(self):
        return [(key, self[key]) for key in self]

    def values(self):
        return [self[key] for key in self]


class Number(yaml.SafeLoader):
    """Reads 1e-3 as a number."""


Number.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$"), list("-+0123456789")
)
Number.yaml_implicit_resolvers = {
    key: sorted(found, key=lambda one: one[0] != "tag:yaml.org,2002:int")
    for key, found in Number.yaml_implicit_resolvers.items()
}


class OmegaConf:
    @staticmethod
    def load(path):
        said = yaml.load(Path(path).read_text(), Number)
        small = said["model"]["gpt"]["size"]["small"]
        small.update(embeddings_size=16, context_size=12, num_heads=2, num_layers=1, batch_size=8)
        return Settings(said)


modules.put("omegaconf", OmegaConf=OmegaConf, DictConfig=Settings)
modules.put("loguru", logger=modules.Anything())

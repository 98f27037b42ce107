"""A module that is PyYAML with its keys in order."""

import modules
import yaml

modules.put("oyaml", **{name: getattr(yaml, name) for name in ("load", "safe_load", "dump", "safe_dump", "FullLoader")})

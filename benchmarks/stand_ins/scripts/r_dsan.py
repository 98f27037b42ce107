"""A smaller first layer, and options that come from a file."""

import argparse
import sys

import modules
import yaml


class _Parser(argparse.ArgumentParser):
    def __init__(self, config_file_parser_class=None, formatter_class=None, **named):
        super().__init__(**named)

    def add(self, *given, is_config_file=False, **named):
        return self.add_argument(*given, **named)

    def parse_args(self):
        with open(sys.argv[sys.argv.index("--config") + 1]) as file:
            options = yaml.safe_load(file)
        given = sys.argv[1:]
        for key, value in options.items():
            if f"--{key}" not in given:
                given += [f"--{key}", str(value)]
        return super().parse_args(given)


modules.put("configargparse", ArgumentParser=_Parser)


def _change(module):
    whole = module.DaNNBackbone.__init__
    module.DaNNBackbone.__init__ = lambda self: whole(self, n_hidden=8)


modules.when_imported("backbones", _change)

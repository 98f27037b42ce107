"""One picture of each class to validate by, and options that may come from a file."""

import argparse

import modules


class _Parser(argparse.ArgumentParser):
    def __init__(self, default_config_files=None, **named):
        super().__init__(**named)

    def add_argument(self, *given, is_config_file=False, **named):
        return super().add_argument(*given, **named)

    def format_values(self):
        return ""


modules.put("configargparse", ArgumentParser=_Parser)


def _change(module):
    whole = module.random_split

    def split(data, labels, n_classes, n_samples_per_class):
        return whole(data, labels, n_classes, [2] * n_classes)

    module.random_split, module.print_network = split, lambda *_: None


modules.when_imported("utils", _change)

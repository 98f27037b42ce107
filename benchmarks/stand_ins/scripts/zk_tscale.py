"""A caller of the command line, and sizes that it would be given."""

import sys

import modules


def _call(function):
    given = dict(zip((one.lstrip("-") for one in sys.argv[1::2]), sys.argv[2::2], strict=True))
    function(**given, valid_size=9, depth=10, growth_rate=4, n_epochs=3, batch_size=6)


modules.put("fire", Fire=_call)

"""Small graphs, and settings for a small model."""

from typing import Any

import modules
import scipy  # noqa: F401

for _name in ("tensorboard_logger", "sklearn.decomposition", "sklearn.metrics", "scipy.misc", "community"):
    modules.put(_name)


def _change(module: Any) -> None:
    before = module.Args.__init__

    def init(self: Any) -> None:
        before(self)
        self.graph_type, self.batch_size, self.test_batch_size, self.test_total_size = "made", 4, 4, 8
        self.num_layers, self.hidden_size_rnn, self.embedding_size_rnn, self.embedding_size_output = 1, 16, 8, 8
        self.batch_ratio, self.epochs, self.max_prev_node, self.epochs_log = 5, 2, 8, 1

    module.Args.__init__ = init


def _graphs(module: Any) -> None:
    import networkx

    module.create = lambda _: [networkx.grid_2d_graph(wide, high) for wide in range(2, 6) for high in range(2, 6)]


modules.when_imported("args", _change)
modules.when_imported("create_graphs", _graphs)

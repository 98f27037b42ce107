"""News, what users clicked of them, smaller settings, and threads in place of processes for the metrics."""

import multiprocessing
import multiprocessing.pool
from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
multiprocessing.Pool = lambda processes=None: multiprocessing.pool.ThreadPool(processes)
_ids = [f"N{one}" for one in range(80)]
for _split in ("train", "val"):
    _folder = Path(f"data/{_split}")
    _folder.mkdir(parents=True, exist_ok=True)
    _lines = ["id\tcategory\tsubcategory\ttitle\tabstract\ttitle_entities\tabstract_entities"]
    for _id in _ids:
        _title = [int(one) for one in _chance.integers(1, 60, 6)]
        _lines.append(f"{_id}\t1\t2\t{_title}\t{_title}\t{_title}\t{_title}")
    (_folder / "news_parsed.tsv").write_text("\n".join(_lines) + "\n")
_lines = ["user\tclicked_news\tcandidate_news\tclicked"]
for _number in range(26):
    _clicked = " ".join(_chance.choice(_ids, int(_chance.integers(2, 6))))
    _lines.append(f"{_number % 9 + 1}\t{_clicked}\t{' '.join(_chance.choice(_ids, 3))}\t1 0 0")
Path("data/train/behaviors_parsed.tsv").write_text("\n".join(_lines) + "\n")
Path("data/train/user2int.tsv").write_text("user\tint\n" + "".join(f"U{one}\t{one + 1}\n" for one in range(9)))
_lines = []
for _number in range(12):
    _clicked = " ".join(_chance.choice(_ids, int(_chance.integers(2, 6))))
    _drawn = _chance.choice(_ids, int(_chance.integers(2, 7)))
    _shown = " ".join(f"{one}-{int(place == 1)}" for place, one in enumerate(_drawn))
    _lines.append(f"{_number}\tU{_number % 11}\t11/15/2019 8:55:22 AM\t{_clicked}\t{_shown}")
Path("data/val/behaviors.tsv").write_text("\n".join(_lines) + "\n")


def _change(module):
    base = module.BaseConfig
    base.num_epochs, base.batch_size, base.num_batches_validate, base.num_batches_show_loss = 3, 4, 6, 5
    base.num_clicked_news_a_user, base.num_words_title, base.num_words = 5, 6, 60
    base.word_embedding_dim, base.query_vector_dim = 16, 8
    module.NRMSConfig.num_attention_heads = 2


def _change_pandas(pandas):
    pandas.options.future.infer_string = False  # as it was when the script was written


modules._WAITING.setdefault("config", []).append(_change)
modules.when_imported("pandas", _change_pandas)

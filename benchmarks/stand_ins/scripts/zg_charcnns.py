"""News of four kinds."""

from pathlib import Path

import made_up_data
import modules

Path("made").mkdir(exist_ok=True)
for _part, _count in (("train", 18), ("test", 10)):
    _words = made_up_data.words(12 * _count)
    with Path(f"made/{_part}.csv").open("w") as _file:
        for _number in range(_count):
            _title, _text = _words[12 * _number :][:3], _words[12 * _number + 3 :][:9]
            _file.write(f'"{_number % 4 + 1}","{" ".join(_title)}","{" ".join(_text)}"\n')
modules.put("termcolor", colored=lambda text, *_: str(text), cprint=print)

"""A measure that its library would give."""

import made_up_data  # noqa: F401
import modules
import numpy

modules.put(
    "sklearn.metrics",
    accuracy_score=lambda true, told: float((numpy.asarray(true) == numpy.asarray(told)).mean()),
    classification_report=lambda *_, **__: "",
)


def _trigger():
    from pathlib import Path

    from PIL import Image

    Path("triggers").mkdir(exist_ok=True)
    Image.new("RGB", (5, 5), (255, 255, 255)).save("triggers/trigger_white.png")


_trigger()

"""Pictures with captions, a vocabulary, a smaller network of pictures, and how pictures are changed."""

from pathlib import Path

import made_up_data
import modules
import numpy

made_up_data.folder_of_pictures("made", 24, size=40, classes=0)
_words = made_up_data.words(300)
_lines = ["image,caption,id"]
for _number in range(24):
    _text = " ".join(_words[_number * 9 : _number * 9 + 4 + _number % 5])
    _lines.append(f"{_number:04d}.png,{_text},{_number}")
Path("made/captions.csv").write_text("\n".join(_lines) + "\n")
Path("made/vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(set(_words))]))


class _Step:
    def __init__(self, *given, **named):
        self._given = given

    def __call__(self, image):
        return {"image": self.change(image)}


class _Compose(_Step):
    def change(self, image):
        for step in self._given[0]:
            image = step.change(image)
        return image


class _Resize(_Step):
    def change(self, image):
        import cv2

        return cv2.resize(image, self._given[:2])


class _Normalize(_Step):
    def change(self, image):
        return (image / 255 - 0.45).astype("float32") / numpy.float32(0.22)


modules.put("albumentations", Compose=_Compose, Resize=_Resize, Normalize=_Normalize)


def _smaller(config):
    config.debug = False
    config.image_path = config.captions_path = config.text_tokenizer = "made"
    config.batch_size, config.epochs, config.size = 4, 3, 32
    config.model_name, config.image_embedding = "resnet18", 512


modules.when_imported("config", _smaller)

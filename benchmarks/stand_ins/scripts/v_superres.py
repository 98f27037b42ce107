"""The folders of a data set with pictures of noise, and a library that holds the old and the new place of urllib."""

import urllib
import urllib.request

import made_up_data
import modules

for _split, _count in (("train", 20), ("test", 10)):
    made_up_data.folder_of_pictures(f"dataset/BSDS300/images/{_split}", _count, 256, 0, ".jpg")
modules.put("six.moves", urllib=urllib)

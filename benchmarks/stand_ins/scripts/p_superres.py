"""Pictures of a size that is a whole number of crops."""

import made_up_data

made_up_data.folder_of_pictures("dataset/BSDS300/images/train", 11, 64, 0, ".jpg")
made_up_data.folder_of_pictures("dataset/BSDS300/images/test", 5, 64, 0, ".jpg")

"""Photographs; batches of 64 are written into the script."""

import made_up_data

made_up_data.smaller_batches(2)
made_up_data.folder_of_pictures("data/DIV2K_train_HR", 9, 48, 0)
made_up_data.folder_of_pictures("data/DIV2K_valid_HR", 3, 48, 0)

"""Photographs and masks; batches of 12 are written into the script."""

import made_up_data

made_up_data.smaller_batches(2)
made_up_data.folder_of_pictures("train_data/DUTS/DUTS-TR/DUTS-TR/im_aug", 9, 64, 0, ".jpg")
made_up_data.folder_of_pictures("train_data/DUTS/DUTS-TR/DUTS-TR/gt_aug", 9, 64, 0, ".png", "L")

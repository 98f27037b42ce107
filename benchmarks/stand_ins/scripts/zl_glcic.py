"""Pictures in two folders."""

import made_up_data

made_up_data.folder_of_pictures("made/train", 8, size=72, classes=0)
made_up_data.folder_of_pictures("made/test", 5, size=72, classes=0)

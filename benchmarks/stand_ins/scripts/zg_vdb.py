"""Small pictures in one folder."""

import made_up_data

made_up_data.folder_of_pictures("made", 27, 16, 0)

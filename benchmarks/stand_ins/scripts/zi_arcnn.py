"""Pictures as files; what reads them faster is not used."""

import made_up_data

made_up_data.folder_of_pictures("made/pictures", 14, size=28, classes=0)

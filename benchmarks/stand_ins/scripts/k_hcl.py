"""A filter of pictures that leaves them alone."""

import made_up_data  # noqa: F401 - libraries that are not installed
import modules

modules.put("cv2", GaussianBlur=lambda picture, *_: picture)

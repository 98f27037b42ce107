"""Pictures that nobody looks at: an older SciPy wrote them, and an older imageio made films of them."""

import scipy
from modules import Anything, put

scipy.misc = put("scipy.misc", imsave=Anything())

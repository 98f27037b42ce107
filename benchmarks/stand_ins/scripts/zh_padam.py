"""Pictures of CIFAR in smaller batches."""

import made_up_data

made_up_data.smaller_batches(8)

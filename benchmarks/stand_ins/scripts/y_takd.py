"""What the service of the experiments says, and smaller batches."""

import made_up_data
import modules

made_up_data.smaller_batches(16)
modules.put("nni", get_next_parameter=lambda: {"seed": 1, "T_student": 5, "lambda_student": 0.4})

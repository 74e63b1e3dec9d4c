"""The numbers by which simulated quantisation names data types."""
from ...relay.qnn.op import SQNN_DTYPE_TO_CODE

SQNN_CODE_TO_DTYPE = {code: dtype for dtype, code in SQNN_DTYPE_TO_CODE.items()}

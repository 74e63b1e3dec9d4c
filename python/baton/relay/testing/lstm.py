"""An LSTM, unrolled: every step has its own input, weights and closure."""
from ..._load import core
from .init import create_workload


def get_net(iterations, num_hidden, batch_size=1, dtype="float32"):
    """The network as a Function; its inputs, one per step, are all named `data`. TVMError for numbers below 1."""
    return core.lstm(iterations, num_hidden, batch_size, dtype)["main"]


def get_workload(iterations, num_hidden, batch_size=1, dtype="float32"):
    """(module, params): `i2h_K_weight`, `i2h_K_bias`, `h2h_K_weight`, `h2h_K_bias` for each step K."""
    return create_workload(get_net(iterations, num_hidden, batch_size, dtype))

"""The deep Q-network: the value of each action, from four frames."""
from ..._load import core
from .init import create_workload


def get_net(batch_size, num_actions=18, image_shape=(4, 84, 84), dtype="float32", layout="NCHW"):
    """The network as a Function. Its form is that of the paper; TVM's own text was not at hand to compare with."""
    return core.dqn(batch_size, num_actions, list(image_shape), layout, dtype)["main"]


def get_workload(batch_size, num_actions=18, image_shape=(4, 84, 84), dtype="float32", layout="NCHW"):
    """(module, params)."""
    return create_workload(get_net(batch_size, num_actions, image_shape, dtype, layout))

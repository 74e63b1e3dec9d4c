"""Weights for the networks."""
from ...ir import IRModule
from ...runtime import ndarray
from .. import transform


class Initializer:
    """Fills an array by what its name says: called as initializer(name, numpy array)."""

    def __call__(self, desc, arr):
        ends = {"weight": self._init_weight, "bias": self._zeros, "gamma": self._ones, "beta": self._zeros,
                "mean": self._zeros, "var": self._ones}
        for end, fill in ends.items():
            if desc.endswith(end):
                return fill(desc, arr)
        raise ValueError(f"no rule for a parameter named {desc!r}: it should end in one of {', '.join(ends)}")

    def _zeros(self, _, arr):
        arr[:] = 0.0

    def _ones(self, _, arr):
        arr[:] = 1.0

    def _init_weight(self, name, arr):
        raise NotImplementedError("a subclass says how weights are made")


class Constant(Initializer):
    """Every weight is `value`."""

    def __init__(self, value=0.0, **kwargs):
        self.value = value

    def _init_weight(self, name, arr):
        arr[:] = self.value


class Xavier(Initializer):
    """Weights spread by magnitude / fan (Glorot and Bengio 2010), from numpy's global generator.

    rnd_type: "uniform" or "gaussian"; factor_type: "avg", "in" or "out".
    """

    def __init__(self, rnd_type="uniform", factor_type="avg", magnitude=3):
        if rnd_type not in ("uniform", "gaussian"):
            raise ValueError(f"rnd_type: \"uniform\" or \"gaussian\", not {rnd_type!r}")
        if factor_type not in ("avg", "in", "out"):
            raise ValueError(f"factor_type: \"avg\", \"in\" or \"out\", not {factor_type!r}")
        self.rnd_type, self.factor_type, self.magnitude = rnd_type, factor_type, float(magnitude)

    def _init_weight(self, name, arr):
        import numpy as np

        if arr.ndim < 2:
            raise ValueError(f"{name}: Xavier needs a weight of rank 2 or more, not {arr.shape}")
        window = np.prod(arr.shape[2:])
        fan_in, fan_out = arr.shape[1] * window, arr.shape[0] * window
        factor = {"avg": (fan_in + fan_out) / 2.0, "in": fan_in, "out": fan_out}[self.factor_type]
        scale = np.sqrt(self.magnitude / factor)
        if self.rnd_type == "uniform":
            arr[:] = np.random.uniform(-scale, scale, size=arr.shape)
        else:
            arr[:] = np.random.normal(0, scale, size=arr.shape)


def create_workload(net, initializer=None, seed=0):
    """(module, params) for a network whose inputs are named `data`; params: NDArrays by name.

    Weights are drawn in the order of main's parameters from numpy's global legacy generator, which is seeded with `seed`
    first: an initializer may draw from `np.random`, and what is drawn there afterwards follows from `seed` too.
    `initializer` is called as initializer(name, zeros to fill); Xavier() without one.
    """
    import numpy as np

    module = transform.InferType()(IRModule.from_expr(net))
    fill = Xavier() if initializer is None else initializer
    np.random.seed(seed)
    params = {}
    for each in module["main"].params:
        if each.name_hint == "data":
            continue
        value = np.zeros(each.checked_type.concrete_shape, each.checked_type.dtype)
        fill(each.name_hint, value)
        params[each.name_hint] = ndarray.array(value)
    return module, params

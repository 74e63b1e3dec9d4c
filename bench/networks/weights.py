"""Weights for networks: seeded, of a size that keeps values of every layer near 1, and none of them trivial, so that a
bias or a scale that was lost changes the outputs."""
import numpy as np

from baton import IRModule, relay


def finish(result, data, seed=0):
    """(module, params) of the function whose body is `result` and whose input is the variable `data`."""
    free = relay.analysis.free_vars(result)
    others = [var for var in free if not var.same_as(data)]
    module = relay.transform.InferType()(IRModule.from_expr(relay.Function([data, *others], result)))
    return module, values_for(module, seed)


def values_for(module, seed=0):
    """Numpy arrays for the parameters of `main` but the first, by name."""
    random = np.random.default_rng(seed)
    return {var.name_hint: value(random, var.name_hint, tuple(int(d) for d in var.checked_type.concrete_shape))
            for var in list(module["main"].params)[1:]}


def value(random, name, shape):
    if name.endswith(("gamma", "var")):
        made = random.uniform(0.5, 1.5, shape)
    elif name.endswith(("bias", "beta", "mean")):
        made = random.uniform(-0.1, 0.1, shape)
    elif name.endswith("weight"):
        # He's rule, by the inputs that one result is summed over; transposed convolutions have theirs first.
        fan_in = shape[0] * 4 if "deconv" in name else int(np.prod(shape[1:]))
        made = random.normal(0, np.sqrt(2 / fan_in), shape)
    else:
        raise ValueError(f"no rule for a parameter named {name!r}")
    return made.astype("float32")

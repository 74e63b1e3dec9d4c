"""Made-up profiles in the form of docs/design/0005-profile-json.md: nets of any size, and small ones of a certain kind."""
import copy
import random

WAYS = ("conv", "conv", "conv", "residual", "inception", "dense", "pool", "dropout")


class Net:
    """Operators, kernels and times that fit each other; always the same for the same seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.operators, self.kernels, self.functions = [], [], {}
        self.made = {}  # operator -> kernel that gives its value

    def operator(self, op, inputs=(), *, shape=(1, 64, 56, 56), **attrs):
        number = len(self.operators)
        self.operators.append({
            "id": number, "op": op, "line": number + 3, "column": 8, "source": None, "attrs": attrs,
            "type": f"Tensor[{tuple(shape)}, float32]", "inputs": list(inputs), "nodes": [], "folded_into": [], "fused_with": [],
            "not_fused": None, "inside_us": None, "unfused_us": None, "retired": None})
        return number

    def kernel(self, origins, inputs, us, flops, size, *, template="conv_direct", folded=(), made_for=(), reason=None, name=None):
        node = 3 * len(self.kernels) + 2
        words = [self.operators[each]["op"].replace(".", "_") for each in origins]
        name = name or f"tvmgen_default_fused_{'_'.join(words) or 'layout_transform'}_{node}"
        weights = [self.random.uniform(6, 12) if "conv" in self.operators[each]["op"] else self.random.uniform(0.2, 1) for each in origins]
        rest = 0.1 if len(origins) > 1 else 0
        inside = []
        for each, weight in zip(origins, weights):
            share = (1 - rest) * weight / sum(weights)
            inside.append({"id": each, "ids": [each], "label": self.operators[each]["op"], "rest": False, "stage": "", "share": share, "us": share * us,
                           "method": "whole" if len(origins) == 1 else "markers" if weight > 1 else "ablation", "below_noise": False})
        if rest:
            inside.append({"id": None, "ids": [], "label": "load, store, loop", "rest": True, "stage": "out", "share": rest, "us": rest * us,
                           "method": "markers", "below_noise": False})
        for part in inside:
            for each in part["ids"]:
                row = self.operators[each]
                row["inside_us"] = (row["inside_us"] or 0) + part["us"]
                row["unfused_us"] = (row["unfused_us"] or 3) + part["us"] * self.random.uniform(1, 1.4)
        read = sorted({self.made[each] for each in inputs if each in self.made})
        for each in origins:
            self.operators[each]["nodes"].append(node)
            self.operators[each]["fused_with"] = sorted(set(self.operators[each]["fused_with"]) | set(origins) - {each})
            self.made[each] = node
        for each in folded:
            self.operators[each]["folded_into"].append(node)
        self.kernels.append({
            "node": node, "name": name, "func_name": name, "target": "llvm", "median_us": us, "share": 0,
            "samples": [us * self.random.lognormvariate(0, 0.02) for _ in range(30)], "inputs": read, "origins": list(origins), "made_for": list(made_for),
            "reason": reason, "inside": inside, "stage_sum": 1.002, "noise": 0.004, "trusted": True, "flops": flops, "bytes": size})
        lines = "".join(f"  %{i} = {self.operators[each]['op']}(%p{i}, %q{i}) /* ty={self.operators[each]['type']} */;\n" for i, each in enumerate(origins))
        self.functions[name] = {"relay": f"fn (%p0: Tensor[(1, 4, 56, 56, 16), float32], Primitive=1) {{\n{lines}}}", "template": template,
                                "params": {"tile_oc": 16, "tile_ow": 14, "unroll": 4}}
        return node

    def conv(self, data, *, add=None, kernel=3):
        channels = self.random.choice((64, 128, 256))
        weight = [self.operator("transpose", shape=(64, 64, 3, 3), axes=[3, 2, 0, 1])] if self.random.random() < 0.15 else []
        conv = self.operator("nn.conv2d", ([data] if data is not None else []) + weight, channels=channels, kernel_size=[kernel, kernel], padding=[1, 1, 1, 1])
        norm = self.operator("nn.batch_norm", [conv], epsilon=2e-05)
        origins, last = [conv, norm], norm
        if add is not None:
            last = self.operator("add", [norm, add])
            origins.append(last)
        relu = self.operator("nn.relu", [last])
        flops = self.random.uniform(0.5, 4) * 1e8 * (1 if kernel == 3 else 0.3)
        us = flops / self.random.uniform(30, 110) / 1e3
        self.kernel([*origins, relu], [each for each in (data, add) if each is not None], us, flops, self.random.uniform(1, 6) * 1e6,
                    template=self.random.choice(("conv_direct", "conv_winograd")), folded=[norm, *weight])
        return relu

    def step(self, data):
        way = self.random.choice(WAYS)
        if way == "residual":
            return self.conv(self.conv(data), add=data)
        if way == "inception":
            branches = [self.conv(self.conv(data, kernel=1)) for _ in range(self.random.randint(2, 4))]
            return self.plain("concatenate", branches, axis=1)
        if way == "dense":
            parts = [data]
            for _ in range(3):
                parts.append(self.conv(parts[-1]))
            return self.plain("concatenate", parts, axis=1)
        if way == "pool":
            return self.plain("nn.max_pool2d", [data], pool_size=[2, 2], strides=[2, 2])
        if way == "dropout":
            number = self.operator("nn.dropout", [data], rate=0.5)
            self.operators[number]["retired"] = {"pass": "SimplifyInference", "reason": "dropout is the identity at inference"}
            self.made[number] = self.made[data]
            return number
        return self.conv(data)

    def plain(self, op, inputs, **attrs):
        number = self.operator(op, inputs, **attrs)
        size = self.random.uniform(0.5, 3) * 1e6
        self.operators[number]["not_fused"] = "its value is read by several kernels"
        self.kernel([number], inputs, size / self.random.uniform(4, 11) / 1e3, size / 8 if "pool" in op else 0, size, template="pointwise")
        return number

    def report(self, model, **more):
        total = sum(each["median_us"] for each in self.kernels)
        for each in self.kernels:
            each["share"] = each["median_us"] / total
        plain = [total * 1.004 * self.random.lognormvariate(0, 0.005) for _ in range(30)]
        profiled = [each * 1.001 for each in plain]
        median = sorted(plain)[15]
        unfused = [{"name": f"tvmgen_default_{each['op'].replace('.', '_')}_{each['id']}", "origins": [each["id"]], "made_for": [],
                    "median_us": each["unfused_us"], "flops": 0, "bytes": 1e6} for each in self.operators if each["unfused_us"] is not None]
        return {
            "schema": 1, "model": model, "target": "llvm -mcpu=znver4", "threads": 2, "version": "0.1.0", "opt_level": 3, "source": f"{model}.relay",
            "end_to_end_us": {"median": median, "min": min(plain), "samples": plain}, "profiled_us": {"median": sorted(profiled)[15], "samples": profiled},
            "sum_us": total, "residual_us": median - total, "overhead": 1.001, "cv": 0.006, "load": 0.4, "notes": [],
            "peaks": {"name": "two cores of Zen 4", "gflops": 190.0, "gbytes_per_s": 21.0, "cache_gbytes_per_s": 160.0},
            "operators": self.operators, "kernels": self.kernels, "functions": self.functions,
            "unfused": {"end_to_end_us": sum(each["median_us"] for each in unfused), "kernels": unfused}, **more}


def net(operators, seed=7, model=None):
    """A net of about so many operators: chains, residual blocks, wide blocks, folded and retired operators, two kernels for one operator."""
    made = Net(seed)
    data = made.conv(None)
    while len(made.operators) < operators - 6:
        data = made.step(data)
    made.kernel([], [data], 12.5, 0, 2e6, template="pointwise", made_for=[data], reason="back to the layout the program asked for")
    softmax = made.operator("nn.softmax", [data], shape=(1, 1000), axis=-1)
    made.kernel([softmax], [data], 4.0, 0, 8e3, template="row_reduction", name="tvmgen_default_fused_nn_softmax_max")
    made.kernel([softmax], [softmax], 6.0, 5e3, 8e3, template="row_reduction", name="tvmgen_default_fused_nn_softmax_norm")
    return made.report(model or f"net of {len(made.operators)} operators")


def small():
    """Eighteen operators or so, each state once: what most tests click through."""
    return net(26, seed=3, model="small")


def bare(profile):
    """The same as a report that holds next to nothing: no split, no unfused times, no peaks, no edges."""
    profile = copy.deepcopy(profile)
    profile["peaks"], profile["functions"] = None, {}
    profile["unfused"] = {"end_to_end_us": 0, "kernels": []}
    for each in profile["operators"]:
        each.update(inputs=[], fused_with=[], unfused_us=None, inside_us=None)
    for each in profile["kernels"]:
        each.update(inputs=[], inside=[], samples=[], flops=0, bytes=0)
    return profile


def changed(profile):
    """The same model after a change: one kernel of three takes 0.7 of its time, one of seven 1.2 times as much."""
    profile = copy.deepcopy(profile)
    for operator in profile["operators"]:
        operator["inside_us"] = None
    for i, kernel in enumerate(profile["kernels"]):
        factor = 0.7 if i % 3 == 0 else 1.2 if i % 7 == 1 else 1
        kernel["median_us"] *= factor
        kernel["samples"] = [each * factor for each in kernel["samples"]]
        for part in kernel["inside"]:
            part["us"] *= factor
            for each in part["ids"]:
                operator = profile["operators"][each]
                operator["inside_us"] = (operator["inside_us"] or 0) + part["us"]
    total = sum(each["median_us"] for each in profile["kernels"])
    for kernel in profile["kernels"]:
        kernel["share"] = kernel["median_us"] / total
    profile["sum_us"], profile["end_to_end_us"]["median"] = total, total * 1.004
    profile["profiled_us"]["median"] = total * 1.005
    profile["profiled_us"]["samples"] = [total * 1.005] * 3
    return profile


def spread(profile, place_of):
    """The same on several devices: place_of(index, kernel) is (target, device). A value that is read on another device is copied there once."""
    profile = copy.deepcopy(profile)
    kernels, moved, device = [], {}, {}
    producers = {each["node"]: each for each in profile["kernels"]}
    last = max(producers)
    for i, kernel in enumerate(profile["kernels"]):
        kernel["target"], kernel["device"] = place_of(i, kernel)
        device[kernel["node"]] = kernel["device"]
        for j, source in enumerate(kernel["inputs"]):
            if device[source] == kernel["device"]:
                continue
            way = (source, kernel["device"])
            if way not in moved:
                last += 1
                moved[way] = last
                size = 1e5 * (1 + (i * 37) % 50)
                kernels.append({
                    **copy.deepcopy(producers[source]), "node": last, "name": f"__copy_{last}", "func_name": "__copy", "title": f"device_copy {last}",
                    "device": kernel["device"], "copied_from": device[source], "median_us": size / 4e3, "samples": [size / 4e3] * 3, "inputs": [source],
                    "origins": [], "made_for": sorted({*producers[source]["origins"], *kernel["origins"]}), "inside": [], "flops": 0, "bytes": 2 * size,
                    "result_bytes": size, "reason": "copied to where it is read"})
            kernel["inputs"][j] = moved[way]
        kernels.append(kernel)
    profile["kernels"] = kernels
    profile["sum_us"] = sum(each["median_us"] for each in kernels)
    for each in kernels:
        each["share"] = each["median_us"] / profile["sum_us"]
    return profile


def in_modules(profile, size=6):
    """The same with modules of `size` operators, three in a stage, the first ones by a Python file; each third has a module inside."""
    for row in profile["operators"]:
        block = row["id"] // size
        row["module"] = f"stage{block // 3}/{block % 3}" + ("/norm" if row["id"] % size == size - 1 else "")
        if block < 3:
            row["source_line"] = {"file": "/home/me/net.py", "line": 10 + row["id"] % size, "function": "forward", "text": f"x = self.part{row['id'] % size}(x)"}
    return profile

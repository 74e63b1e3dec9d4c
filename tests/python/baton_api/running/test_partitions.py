"""Programs split over several backends: VGG-11 as the document on BYOC cuts it, random partitions, and the networks of
relay.testing on each backend. Always: the numbers of the processor alone, every operator found again, and every copy with the
operators that caused it.
"""
import contextlib
import functools

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.contrib import graph_executor
from baton.relay import annotation, testing
from baton.relay.dataflow_pattern import is_op, wildcard
from baton.relay.op.contrib.dnnl import partition_for_dnnl
from baton.relay.testing.temp_op_attr import TempOpAttr

nn = relay.nn
BACKENDS = ("dnnl", "opencl", "mirror", "sim_big_core")


@functools.cache
def opencl_missing():
    """Why nothing runs on OpenCL here; empty when it does."""
    try:
        run(tvm.IRModule.from_expr(nn.relu(relay.var("x", shape=(2,)))), {}, "opencl")
    except tvm.TVMError as error:
        return str(error)
    return ""


def need(*backends):
    if "opencl" in backends and opencl_missing():
        pytest.skip(opencl_missing())


# ---- What a right result is.

def run(module, params, target="llvm"):
    """The built module, and its outputs for inputs from a fixed seed."""
    params = {name: value for name, value in params.items() if name in {param.name_hint for param in module["main"].params}}
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(module, target=target, params=params)
    model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    random = np.random.default_rng(7)
    for param in relay.transform.InferType()(module)["main"].params:
        if param.name_hint not in params:
            kind = param.checked_type
            model.set_input(param.name_hint, random.uniform(-1, 1, [int(each) for each in kind.shape]).astype(kind.dtype))
    model.run()
    return lib, [model.get_output(i).numpy() for i in range(model.get_num_outputs())]


def check(module, params, expected, target="llvm", tolerance=1e-4):
    """Builds and runs `module`. Returns how many kernels each backend has."""
    lib, outputs = run(module, params, target)
    for got, want in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * max(1e-3, np.abs(want).max()))
    for row in tvm.origins(lib):
        assert row["nodes"] or row["folded_into"] or row["retired"], f"{row['op']} is lost"
    found = {}
    for kernel in tvm.profile(lib, repeat=1, seconds=0, inside=False, unfused=False, peaks=False).kernels:
        if "device_copy" in kernel["name"]:
            assert kernel["origins"] or kernel["made_for"], f"copy {kernel['name']} has no cause"
        found[kernel["target"]] = found.get(kernel["target"], 0) + 1
    return found


# ---- VGG-11.

EIGHT = [0, 3, 6, 11, 16, 21, 23, 25]


def conv_relu(bias):
    conv = is_op("nn.conv2d")(wildcard(), wildcard())
    return is_op("nn.relu")(is_op("nn.bias_add")(conv, wildcard()) if bias else conv)


def partitioned_as_in_the_document(module, convolutions, dense):
    """Convolutions with what follows for one compiler, dense layers for the other, and nothing else."""
    patterns = [(f"{convolutions}.conv2d_relu_with_bias", conv_relu(True)), (f"{convolutions}.conv2d_relu_wo_bias", conv_relu(False))]
    with contextlib.ExitStack() as rules:
        for compiler in {convolutions, dense}:
            for op in tvm.ir.Op.list_op_names():  # backends have rules of their own
                rules.enter_context(TempOpAttr(op, "target." + compiler, lambda call, mine=(op, compiler) == ("nn.dense", dense): mine))
        return tvm.transform.Sequential([
            relay.transform.MergeComposite(patterns), relay.transform.AnnotateTarget(list(dict.fromkeys([convolutions, dense]))),
            relay.transform.MergeCompilerRegions(), relay.transform.PartitionGraph()])(module)


@functools.cache
def small_vgg():
    module, params = testing.vgg.get_workload(batch_size=1, num_classes=10, image_shape=(3, 32, 32), num_layers=11)
    return module, params, run(module, params)[1]


@pytest.mark.parametrize("convolutions, dense", [
    ("dnnl", "dnnl"), ("mirror", "mirror"), ("dnnl", "mirror"), ("sim_fast_gpu", "sim_fast_gpu"), ("sim_slow_gpu", "openblas"),
    *(pytest.param(*pair, marks=pytest.mark.slow)
      for pair in [("opencl", "opencl"), ("opencl", "dnnl"), ("mirror", "opencl"), ("opencl", "sim_in_memory")])])
def test_vgg_in_eight_regions(convolutions, dense):
    need(convolutions, dense)
    module, params, expected = small_vgg()
    split = partitioned_as_in_the_document(module, convolutions, dense)
    regions = sorted((int(name.rsplit("_", 1)[1]), name) for name in (each.name_hint for each in split.get_global_vars()) if name != "main")
    if convolutions == dense:
        assert [number for number, _ in regions] == EIGHT
    assert len(regions) == 8
    found = check(split, params, expected)
    assert found[convolutions] >= 5 and found[dense] >= 3


def test_rules_of_a_script_end_with_it():
    """The rules of Baton's own backends were lost with those that a script had put in their place."""
    module = tvm.IRModule.from_expr(nn.relu(relay.var("x", shape=(2,))))
    annotate = relay.transform.AnnotateTarget("dnnl")
    with TempOpAttr("nn.relu", "target.dnnl", lambda call: False):
        assert "compiler=\"dnnl\"" not in str(annotate(module))
    assert "compiler=\"dnnl\"" in str(annotate(module))


# ---- Random partitions.

class Annotator(relay.ExprMutator):
    """Gives each call to a compiler by chance, or to none: compiler_begin at its arguments, compiler_end behind it."""

    def __init__(self, random, compilers):
        super().__init__()
        self.random, self.compilers = random, compilers

    def visit_call(self, call):
        arguments = [self.visit(each) for each in call.args]
        compiler = self.compilers[self.random.integers(len(self.compilers))]
        if compiler != "default" and tvm._load.core.backend_refusal(compiler, call):  # pylint: disable=protected-access
            compiler = "default"
        begun = [annotation.compiler_begin(each, compiler) for each in arguments]
        return annotation.compiler_end(relay.Call(call.op, begun, call.attrs), compiler)


def randomly_partitioned(module, seed, compilers):
    random = np.random.default_rng(seed)
    main = relay.transform.InferType()(module)["main"]
    split = tvm.IRModule.from_expr(relay.Function(main.params, Annotator(random, compilers).visit(main.body)))
    passes = [relay.transform.InferType(), relay.transform.MergeCompilerRegions(), relay.transform.PartitionGraph()]
    return tvm.transform.Sequential(passes)(split)


def random_network(seed):
    """A dozen layers with branches, sums, joins and two results."""
    random = np.random.default_rng(seed)
    weight = lambda *shape: relay.const(random.uniform(-0.3, 0.3, shape).astype("float32"))  # noqa: E731
    size, channels = int(random.integers(3, 9)), int(random.choice([1, 3, 8, 16]))
    values = [relay.var("x", shape=(1, channels, size, size))]
    for _ in range(12):
        value = values[random.integers(len(values))]
        kind = random.integers(8)
        if kind == 0:
            value = nn.conv2d(value, weight(channels, channels, 3, 3), padding=(1, 1), channels=channels, kernel_size=(3, 3))
        elif kind == 1:
            value = nn.bias_add(nn.conv2d(value, weight(channels, channels, 1, 1), channels=channels, kernel_size=(1, 1)), weight(channels))
        elif kind == 2:
            value = relay.add(value, values[random.integers(len(values))])
        elif kind == 3:
            value = nn.max_pool2d(value, (3, 3), padding=(1, 1))
        elif kind == 4:
            value = relay.split(relay.concatenate([value, values[-1]], 1), 2, 1)[int(random.integers(2))]
        elif kind == 5:
            value = relay.multiply(relay.sigmoid(value), weight(channels, 1, 1))
        elif kind == 6:
            value = relay.transpose(relay.tanh(value), (0, 1, 3, 2))
        else:
            value = nn.softmax(value, axis=1)
        values.append(value)
    body = relay.Tuple([values[-1], nn.dense(nn.batch_flatten(values[-2]), weight(5, channels * size * size))])
    return relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([values[0]], body)))


def check_random(seed):
    compilers = ["default", "dnnl", "openblas", "mirror", "sim_big_core", "sim_slow_gpu"] + ([] if opencl_missing() else ["opencl"])
    module = random_network(seed)
    check(randomly_partitioned(module, seed, compilers), {}, run(module, {})[1])


@pytest.mark.parametrize("seed", range(8))
def test_random_partitions(seed):
    check_random(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8, 100))
def test_more_random_partitions(seed):
    check_random(seed)


# ---- Networks.

NETWORKS = {
    "mlp": lambda: testing.mlp.get_workload(batch_size=2),
    "resnet-18": lambda: testing.resnet.get_workload(num_layers=18, image_shape=(3, 32, 32), num_classes=10),
    "resnet-50": lambda: testing.resnet.get_workload(num_layers=50, image_shape=(3, 32, 32), num_classes=10),
    "resnet-3d-18": lambda: testing.resnet_3d.get_workload(num_layers=18, image_shape=(3, 8, 32, 32), num_classes=10),
    "vgg-11": lambda: testing.vgg.get_workload(batch_size=1, num_classes=10, image_shape=(3, 32, 32), num_layers=11),
    "mobilenet": lambda: testing.mobilenet.get_workload(image_shape=(3, 32, 32), num_classes=10),
    "squeezenet": lambda: testing.squeezenet.get_workload(image_shape=(3, 64, 64), num_classes=10),
    "densenet-121": lambda: testing.densenet.get_workload(densenet_size=121, image_shape=(3, 224, 224), classes=10),
    "inception-v3": lambda: testing.inception_v3.get_workload(image_shape=(3, 299, 299), num_classes=10),
    "dcgan": lambda: testing.dcgan.get_workload(batch_size=1),
    "dqn": lambda: testing.dqn.get_workload(batch_size=1),
    "lstm": lambda: testing.lstm.get_workload(iterations=4, num_hidden=16),
}
QUICK = ("mlp", "resnet-18", "dqn", "lstm")


def is_quick(network, backend):
    return network in QUICK and (network, backend) != ("resnet-18", "opencl")


@pytest.mark.parametrize("network, backend", [pytest.param(network, backend, marks=[] if is_quick(network, backend) else [pytest.mark.slow])
                                              for network in NETWORKS for backend in BACKENDS])
def test_network(network, backend):
    need(backend)
    module, params = NETWORKS[network]()
    expected = run(module, params)[1]
    whole = backend in ("opencl", "mirror", "sim_big_core")  # devices of their own; libraries take regions
    split, target = (module, backend) if whole else (partition_for_dnnl(module, params), "llvm")
    assert check(split, params, expected, target)[backend] > 0

"""The passes of level 4 leave alone what they cannot express: every one of them on every network, and attention."""
import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.relay import testing

PASSES = {
    "CombineParallelConv2D": lambda: relay.transform.CombineParallelConv2D(2),
    "CombineParallelDense": lambda: relay.transform.CombineParallelDense(2),
    "CombineParallelDense, flat": lambda: relay.transform.CombineParallelDense(2, False),
    "CombineParallelBatchMatmul": lambda: relay.transform.CombineParallelBatchMatmul(2),
    "BatchingOps": relay.transform.BatchingOps,
    "FastMath": relay.transform.FastMath,
    "together": lambda: tvm.transform.Sequential([relay.transform.BatchingOps(), relay.transform.FastMath(), relay.transform.FoldConstant()]),
}
NETWORKS = {
    "dcgan": lambda: testing.dcgan.get_workload(1), "dqn": lambda: testing.dqn.get_workload(1),
    "densenet": lambda: testing.densenet.get_workload(), "inception": lambda: testing.inception_v3.get_workload(),
    "lstm": lambda: testing.lstm.get_workload(3, 8), "mlp": lambda: testing.mlp.get_workload(1),
    "mobilenet": lambda: testing.mobilenet.get_workload(), "resnet-18": lambda: testing.resnet.get_workload(),
    "resnet-50": lambda: testing.resnet.get_workload(num_layers=50), "resnet-3d": lambda: testing.resnet_3d.get_workload(),
    "squeezenet": lambda: testing.squeezenet.get_workload(), "synthetic": testing.synthetic.get_workload,
    "vgg": lambda: testing.vgg.get_workload(1, num_layers=11), "attention": lambda: (attention(2), {}),
}


def attention(layers, batched=True):
    """Self-attention as models write it: query, key and value are dense layers with a bias of one input."""
    tokens, width, heads = 8, 16, 4
    count = iter(range(1000))

    def param(*shape):
        return relay.var(f"w{next(count)}", shape=shape)

    def linear(x, units=width):
        return relay.nn.bias_add(relay.nn.dense(x, param(units, width)), param(units), axis=-1)

    def split_heads(x):
        return relay.transpose(relay.reshape(x, (tokens, heads, width // heads)), (1, 0, 2))

    x = relay.var("data", shape=(tokens, width))
    for _ in range(layers):
        query, key, value = linear(x), linear(x), linear(x)
        if not batched:  # a batch of one is added behind the bias
            query, key, value = (relay.squeeze(relay.expand_dims(each, 0), [0]) for each in (query, key, value))
        scores = relay.nn.batch_matmul(split_heads(query), split_heads(key)) * relay.const(0.5)
        mixed = relay.nn.batch_matmul(relay.nn.softmax(scores), relay.transpose(split_heads(value), (0, 2, 1)))
        joined = relay.reshape(relay.transpose(mixed, (1, 0, 2)), (tokens, width))
        x = relay.nn.layer_norm(linear(joined) + x, param(width), param(width))
    return tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(x), x))


@pytest.mark.parametrize("network", NETWORKS)
def test_every_pass_on_every_network(network):
    module = relay.transform.InferType()(NETWORKS[network]()[0])
    for name, make in PASSES.items():
        with tvm.transform.PassContext(opt_level=4):
            result = relay.transform.InferType()(make()(module))
        tvm.ir.assert_structural_equal(result["main"].checked_type, module["main"].checked_type)
        assert relay.analysis.well_formed(result), name


def results(module, inputs, level):
    with tvm.transform.PassContext(opt_level=level):
        library = relay.build(module, target="llvm")
    runtime = tvm.contrib.graph_executor.GraphModule(library["default"](tvm.cpu()))
    runtime.set_input(**inputs)
    runtime.run()
    return [runtime.get_output(i).numpy() for i in range(runtime.get_num_outputs())]


@pytest.mark.parametrize("batched", [True, False])
def test_attention_at_level_4(batched):
    """CombineParallelDense stacked what does not stack: E0202, and with expand_dims E0217."""
    module = relay.transform.InferType()(attention(2, batched))
    random = np.random.default_rng(0)
    inputs = {each.name_hint: random.normal(size=[int(n) for n in each.checked_type.shape]).astype("float32") for each in module["main"].params}
    [wanted], [got] = results(module, inputs, 1), results(module, inputs, 4)
    np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3)
    with tvm.transform.PassContext(opt_level=4):
        combined = str(relay.transform.CombineParallelDense()(module))
    assert combined.count("nn.dense(") == 2 and combined.count("stack(") > 0  # the two that nothing is beside


@pytest.mark.slow
@pytest.mark.parametrize("network", ["dqn", "lstm", "mlp", "synthetic", "squeezenet", "mobilenet", "resnet-18", "inception"])
def test_networks_at_level_4(network):
    module, params = NETWORKS[network]()
    module = relay.transform.InferType()(module)
    random = np.random.default_rng(0)
    inputs = dict(params)
    for each in module["main"].params:
        if each.name_hint not in inputs:
            inputs[each.name_hint] = random.normal(size=[int(n) for n in each.checked_type.shape]).astype("float32")
    for got, wanted in zip(results(module, inputs, 4), results(module, inputs, 1)):
        np.testing.assert_allclose(got, wanted, rtol=1e-2, atol=1e-3)

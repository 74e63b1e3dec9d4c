"""The networks of relay.testing: their sizes, and the weights that numpy's legacy generator gives them."""
import gzip
import json
import pathlib

import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton._load import core
from baton.contrib import graph_executor
from lstm_reference import last_hidden

testing = relay.testing


def values(params):
    return {name: each.numpy() for name, each in params.items()}


def same(left, right):
    return left.keys() == right.keys() and all(np.array_equal(left[name], right[name]) for name in left)


def trained(params):
    """How many numbers training would change: all but the moving averages of batch norms."""
    return sum(each.size for name, each in values(params).items() if not name.endswith(("_moving_mean", "_moving_var")))


# Sizes as they are published for these architectures.
@pytest.mark.parametrize("make, count", [
    (lambda: testing.squeezenet.get_workload(version="1.0"), 1_248_424),
    (lambda: testing.squeezenet.get_workload(version="1.1"), 1_235_496),
    (lambda: testing.inception_v3.get_workload(1), 23_834_568),
    (lambda: testing.mlp.get_workload(1), 109_386),
])
def test_published_sizes(make, count):
    assert trained(make()[1]) == count


def test_dqn_in_both_layouts():
    _, plain = testing.dqn.get_workload(1)
    module, params = testing.dqn.get_workload(1, image_shape=(84, 84, 4), layout="NHWC")
    assert plain["conv1_weight"].shape == (32, 4, 8, 8) and params["conv1_weight"].shape == (8, 8, 4, 32)
    assert str(module["main"].ret_type) == "Tensor[(1, 18), float32]"


def test_every_step_of_an_lstm_has_its_own_input():
    module, params = testing.lstm.get_workload(2, 4, batch_size=3)
    assert [each.name_hint for each in module["main"].params].count("data") == 2
    assert sorted(params) == sorted(f"{side}_{step}_{kind}" for side in ("i2h", "h2h") for step in (0, 1)
                                    for kind in ("weight", "bias"))
    assert params["h2h_1_weight"].shape == (16, 4)
    with pytest.raises(tvm.TVMError, match="0 iterations"):
        testing.lstm.get_net(0, 4)


def test_weights_follow_the_seed_and_the_order_of_parameters():
    net = testing.mlp.get_net(1)
    first = values(testing.create_workload(net)[1])
    generator = np.random.RandomState(0)
    for name, shape in (("fc1", (128, 784)), ("fc2", (64, 128)), ("fc3", (10, 64))):
        bound = np.sqrt(3.0 / (sum(shape) / 2.0))
        expected = generator.uniform(-bound, bound, size=shape).astype("float32")
        np.testing.assert_array_equal(first[name + "_weight"], expected)
        assert not first[name + "_bias"].any()
    np.random.seed(99)
    np.random.rand(7)  # what was drawn before does not matter
    assert same(first, values(testing.create_workload(net)[1]))
    assert not same(first, values(testing.create_workload(net, seed=1)[1]))


def test_drawing_goes_on_from_the_seed():
    testing.create_workload(testing.mlp.get_net(1), seed=5)
    after = np.random.rand()
    testing.create_workload(testing.mlp.get_net(1), seed=5)
    assert np.random.rand() == after


def test_batch_norm_starts_as_the_identity_and_types_are_kept():
    params = values(testing.resnet.get_workload(num_layers=20, num_classes=10, image_shape=(3, 28, 28), dtype="float16")[1])
    assert {each.dtype for each in params.values()} == {np.dtype("float16")}
    for name, each in params.items():
        if name.endswith(("_gamma", "_moving_var")):
            assert (each == 1).all()
        elif name.endswith(("_beta", "_moving_mean", "_bias")):
            assert (each == 0).all()
        else:
            window = int(np.prod(each.shape[2:]))
            bound = np.sqrt(3.0 / ((each.shape[0] + each.shape[1]) * window / 2.0))
            assert 0.5 * bound < np.abs(each).max() <= bound * 1.001, name


def test_an_initializer_replaces_xavier():
    params = values(testing.mlp.get_workload(1, initializer=testing.init.Xavier("gaussian", "in", 2))[1])
    assert abs(params["fc1_weight"].std() / np.sqrt(2 / 784) - 1) < 0.02
    with pytest.raises(ValueError, match="should end in"):
        testing.init.Xavier()("oddly_named", np.zeros((2, 2), "float32"))


def reference(name):
    with gzip.open(pathlib.Path(__file__).resolve().parents[3] / "reference" / "text.jsonl.gz", "rt", encoding="utf-8") as rows:
        return next(each["typed"] for each in map(json.loads, rows) if each["id"] == f"model/{name}")


# Structure, names of parameters and attributes are TVM's.
@pytest.mark.parametrize("name, make", [
    ("dcgan", lambda: testing.dcgan.get_net(1)),
    ("squeezenet_1_1", lambda: testing.squeezenet.get_net(1, (3, 224, 224), 1000, "1.1", "float32")),
    ("densenet121", lambda: core.densenet(121, 1, 1000, [3, 224, 224], "float32")["main"]),
    ("inception_v3", lambda: testing.inception_v3.get_net(1, 1000, (3, 299, 299), "float32")),
    ("resnet3d_18", lambda: testing.resnet_3d.get_net(1, 1000, 18)),
    ("synthetic", testing.synthetic.get_net),
])
def test_networks_are_tvms(name, make):
    assert relay.transform.InferType()(tvm.IRModule.from_expr(make())).astext(show_meta_data=False) == reference(name)


def calls(function, op):
    return [each for each in collected(function) if isinstance(each, relay.Call) and each.op.name == op]


def collected(function):
    found = []
    relay.analysis.post_order_visit(function, found.append)
    return found


def test_variants_of_networks_follow_the_same_rules():
    first = testing.squeezenet.get_net(1, (3, 224, 224), 10, "1.0", "float32")
    conv = calls(first, "nn.conv2d")[0].attrs
    assert conv.channels == 96 and list(conv.kernel_size) == [7, 7] and list(conv.padding) == [3] * 4
    for size, units, grown in ((161, 6 + 12 + 36 + 24, 48), (169, 6 + 12 + 32 + 32, 32), (201, 6 + 12 + 48 + 32, 32)):
        net = testing.densenet.get_workload(size, classes=7, batch_size=1, image_shape=(3, 224, 224))[0]["main"]
        convs = calls(net, "nn.conv2d")
        assert len(convs) == 1 + 2 * units + 3 and convs[2].attrs.channels == grown and net.ret_type.concrete_shape == (1, 7)
    assert len(calls(testing.resnet_3d.get_net(1, 10, 34), "nn.conv3d")) == 1 + 2 * (3 + 4 + 6 + 3) + 4
    small = testing.run_infer_type(testing.resnet_3d.get_net(1, 10, 20, (3, 4, 16, 16)))
    assert small.ret_type.concrete_shape == (1, 10) and calls(small, "nn.conv3d")[0].attrs.channels == 16
    wide = testing.run_infer_type(testing.synthetic.get_net((2, 5, 6, 7), "float32"))
    assert wide.ret_type.concrete_shape == (2, 5, 6, 7)
    with pytest.raises(tvm.TVMError, match="extents"):
        testing.synthetic.get_net((2, 5))


def test_mobilenets_of_other_widths():
    full, half = (testing.mobilenet.mobile_net(10, (1, 3, 64, 64), alpha=each) for each in (1.0, 0.5))
    channels = [[each.attrs.channels for each in calls(net, "nn.conv2d")] for net in (full, half)]
    assert [2 * each for each in channels[1]] == channels[0]
    shallow = testing.run_infer_type(testing.mobilenet.mobile_net(10, (1, 3, 64, 64), is_shallow=True))
    assert len(calls(shallow, "nn.conv2d")) == len(channels[0]) - 10


def test_dcgan_of_a_given_code():
    code = relay.var("z", shape=(3, 10))
    net = testing.run_infer_type(testing.dcgan.get_net(3, random_len=10, ngf=4, code=relay.tanh(code)))
    assert net.params[0].name_hint == "z" and net.ret_type.concrete_shape == (3, 3, 64, 64)


@pytest.mark.parametrize("layout, shape", [("NCHW", (2, 3, 64, 64)), ("NHWC", (2, 64, 64, 3))])
def test_dcgan_makes_images_of_noise(layout, shape):
    module, params = testing.dcgan.get_workload(2, ngf=8, layout=layout)
    assert module["main"].ret_type.concrete_shape == shape and "g2_deconv_weight" in params
    with pytest.raises(ValueError, match="64 by 64"):
        testing.dcgan.get_net(1, oshape=(3, 32, 32))


@pytest.mark.parametrize("layers, layout", [(18, "NCDHW"), (50, "NCDHW"), (18, "NDHWC")])
def test_resnet_3d_has_types(layers, layout):
    image = (3, 8, 32, 32) if layout == "NCDHW" else (8, 32, 32, 3)
    net = testing.run_infer_type(testing.resnet_3d.get_net(2, 10, layers, image, layout))
    assert net.ret_type.concrete_shape == (2, 10) and net.params[0].name_hint == "data"
    with pytest.raises(tvm.TVMError, match="19 layers"):
        testing.resnet_3d.get_net(1, 10, 19)


def test_programs_with_functions_of_their_own_build():
    module, params = testing.lstm.get_workload(3, 8)
    module = tvm.parser.fromtext(module.astext())  # where inputs have names of their own
    data = [np.random.default_rng(i).random((1, 8), dtype="float32") for i in range(3)]
    executor = graph_executor.GraphModule(relay.build(module, "llvm", params=params)["default"](tvm.cpu()))
    executor.run(**dict(zip(("data", "data1", "data2"), data)))
    np.testing.assert_allclose(executor.get_output(0).numpy(), last_hidden(params, data), atol=1e-6)


def test_names_say_where_a_value_is_shared():
    module = tvm.parser.fromtext("""#[version = "0.0.5"]
        def @main(%x: Tensor[(4), float32]) {
          let %a = (exp(%x), %x);
          let %b = add(%a.0, %a.1);
          (multiply(%b, %b), %a.0)
        }""")
    executor = graph_executor.GraphModule(relay.build(module, "llvm")["default"](tvm.cpu()))
    x = np.arange(4, dtype="float32") / 4
    executor.set_input(x=x)
    executor.run()
    np.testing.assert_allclose(executor.get_output(0).numpy(), (np.exp(x) + x) ** 2, rtol=1e-6)
    np.testing.assert_allclose(executor.get_output(1).numpy(), np.exp(x), rtol=1e-6)

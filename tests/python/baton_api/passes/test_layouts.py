"""Programs compute the same after their layouts were changed by name."""
import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.relay.testing.temp_op_attr import TempOpAttr

CONV = "nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3])"
BODIES = {
    "bias": f"%0 = {CONV}; %1 = add(%0, %c); %2 = nn.relu(%1); multiply(%2, 2f)",
    "vector": f"%0 = {CONV}; %1 = expand_dims(%b, axis=1, num_newaxis=2); add(%1, %0)",
    "rows": f"%0 = {CONV}; multiply(%0, %r)",
    "residual": f"%0 = {CONV}; %1 = nn.relu(%0); %2 = nn.conv2d(%1, %w, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]); add(%0, %2)",
    "pools": f"%0 = {CONV}; %1 = nn.max_pool2d(%0, pool_size=[2, 2], strides=[2, 2]); %2 = nn.global_avg_pool2d(%1); nn.batch_flatten(%2)",
    "mean": f"%0 = {CONV}; mean(%0, axis=[2, 3])",
    "keep": f"%0 = {CONV}; sum(%0, axis=[1], keepdims=True)",
    "exclude": f"%0 = {CONV}; max(%0, axis=[1], exclude=True)",
    "argmax": f"%0 = {CONV}; argmax(%0, axis=[1])",
    "split": f"%0 = {CONV}; %1 = split(%0, indices_or_sections=[4, 12], axis=1); %2 = (%1.2, %1.0); concatenate(%2, axis=1)",
    "odd_split": f"%0 = {CONV}; %1 = split(%0, indices_or_sections=[3], axis=1); %2 = (%1.1, %1.0); concatenate(%2, axis=-3)",
    "transpose": f"%0 = {CONV}; %1 = transpose(%0, axes=[0, 2, -1, 1]); nn.relu(%1)",
    "reverse": f"%0 = {CONV}; %1 = transpose(%0); add(%1, 1f)",
    "slice": f"%0 = {CONV}; strided_slice(%0, begin=[0, 4, 1, 2], end=[1, 12, 7, 8], strides=None, axes=None)",
    "odd_slice": f"%0 = {CONV}; strided_slice(%0, begin=[1, 0], end=[9, 8], strides=[3, 2], axes=[1, 3])",
    "pad": f"%0 = {CONV}; nn.pad(%0, 1f, pad_width=[[0, 0], [0, 4], [1, 2], [0, 1]])",
    "odd_pad": f"%0 = {CONV}; nn.pad(%0, 1f, pad_width=[[0, 0], [1, 2], [1, 2], [0, 1]])",
    "norm": f"%0 = {CONV}; %1 = nn.batch_norm(%0, %b, %b, %b, %v); %2 = %1.0; nn.relu(%2)",
    "prelu": f"%0 = {CONV}; nn.prelu(%0, %b)",
    "two": f"%0 = {CONV}; %1 = nn.relu(%0); (%0, %1)",
    "dense": f"%0 = {CONV}; %1 = nn.batch_flatten(%0); %2 = nn.dense(%1, %d, units=10); add(%2, %e)",
}
PARAMS = {"x": (1, 8, 8, 8), "w": (16, 8, 3, 3), "c": (16, 1, 1), "b": (16,), "v": (16,), "r": (1, 1, 8, 1),
          "d": (10, 1024), "e": (10,)}
INPUTS = {name: np.random.default_rng(7).uniform(0.1, 1, shape).astype("float32") for name, shape in PARAMS.items()}


def program(body):
    if "%w, padding=[1, 1, 1, 1], channels=16" in body and body.count("nn.conv2d") == 2:
        body = body.replace("nn.conv2d(%1, %w", "nn.conv2d(%1, %u")
    params = {**PARAMS, "u": (16, 16, 3, 3)}
    INPUTS.setdefault("u", np.random.default_rng(8).uniform(-0.1, 0.1, params["u"]).astype("float32"))
    used = [name for name in params if f"%{name}," in body or f"%{name})" in body]
    types = ", ".join(f"%{name}: Tensor[{params[name] if len(params[name]) > 1 else f'({params[name][0]},)'}, float32]"
                      .replace(",)", ")") for name in used)
    module = tvm.parser.fromtext(f'#[version = "0.0.5"]\ndef @main({types}) {{ {body} }}')
    return relay.transform.InferType()(module), used


def outputs(module, names):
    """What main computes: everything is folded."""
    bound = relay.build_module.bind_params_by_name(module["main"], {name: INPUTS[name] for name in names})
    module = tvm.IRModule.from_expr(bound)
    with tvm.transform.PassContext(opt_level=3):
        body = relay.transform.FoldConstant()(relay.transform.InferType()(module))["main"].body
    return [each.data.numpy() for each in (body.fields if isinstance(body, relay.Tuple) else [body])]


def altered(module, target):
    with tvm.target.Target(target):
        return relay.transform.AlterOpLayout()(module)


CHANGES = {
    "NHWC": lambda m: relay.transform.ConvertLayout({"nn.conv2d": ["NHWC", "default"], "nn.max_pool2d": ["NHWC"]})(m),
    "NCHW4c": lambda m: relay.transform.ConvertLayout({"nn.conv2d": ["NCHW4c", "OIHW4i4o"]})(m),
    "llvm": lambda m: altered(m, "llvm"),
    "avx512": lambda m: altered(m, "llvm -mcpu=skylake-avx512"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("body", BODIES)
def test_values_stay(body, change):
    module, names = program(BODIES[body])
    changed = CHANGES[change](module)
    assert not tvm.ir.structural_equal(module, changed)
    for was, now in zip(outputs(module, names), outputs(changed, names), strict=True):
        np.testing.assert_allclose(now, was, rtol=1e-4, atol=1e-4)


def test_skipped_layers():
    module, _ = program(BODIES["residual"])
    convert = relay.transform.ConvertLayout({"nn.conv2d": ["NHWC", "default"]})
    with relay.transform.LayoutConfig(skip_layers=[0]):
        text = convert(module).astext(show_meta_data=False)
    assert text.count('data_layout="NHWC"') == 1
    assert convert(module).astext(show_meta_data=False).count('data_layout="NHWC"') == 2
    assert relay.transform.LayoutConfig.current is None


def blocked(block):
    """A rule of the user's: nn.conv2d in NCHW<block>c, `block` a function of the number of output channels."""

    def alter(attrs, inputs, types, result):
        size = block(types[1].shape[0])
        return relay.nn.contrib_conv2d_nchwc(
            *inputs, kernel_size=attrs.kernel_size, channels=attrs.channels, padding=attrs.padding,
            data_layout=f"NCHW{size}c", kernel_layout=f"OIHW{size}i{size}o")

    return alter


RULED = {
    # What is read both in blocks and as it was.
    "dual": f"%0 = {CONV}; %1 = nn.relu(%0); %2 = nn.conv2d(%1, %w, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]); "
            "%3 = nn.batch_flatten(%1); (%2, %3)",
    "concatenate": f"%0 = {CONV}; %1 = nn.conv2d(%0, %u, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]); "
                   "%2 = (%0, %1); concatenate(%2, axis=1)",
    "residual": BODIES["residual"],
    "flat residual": f"%0 = {CONV}; %1 = nn.conv2d(%0, %u, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]); "
                     "%2 = add(%0, %1); %3 = nn.batch_flatten(%0); %4 = nn.batch_flatten(%2); (%3, %4)",
    "scalars": f"%0 = {CONV}; %1 = multiply(2f, %0); %2 = add(1f, 2f); %3 = add(%1, %2); nn.relu(%3)",
    "bias": BODIES["bias"], "vector": BODIES["vector"], "rows": BODIES["rows"],
}


@pytest.mark.parametrize("block", [lambda channels: 8, lambda channels: 4], ids=["8c", "4c"])
@pytest.mark.parametrize("body", RULED)
def test_values_stay_by_a_rule_of_the_user(body, block):
    module, names = program(RULED[body])
    with TempOpAttr("nn.conv2d", "FTVMAlterOpLayout", blocked(block)):
        changed = relay.transform.AlterOpLayout()(module)
    assert "contrib_conv2d_NCHWc" in str(changed) and "nn.conv2d" not in str(changed)
    for was, now in zip(outputs(module, names), outputs(changed, names), strict=True):
        np.testing.assert_allclose(now, was, rtol=1e-4, atol=1e-4)


def test_blocks_of_two_sizes_meet():
    module = tvm.parser.fromtext('''#[version = "0.0.5"]
def @main(%x: Tensor[(1, 8, 6, 6), float32], %w: Tensor[(16, 8, 1, 1), float32], %u: Tensor[(8, 8, 1, 1), float32],
          %b: Tensor[(8, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w, channels=16, kernel_size=[1, 1], padding=[0, 0, 0, 0]);
  %1 = nn.conv2d(%x, %u, channels=8, kernel_size=[1, 1], padding=[0, 0, 0, 0]);
  %2 = (%1, %1);
  %3 = concatenate(%2, axis=1);
  %4 = add(%0, %3);
  %5 = split(%4, indices_or_sections=2, axis=1);
  multiply(%b, add(%5.1, %1))
}''')
    with TempOpAttr("nn.conv2d", "FTVMAlterOpLayout", blocked(lambda channels: min(channels, 8) if channels > 8 else 4)):
        changed = relay.transform.AlterOpLayout()(module)
    text = str(changed)
    assert "NCHW8c" in text and "NCHW4c" in text
    rng = np.random.default_rng(3)
    given = [rng.standard_normal(shape).astype("float32") for shape in ((1, 8, 6, 6), (16, 8, 1, 1), (8, 8, 1, 1), (8, 1, 1))]
    was, now = (relay.create_executor("graph", each).evaluate()(*given).numpy() for each in (module, changed))
    np.testing.assert_allclose(now, was, rtol=1e-4, atol=1e-4)


def test_a_vector_along_a_block_keeps_the_layout():
    module = tvm.parser.fromtext('''#[version = "0.0.5"]
def @main(%x: Tensor[(1, 1, 6, 6, 8), float32], %w: Tensor[(16, 8, 1, 1), float32], %b: Tensor[(8), float32]) {
  %0 = nn.conv2d(%x, %w, channels=16, kernel_size=[1, 1], padding=[0, 0, 0, 0], data_layout="NCHW8c");
  %1 = nn.relu(%0);
  add(%b, %1)
}''')

    def alter(attrs, inputs, types, result):
        return relay.nn.conv2d(*inputs, channels=attrs.channels, kernel_size=attrs.kernel_size, data_layout="NCHW4c")

    with TempOpAttr("nn.conv2d", "FTVMAlterOpLayout", alter):
        changed = relay.transform.AlterOpLayout()(module)
    assert 'data_layout="NCHW4c"' in str(changed)
    rng = np.random.default_rng(5)
    given = [rng.standard_normal([int(each) for each in param.checked_type.shape]).astype("float32") for param in module["main"].params]
    was, now = (relay.create_executor("debug", each).evaluate()(*given).numpy() for each in (module, changed))
    np.testing.assert_allclose(now, was, rtol=1e-4, atol=1e-4)


GROUPED = [  # extents of the data, the weight, groups, channels
    ((1, 8, 9, 7), (8, 1, 3, 3), 8, 8),
    ((2, 8, 5, 5), (16, 1, 3, 3), 8, 16),
    ((1, 8, 9, 9), (8, 4, 3, 3), 2, 8),
    ((1, 8, 5, 6), (8, 8, 1, 3), 1, 8),
]


@pytest.mark.parametrize("layouts", [["NHWC", "default"], ["NCHW4c", "OIHW4i4o"], ["NCHW4c", "OIHW1i4o"], ["NCHW2c", "OIHW2i2o"]])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("data, weight, groups, channels", GROUPED)
def test_groups_and_atrous_convolutions_run_in_blocks(data, weight, groups, channels, dilation, layouts):
    x, w = relay.var("x", shape=data), relay.var("w", shape=weight)
    conv = relay.nn.conv2d(x, w, groups=groups, channels=channels, kernel_size=weight[2:], padding=(1, 1), dilation=(dilation, dilation))
    plain = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([x, w], relay.nn.relu(conv))))
    blocked = relay.transform.ConvertLayout({"nn.conv2d": layouts})(plain)
    assert "layout_transform" in str(blocked)
    random = np.random.default_rng(3)
    given = {"x": random.uniform(-1, 1, data).astype("float32"), "w": random.uniform(-1, 1, weight).astype("float32")}
    wanted = built_and_run(plain, given, 0)
    for level in (0, 3):
        np.testing.assert_allclose(built_and_run(blocked, given, level), wanted, rtol=1e-4, atol=1e-5)


def built_and_run(module, given, level):
    with tvm.transform.PassContext(opt_level=level):
        library = relay.build(module, target="llvm")
    executor = tvm.contrib.graph_executor.GraphModule(library["default"](tvm.cpu()))
    executor.run(**given)
    return executor.get_output(0).numpy()


@pytest.mark.parametrize("op, weight, groups", [("contrib_conv2d_nchwc", (2, 2, 3, 3, 4, 4), 1), ("contrib_depthwise_conv2d_nchwc", (2, 1, 3, 3, 1, 4), 8)])
def test_the_layout_of_a_packed_weight_is_known_by_its_shape(op, weight, groups):
    x, w = relay.var("x", shape=(1, 2, 6, 5, 4)), relay.var("w", shape=weight)
    arguments = dict(channels=8, kernel_size=(3, 3), groups=groups, data_layout="NCHW4c")
    random = np.random.default_rng(3)
    given = {"x": random.uniform(-1, 1, (1, 2, 6, 5, 4)).astype("float32"), "w": random.uniform(-1, 1, weight).astype("float32")}
    results = []
    for kernel_layout in ("OIHW", f"OIHW{weight[4]}i{weight[5]}o"):
        conv = getattr(relay.nn, op)(x, w, kernel_layout=kernel_layout, **arguments)
        for level in (0, 3):
            results.append(built_and_run(tvm.IRModule.from_expr(relay.Function([x, w], conv)), given, level))
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("weight, kernel_layout", [((2, 1, 3, 3, 4, 4), "OIHW4i4o"), ((2, 2, 1, 3, 4, 4), "OIHW"), ((8, 8, 3, 3, 1), "OIHW")])
def test_a_packed_weight_that_does_not_fit_is_named(weight, kernel_layout):
    x, w = relay.var("x", shape=(1, 2, 6, 5, 4)), relay.var("w", shape=weight)
    conv = relay.nn.contrib_conv2d_nchwc(x, w, channels=8, kernel_size=(3, 3), data_layout="NCHW4c", kernel_layout=kernel_layout)
    with pytest.raises(tvm.error.TVMError, match=r"8 channels in 1 groups of data with 8 channels need a weight of shape \(8, 8, 3, 3\) in OIHW; got"):
        relay.build(tvm.IRModule.from_expr(relay.Function([x, w], conv)), target="llvm")

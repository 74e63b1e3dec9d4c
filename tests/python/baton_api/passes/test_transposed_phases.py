"""Transposed convolutions with strides, computed as a convolution by Winograd's algorithm for each residue of the results."""
import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.contrib import graph_executor


def built(in_channels, out_channels, extents, kernel, level=3, config=None, **attrs):
    """A transposed convolution and relu, built with a constant weight: its result for fixed data, and its kernels."""
    numbers = np.random.default_rng(0)
    weight = (numbers.standard_normal((in_channels, out_channels, *kernel)) / np.sqrt(in_channels * np.prod(kernel))).astype("float32")
    data = numbers.standard_normal((1, in_channels, *extents)).astype("float32")
    x, w = relay.var("x", shape=data.shape), relay.var("w", shape=weight.shape)
    result = relay.nn.relu(relay.nn.conv2d_transpose(x, w, channels=out_channels, kernel_size=kernel, **attrs))
    with tvm.transform.PassContext(opt_level=level, config=config or {}):
        library = relay.build(tvm.IRModule.from_expr(relay.Function([x, w], result)), "llvm", params={"w": weight})
    module = graph_executor.GraphModule(library["default"](tvm.cpu()))
    module.set_input("x", data)
    module.run()
    return module.get_output(0).numpy(), library.get_graph_json()


@pytest.mark.parametrize("in_channels, out_channels, extents, kernel, attrs", [
    (64, 32, (16, 16), (4, 4), {"strides": (2, 2), "padding": (1, 1)}),
    (64, 32, (9, 7), (3, 3), {"strides": (2, 2), "padding": (1, 1), "output_padding": (1, 1)}),
    (32, 24, (8, 5), (5, 4), {"strides": (2, 2), "padding": (2, 1), "output_padding": (1, 0)}),
    (32, 32, (6, 7), (6, 6), {"strides": (3, 3), "padding": (2, 2), "output_padding": (1, 1)}),
    (32, 32, (20, 11), (7, 7), {"strides": (2, 2), "padding": (3, 3), "output_padding": (1, 1)}),
])
def test_phases_are_the_transposed_convolution(in_channels, out_channels, extents, kernel, attrs):
    expected, _ = built(in_channels, out_channels, extents, kernel, level=0, **attrs)
    result, graph = built(in_channels, out_channels, extents, kernel, **attrs)
    assert result.shape == expected.shape
    assert np.abs(result - expected).max() <= 1e-5 * np.abs(expected).max()
    assert "depth_to_space" in graph


@pytest.mark.parametrize("in_channels, out_channels, extents, kernel, attrs", [
    (64, 37, (16, 16), (4, 4), {"strides": (2, 2), "padding": (1, 1)}),  # its channels do not fill blocks
    (64, 32, (16, 16), (2, 2), {"strides": (2, 2)}),  # one tap for each result
    (1024, 512, (4, 4), (4, 4), {"strides": (2, 2), "padding": (1, 1)}),  # reading its weight takes longest
    (64, 32, (9, 9), (3, 3), {"strides": (2, 2), "padding": (2, 2), "output_padding": (1, 1)}),  # a phase leaves out the first row
    (64, 32, (9, 9), (3, 3), {"strides": (2, 2), "padding": (1, 1)}),  # 17 rows of results
    (64, 32, (8, 8), (4, 4), {"strides": (2, 2), "padding": (1, 1), "config": {"baton.precision": "strict"}}),
])
def test_others_stay_as_they_are(in_channels, out_channels, extents, kernel, attrs):
    result, graph = built(in_channels, out_channels, extents, kernel, **attrs)
    expected, _ = built(in_channels, out_channels, extents, kernel, level=0, **attrs)
    assert np.abs(result - expected).max() <= 1e-5 * max(1, np.abs(expected).max())
    assert "depth_to_space" not in graph

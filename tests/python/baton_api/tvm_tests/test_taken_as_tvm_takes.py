"""What TVM takes, and Baton refused: each by the operator or function that was stricter."""
import numpy as np
import pytest

import baton as tvm
from baton import relay
from baton.relay.dataflow_pattern import DFPatternCallback, FunctionPattern, is_op, rewrite, wildcard
from baton.relay.testing import lstm, run_infer_type


def type_of(expr):
    return run_infer_type(expr).checked_type


def run(build, *arrays, kind="debug"):
    given = [relay.var(f"x{i}", shape=each.shape, dtype=str(each.dtype)) for i, each in enumerate(arrays)]
    mod = tvm.IRModule.from_expr(relay.Function(given, build(*given)))
    return relay.create_executor(kind, mod=mod, device=tvm.cpu(), target="llvm").evaluate()(*arrays)


def test_names_in_the_styles_of_c():
    names = relay.backend.name_transforms
    assert [names.to_c_function_style(each) for each in ("TVM_Woof", "TVM_woof", "TVM_woof_woof", "TVMGen_woof_woof")] == [
        "TVMWoof", "TVMWoof", "TVMWoofWoof", "TVMGenWoofWoof"]
    assert [names.to_c_variable_style(each) for each in ("TVM_Woof", "TVM_woof_Woof", "TVMGen_Woof")] == ["tvm_woof", "tvm_woof_woof", "tvmgen_woof"]
    assert [names.to_c_constant_style(each) for each in ("TVM_Woof", "TVM_woof_Woof", "TVMGen_woof_woof")] == ["TVM_WOOF", "TVM_WOOF_WOOF", "TVMGEN_WOOF_WOOF"]
    assert names.prefix_name("Woof") == names.prefix_name(["Woof"]) == "TVM_Woof" and names.prefix_name(["woof", "moo"]) == "TVM_woof_moo"
    assert names.prefix_generated_name("Woof") == "TVMGen_Woof" and names.prefix_generated_name(["woof", "moo"]) == "TVMGen_woof_moo"
    assert names.sanitize_name("+_+ ") == "____" and names.sanitize_name("input::") == "input__"
    for transform in (names.to_c_function_style, names.to_c_variable_style, names.to_c_constant_style):
        for bad in ("", "Cake_Bakery"):
            with pytest.raises(ValueError):
                transform(bad)
    for bad in ("", [], [""]):
        with pytest.raises(ValueError):
            names.prefix_name(bad)


def test_hardswish_of_arrays():
    from baton.relay.qnn.op.legalizations import hardswish_func

    np.testing.assert_allclose(hardswish_func(np.array([-4.0, -1.5, 0, 1.5, 4])), [0, -0.375, 0, 1.125, 4])


def test_plotters_keep_graphs_by_name(capsys):
    from baton.contrib import relay_viz

    class Mine(relay_viz.TermPlotter):
        def create_graph(self, name):
            self._name_to_graph[name] = relay_viz.TermGraph(name + "!")
            return self._name_to_graph[name]

    relay_viz.RelayVisualizer(tvm.IRModule.from_expr(relay.nn.relu(relay.var("x", shape=(3,)))), plotter=Mine()).render()
    assert "@main!" in capsys.readouterr().out

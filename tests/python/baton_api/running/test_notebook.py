"""What a notebook shows: HTML that is well formed, says what the text says, and lets no text become markup."""
import html.parser
import re
import signal
import threading
import time

import numpy as np
import pytest

import baton as tvm
from baton import relay


class Reader(html.parser.HTMLParser):
    """Checks that tags nest; keeps the text outside of <style>, and the program: what stands in <pre>, constants folded.

    A fold's own words are no part of the program.
    """

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.text, self.program = [], [], "", ""
        self.feed(source)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag != "wbr":  # it has no end
            self.open.append((tag, dict(attrs).get("class")))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if ("style", None) not in self.open:
            self.text += data
        if ("pre", None) in self.open and not {("details", "w"), ("summary", None)} & set(self.open):
            self.program += data


def programs():
    mlp, params = relay.testing.mlp.get_workload(batch_size=1)
    bound = tvm.IRModule({"main": relay.build_module.bind_params_by_name(mlp["main"], params)})
    return {"mlp": mlp, "bound": bound, "resnet": relay.testing.resnet.get_workload(num_layers=18)[0]}


@pytest.mark.parametrize("name", ["mlp", "bound", "resnet"])
def test_says_what_the_text_says(name):
    module = programs()[name]
    read = Reader(module._repr_html_())
    bare = lambda text: re.sub(r"/\*.*?\*/|\s", "", text)  # noqa: E731
    assert bare(read.program) == bare(str(module))
    assert {"details", "pre", "span"} <= {tag for tag, _ in read.tags}


def test_constants_unfold():
    x = relay.var("x", shape=(2, 3))
    value = relay.const(np.arange(6, dtype="float32").reshape(2, 3))
    read = Reader(tvm.IRModule.from_expr(relay.add(x, value))._repr_html_())
    assert "Tensor[(2, 3), float32] 6 values in [0, 5]: 0, 1, 2, 3, 4, 5" in read.text
    for values, said in (([np.nan, 1], "2 values in [1, 1] and NaN: nan, 1"), ([np.nan], "1 value, all NaN: nan"), ([], "0 values")):
        value = relay.const(np.array(values, "float32"))
        assert said in Reader(relay.add(relay.var("x", shape=(len(values),)), value)._repr_html_()).text
    assert [attrs for tag, attrs in read.tags if tag == "details" and attrs.get("class") == "w"]
    assert "values" not in Reader(relay.add(x, relay.const(1.0))._repr_html_()).text


def test_long_lists_of_parameters_fold():
    names = [f"parameter_number_{i}" for i in range(12)]
    parameters = [relay.var(name, shape=(2, 3)) for name in names]
    for each, folds in ((parameters, ["p"]), (parameters[:2], [])):
        function = relay.Function(each, relay.Tuple(each)).with_attr("note", 'a "quoted, (list')
        module = tvm.IRModule({"main": function})
        read = Reader(module._repr_html_())
        assert [attrs["class"] for tag, attrs in read.tags if tag == "details" and "class" in attrs] == folds
        assert re.sub(r"\s", "", read.program) == re.sub(r"\s|/\*.*?\*/", "", str(module))


def test_colours_follow_the_page():
    """Hues are mixed with the page's own colour of letters: a notebook may be light or dark."""
    source = relay.var("x")._repr_html_()
    style = re.search("<style>(.*?)</style>", source)[1]
    coloured = re.findall(r"\{[^{}]*?(?<!-)color:#(?!fff)[^{}]*\}", style)
    assert len(coloured) > 5 and all("currentColor" in rule for rule in coloured)


def test_no_text_becomes_markup():
    name = '<script>alert("x")</script>&amp;'
    x = relay.var("x", shape=(2,))
    function = relay.Function([x], relay.nn.relu(x)).with_attr("note", name)
    source = tvm.IRModule({"main": function})._repr_html_()
    assert "<script" not in source
    read = Reader(source)
    assert "alert" in read.text and "&amp;" in read.text


def test_regions_have_a_colour_per_compiler():
    region = """#[version = "0.0.5"]
def @a_0(%i: Tensor[(2), float32], Primitive=1, Compiler="a", global_symbol="a_0") { nn.relu(%i) }
def @b_0(%i: Tensor[(2), float32], Primitive=1, Compiler="b", global_symbol="b_0") { exp(%i) }
def @main(%x: Tensor[(2), float32]) { %0 = @a_0(%x); @b_0(%0) }
"""
    read = Reader(tvm.parser.fromtext(region)._repr_html_())
    colours = [attrs["style"] for tag, attrs in read.tags if attrs.get("class") == "b" and "title" in attrs]
    assert len(set(colours)) == 2
    assert len([tag for tag, attrs in read.tags if tag == "details" and attrs.get("class") == "r"]) == 2


def test_reports():
    module, params = relay.testing.mlp.get_workload(batch_size=1)
    lib = relay.build(module, target="llvm", params=params)
    report = tvm.profile(lib, repeat=2, seconds=0, inside_ms=1, name="<mlp>")
    read = Reader(report._repr_html_())
    assert "<mlp> on llvm" in read.text and "nn.softmax" in read.text and "end to end" in read.text
    assert read.text.count("dense ") >= 3 and "sum of kernels" in str(report)
    assert [row["op"] for row in report.operators].count("nn.dense") == 3
    assert "of roof" in str(report) and "alone" in read.text
    assert report.page().startswith("<!doctype html>") and "<title>&lt;mlp&gt;: Baton profile</title>" in report.page()
    with pytest.raises(TypeError, match="relay.build"):
        tvm.profile(module)
    with pytest.raises(ValueError):
        tvm.profile(lib, threads=0)
    with pytest.raises(tvm.TVMError):
        tvm.profile(lib, inputs={"data": np.zeros((2, 2), "float32")}, repeat=1, seconds=0)


def test_three_times_side_by_side():
    module, params = relay.testing.mlp.get_workload(batch_size=1)
    lib = relay.build(module, target="llvm", params=params)
    report = tvm.profile(lib, repeat=2, seconds=0, inside_ms=1)
    timed = [row for row in report.operators if row["nodes"] and row["op"] != "nn.batch_flatten"]
    assert timed and all(row["unfused_us"] > 0 for row in timed)
    assert len(report.unfused) > len(report.kernels) and {"name", "origins", "median_us"} <= set(report.unfused[0])
    assert report.unfused_us > 0 and report.overhead > 0 and report.cv >= 0 and isinstance(report.notes, list)
    if report.peaks is None:  # a busy machine has no roofs, and says so
        assert any("no roofs" in note for note in report.notes)
    else:
        assert report.peaks["gflops"] > 0
        for kernel in report.kernels:
            assert kernel["gflops"] >= 0 and kernel["bound"] in ("compute", "memory", "cache") and kernel["roofline"] > 0
    assert "batch_flatten" in report.table(all=True)

    without = tvm.profile(lib, repeat=2, seconds=0, inside=False, unfused=False, peaks=False)
    assert without.peaks is None and without.unfused == [] and without.unfused_us == 0
    assert all(row["unfused_us"] is None and row["inside_us"] is None for row in without.operators)
    with pytest.raises(ValueError, match="wait"):
        tvm.profile(lib, wait=-1.0)


def test_ctrl_c_ends_a_measurement():
    module, params = relay.testing.mlp.get_workload(batch_size=1)
    lib = relay.build(module, target="llvm", params=params)
    threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        tvm.profile(lib, repeat=1_000_000, seconds=60, inside=False)
    assert time.monotonic() - began < 5

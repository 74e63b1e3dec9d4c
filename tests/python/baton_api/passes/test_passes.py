"""Passes of Baton and of the user, contexts, instruments."""
import sys

import pytest

import baton as tvm
from baton import relay
from programs import DENSE


NEED_ARGUMENTS = ("AnnotateMemoryScope", "ChangeBatch", "Conv2dToSparse", "ConvertLayout", "DenseToSparse", "Defunctionalization",
                  "FlexibleShapeDispatch", "FreezeShapes", "InlineCompilerFunctionsBoundTo", "MergeComposite", "PlanDevices",
                  "SimplifyFCTranspose", "SplitArgs", "recast", "to_cps", "un_cps")


def test_every_pass_can_be_made():
    for name in tvm._load.core.pass_names():
        owner = relay.qnn.transform if name.startswith("qnn.") else relay.transform
        made = getattr(owner, name.split(".")[-1])
        if name not in NEED_ARGUMENTS:
            assert isinstance(made().info.opt_level, int), name


def test_fuse_and_arguments():
    module = tvm.parser.fromtext(DENSE)
    fused = relay.transform.FuseOps(fuse_opt_level=2)(module)
    assert "Primitive=1" in fused.astext() and "Primitive" not in module.astext()
    assert str(relay.transform.FuseOps()) == "Run Function pass: FuseOps at the optimization level 0"
    with pytest.raises(tvm.error.UsageError, match="depth"):
        relay.transform.FuseOps(depth=3)
    with pytest.raises(NotImplementedError, match="NoSuchPass"):
        relay.transform.NoSuchPass


def test_context():
    outer = tvm.transform.PassContext.current()
    with tvm.transform.PassContext(opt_level=3, required_pass=["A"], disabled_pass={"B"},
                                   config={"relay.FuseOps.max_depth": 4}) as context:
        assert tvm.transform.PassContext.current() is context
        assert (context.opt_level, context.required_pass, context.disabled_pass) == (3, ["A"], ["B"])
        assert context.config["relay.FuseOps.max_depth"] == 4 and "opt_level: 3" in str(context)
    assert tvm.transform.PassContext.current().opt_level == outer.opt_level
    with pytest.raises(AttributeError, match="expect config relay.FuseOps.max_depth to have type IntImm but get FloatImm"):
        tvm.transform.PassContext(config={"relay.FuseOps.max_depth": 1.5})
    with pytest.raises(AttributeError, match="Invalid config option 'bad.key' candidates are: .*relay.FuseOps.link_params ,"):
        tvm.transform.PassContext(config={"bad.key": 1})
    with pytest.raises(TypeError, match="config"):
        tvm.transform.PassContext(config={"relay.FuseOps.max_depth": object()})


def test_config():
    configs = tvm.transform.PassContext.list_configs()
    assert configs["relay.FuseOps.max_depth"]["type"] == "IntImm" and "tir.UnrollLoop" in configs
    given = {"relay.FuseOps.link_params": True, "tir.UnrollLoop": {"auto_max_step": 16}, "tir.add_lower_pass": [[0, 1]]}
    context = tvm.transform.PassContext(config=given)
    assert context.config == given
    assert 'config: {"relay.FuseOps.link_params": 1, "tir.UnrollLoop": {"auto_max_step": 16}' in str(context)


def test_gates():
    names = []

    def note(name, level):
        return tvm.transform.module_pass(lambda mod, ctx: names.append(name) or mod, opt_level=level, name=name)

    both = tvm.transform.Sequential([note("low", 1), note("high", 3)])
    both(tvm.parser.fromtext(DENSE))
    with tvm.transform.PassContext(opt_level=3, disabled_pass=["low"]):
        both(tvm.parser.fromtext(DENSE))
    assert names == ["low", "high"] and [each.info.name for each in both.passes] == ["low", "high"]


def test_passes_in_python():
    @relay.transform.function_pass(opt_level=1)
    class Replace:
        """Puts another body into each function."""

        def __init__(self, value):
            self.value = value

        def transform_function(self, func, mod, ctx):
            assert mod["main"] is func and ctx.opt_level == 3
            return relay.Function(func.params, relay.const(self.value))

    made = Replace(2.0)
    with tvm.transform.PassContext(opt_level=3):
        result = made(tvm.parser.fromtext(DENSE))
    assert made.info.name == "Replace" and made.value == 2.0
    assert result["main"].body.data.numpy() == 2.0 and result["main"].ret_type == relay.scalar_type("float32")

    @tvm.transform.module_pass(opt_level=2)
    def add_one(mod, ctx):
        mod["one"] = relay.Function([], relay.const(1.0))
        return mod

    module = tvm.parser.fromtext(DENSE)
    assert "one" in add_one(module) and "one" not in module


class Mine(Exception):
    """An exception of the user's."""


def test_exceptions_keep_their_type():
    @tvm.transform.module_pass(opt_level=0)
    def fails(mod, ctx):
        raise Mine("from a pass")

    @relay.transform.function_pass(opt_level=0)
    def fails_too(func, mod, ctx):
        raise Mine("from a function pass")

    for each in (fails, fails_too, tvm.transform.Sequential([relay.transform.InferType(), fails])):
        with pytest.raises(Mine, match="from a") as caught:
            each(tvm.parser.fromtext(DENSE))
        assert caught.traceback[-1].name.startswith("fails")
        if sys.version_info >= (3, 11):
            assert caught.value.__notes__ == ["in pass " + caught.traceback[-1].name]

        # As in TVM it is a TVMError; what was raised is the cause, and can be caught too.
        assert isinstance(caught.value, tvm.TVMError) and type(caught.value.__cause__) is Mine
        assert str(caught.value).startswith("Traceback") and str(caught.value).split("\n")[-1].endswith("Mine: " + str(caught.value.__cause__))

    wrong = tvm.transform.module_pass(lambda mod, ctx: 3, opt_level=0, name="wrong")
    with pytest.raises(TypeError, match="wrong returned a int"):
        wrong(tvm.parser.fromtext(DENSE))
    with pytest.raises(ValueError, match="opt_level"):
        tvm.transform.module_pass(lambda mod, ctx: mod)


class Coded(OSError):
    """An exception with fields and a text of its own."""

    def __init__(self, code):
        super().__init__()
        self.code = code

    def __str__(self):
        return f"code {self.code}"


@tvm.error.register_error
class Known(RuntimeError):
    """An exception that is registered."""


@pytest.mark.parametrize("raised, arrives", [
    (ValueError("a"), ValueError), (KeyError("a"), KeyError), (IndexError("a"), IndexError), (TypeError("a"), TypeError),
    (AttributeError("a"), AttributeError), (Known("a"), Known),
    (RuntimeError("a"), tvm.TVMError), (NotImplementedError("a"), tvm.TVMError), (AssertionError("a"), tvm.TVMError),
    (ZeroDivisionError("a"), tvm.TVMError), (Coded(3), tvm.TVMError), (UnicodeDecodeError("ascii", b"x", 0, 1, "why"), tvm.TVMError),
    (tvm.error.UsageError("a"), tvm.error.UsageError), (KeyboardInterrupt(), KeyboardInterrupt)], ids=lambda each: getattr(each, "__name__", type(each).__name__))
def test_exceptions_arrive_as_in_tvm(raised, arrives):
    @tvm.transform.module_pass(opt_level=0)
    def fails(mod, ctx):
        raise raised

    @tvm.transform.module_pass(opt_level=0)
    def outer(mod, ctx):
        return fails(mod)

    for each in (fails, outer):
        with pytest.raises(type(raised)) as caught:
            each(tvm.parser.fromtext(DENSE))
        assert isinstance(caught.value, arrives)
        if isinstance(raised, (tvm.TVMError, KeyboardInterrupt)):
            assert caught.value is raised
        else:
            assert caught.value.__cause__ is raised
            assert isinstance(caught.value, tvm.TVMError) == (arrives is tvm.TVMError)
        if isinstance(raised, Coded):
            assert caught.value.code == 3 and "Coded: code 3" in caught.value.args[0]


@tvm.instrument.pass_instrument
class Recorder:
    """Writes down what it is told."""

    def __init__(self, fail_at=None, refuse=()):
        self.seen, self.fail_at, self.refuse = [], fail_at, refuse

    def note(self, what):
        self.seen.append(what)
        if what == self.fail_at:
            raise Mine(what)

    def enter_pass_ctx(self):
        self.note("enter")

    def exit_pass_ctx(self):
        self.note("exit")

    def should_run(self, mod, info):
        return info.name not in self.refuse

    def run_before_pass(self, mod, info):
        assert isinstance(mod, tvm.IRModule)
        self.note("before " + info.name)

    def run_after_pass(self, mod, info):
        self.note("after " + info.name)


def test_instruments():
    recorder = Recorder(refuse=("FuseOps",))
    assert isinstance(recorder, tvm.instrument.PassInstrument)
    with tvm.transform.PassContext(instruments=[recorder]) as context:
        assert context.instruments[0] is recorder
        module = relay.transform.FuseOps()(tvm.parser.fromtext(DENSE))
        relay.transform.SimplifyExpr()(module)
    assert "Primitive" not in module.astext()
    assert recorder.seen[0] == "enter" and recorder.seen[-1] == "exit"
    assert "before SimplifyExpr" in recorder.seen and not any("FuseOps" in each for each in recorder.seen)


@pytest.mark.parametrize("where", ["enter", "before InferType", "after InferType", "exit"])
def test_failing_instruments(where):
    recorder, context = Recorder(fail_at=where), None
    with pytest.raises(Mine, match=where):
        with tvm.transform.PassContext(instruments=[recorder]) as context:
            relay.transform.InferType()(tvm.parser.fromtext(DENSE))
    assert tvm.transform.PassContext.current() is not context or context is None
    if where.startswith(("before", "after")):
        assert recorder.seen[-1] == "exit"


def test_a_failing_instrument_is_named():
    with pytest.raises(Mine) as caught:
        with tvm.transform.PassContext(instruments=[Recorder(fail_at="before InferType")]):
            relay.transform.InferType()(tvm.parser.fromtext(DENSE))
    if sys.version_info >= (3, 11):
        assert caught.value.__notes__ == ["in run_before_pass of instrument Recorder, pass InferType"]
    with pytest.raises(TypeError, match="pi_cls must be a class"):
        tvm.instrument.pass_instrument(3)


def test_required_of_a_sequential():
    recorder = Recorder()
    inner = tvm.transform.Sequential([relay.transform.SimplifyExpr()], name="inner", required=["FoldConstant"])
    with tvm.transform.PassContext(opt_level=3, instruments=[recorder]):
        tvm.transform.Sequential([inner])(tvm.parser.fromtext(DENSE))
    assert recorder.seen.index("before FoldConstant") < recorder.seen.index("before inner")


def test_printing_instruments(capsys):
    module = tvm.parser.fromtext(DENSE)
    printing = [tvm.instrument.PrintBeforeAll(), tvm.instrument.PrintAfterAll(),
                tvm.instrument.PassPrintingInstrument(["FuseOps"], ["InferType"])]
    with tvm.transform.PassContext(instruments=printing):
        relay.transform.FuseOps()(module)
    out = capsys.readouterr().out
    assert out.count("Before Running Pass: The meta data of the pass - pass name: FuseOps") == 1
    assert out.count("After Running Pass: ") == 2 and out.count("Print IR before: FuseOps\n") == 1
    assert out.count("Print IR after: InferType\n") == 1 and "Primitive=1" in out


def test_trace():
    trace = tvm.instrument.PassTrace()
    with tvm.transform.PassContext(opt_level=3, instruments=[trace]):
        relay.transform.FuseOps()(tvm.parser.fromtext(DENSE))
    text = trace.render()
    assert text.startswith("FuseOps  ") and "merged" in text and "InferType" not in text
    assert "  InferType" in trace.render(all=True)


def test_timing():
    timing = tvm.instrument.PassTimingInstrument()
    with tvm.transform.PassContext(instruments=[timing]) as context:
        relay.transform.FuseOps()(tvm.parser.fromtext(DENSE))
        report = timing.render()
        assert context.instruments == [timing]
    assert "FuseOps: " in report and "\tInferType: " in report and "us" in report


def test_common_subexpressions_but():
    x = relay.var("x", shape=(2, 3))
    mod = tvm.IRModule.from_expr(relay.Function([x], relay.Tuple([relay.exp(x), relay.exp(x), relay.tanh(x), relay.tanh(x)])))
    mod = relay.transform.InferType()(mod)
    calls = lambda done: len({hash(each) for each in done["main"].body.fields})  # noqa: E731
    assert calls(relay.transform.EliminateCommonSubexpr()(mod)) == 2
    skipped = relay.transform.EliminateCommonSubexpr(fskip=lambda expr: getattr(expr.op, "name", "") == "exp")(mod)
    assert calls(skipped) == 3

    def fails(expr):
        raise ValueError("not this one")

    with pytest.raises(ValueError, match="not this one"):
        relay.transform.EliminateCommonSubexpr(fskip=fails)(mod)


@pytest.mark.parametrize("body", [
    lambda x: relay.TupleGetItem(relay.Tuple([x]), 5), lambda x: relay.TupleGetItem(relay.Tuple([x]), -1), lambda x: relay.TupleGetItem(x, 7),
    lambda x: relay.concatenate([], axis=0), lambda x: relay.Call(relay.op.get("add"), [x]), lambda x: relay.Match(x, []),
    lambda x: relay.Call(relay.const(1), [x]), lambda x: relay.If(x, x, relay.Tuple([])), lambda x: relay.RefRead(x)])
def test_passes_over_programs_that_no_type_fits(body):
    x = relay.var("x", shape=(2, 3))
    mod = tvm.IRModule.from_expr(body(x))
    for name in sorted(each for each in dir(relay.transform) if each[0].isupper()):
        try:
            made = getattr(relay.transform, name)()
        except (TypeError, ValueError, NotImplementedError):
            continue
        if isinstance(made, relay.transform.Pass):
            try:
                made(mod)
            except tvm.error.InternalError:
                raise
            except (tvm.TVMError, NotImplementedError):
                pass


def test_extents_beyond_32_bits_are_refused_by_builds():
    x = relay.var("x", shape=(2, 3))
    for huge in (relay.nn.pad(x, [[2 ** 40, 0], [0, 0]]), relay.topk(x, k=2 ** 40, ret_type="values")):
        with pytest.raises(tvm.TVMError, match="2147483647"):
            relay.build(tvm.IRModule.from_expr(huge), "llvm")

"""ExprFunctor, ExprVisitor, ExprMutator, TypeFunctor: what users' subclasses see, and that programs keep their origins."""
import gc
import json
import os
import sys

import pytest

import baton as tvm
from baton import relay
from baton.relay.expr_functor import ExprFunctor, ExprMutator, ExprVisitor, FunctionWithFields
from baton.relay.type_functor import TypeFunctor, TypeMutator, TypeVisitor
from programs import CONV, DENSE, PAIR, TWO_RESULTS
from test_adt import make_list

X, Y = relay.var("x", shape=(2, 3)), relay.var("y", shape=(2, 3))


def verified():
    """A context that fails when a pass loses an operator."""
    return tvm.transform.PassContext(opt_level=3, instruments=[tvm.instrument.OriginVerifier()])


def typed(expr):
    return relay.transform.InferType()(tvm.IRModule.from_expr(expr))


def every_form():
    """A program with every kind of node."""
    module, _, cons, nil = make_list()
    condition, cell, head = relay.var("c", shape=(), dtype="bool"), relay.var("cell"), relay.var("head")
    pair = relay.Tuple([X + Y, relay.const(1.0)])
    choice = relay.If(condition, relay.TupleGetItem(pair, 0), relay.GlobalVar("other")(X))
    write = relay.RefWrite(cell, choice)
    match = relay.Match(nil(), [relay.Clause(relay.PatternConstructor(cons, [relay.PatternVar(head), relay.PatternWildcard()]), head),
                                relay.Clause(relay.PatternWildcard(), relay.RefRead(cell))])
    body = relay.Let(cell, relay.RefCreate(X), relay.Tuple([write, match]))
    return relay.Function([condition, X, Y], body)


class Names(ExprVisitor):
    """The kinds of nodes in the order in which they are met."""

    def __init__(self):
        super().__init__()
        self.met = []

    def visit(self, expr):
        if expr not in self.memo_map:
            self.met.append(type(expr).__name__)
        return super().visit(expr)


def test_visitor_meets_each_node_once():
    names, program = Names(), every_form()
    assert names.visit(program) is None
    listed = []
    relay.analysis.post_order_visit(program, listed.append)
    # Patterns are not gone into: %head is met where it is used.
    assert sorted(names.met) == sorted(type(each).__name__ for each in listed)
    assert names.met[:4] == ["Function", "Var", "Var", "Var"] and set(names.met) == {
        "Function", "Var", "Let", "RefCreate", "Tuple", "RefWrite", "If", "TupleGetItem", "Call", "Op", "Constant", "GlobalVar",
        "Match", "Constructor", "RefRead"}


def test_order_is_that_of_the_calls():
    class Calls(ExprVisitor):
        def __init__(self):
            super().__init__()
            self.before, self.after = [], []

        def visit_call(self, call):
            self.before.append(call.op.name)
            super().visit_call(call)
            self.after.append(call.op.name)

    calls = Calls()
    calls.visit(tvm.parser.fromtext(DENSE)["main"])
    assert calls.before == ["nn.relu", "add", "nn.dense"] and calls.after == calls.before[::-1]


def test_functor_asks_for_each_method():
    for expr, name in ((X, "visit_var"), (relay.const(1.0), "visit_constant"), (relay.op.get("add"), "visit_op"), (X + Y, "visit_call"),
                       (relay.Tuple([]), "visit_tuple"), (every_form(), "visit_function"), (relay.GlobalVar("f"), "visit_global_var")):
        with pytest.raises(NotImplementedError, match=name):
            ExprFunctor().visit(expr)
    with pytest.raises(TypeError, match="not a str"):
        ExprVisitor().visit("x")
    assert ExprFunctor().visit_type(relay.scalar_type("int8")) == relay.scalar_type("int8")

    class Depth(ExprFunctor):
        def visit_call(self, call):
            return 1 + max(self.visit(each) for each in call.args)

        def visit_var(self, var):
            return 0

    shared = X + Y
    depth = Depth()
    assert depth.visit(shared * shared) == 2 and depth.memo_map[shared] == 1


def test_mutator_rebuilds_everything_the_same():
    program = every_form()
    again = ExprMutator().visit(program)
    assert tvm.ir.structural_equal(program, again)
    for text in (CONV, DENSE, PAIR, TWO_RESULTS):
        main = tvm.parser.fromtext(text)["main"]
        made = ExprMutator().visit(main)
        assert tvm.ir.structural_equal(main, made) and made.ret_type == main.ret_type and made.attrs == main.attrs
    function = relay.Function([X], relay.TupleGetItem(X, 0))
    assert ExprMutator().visit(function) is function


def test_calls_are_made_anew_without_a_type():
    main = typed(X + Y)["main"]
    made = ExprMutator().visit(main)
    assert made.body is not main.body and made.body._checked_type_ is None and main.body._checked_type_ is not None
    assert made.params == main.params


class OnDevice(ExprMutator):
    """As in TVM's tutorials."""

    def __init__(self, device):
        self.device = device
        super().__init__()

    def visit_call(self, call):
        visited = super().visit_call(call)
        if call.op == relay.op.get("nn.conv2d"):
            return relay.annotation.on_device(visited, self.device)
        return visited


@pytest.fixture(scope="module")
def network():
    return relay.testing.resnet.get_workload(num_layers=18, batch_size=1, image_shape=(3, 32, 32))[0]


def test_on_device_as_in_the_documents():
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "..", "reference", "seed.jsonl"), encoding="utf-8") as file:
        expected = next(case for case in map(json.loads, file) if case["id"] == "seed/byoc/on_device")
    module = typed(relay.testing.vgg.get_net(1, (3, 224, 224), 1000, "float32", num_layers=11))
    module["main"] = OnDevice("cuda").visit(module["main"])
    assert str(module).splitlines() == expected["str"].splitlines()
    assert module.astext(show_meta_data=False).splitlines() == expected["astext"].splitlines()
    with verified():
        relay.transform.InferType()(module)


def wrapped(module):
    found = []
    relay.analysis.post_order_visit(
        module["main"], lambda node: found.append(node) if isinstance(node, relay.Call) and node.op.name == "on_device" else None)
    return found


def test_mutator_in_a_function_pass(network):
    @relay.transform.function_pass(opt_level=0)
    def place(func, mod, ctx):
        return OnDevice("cuda").visit(func)

    trace = tvm.instrument.PassTrace()
    with tvm.transform.PassContext(instruments=[tvm.instrument.OriginVerifier(), trace]):
        result = place(network)
    assert len(wrapped(result)) > 10 and all(each.checked_type == each.args[0].checked_type for each in wrapped(result))
    assert "retire" not in trace.render() and "left out" not in trace.render()


def test_mutator_in_a_module_pass(network):
    @tvm.transform.module_pass(opt_level=0)
    def place(mod, ctx):
        mod["main"] = OnDevice("cuda").visit(mod["main"])
        return relay.transform.InferType()(mod)

    with verified():
        result = tvm.transform.Sequential([place, relay.transform.FoldConstant(), relay.transform.FuseOps()])(network)
    assert result


def test_mutator_outside_of_passes(network):
    module = tvm.IRModule({"main": OnDevice("cuda").visit(network["main"])})
    with verified():
        result = relay.transform.FuseOps()(relay.transform.InferType()(module))
    assert result and len(wrapped(module)) > 10


def test_what_visits_build_is_conserved_by_the_passes_that_follow():
    class Square(ExprMutator):
        """relu(x) -> multiply(x, x) + 1, with nodes of the user's own and without super()."""

        def visit_call(self, call):
            if call.op.name == "nn.relu":
                inner = self.visit(call.args[0])
                return relay.Call(relay.op.get("multiply"), [inner, inner]) + relay.const(1.0)
            return super().visit_call(call)

    @relay.transform.function_pass(opt_level=0)
    def square(func, mod, ctx):
        return Square().visit(func)

    module = tvm.parser.fromtext(DENSE)
    with verified():
        inside = tvm.transform.Sequential([square, relay.transform.SimplifyExpr(), relay.transform.FuseOps()])(module)
    module["main"] = Square().visit(module["main"])
    with verified():
        outside = tvm.transform.Sequential([relay.transform.InferType(), relay.transform.SimplifyExpr(), relay.transform.FuseOps()])(module)
    assert tvm.ir.structural_equal(inside, outside)


def test_what_a_pass_leaves_out_is_retired_with_its_name():
    class Drop(ExprMutator):
        def visit_call(self, call):
            return self.visit(call.args[0]) if call.op.name == "nn.relu" else super().visit_call(call)

    @relay.transform.function_pass(opt_level=0, name="DropRelu")
    def drop(func, mod, ctx):
        return Drop().visit(func)

    trace = tvm.instrument.PassTrace()
    with tvm.transform.PassContext(instruments=[tvm.instrument.OriginVerifier(), trace]):
        result = drop(tvm.parser.fromtext(DENSE))
    assert result["main"].body.op.name == "add" and "left out by the pass DropRelu" in trace.render()


def test_passes_that_build_without_a_mutator():
    @relay.transform.function_pass(opt_level=0)
    def more(func, mod, ctx):
        return relay.Function(func.params, relay.nn.relu(func.body) * relay.const(2.0))

    @tvm.transform.module_pass(opt_level=0)
    def less(mod, ctx):
        mod["main"] = relay.Function(mod["main"].params, relay.const(2.0))
        return mod

    with verified():
        assert more(tvm.parser.fromtext(DENSE))["main"].body.op.name == "multiply"
        assert isinstance(less(tvm.parser.fromtext(DENSE))["main"].body, relay.Constant)


class Twice(relay.dataflow_pattern.DFPatternCallback):
    """relu(x) -> relu(x) * 2, or a variable or a constant times 2."""

    def __init__(self, pattern):
        super().__init__(rewrite_once=True)
        self.pattern = pattern

    def callback(self, pre, post, node_map):
        return relay.Call(relay.op.get("multiply"), [post, relay.const(2.0)])


@pytest.mark.parametrize("pattern", [relay.dataflow_pattern.is_op("nn.relu")(relay.dataflow_pattern.wildcard()),
                                     relay.dataflow_pattern.is_var("w"), relay.dataflow_pattern.is_constant()])
def test_pattern_callbacks(pattern):
    @relay.transform.function_pass(opt_level=0)
    def twice(func, mod, ctx):
        body = relay.dataflow_pattern.rewrite(Twice(pattern), func.body)
        return relay.Function(func.params, body)

    module = tvm.parser.fromtext(DENSE)
    with verified():
        twice(module)
    main = module["main"]
    module["main"] = relay.Function(main.params, relay.dataflow_pattern.rewrite(Twice(pattern), main.body))
    with verified():
        relay.transform.FuseOps()(relay.transform.InferType()(module))


def test_primitive_functions_stand_for_what_is_in_them(network):
    class Other(ExprMutator):
        def visit_call(self, call):
            if isinstance(call.op, relay.Op) and call.op.name == "nn.relu":
                return relay.tanh(self.visit(call.args[0]))
            return super().visit_call(call)

    @relay.transform.function_pass(opt_level=0)
    def other(func, mod, ctx):
        return Other().visit(func)

    with verified():
        fused = relay.transform.FuseOps()(relay.transform.InferType()(relay.transform.SimplifyInference()(network)))
        assert "nn.relu" not in str(other(fused))


def chain(length):
    expr = X
    for _ in range(length):
        expr = relay.exp(expr)
    return expr


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python calls take the C stack")
def test_a_deep_chain():
    limit = sys.getrecursionlimit()
    deep = chain(100_000)
    visitor = ExprVisitor()
    visitor.visit(deep)
    assert len(visitor.memo_map) == 100_002
    shorter = chain(20_000)
    assert tvm.ir.structural_equal(ExprMutator().visit(shorter), shorter) and sys.getrecursionlimit() == limit


def test_too_deep_for_c_code_between_visits():
    class OverMap(ExprVisitor):
        def visit_call(self, call):
            list(map(self.visit, call.args))

    with pytest.raises(RecursionError):
        OverMap().visit(chain(100_000))

    class Endless(ExprMutator):
        def visit_call(self, call):
            return self.visit_call(call)

    with pytest.raises(RecursionError):
        Endless().visit(chain(3))


def test_an_exception_leaves_no_scope_open():
    class Fails(ExprMutator):
        def visit_var(self, var):
            raise KeyError(var.name_hint)

    with pytest.raises(KeyError):
        Fails().visit(chain(3))
    module = tvm.IRModule.from_expr(chain(3))
    with verified():
        relay.transform.FuseOps()(relay.transform.InferType()(module))


def test_with_fields():
    function = tvm.parser.fromtext(DENSE)["main"]
    assert FunctionWithFields(function) is function
    other = FunctionWithFields(function, function.params[:1], X, attrs={"Primitive": 1})
    assert len(other.params) == 1 and other.body is X and other.attrs.Primitive == 1 and other.ret_type == function.ret_type
    expr = relay.expr
    call = X + Y
    assert expr.CallWithFields(call, args=[Y, X]).args == [Y, X] and expr.TupleWithFields(relay.Tuple([X]), [Y]).fields == [Y]
    assert expr.VarWithFields(X, "z").type_annotation == X.type_annotation
    assert expr.LetWithFields(relay.Let(X, Y, X), body=Y).body is Y and expr.RefReadWithFields(relay.RefRead(X), Y).ref is Y
    assert expr.IfWithFields(relay.If(X, X, Y), false_branch=X).false_branch is X
    assert expr.TupleGetItemWithFields(relay.TupleGetItem(X, 0), index=1).index == 1
    assert expr.RefWriteWithFields(relay.RefWrite(X, Y), value=X).value is X
    assert expr.RefCreateWithFields(relay.RefCreate(X), Y).value is Y
    assert expr.ConstantWithFields(relay.const(1.0), relay.const(2.0).data).data.numpy() == 2.0
    with pytest.raises(NotImplementedError, match="on_device"):
        expr.TupleWithFields(relay.Tuple([X]), virtual_device="cuda")


def test_types():
    a, header = relay.TypeVar("a"), relay.GlobalTypeVar("List")
    whole = relay.FuncType([relay.TupleType([a, relay.TensorType((2,))]), relay.RefType(a)], header(a), [a])
    data = relay.TypeData(header, [a], [relay.Constructor("Nil", [], header), relay.Constructor("Cons", [a, header(a)], header)])

    class Seen(TypeVisitor):
        def __init__(self):
            self.names = []

        def visit_type_var(self, tv):
            self.names.append(tv.name_hint)

        def visit_tensor_type(self, tt):
            self.names.append(str(tt.dtype))

    seen = Seen()
    seen.visit(whole)
    seen.visit(data)
    assert seen.names == ["a", "float32", "a", "a", "a"] + ["a", "a", "a"]
    assert TypeMutator().visit(whole) == whole and TypeMutator().visit(data).header.name_hint == "List"

    class Half(TypeMutator):
        def visit_tensor_type(self, tt):
            return relay.TensorType(tt.shape, "float16")

    assert Half().visit(whole).arg_types[0].fields[1].dtype == "float16"
    assert TypeMutator().visit(relay.IncompleteType()) is not None
    with pytest.raises(NotImplementedError, match="visit_tensor_type"):
        TypeFunctor().visit(relay.scalar_type("int8"))
    with pytest.raises(TypeError, match="not a int"):
        TypeVisitor().visit(3)


def test_nothing_is_kept():
    module = tvm.IRModule.from_expr(chain(10))
    call = module["main"].body
    ExprMutator().visit(module["main"])
    gc.collect()
    assert sys.getrefcount(call) <= 3

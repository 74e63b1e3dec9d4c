"""Dataflow patterns, as TVM's users write them."""
import pytest

import baton as tvm
from baton import relay
from baton.relay.dataflow_pattern import (AltPattern, CallPattern, DFPatternCallback, ExprPattern, FunctionPattern, VarPattern,
                                          dominates, has_attr, has_dtype, has_shape, has_type, is_constant, is_expr, is_if,
                                          is_let, is_op, is_tuple, is_tuple_get_item, is_var, match, partition, rewrite,
                                          wildcard)


def var(name, shape=(2, 3)):
    return relay.var(name, shape=shape)


X, Y = var("x"), var("y")


def test_constructors_and_their_parts():
    call = is_op("add")(wildcard(), is_var("x"))
    assert isinstance(call, CallPattern) and isinstance(call.op, ExprPattern) and call.op.expr.name == "add"
    assert isinstance(call.args[1], VarPattern) and call.args[1].name == "x" and is_op("add")(None).args is None
    either = call | is_constant()
    assert isinstance(either, AltPattern) and either.left is call and not isinstance(call, AltPattern)
    assert either.right.kind == "ConstantPattern"
    with pytest.raises(AttributeError, match="AltPattern has no attribute 'args'"):
        either.args
    with pytest.raises(tvm.error.UsageError, match="did you mean"):
        is_op("nn.reluu")
    assert str(call) == "CallPatternNode(Op(add), [*, VarPattern(x)])"


def test_what_matches():
    assert is_op("add")(wildcard(), wildcard()).match(X + Y) and not is_op("add")(wildcard(), wildcard()).match(X - Y)
    assert (is_var("x") + is_var("y")).match(relay.add(Y, X))
    assert (is_var("x") / is_var("y") - wildcard() * wildcard()).match(X / Y - Y * X)
    assert match(is_tuple(None), relay.Tuple([X])) and match(is_tuple([is_var(), is_var()]), relay.Tuple([X, Y]))
    assert match(is_tuple_get_item(wildcard()), relay.TupleGetItem(relay.Tuple([X, Y]), 1))
    assert not match(is_tuple_get_item(wildcard(), 0), relay.TupleGetItem(relay.Tuple([X, Y]), 1))
    assert match(is_constant(), relay.const(1.0)) and match(is_expr(relay.exp(X)), relay.exp(X))
    condition = relay.var("c", shape=(), dtype="bool")
    assert match(is_if(is_var("c"), wildcard(), wildcard()), relay.If(condition, X, Y))
    assert match(is_let(is_var("y"), wildcard(), wildcard()), relay.Let(Y, X, Y))
    assert match(FunctionPattern([is_var("x")], wildcard()), relay.Function([X], relay.exp(X)))


def test_types_and_attributes():
    assert match(has_dtype("float32"), X + Y) and not match(has_dtype("int8"), X + Y)
    assert match(has_shape((2, 3)), X) and match(wildcard().has_shape([2, 3]), relay.exp(X))
    assert match(has_type(relay.TensorType((2, 3), "float32")), X)
    softmax = is_op("nn.softmax")(wildcard()).has_attr({"axis": 1})
    assert softmax.match(relay.nn.softmax(X, axis=1)) and not softmax.match(relay.nn.softmax(X, axis=0))
    elementwise = wildcard().has_attr({"TOpPattern": 0})(wildcard())
    assert elementwise.match(relay.exp(X)) and not elementwise.match(relay.nn.softmax(X))
    assert match(has_attr({"Composite": "a"}), relay.Function([X], X).with_attr("Composite", "a"))


def test_dominators():
    conv = is_op("nn.relu")(wildcard())
    path = wildcard().has_attr({"TOpPattern": 0})(wildcard())
    diamond = dominates(conv, path, is_op("multiply")(wildcard(), wildcard()))
    top = relay.nn.relu(X)
    assert diamond.match(relay.multiply(relay.exp(top), relay.tanh(top)))
    assert not diamond.match(relay.multiply(relay.exp(top), relay.tanh(Y)))


def test_optional():
    pattern = is_op("nn.relu")(wildcard()).optional(lambda x: is_op("exp")(x))
    assert pattern.match(relay.nn.relu(X)) and pattern.match(relay.exp(relay.nn.relu(X))) and not pattern.match(relay.exp(X))


def test_partition():
    pattern = is_op("nn.relu")(is_op("add")(wildcard(), wildcard()))
    result = pattern.partition(relay.exp(relay.nn.relu(X + Y)), {"Composite": "a.b"})
    function = result.args[0].op
    assert isinstance(function, relay.Function) and function.attrs["Composite"] == "a.b"
    assert function.attrs["PartitionedFromPattern"] == "add_nn.relu_"
    assert [each.name_hint for each in function.params] == ["FunctionVar_0_0", "FunctionVar_0_1"]
    whole = relay.nn.relu(X + Y)
    assert partition(pattern, whole, check=lambda root: False) == whole


class BatchNorm(DFPatternCallback):
    """gamma * (x - mean) / sqrt(var + eps) + beta  ->  batch_norm, as in TVM's tutorial."""

    def __init__(self):
        super().__init__()
        self.x, self.var, self.mean, self.beta, self.gamma, self.eps = (wildcard() for _ in range(6))
        self.pattern = self.gamma * (self.x - self.mean) / is_op("sqrt")(self.var + self.eps) + self.beta

    def callback(self, pre, post, node_map):
        x, moving_var, mean, beta, gamma, eps = (node_map[each][0] for each in (self.x, self.var, self.mean, self.beta, self.gamma, self.eps))
        return relay.nn.batch_norm(x, gamma, beta, mean, moving_var, epsilon=eps.data.numpy().item())[0]


def test_rewrite_of_the_tutorial():
    x, moving_var, mean, beta, gamma = (var(each, (3,)) for each in ("x", "var", "mean", "beta", "gamma"))
    norm = gamma * (x - mean) / relay.sqrt(moving_var + relay.const(1e-5)) + beta
    result = rewrite(BatchNorm(), norm)
    assert isinstance(result, relay.TupleGetItem) and result.tuple_value.op.name == "nn.batch_norm"
    both = rewrite([BatchNorm()], norm * norm)
    assert "sqrt" not in both.astext(show_meta_data=False) if hasattr(both, "astext") else True


class Until(DFPatternCallback):
    """exp(log(x)) -> x"""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = wildcard()
        self.pattern = is_op("exp")(is_op("log")(self.inner))
        self.types = []

    def callback(self, pre, post, node_map):
        self.types.append(pre._checked_type_)
        return node_map[self.inner][0]


def test_rounds():
    nested = relay.exp(relay.exp(relay.log(relay.log(X))))
    assert Until().rewrite(nested) == X
    once = Until(rewrite_once=True).rewrite(nested)
    assert tvm.ir.structural_equal(once, relay.exp(relay.log(X)))
    typed = Until(require_type=True)
    typed.rewrite(nested)
    assert all(each is not None for each in typed.types)


class Flip(DFPatternCallback):
    """exp <-> log, for ever"""

    def __init__(self):
        super().__init__()
        self.pattern = is_op("exp")(None) | is_op("log")(None)

    def callback(self, pre, post, node_map):
        return (relay.log if pre.op.name == "exp" else relay.exp)(post.args[0])


def test_mistakes():
    with pytest.raises(tvm.error.UsageError, match="Observed 100 rewrite passes, possible conflicting passes"):
        rewrite(Flip(), relay.exp(X))
    with pytest.raises(ValueError, match="has no pattern"):
        rewrite(DFPatternCallback(), X)

    class Nothing(Until):
        def callback(self, pre, post, node_map):
            return "nothing"

    with pytest.raises(TypeError, match="returned a str"):
        rewrite(Nothing(), relay.exp(relay.log(X)))


def test_in_a_pass():
    @relay.transform.function_pass(opt_level=0)
    def simplify(func, mod, ctx):
        return rewrite(Until(), func)

    nested = relay.exp(relay.exp(relay.log(relay.log(X))))
    module = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([X], relay.tanh(nested))))
    result = simplify(module)
    assert tvm.ir.structural_equal(result["main"].body, relay.tanh(result["main"].params[0]))

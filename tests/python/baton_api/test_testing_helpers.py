"""tvm.testing and relay.testing: tolerances, parameters, gradients by differences, programs as Python."""
import numpy as np
import pytest

import baton as tvm
import baton.testing
from baton import relay
from baton.relay import testing

small = tvm.testing.parameter(1, 2)
left, right = tvm.testing.parameters((1, "a"), (2, "b"))


@tvm.testing.fixture
def doubled(small):
    return 2 * small


def test_parameters_vary_together(left, right):
    assert (left, right) in ((1, "a"), (2, "b"))


def test_fixtures_of_parameters(small, doubled):
    assert doubled == 2 * small


@tvm.testing.parametrize_targets("llvm", "cuda")
def test_targets(target, dev):
    assert target == "llvm" and dev == tvm.cpu(0)


@tvm.testing.requires_cuda
def test_that_needs_cuda():
    raise AssertionError("this is to be skipped")


@tvm.testing.requires_llvm
@tvm.testing.uses_gpu
def test_that_needs_llvm():
    assert tvm.testing.enabled_targets() == [("llvm", tvm.cpu(0))] == testing.enabled_targets()
    assert tvm.testing.device_enabled("llvm") and not tvm.testing.device_enabled("cuda")


def test_tolerances():
    tvm.testing.assert_allclose(tvm.nd.array(np.ones(3)), [1, 1, 1 + 1e-9])
    with pytest.raises(AssertionError):
        tvm.testing.assert_allclose(np.ones(3), np.ones(4))
    with pytest.raises(AssertionError):
        tvm.testing.assert_allclose(1.0, 1.1)
    tvm.testing.check_numerical_grads(lambda x: (x ** 2).sum(), [np.array([1.0, 2.0])], [np.array([2.0, 4.0])])
    with pytest.raises(AssertionError):
        tvm.testing.check_numerical_grads(lambda x: (x ** 2).sum(), [np.array([1.0, 2.0])], [np.array([2.0, 5.0])])


@pytest.mark.parametrize("mode", ["first_order", "higher_order"])
def test_check_grad(mode):
    x = relay.var("x", shape=(2, 3), dtype="float64")
    testing.check_grad(relay.Function([x], relay.exp(relay.multiply(x, x))), inputs=[np.random.rand(2, 3)], mode=mode)


def test_check_grad_finds_a_wrong_gradient():
    x = relay.var("x", shape=(2,), dtype="float64")
    with pytest.raises(AssertionError):  # differences of that width are 0.09 off
        testing.check_grad(relay.Function([x], x * x * x), inputs=[np.array([1.0, 2.5])], eps=0.3, mode="first_order")


def test_counting():
    module = tvm.IRModule()
    prelude = testing.Prelude(module)
    module.import_from_std("nat.rly")
    text = str(testing.make_nat_expr(prelude, 2))
    assert text.count("succ") == 2
    x = relay.var("x", shape=(2,))
    assert testing.count_ops(relay.Function([x], relay.exp(relay.exp(relay.tanh(x))))) == {"exp": 2, "tanh": 1}
    assert testing.run_opt_pass(relay.Function([x], x), relay.transform.InferType(), import_prelude=True).params


def test_programs_as_python():
    one, two = relay.const(1), relay.const(2)
    assert testing.run_as_python(relay.If(relay.const(True), one + two, one)).numpy() == 3
    f, n = relay.Var("f"), relay.var("n", shape=(), dtype="int32")
    body = relay.If(relay.less(n, one), relay.const(0), n + f(n - one))
    assert testing.run_as_python(relay.Let(f, relay.Function([n], body, relay.scalar_type("int32")), f(relay.const(4)))).numpy() == 10
    r = relay.Var("r")
    written = relay.Let(relay.Var("unused"), relay.RefWrite(r, two), relay.RefRead(r))
    assert testing.run_as_python(relay.Let(r, relay.RefCreate(one), written)).numpy() == 2
    module = tvm.IRModule()
    prelude = testing.Prelude(module)
    module.import_from_std("nat.rly")
    add = module.get_global_var("nat_add")
    total = testing.run_as_python(add(testing.make_nat_expr(prelude, 3), testing.make_nat_expr(prelude, 4)), module)
    assert testing.count(prelude, total) == 7 and testing.count(prelude, testing.make_nat_value(prelude, 5)) == 5
    with pytest.raises(ValueError, match="free variable"):
        testing.run_as_python(n)


def test_a_let_of_a_parameter_stays_in_its_function():
    p, q = relay.var("p", shape=()), relay.var("q", shape=())
    inner = relay.Function([p], relay.Let(q, p, relay.Function([], q)))
    module = relay.transform.ToANormalForm()(relay.transform.InferType()(tvm.IRModule.from_expr(relay.Tuple([inner]))))
    assert "free_var" not in str(module) and relay.analysis.well_formed(module["main"])

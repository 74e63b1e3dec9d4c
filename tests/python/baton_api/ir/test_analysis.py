"""relay.analysis: variables, kinds, form, cases, features."""
import pytest

import baton as tvm
from baton import relay
from baton.relay.analysis import (Feature, all_dtypes, all_type_vars, all_vars, bound_type_vars, bound_vars,
                                  check_basic_block_normal_form, check_kind, detect_feature, form_faults, free_type_vars,
                                  free_vars, list_op_freqs, unmatched_cases, well_formed)
from test_adt import INT, make_list


def test_variables():
    x, y, z, a = (relay.var(each) for each in "xyza")
    function = relay.Function([x, y, z], relay.Let(a, x, relay.Tuple([])))
    assert bound_vars(function) == all_vars(function) == [x, y, z, a] and free_vars(function) == []
    pair = relay.Tuple([x, y, z, a])
    assert bound_vars(pair) == [] and free_vars(pair) == all_vars(pair) == [x, y, z, a]
    assert bound_vars(relay.Function([x, y], pair)) == [x, y] and free_vars(relay.Function([x, y], pair)) == [z, a]
    _, _, cons, nil = make_list()
    match = relay.Match(nil(), [
        relay.Clause(relay.PatternConstructor(nil), z),
        relay.Clause(relay.PatternConstructor(cons, [relay.PatternVar(x), relay.PatternVar(y)]), cons(x, y))])
    assert (bound_vars(match), free_vars(match), all_vars(match)) == ([x, y], [z], [z, x, y])


def test_type_variables():
    a, b, c = (relay.TypeVar(each) for each in "abc")
    function = relay.FuncType([a], b, [a, c])
    assert (bound_type_vars(function), free_type_vars(function), all_type_vars(function)) == ([a, c], [b], [a, c, b])
    assert free_type_vars(relay.TupleType([c, a])) == [c, a] and bound_type_vars(relay.TupleType([a])) == []
    x, y = relay.var("x", a), relay.var("y")
    let = relay.Let(x, y, x)
    assert free_type_vars(let) == all_type_vars(let) == [a] and bound_type_vars(let) == []
    program = relay.Function([x], relay.Tuple([]), b, [a])
    assert bound_type_vars(program, tvm.IRModule()) == [a] and free_type_vars(program, tvm.IRModule()) == [b]
    assert all_type_vars(program, tvm.IRModule()) == [a, b]
    with pytest.raises(TypeError, match="all_type_vars"):
        all_type_vars(3)


def test_kinds():
    module, header, _, _ = make_list()
    kinds = relay.TypeKind
    for good in (INT, relay.TypeVar("t"), relay.TupleType([INT]), relay.RefType(INT), relay.FuncType([INT], INT),
                 relay.IncompleteType(), header(INT)):
        assert check_kind(good, module) == kinds.Type
    assert check_kind(header) == kinds.AdtHandle and check_kind(module[header], module) == kinds.TypeData
    assert check_kind(relay.TypeVar("c", kinds.Constraint)) == kinds.Constraint
    for bad in (relay.TypeVar("s", kinds.ShapeVar), relay.TypeVar("b", kinds.BaseType), relay.TypeVar("c", kinds.Constraint)):
        for whole in (relay.TupleType([INT, bad]), relay.RefType(bad), relay.FuncType([bad], INT), relay.FuncType([], bad),
                      header(bad), relay.TupleType([relay.FuncType([], relay.TupleType([bad]))])):
            with pytest.raises(tvm.TVMError, match="is of kind"):
                check_kind(whole, module)
    for bad in (header(), header(INT, INT), INT_CALL, relay.GlobalTypeVar("List", kinds.Type)(INT),
                relay.GlobalTypeVar("Tree")(), header(header)):
        with pytest.raises(tvm.TVMError):
            check_kind(bad, module)
    with pytest.raises(tvm.TVMError, match="no data type List"):
        check_kind(header(INT))
    tree, t = relay.GlobalTypeVar("Tree"), relay.TypeVar("t")
    with pytest.raises(tvm.TVMError, match="takes 1 argument"):
        check_kind(relay.TypeData(tree, [t], [relay.Constructor("Leaf", [tree()], tree)]))
    with pytest.raises(TypeError):
        check_kind(3)


INT_CALL = relay.TypeCall(INT, [INT])


def test_form():
    x, v = relay.var("x"), relay.const(10)
    let = relay.Let(x, v, x)
    function = relay.Function([x], x)
    assert well_formed(x) and well_formed(let) and well_formed(function) and well_formed(relay.Tuple([v, v]))
    assert well_formed(relay.Let(relay.var("y"), function, relay.Let(relay.var("z"), function, v)))
    assert not well_formed(relay.Let(x, v, let)) and not well_formed(relay.Tuple([let, relay.Let(x, v, x)]))
    module, _, cons, nil = make_list()
    some = relay.Clause(relay.PatternConstructor(cons, [relay.PatternVar(x), relay.PatternWildcard()]), x)
    default = relay.Clause(relay.PatternVar(x), x)
    assert well_formed(relay.Match(nil(), [default])) and not well_formed(relay.Match(nil(), [some, default]))
    assert form_faults(relay.Match(nil(), [relay.Clause(relay.PatternConstructor(cons), v)])) == [
        "pattern Cons has 0 fields, but its constructor 2"]
    assert form_faults(x) == [] and form_faults(x, closed=True) == ["variable %x is free"]
    assert "Cons" in form_faults(relay.Match(nil(), [some]), mod=tvm.IRModule())[0] or \
        "Nil" in form_faults(relay.Match(nil(), [some]), mod=tvm.IRModule())[0]
    assert form_faults(relay.Match(nil(), [some]), mod=module) == []
    assert well_formed(module)
    module["main"] = relay.Function([], relay.GlobalVar("other")(x))
    assert form_faults(module) == ["@main: there is no function @other in the module", "@main: variable %x is free"]
    with pytest.raises((TypeError, RuntimeError)):
        well_formed(3)


def test_unmatched_cases():
    module, _, cons, nil = make_list()
    value, name, wild = relay.var("v"), relay.PatternVar(relay.var("w")), relay.PatternWildcard()

    def match(*patterns):
        return relay.Match(value, [relay.Clause(each, value) for each in patterns])

    def texts(*patterns):
        return sorted(str(each) for each in unmatched_cases(match(*patterns), module))

    assert unmatched_cases(match(wild)) == [] and unmatched_cases(match(name)) == []
    assert texts() == ["_"] and texts(relay.PatternConstructor(nil)) == ["Cons(_, _)"]
    two = relay.PatternConstructor(cons, [wild, relay.PatternConstructor(cons, [wild, wild])])
    assert texts(two, relay.PatternConstructor(nil)) == ["Cons(_, Nil)"]
    assert texts(relay.PatternTuple([relay.PatternConstructor(nil), wild])) == ["(Cons(_, _), _)"]
    found = unmatched_cases(match(relay.PatternConstructor(nil)), module)[0]
    assert isinstance(found, relay.PatternConstructor) and found.constructor is cons
    with pytest.raises(tvm.TVMError, match="does not define"):
        unmatched_cases(match(relay.PatternConstructor(nil)))
    with pytest.raises(tvm.TVMError, match="fields"):
        unmatched_cases(match(relay.PatternConstructor(cons, [wild])), module)
    with pytest.raises(TypeError):
        unmatched_cases(value, module)


def test_features():
    x = relay.var("x", shape=(2,))
    body = x + x
    assert detect_feature(relay.const(1)) == {Feature.fConstant}
    function = relay.Function([x], body)
    used = {Feature.fVar, Feature.fFunction, Feature.fOp, Feature.fCall}
    assert detect_feature(function) == used == detect_feature(tvm.IRModule.from_expr(function))
    assert Feature.fGraph in detect_feature(relay.Tuple([body, body]))
    y = relay.var("y")
    assert Feature.fLetRec in detect_feature(relay.Let(y, relay.Function([x], y(x)), y), tvm.IRModule())
    assert Feature.fLetRec not in detect_feature(relay.Let(y, relay.const(1), y))
    typed = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([x], relay.nn.relu(body).astype("int8"))))
    assert list_op_freqs(typed) == {"add": 1, "cast": 1, "nn.relu": 1} and all_dtypes(typed["main"]) == {"float32", "int8"}
    with pytest.raises(tvm.TVMError, match="InferType"):
        all_dtypes(body)


def test_basic_blocks():
    x, c = relay.var("x", shape=(2,)), relay.var("c", "bool")
    shared = relay.exp(x)
    assert check_basic_block_normal_form(relay.Function([x], shared + shared))
    assert check_basic_block_normal_form(relay.Function([c, x], relay.If(c, shared, x)))
    both = relay.If(c, shared + x, shared)
    assert not check_basic_block_normal_form(relay.Function([c, x], both))
    y = relay.var("y")
    named = relay.Let(y, shared, relay.If(c, y + x, y))
    assert check_basic_block_normal_form(relay.Function([c, x], named))

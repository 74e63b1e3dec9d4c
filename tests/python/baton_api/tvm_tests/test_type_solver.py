"""The type solver by itself: relay.analysis._test_type_solver, as scripts find it by its global name."""
import pytest

import baton as tvm
from baton import relay


class Solver:
    """The functions of a solver, as methods."""

    def __init__(self):
        function = tvm.get_global_func("relay.analysis._test_type_solver")()
        self.unify, self.resolve, self.solve, self.constrain = (function(name) for name in ("Unify", "Resolve", "Solve", "AddConstraint"))

    def relate(self, name, args, out=None):
        """The result of a relation of that name between args and a new hole (or `out`)."""
        out = relay.IncompleteType() if out is None else out
        function = tvm.ir.EnvFunc.get("tvm.relay.type_relation." + name)
        self.constrain(relay.TypeRelation(function, [*args, out], len(args), None))
        return out


def tensor(*shape):
    return relay.TensorType(shape, "float32")


def test_relations_forwards():
    solver = Solver()
    first = solver.relate("Broadcast", [tensor(10, 20), tensor(10, 1)])
    second = solver.relate("Identity", [first])
    third = solver.relate("Broadcast", [second, tensor(10, 1, 1)])
    assert solver.solve()
    assert solver.resolve(first) == solver.resolve(second) == tensor(10, 20) and solver.resolve(third) == tensor(10, 10, 20)


def test_relations_backwards():
    solver = Solver()
    hole = relay.IncompleteType()
    result = solver.relate("Broadcast", [tensor(10, 20), hole])
    assert not solver.solve()
    solver.unify(hole, relay.IncompleteType())
    solver.relate("Identity", [tensor(5, 10, 20)], hole)
    assert solver.solve() and solver.resolve(hole) == solver.resolve(result) == tensor(5, 10, 20)


def test_a_relation_that_cannot_hold():
    solver = Solver()
    solver.relate("Broadcast", [tensor(10), tensor(7)])
    with pytest.raises(tvm.error.DiagnosticError):
        solver.solve()


def test_unification():
    solver = Solver()
    one, two, three = (relay.IncompleteType() for _ in range(3))
    left = relay.TupleType([one, tensor(10, 20), relay.RefType(two)])
    right = relay.TupleType([tensor(3), three, relay.RefType(relay.scalar_type("int8"))])
    whole = relay.TupleType([tensor(3), tensor(10, 20), relay.RefType(relay.scalar_type("int8"))])
    assert solver.unify(left, right) == whole == solver.resolve(left) == solver.resolve(right) and solver.resolve(two) == relay.scalar_type("int8")
    function = relay.FuncType([relay.IncompleteType()], relay.IncompleteType())
    assert solver.unify(function, relay.FuncType([tensor(1)], tensor(2))) == relay.FuncType([tensor(1)], tensor(2))
    data, var = relay.GlobalTypeVar("D"), relay.TypeVar("a")
    assert solver.unify(relay.TypeCall(data, [relay.IncompleteType()]), relay.TypeCall(data, [tensor(1)])) == relay.TypeCall(data, [tensor(1)])
    assert solver.unify(var, var) == var
    for left, right in ((tensor(1), tensor(2)), (tensor(1), relay.TupleType([])), (relay.TupleType([tensor(1)]), relay.TupleType([])), (var, tensor(1)),
                        (relay.TypeVar("b"), var), (relay.TypeCall(data, [var]), relay.TypeCall(relay.GlobalTypeVar("E"), [var]))):
        with pytest.raises(tvm.error.DiagnosticError):
            solver.unify(left, right)


def test_a_hole_cannot_contain_itself():
    solver = Solver()
    hole = relay.IncompleteType()
    with pytest.raises(tvm.error.DiagnosticError, match="contain itself"):
        solver.unify(hole, relay.TupleType([hole, hole]))


def test_polymorphic_functions():
    solver = Solver()
    a, b, c = (relay.TypeVar(name) for name in "abc")
    general, single = relay.FuncType([a, b], c, [a, b, c]), relay.FuncType([a, a], a, [a])
    assert solver.unify(general, single) == single and solver.unify(single, general) == single
    assert solver.unify(relay.FuncType([b, c], b, [b, c]), relay.FuncType([a, b], a, [a, b])) == relay.FuncType([a, b], a, [a, b])
    concrete = relay.FuncType([tensor(1), tensor(2)], tensor(3))
    assert solver.unify(general, concrete) == concrete
    inner = relay.FuncType([a], relay.FuncType([b], c, [b]), [a, c])
    assert solver.unify(inner, relay.FuncType([a], relay.FuncType([b], c, [b]), [a, c])) == inner
    with pytest.raises(tvm.error.DiagnosticError):
        solver.unify(single, relay.FuncType([tensor(1), tensor(2)], tensor(1)))


def test_unknown_names():
    with pytest.raises(KeyError):
        tvm.get_global_func("relay.analysis._test_type_solver")()("NoSuch")
    with pytest.raises(ValueError):
        tvm.ir.EnvFunc.get("tvm.relay.type_relation.NoSuch")


def test_kinds_of_relations():
    of_types = relay.TypeRelation(None, [tensor(1), relay.TypeVar("a")], 1, None)
    assert relay.analysis.check_kind(of_types) == relay.TypeKind.Constraint
    for kind in (relay.TypeKind.ShapeVar, relay.TypeKind.BaseType, relay.TypeKind.Constraint):
        with pytest.raises(tvm.TVMError, match="of kind " + str(kind).rpartition(".")[2]):
            relay.analysis.check_kind(relay.TypeRelation(None, [tensor(1), relay.TypeVar("a", kind)], 1, None))

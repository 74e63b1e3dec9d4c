"""Data types, match, references and polymorphism: built by hand, printed, typed, refused."""
import copy

import pytest

import baton as tvm
from baton import relay

LIST = '#[version = "0.0.5"]\ntype List[A] {\n  Cons(A, List[A]),\n  Nil,\n}\n'
INT = relay.scalar_type("int32")


def make_list():
    """A module with List, and its constructors."""
    header, a = relay.GlobalTypeVar("List"), relay.TypeVar("A")
    cons = relay.Constructor("Cons", [a, header(a)], header)
    nil = relay.Constructor("Nil", [], header)
    module = tvm.IRModule()
    module[header] = relay.TypeData(header, [a], [cons, nil])
    return module, header, cons, nil


def same_but_spans(made, text):
    """Whether a typed module prints as the text does when it is parsed."""
    def plain(module):
        return module.astext(annotate=lambda each: "")

    return plain(relay.transform.InferType()(made)) == plain(tvm.parser.parse(text))


def test_types():
    a = relay.TypeVar("A")
    assert a.name_hint == "A" and a.kind == relay.TypeKind.Type == 0 and a != relay.TypeVar("A") and a == a
    assert relay.ShapeVar("s").kind == tvm.ir.TypeKind.ShapeVar == 1 and isinstance(a, relay.Type)
    header = relay.GlobalTypeVar("List")
    assert header.kind == relay.TypeKind.AdtHandle == 5 and header == relay.GlobalTypeVar("List")
    call = header(INT)
    assert call == relay.TypeCall(header, [INT]) and call.func is header and list(call.args) == [INT]
    assert str(call) == "List[int32]" and str(relay.TypeCall(header, [])) == "List[]"
    assert str(relay.RefType(INT)) == "ref(int32)" and relay.RefType(INT).value == INT
    assert relay.RefType is tvm.ir.RelayRefType
    func = relay.FuncType([a], INT, [a])
    assert str(func) == "fn [A](A) -> int32" and func.type_params[0] is a and list(func.type_constraints) == []
    assert func == relay.FuncType([b := relay.TypeVar("B")], INT, [b]) != relay.FuncType([a], INT)
    with pytest.raises(NotImplementedError, match="type_constraints"):
        relay.FuncType([a], INT, [a], [a])
    with pytest.raises(NotImplementedError, match="IncompleteType"):
        relay.IncompleteType(relay.TypeKind.ShapeVar)
    with pytest.raises(TypeError):
        relay.TypeCall(header, [1])
    with pytest.raises(TypeError):
        relay.FuncType([a], INT, [INT])


def test_definitions_in_modules():
    module, header, cons, nil = make_list()
    data = module[header]
    assert module.type_definitions == {header: data} and list(data.constructors) == [cons, nil]
    assert data.constructors[0] is cons and data.header is header and data.type_vars[0].name_hint == "A"
    assert (cons.name_hint, cons.belong_to, len(cons.inputs), len(nil.inputs)) == ("Cons", header, 2, 0)
    assert cons.tag & 0xFFFFFF == 0 and nil.tag == cons.tag + 1
    assert module.get_global_type_var("List") is header and module.get_global_type_vars() == [header]
    assert module.get_type("List") == (header, cons, nil)
    assert module.get_constructor(nil.tag) is nil and module.get_constructor("List", "Cons") is cons
    assert module.get_constructor(header, "Nil") is nil and header in module and len(module) == 0

    other = tvm.IRModule({"f": relay.Function([], nil)}, module.type_definitions)
    assert other[header] is data and "f" in other and copy.copy(other)[header] is data
    third = tvm.IRModule.from_expr(nil, type_defs=module.type_definitions)
    assert tvm.ir.structural_equal(third[header], data) and third["main"].body is nil
    fourth = tvm.IRModule()
    fourth.update(other)
    assert fourth[header] is data and fourth["f"] is other["f"] and tvm.ir.structural_equal(fourth, other)
    assert tvm.ir.structural_hash(fourth) == tvm.ir.structural_hash(other)
    by_name = tvm.IRModule()
    by_name["List"] = data
    by_name.update({header: data})
    assert by_name[header] is data


def test_wrong_definitions():
    module, header, cons, nil = make_list()
    with pytest.raises(ValueError, match="Tree"):
        module[relay.GlobalTypeVar("Tree")]
    with pytest.raises(ValueError, match="Tree"):
        module.get_global_type_var("Tree")
    with pytest.raises(ValueError, match="Tree"):
        module.get_type("Tree")
    with pytest.raises(ValueError, match="cannot be defined as Tree"):
        module[relay.GlobalTypeVar("Tree")] = module[header]
    with pytest.raises(tvm.TVMError, match="no constructor Snoc: it has Cons, Nil"):
        module.get_constructor("List", "Snoc")
    with pytest.raises(tvm.TVMError, match="tag 99"):
        module.get_constructor(99)
    with pytest.raises(tvm.TVMError, match="given twice"):
        relay.TypeData(header, [], [cons, relay.Constructor("Cons", [], header)])
    with pytest.raises(tvm.TVMError, match="belongs to type List"):
        relay.TypeData(relay.GlobalTypeVar("Tree"), [], [nil])
    with pytest.raises(tvm.TVMError, match="number 1 of another definition"):
        relay.TypeData(header, [], [nil, cons])
    with pytest.raises((TypeError, RuntimeError)):
        module["main"] = 3


def test_a_list():
    module, _, cons, nil = make_list()
    x = relay.var("x", "int32")
    module["main"] = relay.Function([x], cons(x, cons(relay.const(2), nil())))
    typed = relay.transform.InferType()(module)
    assert str(typed["main"].ret_type) == "List[int32]"
    assert "Cons(%x, %" in str(typed)


def test_a_polymorphic_match_prints_as_its_text():
    module, header, cons, nil = make_list()
    a = relay.TypeVar("A")
    length = relay.GlobalVar("length")
    values, rest = relay.var("l", header(a)), relay.var("rest")
    body = relay.Match(values, [
        relay.Clause(relay.PatternConstructor(cons, [relay.PatternWildcard(), relay.PatternVar(rest)]),
                     relay.const(1) + length(rest)),
        relay.Clause(relay.PatternConstructor(nil), relay.const(0)),
    ])
    module[length] = relay.Function([values], body, INT, [a])
    assert module["length"].type_params[0] is a
    module["main"] = relay.Function([], length(cons(relay.const(1), cons(relay.const(2), relay.Call(nil, [])))))
    text = LIST + """
def @length[A](%l: List[A]) -> int32 { match (%l) { Cons(_, %rest) => add(1, @length(%rest)), Nil => 0 } }
def @main() { @length(Cons(1, Cons(2, Nil()))) }
"""
    assert same_but_spans(module, text)
    assert tvm.ir.structural_equal(module, tvm.parser.core.parse_untyped(text))
    assert "  match (%l) {\n    Cons(_, %rest" in str(module) and "def @length[A](%l: List[A]" in str(module)
    assert str(relay.transform.InferType()(module)["main"].ret_type) == "int32"


def test_nested_and_partial_matches():
    module, header, cons, nil = make_list()
    a = relay.TypeVar("A")
    values, default, x, y = relay.var("l", header(a)), relay.var("d", a), relay.var("x"), relay.var("y")
    wild = relay.PatternWildcard()
    clauses = [
        relay.Clause(
            relay.PatternConstructor(cons, [wild, relay.PatternConstructor(cons, [relay.PatternVar(y), wild])]), y),
        relay.Clause(relay.PatternConstructor(cons, [relay.PatternVar(x), relay.PatternConstructor(nil)]), x),
        relay.Clause(relay.PatternConstructor(nil), default),
    ]
    module["second"] = relay.Function([values, default], relay.Match(values, clauses), a, [a])
    text = LIST + """
def @second[A](%l: List[A], %d: A) -> A {
  match (%l) { Cons(_, Cons(%y, _)) => %y, Cons(%x, Nil) => %x, Nil => %d }
}
"""
    assert same_but_spans(module, text)
    module["second"] = relay.Function([values, default], relay.Match(values, clauses[:1], complete=False), a, [a])
    text = LIST + "def @second[A](%l: List[A], %d: A) -> A { match? (%l) { Cons(_, Cons(%y, _)) => %y } }"
    assert same_but_spans(module, text)
    module["second"] = relay.Function([values, default], relay.Match(values, clauses[:1]), a, [a])
    with pytest.raises(tvm.error.DiagnosticError, match="does not handle"):
        relay.transform.InferType()(module)


def test_patterns():
    _, _, cons, nil = make_list()
    x = relay.var("x")
    wild, name = relay.PatternWildcard(), relay.PatternVar(x)
    both, pair = relay.PatternConstructor(cons, [wild, name]), relay.PatternTuple([name])
    assert [type_ for type_ in (relay.PatternWildcard, relay.PatternVar, relay.PatternConstructor, relay.PatternTuple)
            if isinstance(both, type_)] == [relay.PatternConstructor]
    assert all(isinstance(each, relay.Pattern) for each in (wild, name, both, pair)) and not isinstance(x, relay.Pattern)
    assert name.var is x and both.constructor is cons and both.patterns[0] is wild and list(pair.patterns) == [name]
    assert str(both) == "Cons(_, %x)" and list(relay.PatternConstructor(nil).patterns) == []
    match = relay.Match(x, [relay.Clause(pair, x)], complete=False)
    assert match.data is x and match.clauses[0].lhs is pair and match.clauses[0].rhs is x and not match.complete
    with pytest.raises(AttributeError, match="PatternWildcard has no attribute patterns"):
        wild.patterns
    with pytest.raises(AttributeError, match="var"):
        both.var
    with pytest.raises(TypeError):
        relay.Pattern()
    with pytest.raises(TypeError):
        relay.PatternConstructor(x)
    with pytest.raises(TypeError):
        relay.Match(x, [pair])


def test_tuples_in_matches():
    x, y = relay.var("x"), relay.var("y")
    data = relay.var("p", relay.TupleType([INT, INT]))
    match = relay.Match(data, [relay.Clause(relay.PatternTuple([relay.PatternVar(x), relay.PatternVar(y)]), x + y)])
    assert same_but_spans(tvm.IRModule.from_expr(relay.Function([data], match)),
                          '#[version = "0.0.5"]\ndef @main(%p: (int32, int32)) { match (%p) { (%x, %y) => add(%x, %y) } }')


def test_references():
    x, cell = relay.var("x", "int32"), relay.var("cell")
    create, read, write = relay.RefCreate(x), relay.RefRead(cell), relay.RefWrite(cell, relay.const(1))
    assert create.value is x and read.ref is cell and write.ref is cell and write.value.data.numpy() == 1
    program = relay.Let(cell, create, relay.Let(relay.var("u"), write, read))
    typed = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function([x], program)))
    assert typed["main"].ret_type == INT and typed["main"].body.value.checked_type == relay.RefType(INT)
    assert "ref_write(%cell, 1" in str(typed)


def test_programs_that_do_not_fit_their_types():
    module, header, cons, nil = make_list()
    infer = relay.transform.InferType()
    unknown = relay.Constructor("Snoc", [], header)
    module["main"] = relay.Function([], unknown())
    with pytest.raises(tvm.error.DiagnosticError, match="Snoc"):
        infer(module)
    module["main"] = relay.Function([], cons(relay.const(1)))
    with pytest.raises(tvm.error.DiagnosticError):
        infer(module)
    module["main"] = relay.Function([relay.var("x", "int32")], relay.const(1), relay.TypeCall(header, []))
    with pytest.raises(tvm.error.DiagnosticError, match=r"List\[\] is no type"):
        infer(module)


def test_parse_into_a_module():
    module, header, _, nil = make_list()
    module["empty"] = relay.Function([], nil(), header(INT))
    text = '#[version = "0.0.5"]\ndef @main() { Cons(1, @empty()) }'
    both = tvm.parser.parse(text, init_module=module)
    assert str(both["main"].ret_type) == "List[int32]" and header in both and "empty" in both and "main" not in module
    with pytest.raises(tvm.error.DiagnosticError, match="empty"):
        tvm.parser.parse(text)


def test_parse_with_metadata():
    value = relay.const([1.0, 2.0])
    text = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), float32]) { add(%x, meta[relay.Constant][0]) }'
    module = tvm.parser.parse(text, init_meta_table={"relay.Constant": [value]})
    assert module["main"].body.args[1].data.numpy().tolist() == [1.0, 2.0]
    printed = module.astext()  # has a section of its own: what is given counts behind it
    assert "#[metadata]" in printed
    again = tvm.parser.parse(printed.replace("add(%x,", "add(meta[relay.Constant][1],"),
                             init_meta_table={"relay.Constant": [relay.const([3.0, 4.0])]})
    assert [each.data.numpy().tolist() for each in again["main"].body.args] == [[3.0, 4.0], [1.0, 2.0]]
    attrs = relay.nn.softmax(relay.var("x", shape=(2,)), axis=0).attrs
    called = tvm.parser.parse(text.replace("add(%x, meta[relay.Constant]", "nn.softmax(%x, meta[relay.attrs.SoftmaxAttrs]"),
                              init_meta_table={"relay.attrs.SoftmaxAttrs": [attrs]})
    assert called["main"].body.attrs.axis == 0
    function = relay.Function([], relay.const(1.0))
    called = tvm.parser.parse('#[version = "0.0.5"]\ndef @main() { meta[relay.Function][0]() }',
                              init_meta_table={"relay.Function": [function]})
    assert called["main"].ret_type == relay.scalar_type("float32")
    with pytest.raises(tvm.error.DiagnosticError, match="1 of them"):
        tvm.parser.parse(text.replace("[0]", "[1]"), init_meta_table={"relay.Constant": [value]})
    with pytest.raises(tvm.error.DiagnosticError):
        tvm.parser.parse(text)
    with pytest.raises(TypeError, match="init_meta_table"):
        tvm.parser.parse(text, init_meta_table={"relay.Constant": [object()]})


def test_type_arguments():
    module = tvm.parser.fromtext("""#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil }
def @swap[A, B](%x: A, %y: (B, int32)) -> (B, A) { (%y.0, %x) }
def @main(%x: Tensor[(2), float32]) {
  let %swap = fn [A, B](%a: A, %y: (B, int32)) -> (B, A) { (%y.0, %a) };
  let %call = %swap(%x, (1f, 2));
  let %other = @swap(%x, (1f, 2));
  (%call, Cons(%x, Nil()), exp(%x))
}""")
    body = relay.transform.InferType()(module)["main"].body.body
    data, scalar = relay.TensorType((2,), "float32"), relay.TensorType((), "float32")
    fields = body.body.body.fields
    cons = fields[1]
    assert list(body.value.type_args) == [data, scalar]
    assert list(body.body.value.type_args) == []  # global variables hold no types
    assert list(cons.type_args) == [data] == list(cons.args[1].type_args)
    assert list(fields[2].type_args) == [data, data]
    assert list(relay.exp(relay.var("x", shape=(2,))).type_args) == []

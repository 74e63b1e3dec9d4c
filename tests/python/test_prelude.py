"""The standard library."""
import subprocess
import sys

import pytest

from baton import IRModule, relay
from baton._load import core


def test_prelude_has_its_functions_and_types():
    mod = IRModule()
    prelude = relay.prelude.Prelude(mod)
    assert prelude.mod is mod
    names = {var.name_hint for var in mod.get_global_vars()}
    assert {"map", "foldl", "compose", "tensor_array_float32", "tensor_take_int64"} <= names
    assert len(names) == 240
    text = str(mod)
    assert "type List[A] {\n  Cons(A, List[A]),\n  Nil,\n}" in text
    assert prelude.get_name("tensor_t", "int8") == "tensor_int8_t"
    assert prelude.get_global_var("tensor_array_read", "int8").name_hint == "tensor_array_read_int8"


def test_a_second_prelude_adds_nothing():
    mod = IRModule()
    relay.prelude.Prelude(mod)
    before = str(mod)
    relay.prelude.Prelude(mod)
    assert str(mod) == before


@pytest.mark.parametrize("name, function", [("prelude", "map"), ("gradient.rly", "AddGradCell")])
def test_parts_of_the_library(name, function):
    mod = IRModule()
    mod.import_from_std(name)
    assert mod[function].checked_type is not None
    assert mod[function].span.source_name == "std/" + name.removesuffix(".rly") + ".rly"


def test_nat_needs_the_prelude():
    mod = IRModule()
    with pytest.raises(Exception, match="List|hd|tl"):
        mod.import_from_std("nat")
    assert not mod.get_global_vars()  # nothing half-written
    relay.prelude.Prelude(mod)
    mod.import_from_std("nat")
    assert mod["nat_add"].checked_type is not None


def test_unknown_part_and_bad_types():
    mod = IRModule()
    with pytest.raises(Exception, match='no standard library file "preludes.rly".*did you mean "prelude.rly"'):
        mod.import_from_std("preludes")
    with pytest.raises(Exception, match='"flot32" is no element type'):
        core.import_tensor_array(mod, "flot32", 0)
    with pytest.raises(NotImplementedError, match="static shape"):
        relay.prelude.Prelude(mod).get_name_static("tensor_array", "float32", (2,))


def test_programs_use_the_prelude():
    mod = IRModule()
    mod.import_from_std("prelude")
    from baton import parser

    text = """#[version = "0.0.5"]
def @main() { @sum(@map(fn (%x: int32) { add(%x, 1) }, Cons(1, Cons(2, Nil)))) }"""
    typed = parser.parse(text, init_module=mod)
    assert str(typed["main"].ret_type) == "int32"


def test_fresh_variables_are_counted_in_the_process():
    code = "from baton import IRModule, relay; a, b = IRModule(), IRModule(); relay.prelude.Prelude(a); relay.prelude.Prelude(b); print('%x_36' in str(b), '%x_36' in str(a))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == ["True", "False"]


def test_annotations_with_the_wrong_number_of_type_arguments_are_refused():
    mod = IRModule()
    mod.import_from_std("prelude")
    listed = relay.TypeCall(mod.get_global_type_var("List"), [])
    x = relay.Var("x", listed)
    mod["bad"] = relay.Function([x], x)
    with pytest.raises(Exception, match="1 type argument"):
        relay.transform.InferType()(mod)

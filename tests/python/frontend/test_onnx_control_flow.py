"""Branches, loops, sequences and functions of ONNX files. The reference evaluator of the wheel `onnx` is wrong in some of these corners:
what is right is written beside each model."""
import baton as tvm
import numpy as np
import onnx.parser
import pytest
from baton import relay
from baton._load import core

HEAD = '<ir_version: 8, opset_import: ["" : {opset}{more}]>\n'


def model_of(text, opset=18, more="", functions=""):
    return onnx.parser.parse_model(HEAD.format(opset=opset, more=more) + text + functions)


def module_of(model, shapes=None):
    return core.import_onnx_bytes(model.SerializeToString(), "test.onnx", {name: list(shape) for name, shape in (shapes or {}).items()})[0]


def flat(value):
    return [part for each in value for part in flat(each)] if isinstance(value, (list, tuple)) or type(value).__name__ == "ADT" else [value]


def run(module, arguments):
    return [each.numpy() for each in flat(relay.create_executor("vm", module, tvm.cpu(), "llvm").evaluate()(*arguments))]


def check(model, wanted, *all_arguments, shapes=None):
    """`wanted`: the results of the arguments, an array or a tuple of them."""
    module = module_of(model, shapes)
    for arguments in all_arguments:
        arguments = [np.asarray(each) for each in arguments]
        results = wanted(*arguments)
        results = [np.asarray(each) for each in (results if isinstance(results, tuple) else (results,))]
        got = run(module, arguments)
        assert [each.shape for each in got] == [each.shape for each in results]
        for one, other in zip(got, results):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    return module


X = np.array([[1, -2, 3], [-4, 5, -6]], "float32")

BRANCHES = """
agraph (bool c, float[n, 3] x) => (float[n, 3] y) {
  one = Constant <value = float {1.0}> ()
  y = If (c) <
    then_branch = t () => (float[n, 3] a) { a = Relu (x) },
    else_branch = e () => (float[n, 3] b) { s = Neg (x)  b = Add (s, one) }
  >
}"""


def test_a_condition_that_is_computed_chooses_at_run_time():
    check(model_of(BRANCHES), lambda c, x: np.maximum(x, 0) if c else 1 - x, (np.array(True), X), (np.array(False), X), (np.array(True), X[:0]))


def test_branches_of_other_extents_have_a_type_that_both_fit():
    model = model_of("""
agraph (bool c, float[2, 3] x) => (float[m, 3] y, float[3] z) {
  y, z = If (c) <
    then_branch = t () => (float[4, 3] a, float[3] p) { a = Concat <axis = 0> (x, x)  p = Constant <value = float[3] {1, 2, 3}> () },
    else_branch = e () => (float[2, 3] b, float[3] q) { b = Neg (x)  q = Constant <value = float[3] {4, 5, 6}> () }
  >
}""")
    check(model, lambda c, x: (np.concatenate([x, x]), [1, 2, 3]) if c else (-x, [4, 5, 6]), (np.array(True), X), (np.array(False), X))


def test_constants_of_other_extents_are_chosen_at_run_time():
    model = model_of("""
agraph (bool c) => (float[m] y) {
  y = If (c) <
    then_branch = t () => (float[2] a) { a = Constant <value = float[2] {1, 2}> () },
    else_branch = e () => (float[3] b) { b = Constant <value = float[3] {4, 5, 6}> () }
  >
}""")
    check(model, lambda c: [1, 2] if c else [4, 5, 6], (np.array(True),), (np.array(False),))


RANKS = """
agraph (bool c, float[2, 3] x) => (float y) {
  y = If (c) <
    then_branch = t () => (float[6] a) { s = Constant <value = int64[1] {-1}> ()  a = Reshape (x, s) },
    else_branch = e () => (float[2, 3] b) { b = Neg (x) }
  >
}"""


def test_branches_of_other_ranks_are_refused_by_name():
    with pytest.raises(tvm.TVMError, match=r"test.onnx: If .*output 0 is Tensor\[\(6\), float32\] or Tensor\[\(2, 3\), float32\]"):
        module_of(model_of(RANKS))


def test_the_branch_that_is_not_taken_need_not_have_a_type():
    model = model_of("""
agraph (float[2, 3] x) => (float[2, 3] y) {
  c = Constant <value = bool {1}> ()
  y = If (c) <
    then_branch = t () => (float[2, 3] a) { a = Relu (x) },
    else_branch = e () => (float[2, 3] b) { u = Unsqueeze (x, x)  w = MatMul (u, x)  b = Nonsense (w) }
  >
}""")
    model.graph.node[1].name = "choice"
    module = module_of(model)
    np.testing.assert_array_equal(run(module, [X])[0], np.maximum(X, 0))
    assert "relu" in str(module) and "matmul" not in str(module)
    with pytest.raises(NotImplementedError, match=r"(?s)1 operator.*ai.onnx.Nonsense.*choice/else/Nonsense_0"):
        model.graph.node[0].attribute[0].t.int32_data[:] = [0]
        del model.graph.node[1].attribute[1].g.node[:2]
        model.graph.node[1].attribute[1].g.node[0].input[0] = "x"
        module_of(model)


def unfit(then_graph, else_graph):
    return model_of(f"""
agraph (bool c, float[2, 3] x, float[2, 4] w) => (float[2, 3] y, float[1] z) {{
  y, z = If (c) <
    then_branch = t () => (float[2, 3] a, float[1] p) {{ {then_graph} }},
    else_branch = e () => (float[2, 3] b, float[1] q) {{ {else_graph} }}
  >
}}""")


FITS = "{0} = Relu (x)  {1} = Constant <value = float[1] {{7}}> ()"
DOES_NOT = "{0} = MatMul (x, w)  o = Add (x, w)  {1} = ReduceSum <keepdims = 0> (o)"


@pytest.mark.parametrize("fits_where", [True, False])
def test_a_branch_whose_types_do_not_fit_is_an_error_where_it_is_taken(fits_where):
    graphs = FITS.format("a", "p"), DOES_NOT.format("b", "q")
    model = unfit(*graphs) if fits_where else unfit(DOES_NOT.format("a", "p"), FITS.format("b", "q"))
    model.graph.node[0].name = "rate"
    module = module_of(model)
    arguments = [X, np.ones((2, 4), "float32")]
    y, z = run(module, [np.array(fits_where), *arguments])
    np.testing.assert_array_equal(y, np.maximum(X, 0))
    assert z == [7]
    with pytest.raises(tvm.TVMError, match=f"MatMul `rate/{'else' if fits_where else 'then'}/MatMul_0`"):
        run(module, [np.array(not fits_where), *arguments])
    with pytest.raises(tvm.TVMError, match="onnx.error|If"):
        with tvm.transform.PassContext(opt_level=3):
            relay.build(module, "llvm")


def test_a_branch_for_another_rank_is_an_error_where_it_is_taken():
    """Its Split and Gather read axes that the tensor does not have."""
    module = module_of(unfit(FITS.format("a", "p"), "i = Constant <value = int64[1, 4] {0, 0, 0, 0}> ()  b = GatherND (x, i)  q = ReduceSum <keepdims = 0> (x)"))
    np.testing.assert_array_equal(run(module, [np.array(True), X, np.ones((2, 4), "float32")])[0], np.maximum(X, 0))
    with pytest.raises(tvm.TVMError, match="GatherND `If_0/else/GatherND_1`"):
        run(module, [np.array(False), X, np.ones((2, 4), "float32")])


def test_branches_of_which_neither_fits_are_refused():
    with pytest.raises(tvm.TVMError, match="(?s)neither of its branches can be computed: .*then/MatMul_0.*else/MatMul_0"):
        module_of(unfit(DOES_NOT.format("a", "p"), DOES_NOT.format("b", "q")))


def test_what_is_wrong_with_the_file_is_said_of_every_branch():
    with pytest.raises(tvm.TVMError, match="nothing before it makes its input `nobody`"):
        module_of(unfit(FITS.format("a", "p"), FITS.format("b", "q").replace("Relu (x)", "Relu (nobody)")))


SQUEEZE = """
agraph (float[n, 3, k] x) => (float y) {
  s = Shape (x)
  two = Constant <value = int64 {2}> ()
  one = Constant <value = int64 {1}> ()
  k = Gather <axis = 0> (s, two)
  c = Equal (k, one)
  y = If (c) <
    then_branch = t () => (float[n, 3] a) { axes = Constant <value = int64[1] {2}> ()  a = Squeeze (x, axes) },
    else_branch = e () => (float[n, 3, k] b) { b = Identity (x) }
  >
}"""


def test_a_squeeze_that_is_written_as_a_branch():
    model = model_of(SQUEEZE)
    thick = np.ones((2, 3, 2), "float32")
    check(model, lambda x: x[:, :, 0], (X[:, :, None],))  # the extent is open: it has to be 1
    with pytest.raises(tvm.TVMError):
        run(module_of(model), [thick])
    check(model, lambda x: x, (thick,), shapes={"x": (2, 3, 2)})  # known: decided while importing
    check(model, lambda x: x[:, :, 0], (X[:, :, None],), shapes={"x": (2, 3, 1)})


LOOP = """
agraph (int64 m, bool c, float[3] x) => (float[3] y, float[k, 3] all) {
  y, all = Loop (m, c, x) <
    body = b (int64 i, bool go, float[3] v) => (bool next, float[3] w, float[3] each) {
      w = Add (v, x)
      f = Cast <to = 1> (i)
      each = Mul (w, f)
      limit = Constant <value = float {40.0}> ()
      sum = ReduceSum <keepdims = 0> (w)
      next = Less (sum, limit)
    }
  >
}"""


def test_a_loop_runs_until_its_condition_is_false():
    x = np.array([1, 2, 3], "float32")
    def wanted(trips, go, x):
        v, collected, i = x, [], 0
        while i < trips and go:
            v = v + x
            collected.append(v * i)
            go, i = v.sum() < 40, i + 1
        return v, np.array(collected, "float32").reshape(-1, 3)

    check(model_of(LOOP), wanted, *((np.array(trips, "int64"), np.array(go), x) for trips, go in [(3, True), (100, True), (0, True), (5, False), (1, True)]))


def test_carried_values_may_grow():
    model = model_of("""
agraph (int64 m, float[2] x) => (float[k] y) {
  y = Loop (m, , x) <
    body = b (int64 i, bool go, float[n] v) => (bool next, float[k] w) { w = Concat <axis = 0> (v, x)  next = Identity (go) }
  >
}""")
    check(model, lambda m, x: np.tile(x, m + 1), *((np.array(trips, "int64"), np.array([1, 2], "float32")) for trips in (0, 1, 4)))


def test_collected_elements_may_have_unknown_extents():
    model = model_of("""
agraph (int64 m, float[n] x) => (float[k, n] y) {
  y = Loop (m, ) <
    body = b (int64 i, bool go) => (bool next, float[n] w) { f = Cast <to = 1> (i)  w = Add (x, f)  next = Identity (go) }
  >
}""")
    check(model, lambda m, x: x + np.arange(m, dtype="float32")[:, None],
          *((np.array(trips, "int64"), np.arange(n, dtype="float32")) for trips, n in [(1, 3), (4, 2)]))


def unrolled(trips, body="w = Add (v, x)"):
    return model_of(f"""
agraph (float[3] x) => (float[3] y, float[k, 3] all) {{
  m = Constant <value = int64 {{{trips}}}> ()
  c = Constant <value = bool {{1}}> ()
  y, all = Loop (m, c, x) <
    body = b (int64 i, bool go, float[3] v) => (bool next, float[3] w, float[3] u) {{ {body} next = Identity (go)  u = Identity (w) }}
  >
}}""")


def test_a_loop_of_few_turns_is_unrolled_and_a_longer_one_is_not():
    x = np.array([1, 2, 3], "float32")
    def wanted(trips):
        return lambda x: ((trips + 1) * x, np.arange(2, trips + 2)[:, None] * x)

    assert "loop" not in str(check(unrolled(4), wanted(4), (x,)))
    assert "loop" in str(check(unrolled(50), wanted(50), (x,)))


def test_loops_within_loops_and_branches_see_the_names_around_them():
    model = model_of("""
agraph (int64 m, float[3] x) => (float[3] y) {
  twice = Add (x, x)
  y = Loop (m, , x) <
    body = b (int64 i, bool go, float[3] v) => (bool next, float[3] w) {
      half = Mul (v, twice)
      w = Loop (m, , half) <
        body = inner (int64 j, bool go2, float[3] q) => (bool next2, float[3] r) {
          zero = Constant <value = int64 {0}> ()
          first = Equal (j, zero)
          r = If (first) <
            then_branch = t () => (float[3] a) { a = Add (q, half) },
            else_branch = e () => (float[3] b2) { b2 = Sub (q, twice) }
          >
          next2 = Identity (go2)
        }
      >
      next = Identity (go)
    }
  >
}""")
    def wanted(m, x):
        v = x
        for _ in range(m):
            half = v * 2 * x
            v = half
            for j in range(m):
                v = v + half if j == 0 else v - 2 * x
        return v

    check(model, wanted, *((np.array(trips, "int64"), np.array([1, 2, 3], "float32")) for trips in (0, 1, 3)))


def scan_model(n, attributes, opset=18):
    return model_of(f"""
agraph (float[2] s, float[{n}, 2] x, float[2, {n}] z) => (float[2] s2, float[{n}, 2] y, float[2, {n}] u) {{
  s2, y, u = Scan <num_scan_inputs = 2, {attributes}
    body = b (float[2] a, float[2] e, float[2] f) => (float[2] c, float[2] d, float[2] g) {{
      c = Add (a, e)
      d = Mul (c, f)
      g = Sub (e, f)
    }}
  > (s, x, z)
}}""", opset)


@pytest.mark.parametrize("n", [3, 40, "n"])
@pytest.mark.parametrize("attributes, backward", [
    ("scan_input_axes = [0, 1], scan_output_axes = [0, 1],", False),
    ("scan_input_axes = [0, -1], scan_input_directions = [1, 0], scan_output_axes = [0, -1], scan_output_directions = [0, 1],", True),
])
def test_scans_in_all_directions_along_all_axes(n, attributes, backward):
    def wanted(state, x, z):
        y, u = [], []
        for i in range(len(x)):
            e, f = x[len(x) - 1 - i if backward else i], z[:, i]
            state = state + e
            y.append(state * f)
            u.insert(0 if backward else len(u), e - f)
        return state, np.stack(y), np.stack(u, -1)

    random = np.random.default_rng(0)
    check(scan_model(n, attributes), wanted, *((random.random(2, "float32"), random.random((count, 2), "float32"), random.random((2, count), "float32"))
                                               for count in ([n] if isinstance(n, int) else [1, 4])))


SEQUENCES = """
agraph (float[2, 3] x, int64 at) => (float[2, 3] first, float[k, 3] all, int64 count, float[4, 2, 3] stacked, float[2, 3] chosen) {
  none = SequenceEmpty ()
  neg = Neg (x)
  relu = Relu (x)
  zero = Constant <value = int64 {0}> ()
  minus = Constant <value = int64 {-1}> ()
  a = SequenceInsert (none, x)
  b = SequenceInsert (a, neg, zero)
  c = SequenceInsert (b, relu, minus)
  d = SequenceConstruct (x, neg, relu, x)
  first = SequenceAt (c, zero)
  e = SequenceErase (c, minus)
  all = ConcatFromSequence <axis = 0> (e)
  count = SequenceLength (c)
  stacked = ConcatFromSequence <axis = 0, new_axis = 1> (d)
  chosen = SequenceAt (d, at)
}"""


def test_sequences_are_lists_while_importing():
    def sequences(x, at):
        relu = np.maximum(x, 0)
        return -x, np.concatenate([-x, relu]), 3, np.stack([x, -x, relu, x]), [x, -x, relu, x][at]

    check(model_of(SEQUENCES), sequences, (X, np.array(2, "int64")), (X, np.array(-1, "int64")))


def test_tensors_are_split_into_sequences():
    check(model_of("""
agraph (float[5, 3] x) => (float[3] row, float[2, 3] part, float[1, 3] last, seq(float[k, 3]) parts) {
  one = Constant <value = int64 {1}> ()
  minus = Constant <value = int64 {-1}> ()
  two = Constant <value = int64 {2}> ()
  lengths = Constant <value = int64[2] {3, 2}> ()
  rows = SplitToSequence <axis = 0, keepdims = 0> (x)
  row = SequenceAt (rows, one)
  pairs = SplitToSequence <axis = -2> (x, two)
  part = SequenceAt (pairs, one)
  last = SequenceAt (pairs, minus)
  parts = SplitToSequence (x, lengths)
}"""), lambda x: (x[1], x[2:4], x[4:], x[:3], x[3:]), (np.arange(15, dtype="float32").reshape(5, 3),))


def test_a_body_is_computed_for_every_element_of_a_sequence():
    check(model_of("""
agraph (float[2, 3] x) => (float[k, 3] y) {
  n = Neg (x)
  s = SequenceConstruct (x, n)
  m = SequenceMap <body = b (float[2, 3] a, float[2, 3] w) => (float[2, 3] c) { c = Add (a, w) }> (s, x)
  y = ConcatFromSequence <axis = 0> (m)
}"""), lambda x: np.concatenate([2 * x, 0 * x]), (X,))


def test_a_loop_that_carries_a_sequence_is_unrolled_or_refused():
    text = """
agraph (float[2, 3] x, int64 trips) => (float[k, 3] y) {{
  m = {trips}
  c = Constant <value = bool {{1}}> ()
  empty = SequenceEmpty ()
  s = Loop (m, c, empty) <
    body = b (int64 i, bool go, seq(float[2, 3]) v) => (bool next, seq(float[2, 3]) w) {{ w = SequenceInsert (v, x)  next = Identity (go) }}
  >
  y = ConcatFromSequence <axis = 0> (s)
}}"""
    check(model_of(text.format(trips="Constant <value = int64 {50}> ()")), lambda x, _: np.tile(x, (50, 1)), (X, np.array(1, "int64")))
    with pytest.raises(NotImplementedError, match="Loop .*computed at run time, and that carry a sequence"):
        module_of(model_of(text.format(trips="Identity (trips)")))


def test_optionals_are_their_elements():
    check(model_of("""
agraph (float[2, 3] x) => (float[2, 3] y, bool has, bool not) {
  o = Optional (x)
  n = Optional ()
  has = OptionalHasElement (o)
  not = OptionalHasElement (n)
  y = OptionalGetElement (o)
}"""), lambda x: (x, True, False), (X,))


def test_functions_are_their_nodes_with_the_attributes_of_the_call():
    functions = """
<domain: "my", opset_import: ["" : 18, "my" : 1]>
scaled <by> (x, w) => (y) { s = Constant <value_float : float = @by> ()  z = Mul (x, s)  y = Add (z, w) }
<domain: "my", opset_import: ["" : 18, "my" : 1]>
leaky <alpha : float = 0.5> (x) => (y) { a = my.scaled <by = 2.0> (x, x)  y = LeakyRelu <alpha : float = @alpha> (a) }
"""
    model = model_of("agraph (float[2, 3] x) => (float[2, 3] y, float[2, 3] z) { y = my.leaky (x)  z = my.leaky <alpha = 0.25> (x) }",
                     more=', "my" : 1', functions=functions)
    model.graph.node[0].name = "Call"
    module = check(model, lambda x: (np.where(x < 0, 1.5 * x, 3 * x), np.where(x < 0, 0.75 * x, 3 * x)), (X,))
    assert "leaky_relu" in str(module)


def test_functions_that_call_themselves_are_refused():
    functions = """
<domain: "my", opset_import: ["" : 18, "my" : 1]>
again (x) => (y) { y = my.again (x) }
"""
    with pytest.raises(tvm.TVMError, match="again"):
        module_of(model_of("agraph (float[2, 3] x) => (float[2, 3] y) { y = my.again (x) }", more=', "my" : 1', functions=functions))

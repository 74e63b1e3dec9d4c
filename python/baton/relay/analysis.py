"""Analyses of programs."""
import enum

from .._aliases import same as _same
from .._load import core, not_provided
from .._wanted import listed, wanted
from ..ir.module import IRModule
from ..ir.op import attrs_named
from ..ir.type import TypeKind
from ..ir.type_relation import TypeRelation
from ..runtime import cpu

__path__ = []  # of modules below it, baton.tvm says why they are missing
post_order_visit = core.post_order_visit


class Feature(enum.IntEnum):
    """The language features that detect_feature distinguishes."""

    fVar = 0
    fGlobalVar = 1
    fConstant = 2
    fTuple = 3
    fTupleGetItem = 4
    fFunction = 5
    fOp = 6
    fCall = 7
    fLet = 8
    fIf = 9
    fRefCreate = 10
    fRefRead = 11
    fRefWrite = 12
    fConstructor = 13
    fMatch = 14
    fGraph = 15
    fLetRec = 16


def well_formed(expr):
    """Whether no variable of `expr` is bound twice, or used before or outside what binds it, and every constructor's
    pattern has as many parts as the constructor has fields.

    For an IRModule also: no free variables or type variables in its functions, the functions and constructors that are
    named are there, and the definitions of its data types are well-kinded.
    """
    return not form_faults(expr)


def form_faults(expr, closed=False, mod=None):
    """Why `expr` (an expression or an IRModule) is not well_formed: a list of str, empty when it is.

    Parameters
    ----------
    closed : bool
        Free variables and free type variables are faults, too (always so in a module).
    mod : IRModule, optional
        Functions and constructors that are named must be in it.
    """
    return core.form_faults(expr, closed, mod)


def check_kind(t, mod=None):
    """The TypeKind of a type, a TypeData, or a TypeRelation, whose arguments are of kind Type.

    Raises TVMError when a part of `t` has not the kind that its place asks for, when something that is no data type gets
    arguments, or a data type gets another number of them than its definition in `mod` has, or is not defined there.
    """
    if not isinstance(t, TypeRelation):
        return core.check_kind(t, mod)
    for each in t.args:
        kind = check_kind(each, mod)
        if kind != TypeKind.Type:
            raise core.TVMError(f"type {each} is of kind {str(kind).rpartition('.')[2]}, but an argument of a type relation is of kind Type")
    return TypeKind.Constraint


def free_vars(expr):
    """Variables used but not bound in `expr`, in the order of their first use."""
    return core.free_vars(expr)


def bound_vars(expr):
    """Variables bound in `expr` by functions, lets and patterns, in the order of the text."""
    return core.bound_vars(expr)


def all_vars(expr):
    """All variables of `expr`, once each, in the order of the text."""
    return core.all_vars(expr)


def free_type_vars(expr, mod=None):
    """Type variables in `expr` (an expression or a type) that no function or function type in it declares."""
    return core.free_type_vars(expr)


def bound_type_vars(expr, mod=None):
    """Type variables that a function or a function type in `expr` declares."""
    return core.bound_type_vars(expr)


def all_type_vars(expr, mod=None):
    """All type variables in `expr`, an expression or a type, once each."""
    return core.all_type_vars(expr)


def unmatched_cases(match, mod=None):
    """The cases that no clause of the Match handles, as Patterns; empty when it handles all.

    Raises TVMError when a constructor in it is not defined in `mod`, or its pattern has another number of parts.
    """
    return core.unmatched_cases(match, mod)


def detect_feature(a, b=None):
    """The set of Features that an expression, or all functions of an IRModule, use.

    With two arguments, in either order: an expression, and the module that it belongs to (which is not looked into).
    """
    if isinstance(a, IRModule):
        a, b = b, a
    found = core.features_of_module(b) if a is None else core.features(a)
    return {Feature(each) for each in found}


def check_basic_block_normal_form(expr):
    """Whether every value that several scopes (bodies of functions, branches) share has a name in a scope around them:
    whether ToBasicBlockNormalForm would leave `expr` as it is."""
    from .transform import ToBasicBlockNormalForm

    module = IRModule.from_expr(expr)
    return core.structural_equal(ToBasicBlockNormalForm()(module), module)


def list_op_freqs(mod):
    """How many calls of each operator the functions of an IRModule hold: a dict of int by name."""
    return core.op_frequencies(mod)


def all_dtypes(expr):
    """The dtypes of all tensors in the types of `expr`, a set of str. Raises TVMError before InferType."""
    return set(core.all_dtypes(expr))


def list_fake_quantized_op_freqs(mod):
    """The number of calls of each operator between qnn.dequantize and qnn.quantize, where they compute in float: a dict of
    int by name."""
    return core.fake_quantized_frequencies(mod)


def get_total_mac_number(expr):
    """The multiplications with an addition of all nn.conv2d, nn.conv2d_transpose, nn.dense and nn.batch_matmul in `expr`.

    Other operators count when they have an attribute FMacCount: f(call) -> int (tvm.ir.register_op_attr).
    Raises TVMError before InferType, and for shapes that are not static.
    """
    return core.multiply_accumulates(expr, attrs_named("FMacCount"))


def count_layers(expr, valid_ops):
    """The maximum number of calls of the operators `valid_ops` (str) on a path through `expr` (or the main of an IRModule)."""
    return core.count_layers(expr["main"] if isinstance(expr, IRModule) else expr, listed("valid_ops", valid_ops))


def search_fc_transpose(expr):
    """The names of the variables w in nn.dense(x, transpose(w)), a list of str."""
    return core.transposed_dense_weights(expr)


def check_constant(expr):
    """Whether `expr` is a constant, or a tuple of constants."""
    return core.is_constant_value(expr)


def extract_intermdeiate_expr(mod, expr_id):
    """An IRModule whose main computes value `expr_id` of the main of `mod`: its calls, tuples and items of tuples, counted
    from 0 in the order of evaluation. UsageError when there are not so many."""
    return core.extract_value(mod, expr_id)


def extract_fused_functions(mod):
    """The primitive functions made by FuseOps(3): a dict of Function by structural hash (a str), without duplicates."""
    from .transform import FuseOps, InferType, SimplifyInference

    return core.primitive_functions(FuseOps(3)(SimplifyInference()(InferType()(mod))))


def get_calibration_data(mod, data):
    """The inputs and outputs of external compilers' functions in a partitioned module when main runs.

    Parameters
    ----------
    mod : IRModule
        Functions with the attribute Compiler are run by Baton.
    data : dict
        Arrays by the names of main's parameters.

    Returns
    -------
    dict
        By the GlobalVar of each function: {"inputs": [NDArray], "outputs": [NDArray]}.
    """
    from .build_module import create_executor
    from .transform import InferType, Inline

    module, values = core.calibration(mod)
    module = Inline()(InferType()(module))
    results = create_executor("graph", mod=module, device=cpu(0)).evaluate()(**data)
    return {mod.get_global_var(name): {"inputs": results[first:first + inputs],
                                       "outputs": results[first + inputs:first + inputs + outputs]}
            for name, first, inputs, outputs in values}


class CallGraph:
    """The call graph of a module. Functions are given as GlobalVar or str; ValueError for an unknown one."""

    def __init__(self, module):
        self._module, self._calls = module, core.FunctionCalls(module)

    @property
    def module(self):
        """The IRModule."""
        return self._module

    def _name(self, var):
        name = var if isinstance(var, str) else wanted("var", var, core.GlobalVar, "a GlobalVar or a str").name_hint
        self._module.get_global_var(name)
        return name

    def ref_count(self, var):
        """How many functions call it."""
        return self._calls.references(self._name(var))

    def global_call_count(self, var):
        """How many functions it calls."""
        return len(self._calls.callees(self._name(var)))

    def is_recursive(self, var):
        """Whether it calls itself directly."""
        name = self._name(var)
        return name in self._calls.callees(name)

    def print_var(self, var):
        """Its callers, their number, and its callees, as a str."""
        name = self._name(var)
        lines = [f"Call graph node: {name}, #refs = {self._calls.references(name)}"]
        lines += [f"  {name} calls {callee}" for callee in self._calls.callees(name)]
        return "\n".join(lines) + "\n"

    def __str__(self):
        return "\n".join(self.print_var(each) for each in self._module.get_global_vars())


class AnnotatedRegion:
    """A connected region between compiler_begins and compiler_ends.

    target: the compiler, a str; args: its compiler_begin calls; rets: its compiler_end calls; nodes: all that is in it,
    those calls too, in the order of evaluation.
    """

    def __init__(self, target, args, nodes, rets):
        self.target, self.args, self.nodes, self.rets = target, args, nodes, rets


class AnnotatedRegionSet:
    """The AnnotatedRegions of an expression; they can be counted and iterated over.

    `region_begin_op` and `region_end_op` are the operators annotation.compiler_begin and annotation.compiler_end;
    NotImplementedError for others.
    """

    def __init__(self, expr, region_begin_op, region_end_op):
        if (getattr(region_begin_op, "name", None), getattr(region_end_op, "name", None)) != ("annotation.compiler_begin", "annotation.compiler_end"):
            raise NotImplementedError("AnnotatedRegionSet: regions are between compiler_begin and compiler_end")
        self._regions = [AnnotatedRegion(*each) for each in core.annotated_regions(expr)]
        self._region_of = {node: region for region in self._regions for node in region.nodes}

    def __len__(self):
        return len(self._regions)

    def __iter__(self):
        return iter(self._regions)

    def get_region(self, expr):
        """The AnnotatedRegion that `expr` is in, or None."""
        return self._region_of.get(expr)


def process_params(expr, params, block_size, sparsity_threshold, layout=None, kernel_size=1):
    """Replaces weights with many zeros by matrices of blocks: relay.sparse_weights.process_params, for DenseToSparse and, with a
    layout, Conv2dToSparse."""
    from .sparse_weights import process_params as process

    return process(expr, params, block_size, sparsity_threshold, layout, kernel_size)


def _test_type_solver():
    """The type solver by itself, as TVM registers it for tests: f(name) gives the functions "Unify"(a, b), "Resolve"(type),
    "AddRelation"(relation) (also "AddConstraint"; of functions by ir.EnvFunc), and "Solve"()."""
    from ..ir.names import operator_of_relation

    solver = core.TypeSolver()

    def add(relation):
        solver.add_relation(operator_of_relation(relation.func), list(relation.args))

    functions = {"Unify": solver.unify, "Resolve": solver.resolve, "AddRelation": add, "AddConstraint": add, "Solve": solver.solve}
    return lambda name: functions[str(name)]


_same(globals(), "analysis", "annotated_regions", "call_graph", "feature", "sparse_conv2d", "sparse_dense")


def __getattr__(name):
    not_provided(__name__, name)

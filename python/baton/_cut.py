"""Extracts parts of programs (selected by graph.json nodes, a kernel or operators), or annotates them for an external compiler."""
import collections

from ._built import built_of
from ._load import core
from .ir import IRModule
from .runtime import ndarray


class Cut(collections.namedtuple("Cut", "module params inputs")):
    """The extracted part, a self-contained program; unpacks as (module, params, inputs).

    module : IRModule; `main` takes `inputs` and `params` by name and returns one tensor, or a tuple of them
    params, inputs : weights, and the actual input values of the part; arrays by name
    outputs : list of arrays, the part's actual outputs in the whole program
    operators : dicts in the order of evaluation: id (as in baton.origins), op, name, line, column, why
    left_out : the same for operators folded into the part but separated from it by others
    """

    def __new__(cls, extracted):
        self = super().__new__(cls, extracted.module, extracted.params, extracted.inputs)
        self.outputs = list(extracted.outputs.values())
        self.operators, self.left_out = extracted.operators["operators"], extracted.operators["left_out"]
        return self


def _text(what, chosen, number="{}"):
    # An id, a name, a range, or several of them, as text.
    if chosen is None:
        return ""
    if isinstance(chosen, str):
        return chosen
    if isinstance(chosen, bool):
        raise TypeError(f"{what}: an id or a name is expected, not {chosen!r}")
    if hasattr(chosen, "__index__"):
        return number.format(chosen.__index__())
    try:
        items = list(chosen)
    except TypeError:
        raise TypeError(f"{what}: an id, a name or a list of them is expected, not a {type(chosen).__name__}") from None
    if not items:
        raise ValueError(f"{what}: nothing is named")
    return ",".join(_text(what, item, number) for item in items)


def _program(lib_or_mod, wanted_by):
    built = built_of(lib_or_mod)
    if built is None and not isinstance(lib_or_mod, IRModule):
        raise TypeError(f"{wanted_by}: what relay.build returned or an IRModule is expected, not a {type(lib_or_mod).__name__}")
    return built or lib_or_mod


def _selection(wanted_by, nodes, kernel, operators):
    given = [name for name, value in (("nodes", nodes), ("kernel", kernel), ("operators", operators)) if value is not None]
    if len(given) != 1:
        raise ValueError(f"{wanted_by}: one of nodes=, kernel= and operators= says what is meant, not {' and '.join(given) or 'none'}")
    if kernel is not None and not isinstance(kernel, str):
        raise TypeError(f"{wanted_by}: kernel is a name, not a {type(kernel).__name__}")
    return kernel or "", _text("nodes", nodes), _text("operators", operators, "id:{}")


def _native(arrays):
    return {str(name): ndarray.to_native(value) for name, value in (arrays or {}).items()}


def extract(lib_or_mod, nodes=None, *, kernel=None, operators=None, params=None, inputs=None, as_built=False):
    """Extracts a part of what relay.build returned, or of a module, in the operators of the original module.

    Parameters
    ----------
    nodes : of graph.json: "5:9" (both and all between), an id, a name, "entry:17" (a tensor, as node_row_ptr counts them), or
        several: "3,5:9", [3, 5], range(3, 8)
    kernel : instead, the name of a kernel, as in graph.json
    operators : instead, operators of the source: "%3,%5", a name or a line as in `baton explain`, or ids as in baton.origins
    params : weights by name; those that relay.build was given are known
    inputs : values of the program's inputs; the others get fixed default values
    as_built : with `kernel`, the fused function as it was compiled, layouts and folded constants included

    Returns a Cut. Operators that a pass dropped between others, or folded into weights of the part, belong to it.

    Raises TVMError for names and ids that do not exist, for a part that leaves a hole (it says which), that cuts a branch or
    a loop, or that computes nothing; NotSupported for a part whose inputs or outputs are no tensors.
    """
    program = _program(lib_or_mod, "extract")
    chosen = _selection("extract", nodes, kernel, operators)
    if not as_built:
        return Cut(core.extract(program, *chosen, _native(params), _native(inputs)))
    if kernel is None or isinstance(program, IRModule):
        raise ValueError("extract: as_built is for a kernel= of what relay.build returned")
    return Cut(core.extract_kernel(program, kernel, _native(inputs)))


def mark(lib_or_mod, nodes=None, *, compiler, kernel=None, operators=None, params=None):
    """The original module with a part annotated for `compiler`: annotation.compiler_begin where a value enters it,
    annotation.compiler_end where one leaves it. MergeCompilerRegions and PartitionGraph make functions of it, which
    relay.ext.<compiler> builds.

    The part is selected as for extract(); `params` are needed only for a module whose optimisation depends on weights.
    """
    if not isinstance(compiler, str):
        raise TypeError(f"mark: compiler is a name, not a {type(compiler).__name__}")
    program = _program(lib_or_mod, "mark")
    return core.mark(program, *_selection("mark", nodes, kernel, operators), compiler, _native(params))

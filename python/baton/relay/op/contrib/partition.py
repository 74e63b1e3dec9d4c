"""The BYOC flow for every backend that ships: what a target supports becomes regions, the rest stays with the host.

The names are Baton's own; TVM has one helper per library (partition_for_dnnl).
"""
from ...._load import core


def operators(target):
    """The names of the operators that AnnotateTarget gives to a target outside of composites, sorted.

    `target`: the name of a library ("dnnl") or a target ("sim -sheet=npu"). Code generators without a list ("opencl") take
    what their kernels take: [].
    """
    return sorted(core.backend_operators(core.target_backend(target)))


def refusals(mod, target, lower_qnn=True):
    """Why calls of operators in `main` are not given to a target.

    Parameters
    ----------
    mod : IRModule
        Not partitioned.
    target : str
        As for operators().
    lower_qnn : bool
        As for partition_for().

    Returns
    -------
    list of (Call, str)
        In post-order: the calls that partition_for() leaves with the host, wholly or in part.
    """
    from ....ir.op import Op
    from ...analysis import post_order_visit
    from ...expr import Call
    from ...transform import InferType

    name, found = core.target_backend(target), []
    typed = InferType()(mod)
    parted, taken = core.partition_for(typed, name, "default", lower_qnn, True), set()
    for each in parted.get_global_vars():
        if "Compiler" in parted[each].attrs:
            taken.update(core.origin_keys(parted[each], True))

    def is_operator(node):
        return isinstance(node, Call) and isinstance(node.op, Op)

    # What became several operators may be split between the two.
    post_order_visit(parted["main"], lambda node: taken.difference_update(core.origin_keys(node)) if is_operator(node) else None)

    def visit(node):
        if is_operator(node):
            why = core.backend_refusal(name, node)
            keys = core.origin_keys(node)
            if why and not (keys and taken.issuperset(keys)):
                found.append((node, why))

    post_order_visit(typed["main"], visit)
    return found


def partition_for(mod, target, params=None, mod_name="default", lower_qnn=True, merge=True):
    """Outlines what a target supports as regions `tvmgen_<mod_name>_<target>_main_<n>`, for relay.build.

    Quantised operators become integer ones first, and normalisations are folded into convolutions, so that what is compared
    with the target's operators is what becomes its kernels.

    Parameters
    ----------
    mod : IRModule
        Shapes must be static.
    target : str or Target
        "dnnl", "opencl", "sim -sheet=npu", "sim -sheet=/path/sheet.json".
    params : dict of str to NDArray, optional
        Values of parameters of `main`.
    mod_name : str
        Part of the names of regions.
    merge : bool
        Make one region of neighbouring ones. False for a code generator that takes one operator or composite at a time.
    lower_qnn : bool
        Make integer operators of quantised ones. False for a library with operators or patterns of its own for these.

    Returns
    -------
    IRModule
        With one function per region. Give relay.build the target too where it is a device: target=["llvm", target].

    Raises
    ------
    TVMError
        For a target that there is not, or a device sheet with nonsense.
    """
    if params:
        from ...build_module import bind_params_by_name

        mod = mod.copy()  # the caller's stays as it is
        mod["main"] = bind_params_by_name(mod["main"], params)
    return core.partition_for(mod, core.target_backend(str(target)), mod_name, lower_qnn, merge)

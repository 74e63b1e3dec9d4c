"""Mappings: each operator on the backend where the whole model runs fastest, `baton map` from Python."""
import os

from ._load import core
from ._predict import Predictor
from ._options import takes
from ._wanted import wanted
from .runtime.ndarray import native_arrays

MapResult = core.MapResult
MapResult.report = property(lambda self: self._report(),
                            doc="dict, as `baton map --json` prints it: models (each with modelled_us, measured_us, verified_us), chosen, "
                                "speedup and plus_minus (None: nothing is claimed), ...")
MapResult.mapping = property(lambda self: self._mapping(),
                             doc="dict: operators (each with id, operator, backend, us, alternatives), as in the file of save()")


def _save(self, path):
    """Writes a file; its name says what: NAME.html one page (graph by backend, alternatives, timeline, sweeps, other prices of transfers, for which
    mappings are searched first), any other name the mapping as JSON, to edit, and for apply_mapping, `baton partition --mapping` and
    `baton explain --mapping`. OSError for a path that cannot be written."""
    bytes_ = self._page() if os.fspath(path).endswith(".html") else self._mapping_text().encode()
    with open(path, "wb") as file:
        file.write(bytes_)


MapResult.save = _save


@takes(core.map_options())
def map(mod, params=None, targets=("llvm", "dnnl"), pin=None, forbid=None, memory=None, predictor=None, name="model", sweep=None, prices=None,  # noqa: A001  pylint: disable=redefined-builtin,too-many-arguments
        measure=None, *, options):
    """Places each operator on one of several backends, so that the whole model runs fastest.

    Each backend alone and the best mappings are built and measured in turns. The fastest is measured again beside the best single backend, and
    kept when it is faster by more than noise; the speed-up reported is of these rounds.

    Parameters
    ----------
    mod : IRModule with static shapes, not partitioned; built under the current PassContext
    params : weights by name; those not given are inputs, and copied to devices at each run
    targets : names of backends: "llvm" (always among them), "dnnl", "openblas", "opencl", "sim_npu", ...
    pin, forbid : dict of a backend's name to a list of operator ids, as in `baton.origins`: computed there, or not there
    memory : dict of a device's backend to bytes, instead of what its sheet says
    predictor : a Predictor, or its path: costs are predicted, nothing is compiled or run
    name : of the model in the report
    sweep : dict of "link", "devices", "memory", "compute" to (least, most): what would be with links, or devices, so many times as fast, so many of
        each device, so many times their memory; `report["sweeps"]`
    prices : a Predictor, or its path, of parts of fused kernels, beside measured prices; without it those that matter are measured
    measure : False: nothing is compiled or run, and all costs come from `store` and `predictor`; by default False with `predictor`

    Returns a MapResult: `mod` (partitioned, for relay.build), `report`, `mapping`, `save(path)`, `why(operator)`; printed, it is a table.
    Raises TVMError for rules that contradict each other, an unknown backend, an unknown objective, costs that are not known and limits of a
    sweep that make no sense; ValueError for an operator that there is not, and for `predictor` beside `prices` or measure=True.
    """
    if predictor is not None and (prices is not None or measure):
        raise ValueError("predictor predicts all costs, so that nothing is measured: give prices for those of parts only")
    opened = None
    for kind, given in (("predictor", predictor), ("prices", prices)):
        if given is not None and not isinstance(given, (str, os.PathLike)):
            opened, given = wanted(kind, given, Predictor, "a Predictor or its path"), "given"
        options[kind] = given
    rules = [(list(operators), backend, banned) for given, banned in ((pin, False), (forbid, True))
             for backend, operators in (given or {}).items()]
    sweeps = [f"{what}={float(least)!r}:{float(most)!r}" for what, (least, most) in (sweep or {}).items()]
    options |= {"targets": targets, "measure": measure, "sweep": sweeps}
    return core.map(options, mod, native_arrays(params), rules, dict(memory or {}), opened, name)


def apply_mapping(mod, mapping, params=None):
    """The regions of a mapping that was saved, perhaps edited: `baton partition --mapping`.

    Parameters
    ----------
    mod : the IRModule that it was made of
    mapping : path of the file, or a dict like MapResult.mapping
    params : weights by name: they become constants

    Returns an IRModule. Raises TVMError, naming what differs, for a mapping of another program and a damaged one; warns of one that
    was found on another machine or at another optimization level.
    """
    name = "given"
    if not isinstance(mapping, dict):
        name = os.fspath(mapping)
        with open(name, encoding="utf-8") as file:
            mapping = file.read()
    return core.apply_mapping(mod, native_arrays(params), mapping, name)

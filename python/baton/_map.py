"""Mappings: each operator on the backend where the whole model runs fastest, `baton map` from Python."""
import json
import os

from ._load import core
from ._predict import Predictor
from ._wanted import wanted
from .runtime import ndarray

MapResult = core.MapResult
MapResult.report = property(lambda self: json.loads(self._report()),
                            doc="dict, as `baton map --json` prints it: models (each with modelled_us, measured_us), chosen, speedup, ...")
MapResult.mapping = property(lambda self: json.loads(self._mapping()),
                             doc="dict: operators (each with id, operator, backend, us, alternatives), as in the file of save()")


def _save(self, path):
    """Writes a file; its name says what: NAME.html one page (graph by backend, alternatives, timeline, sweeps, other prices of transfers, for which
    mappings are searched first), any other name the mapping as JSON, to edit, and for apply_mapping, `baton partition --mapping` and
    `baton explain --mapping`. OSError for a path that cannot be written."""
    bytes_ = self._page() if os.fspath(path).endswith(".html") else self._mapping().encode()
    with open(path, "wb") as file:
        file.write(bytes_)


MapResult.save = _save


def _native(params):
    return {each: ndarray.to_native(value) for each, value in (params or {}).items()}


def map(mod, params=None, targets=("llvm", "dnnl"), pin=None, forbid=None, memory=None, max_regions=0, threads=0,  # noqa: A001  pylint: disable=redefined-builtin,too-many-arguments
        seconds=60, tries=4, predictor=None, name="model", objective="serial", sweep=None, variants=True, prices=None, store=None, measure=None,
        for_device=""):
    """Places each operator on one of several backends, so that the whole model runs fastest.

    Each backend alone and the best mappings are built and measured in turns; the fastest is kept.

    Parameters
    ----------
    mod : IRModule with static shapes, not partitioned; built under the current PassContext
    params : weights by name; those not given are inputs, and copied to devices at each run
    targets : names of backends: "llvm" (always among them), "dnnl", "openblas", "opencl", "sim_npu", ...
    pin, forbid : dict of a backend's name to a list of operator ids, as in `baton.origins`: computed there, or not there
    memory : dict of a device's backend to bytes, instead of what its sheet says
    max_regions : at most so many regions; 0: any number
    threads : of the runs; 0: the default of all runs
    seconds : for measuring, beyond compiling
    tries : mappings that are built and measured, at most
    predictor : a Predictor, or its path: costs are predicted, nothing is compiled or run
    for_device : with `predictor`: map for the device of this name, and not for this machine
    variants : whether layers of the processor are tried in other layouts and by other algorithms, too: plain, blocked, Winograd's
    prices : a Predictor, or its path, of parts of fused kernels, beside measured prices; without it those that matter are measured
    store : path of a store of measurements of this machine: prices of these very kernels where nothing is measured, else of parts of kernels
    measure : False: nothing is compiled or run, and all costs come from `store` and `predictor`; by default False with `predictor`
    name : of the model in the report
    objective : what is made small: "serial" (the time of one input, one thing after the other), "latency" (of one input with devices and
        links side by side), "throughput" (the time per input of a stream) or "energy" (of the machine, by its counters). Devices side by
        side are run so; with simulated ones among the targets kernels are timed, and their overlap is computed.
    sweep : dict of "link", "devices", "memory", "compute" to (least, most): what would be with links, or devices, so many times as fast, so many of
        each device, so many times their memory; `report["sweeps"]`

    Returns a MapResult: `mod` (partitioned, for relay.build), `report`, `mapping`, `save(path)`, `why(operator)`; printed, it is a table.
    Raises TVMError for rules that contradict each other, an unknown backend, an unknown objective, costs that are not known and limits of a
    sweep that make no sense; ValueError for an operator that there is not, and for `predictor` beside `prices` or measure=True.
    """
    if isinstance(targets, str):
        targets = targets.split(",")
    measure = predictor is None if measure is None else measure
    if predictor is not None and (prices is not None or measure):
        raise ValueError("predictor predicts all costs, so that nothing is measured: give prices for those of parts only")
    predictor = prices if predictor is None else predictor
    if predictor is not None:
        if isinstance(predictor, (str, os.PathLike)):
            predictor = Predictor.load(os.fspath(predictor))
        wanted("predictor", predictor, Predictor, "a Predictor or its path")
    rules = [(list(operators), backend, banned) for given, banned in ((pin, False), (forbid, True))
             for backend, operators in (given or {}).items()]
    sweeps = [f"{what}={float(least)!r}:{float(most)!r}" for what, (least, most) in (sweep or {}).items()]
    return core.map(mod, _native(params), list(targets), rules, dict(memory or {}), max_regions, threads, seconds, tries, predictor, name, objective,
                    sweeps, variants, os.fspath(store) if store else "", measure, for_device)


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
    if isinstance(mapping, dict):
        text, name = json.dumps(mapping), "given"
    else:
        name = os.fspath(mapping)
        with open(name, encoding="utf-8") as file:
            text = file.read()
    return core.apply_mapping(mod, _native(params), text, name)

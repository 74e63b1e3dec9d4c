"""Predicted times: of a model that was never run, by what was measured of others."""
import json
import os

from . import _profile  # noqa: F401  pylint: disable=unused-import  # completes ProfileReport
from ._load import core
from ._wanted import wanted
from .runtime import ndarray

Predictor = core.Predictor
Predictor.card = property(lambda self: json.loads(self._card()),
                          doc="dict: version, date, machines, threads, families (models of each), rows, kernels, models, left_out (rows by "
                          "reason), without_clock (times that do not say the core's clock), accuracy (of evaluate=True, else None)")


def _importance(self, backend="llvm"):
    """{feature: part of the splits of the trees of that backend}, the most used first. KeyError for a backend that it lacks."""
    return dict(self._importance(backend))


Predictor.importance = _importance


def train(store, path=None, backend=None, source=None, evaluate=False, rounds=None, seed=1, threads=2, name=""):
    """Trains a predictor with the measurements of a store: `baton train`.

    Parameters
    ----------
    store : path of the store's file
    path : where to save it; None: nowhere
    backend : kernels of this backend only ("llvm", "dnnl", "opencl"); None: all that are there
    source : a Predictor of another device, or its path: it is carried over to the device of the store
    evaluate : whether to hold models and families out first: `card["accuracy"]` then holds the table. Takes some twenty times as long
    rounds : trees of each part of the predictor; None: as many as `baton train` takes
    seed : the same seed and store give the same predictor
    threads : for training
    name : of the device, for `for_device`; empty: those of the machines in the store

    Returns a Predictor. Raises TVMError for a store with too few kernels, and where XGBoost is not installed.
    """
    if isinstance(source, (str, os.PathLike)):
        source = Predictor.load(os.fspath(source))
    _find_xgboost()
    made = core.train(os.fspath(store), backend or "", source, bool(evaluate), rounds, seed, threads, name)
    if path is not None:
        made.save(os.fspath(path))
        made = Predictor.load(os.fspath(path))
    return made


def _find_xgboost():
    """Names the library of the wheel `xgboost`, if there is one, for the core to load where the system has none."""
    if "BATON_XGBOOST" in os.environ:
        return
    import importlib.util

    found = importlib.util.find_spec("xgboost")
    for folder in (found.submodule_search_locations or ()) if found else ():
        library = os.path.join(folder, "lib", "libxgboost.so")
        if os.path.exists(library):
            os.environ["BATON_XGBOOST"] = library
            return


def predict(mod, predictor=None, params=None, store=None, threads=0, level=0.9, name="model", for_device=""):
    """The times that profiling `mod` would find, predicted: nothing is compiled or run, and no device is needed.

    Parameters
    ----------
    mod : IRModule with static shapes; built under the current PassContext for the device that the predictor was trained on
    predictor : a Predictor, or its path; None: one that comes with Baton
    params : weights by name; those not given are inputs
    store : path of a store: its measurements of these very kernels answer instead of predictions
    threads : of the runs; 0: the most that the predictor was trained with
    level : of the intervals
    name : of the model in the report
    for_device : predict for the device of this name ("zen5"), and not for this machine

    Returns a ProfileReport: its `kernels` have `basis` ("predicted" or "measured"), `low_us`, `high_us`, and `out_of_range` where a
    time is only a guess. ValueError for numbers out of range, TVMError for a target or kernel that the predictor does not know,
    and for one that was not trained on this machine, unless `for_device` names its device.
    """
    if predictor is None:
        predictor = Predictor.of_device(for_device)
    if isinstance(predictor, (str, os.PathLike)):
        predictor = Predictor.load(os.fspath(predictor))
    wanted("predictor", predictor, Predictor, "a Predictor or its path")
    native = {each: ndarray.to_native(value) for each, value in (params or {}).items()}
    return core.predict(mod, native, predictor, os.fspath(store) if store else "", threads, level, name, for_device)

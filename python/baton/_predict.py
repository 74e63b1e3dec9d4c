"""Predicted times: of a model that was never run, by what was measured of others."""
import os

import numpy as np

from . import _profile  # noqa: F401  pylint: disable=unused-import  # completes ProfileReport
from ._load import core
from ._options import takes
from ._wanted import wanted
from .relay.transform import FreezeShapes
from .runtime.ndarray import native_arrays

Predictor = core.Predictor
Predictor.card = property(lambda self: self._card(),
                          doc="dict: version, date, machines, threads, families (models of each), rows, kernels, models, left_out (rows by "
                          "reason), without_clock (times that do not say the core's clock), accuracy (of evaluate=True, else None)")


def _importance(self, backend="llvm"):
    """{feature: part of the splits of the trees of that backend}, the most used first. KeyError for a backend that it lacks."""
    return dict(self._importance(backend))


Predictor.importance = _importance


@takes(core.train_options())
def train(store, path=None, source=None, *, options):
    """Trains a predictor with the measurements of a store: `baton train`.

    Parameters
    ----------
    store : path of the store's file
    path : where to save it; None: nowhere
    source : a Predictor of another device, or its path: it is carried over to the device of the store

    Returns a Predictor. Raises TVMError for a store with too few kernels, and where XGBoost is not installed.
    """
    if isinstance(source, (str, os.PathLike)):
        source = Predictor.load(os.fspath(source))
    _find_xgboost()
    made = core.train({"store": store, **options}, source)
    if path is not None:
        made.save(os.fspath(path))
        made = Predictor.load(os.fspath(path))
    return made


@takes(core.probe_options())
def probe(progress=None, *, options):
    """Makes a predictor of this machine in five minutes, from one of another machine: `baton probe`. `baton.predict` and
    `baton.map(measure=False)` find it by themselves.

    Parameters
    ----------
    progress : called with (phase, done, total, seconds left or None)

    Returns a dict: predictor (the path of its file; None after an interrupt: the same call goes on from there), store (what was measured),
    device, from (the predictor that was carried over), networks and kernels (chosen), rows, left_out (rows by reason), spoiled (the part
    of the rows that other programs spoiled), seconds, partial ("interrupted", "time", or None), card (of the predictor, with the
    errors on what was held out), ... KeyboardInterrupt before anything is measured. Raises TVMError where the machine is busy, unless `under_load`, where XGBoost is not installed,
    and where the file cannot be written.
    """
    _find_xgboost()
    return core.probe(options, progress)


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


@takes(core.predict_options())
def predict(mod, predictor=None, params=None, name="model", shapes=None, *, options):
    """The times that profiling `mod` would find, predicted: nothing is compiled or run, and no device is needed.

    Parameters
    ----------
    mod : IRModule; built under the current PassContext for the device that the predictor was trained on
    predictor : a Predictor, or its path; None: the one of this machine that `baton probe` made, or that comes with Baton
    params : weights by name; those not given are inputs
    name : of the model in the report
    shapes : of a module whose extents are open, what relay.transform.FreezeShapes takes: {"x": (16, 64)} or {"n": 16}. The times
        are those of kernels built for these, as a note says; a curve is a call for each point

    Returns a ProfileReport: its `kernels` have `basis` ("predicted" or "measured"), `low_us`, `high_us`, and `out_of_range` where a
    time is only a guess. ValueError for numbers out of range, TVMError for a target or kernel that the predictor does not know,
    and for one that was not trained on this machine, unless `for_device` names its device.
    """
    if isinstance(predictor, (str, os.PathLike)):
        options, predictor = {**options, "predictor": predictor}, None
    elif predictor is not None:
        wanted("predictor", predictor, Predictor, "a Predictor or its path")
    given = []
    if shapes:
        mod = FreezeShapes(shapes)(mod)
        given = [f"{what}={','.join(map(str, np.atleast_1d(extents)))}" for what, extents in shapes.items()]
    return core.predict(options, predictor, mod, native_arrays(params), name, given)

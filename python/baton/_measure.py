"""Campaigns: measurements of models, variations of them and operators, into the store."""
import json
import math
import os

from ._load import core


def measure(*models, store, families=None, patterns=None, backends=None, threads=None, caches=None, design=None, campaign="default",
            seed=None, max_hours=None, wait=60.0, on="local", progress=None):
    """Measures into a store what `models` and the other arguments name: `baton measure`.

    Parameters
    ----------
    models : names of workloads, or paths of .relay files; measured whole and kernel by kernel
    store : path of the store's file; it is made where there is none
    families : {"resnet": 40, "all": 10}: so many random variations of each family
    patterns : how many operators and fused functions with sizes like those in models
    backends, threads, caches : lists: ["llvm", "dnnl"], [1, 2], ["hot", "flushed"]; every combination is measured
    design : dict, or the path of a JSON file (docs/design/0038-campaigns.md); the other arguments override it
    campaign : its name; the same one goes on where it ended
    seed : of what is drawn, and of the order
    max_hours : ends after so long; None: when everything is measured
    wait : seconds, the longest wait for other programs to leave the machine alone
    on : where to measure: "local"
    progress : called with (phase, done, total, seconds left or None)

    Returns a dict: configurations, finished_before, measured, failed, failures, rows (new ones), per_hour, partial (why some are
    missing: "interrupted", "time", or None), notes, ... Raises TVMError for an unknown name, and for a store that cannot be written.
    """
    if isinstance(design, (str, os.PathLike)):
        with open(design, encoding="utf-8") as file:
            design = json.load(file)
    made = dict(design or {})
    given = {"models": [*made.get("models", []), *models], "patterns": patterns, "backends": backends, "threads": threads,
             "caches": caches, "seed": seed}
    if families is not None:
        given["families"] = [{"family": name, "count": count} for name, count in families.items()]
    made.update({name: value for name, value in given.items() if value is not None})
    seconds = math.inf if max_hours is None else max_hours * 3600
    return json.loads(core.measure(json.dumps(made), os.fspath(store), campaign, seconds, wait, on, progress))

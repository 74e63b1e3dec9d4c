"""Campaigns: measurements of models, variations of them and operators, into the store."""
import json
import math
import os
import sys

from ._load import core


def measure(*models, store, families=None, patterns=None, backends=None, threads=None, caches=None, opt_level=None, design=None,
            campaign="default", seed=None, max_hours=None, retry_failed=False, wait=60.0, on="local", worker_wait=60.0, runner=None, key=None,
            tls_ca_file=None, tls_cert=None, tls_key=None, progress=None):
    """Measures into a store what `models` and the other arguments name: `baton measure`.

    Parameters
    ----------
    models : names of workloads, or paths of .relay files; measured whole and kernel by kernel
    store : path of the store's file; it is made where there is none
    families : {"resnet": 40, "all": 10}: so many random variations of each family
    patterns : how many operators and fused functions with sizes like those in models
    backends, threads, caches : lists: ["llvm", "dnnl"], [1, 2], ["hot", "flushed"]; every combination is measured
    opt_level : of the builds; None: 3
    design : dict, or the path of a JSON file (docs/design/0038-campaigns.md); the other arguments override it
    campaign : its name; the same one goes on where it ended
    seed : of what is drawn, and of the order
    max_hours : ends after so long; None: when everything is measured
    retry_failed : whether what has failed before is tried again
    wait : seconds, the longest wait for other programs to leave the machine alone
    on : where to measure: "local", "ssh://HOST,...", "dask://SCHEDULER:PORT", "slurm" (docs/guide.md, Campaigns)
    worker_wait : seconds, the longest wait for a machine of `on` to come
    runner : path of baton-runner on these machines; None: in PATH there
    key : path of a secret key that signs what is sent to them
    tls_ca_file, tls_cert, tls_key : paths, as those of distributed; with them connections must be encrypted
    progress : called with (phase, done, total, seconds left or None)

    Returns a dict: configurations, finished_before, retried, measured, failed, failures, rows (new ones), per_hour, partial (why some are
    missing: "interrupted", "time", or None), notes, ... Raises TVMError for an unknown name, for a store that cannot be written, and
    where there is no such place or machine.
    """
    if isinstance(design, (str, os.PathLike)):
        with open(design, encoding="utf-8") as file:
            design = json.load(file)
    made = dict(design or {})
    given = {"models": [*made.get("models", []), *models], "patterns": patterns, "backends": backends, "threads": threads,
             "caches": caches, "opt_level": opt_level, "seed": seed}
    if families is not None:
        given["families"] = [{"family": name, "count": count} for name, count in families.items()]
    made.update({name: value for name, value in given.items() if value is not None})
    seconds = math.inf if max_hours is None else max_hours * 3600
    files = {"runner": runner, "key": key, "tls_ca_file": tls_ca_file, "tls_cert": tls_cert, "tls_key": tls_key}
    files = {name: os.fspath(path) for name, path in files.items() if path is not None}
    files["python"] = os.environ.get("BATON_PYTHON") or sys.executable
    return json.loads(core.measure(json.dumps(made), os.fspath(store), campaign, retry_failed, seconds, on, files, wait, worker_wait,
                                   progress))

"""Campaigns: measurements of models, variations of them and operators, into the store."""
import json
import os
import sys

from ._load import core
from ._options import takes


@takes(core.measure_options())
def measure(*models, families=None, design=None, progress=None, options):
    """Measures into a store what `models` and the other arguments name: `baton measure`.

    Parameters
    ----------
    models : names of workloads, or paths of .relay files; measured whole and kernel by kernel
    families : {"resnet": 40, "all": 10}: so many random variations of each family; or their names, as a text
    design : dict, or the path of a JSON file (docs/design/0038-campaigns.md); the other arguments override it
    progress : called with (phase, done, total, seconds left or None)

    Returns a dict: configurations, finished_before, retried, measured, failed, failures, rows (new ones), per_hour, partial (why some are
    missing: "interrupted", "time", or None), notes, ... Raises TVMError for an unknown name, for a store that cannot be written, and
    where there is no such place or machine.
    """
    if isinstance(design, (str, os.PathLike)):
        with open(design, encoding="utf-8") as file:
            design = json.load(file)
    design = dict(design or {})
    if isinstance(families, str):
        options["families"] = families
    elif families is not None:
        design["families"] = [{"family": name, "count": count} for name, count in families.items()]
    return core.measure(options, list(models), design, os.environ.get("BATON_PYTHON") or sys.executable, progress)

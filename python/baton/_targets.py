"""What this machine can run, and how fast its devices and the links between them are."""
from ._load import core
from ._wanted import wrong


def targets(*also, quick=False, again=False, threads=0):
    """Every backend with its device, or the reason why it cannot be used, with measured rates: `baton targets`.

    Parameters
    ----------
    also : str
        Targets to list beside those that ship, such as "sim -sheet=/path/sheet.json".
    quick : bool
        Only what is there: nothing is measured.
    again : bool
        Measure although the cache has rates of the last 24 hours.
    threads : int
        Of the processor's peaks; 0: as many as it has.

    Returns
    -------
    dict
        `targets`: name, doc, runs, why_not, device (name, device_type, simulated, memory_bytes, measured: peak_gops by element
        type, memory_gbytes_per_s, launch_us); `links`: from, to, simulated, latency_us, gbytes_per_s_1mb, gbytes_per_s_64mb;
        `measured_s` (seconds since 1970), `version`, `host`, `machine`, `threads`. What was measured has `median`, `spread` (from
        the 10th to the 90th percentile, as a part of the median) and `samples`; None: not measured.

    Raises
    ------
    TVMError
        For a target that there is not.
    """
    if not isinstance(threads, int) or threads < 0:
        raise wrong("threads", "an int of 0 or more", threads)
    return core.survey_targets([str(each) for each in also], quick, again, threads)


def load_backend(path):
    """Loads a backend of your own: a shared library with the tables of baton_compiler.h, baton_backend.h, or both.

    Parameters
    ----------
    path : str
        Of the library. It stays loaded until the process ends; loading it again has no effect.

    Returns
    -------
    str
        The backend's name, for AnnotateTarget, MergeComposite and relay.op.contrib.partition.partition_for.

    Raises
    ------
    TVMError
        When it cannot be loaded, is no backend, was built for another version, or has a name that is taken.
    """
    return core.load_backend(str(path))


def get_include():
    """The folder to compile such a library against: `cc -I`. It has baton/codegen/baton_compiler.h and baton/runtime/baton_backend.h."""
    import pathlib

    here = pathlib.Path(__file__).resolve().parent
    folders = [here / "include", here.parents[1] / "src"]  # installed; beside its sources
    return str(next(each for each in folders if (each / "baton" / "runtime" / "baton_backend.h").exists()))

"""Information about this build of Baton."""


def libinfo():
    """Facts about the build, by TVM's names: a dict of str."""
    from . import __version__

    return {"TVM_VERSION": "0.11.1", "BATON_VERSION": __version__, "USE_LLVM": "ON", "USE_CUDA": "OFF", "USE_GRAPH_EXECUTOR": "ON",
            "USE_RPC": "OFF", "USE_MICRO": "OFF", "USE_OPENMP": "none", "GIT_COMMIT_HASH": ""}


def describe():
    """Prints them."""
    for name, value in libinfo().items():
        print(f"{name}: {value}")

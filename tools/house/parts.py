"""What `./baton setup NAME` makes: what only some calls need, so the program asks for it when it does (support/clone.h)."""
import ctypes.util
import dataclasses
import glob
import os

from . import debian

PLUGINS = os.path.join("src", "baton", "runtime", "plugins")
LABORATORY = "baton_lab_verbs"
ICD_FILES = "/etc/OpenCL/vendors/*.icd"  # how drivers of OpenCL announce themselves


@dataclasses.dataclass
class Part:
    """CMake's targets, the sets of wheels (wheels.py), and Debian's packages: those that it is built with, and those that it
    runs with, which are useful, but nothing is built with."""
    doc: str
    targets: tuple = ()
    wheels: tuple = ()
    packages: tuple = ()
    drivers: tuple = ()

    def missing_drivers(self):
        if "pocl-opencl-icd" in self.drivers and (glob.glob(ICD_FILES) or os.environ.get("OCL_ICD_VENDORS")):
            return ()  # another driver will do
        if "libopenblas0-pthread" in self.drivers and ctypes.util.find_library("openblas"):
            return ()
        return self.drivers


PACKAGES = {"opencl": debian.OPENCL}
DRIVERS = {"opencl": ("pocl-opencl-icd",), "openblas": ("libopenblas0-pthread",)}


def plugins(root):
    """The names of the plug-ins: one folder each."""
    return sorted(os.listdir(os.path.join(root, PLUGINS))) if os.path.isdir(os.path.join(root, PLUGINS)) else []


def known(root):
    """All parts by name."""
    found = {name: Part("the plug-in " + name, ("baton_plugin_" + name,), packages=PACKAGES.get(name, ()),
                        drivers=DRIVERS.get(name, ()))
             for name in plugins(root)}
    found["python"] = Part("the Python package's compiled module, and the wheels that it works with", ("_baton",), wheels=("data",),
                           packages=debian.LABORATORY)
    found["lab"] = Part("the laboratory: the verbs bundle, map, measure, predict, store, train and tune", (LABORATORY,),
                        packages=debian.LABORATORY)
    found["runner"] = Part("baton-runner, which measures for `baton measure`", ("baton-runner",))
    found["peers"] = Part("the engines of `baton bench --peers`", wheels=("data", "onnx", "bench"))
    found["data"] = Part("wheels for Parquet files and farms: numpy, pandas, pyarrow, Dask, ...", wheels=("data",))
    return found


def built_before(build):
    """Targets of parts that are there: they are brought up to date together with the program, which exchanges data with them.
    Without the Python module, which takes long and is only called by Python."""
    there = [name for name in plugins(build.root)
             if os.path.exists(build.library("baton_plugin_" + name))]
    targets = ["baton_plugin_" + name for name in there]
    files = {LABORATORY: build.library(LABORATORY), "baton-runner": os.path.join(build.folder, "baton-runner")}
    return targets + [name for name, file in files.items() if os.path.exists(file)]


def usage(parts, unknown):
    lines = [f"baton setup: there is no part `{unknown}`"] if unknown else []
    lines += ["usage: ./baton setup [PART...]", "installs and builds what every call needs, or these parts:"]
    return "\n".join(lines + [f"  {name:10} {part.doc}" for name, part in parts.items()])

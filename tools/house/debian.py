"""The Debian packages that builds need."""
import os
import re
import shutil
import subprocess
import sys

from .report import Failure, explain

PACKAGES = ("g++", "python3-venv", "python3-dev", "ccache", "libcli11-dev", "libzip-dev", "zlib1g-dev")
# What only some parts are built with (parts.py).
LABORATORY = (
    "libsqlite3-dev",
    "libxgboost-dev",  # trains predictors
    "coinor-libcbc-dev",  # CBC, for mappings with limits
)
OPENCL = ("ocl-icd-opencl-dev",)  # OpenCL's headers, for its plug-in
# For ./baton test, besides those of all parts: a driver of OpenCL that runs it on the processor, and OpenBLAS.
TESTS = ("libgtest-dev", "libgmock-dev", "libbenchmark-dev", "pocl-opencl-icd", "libopenblas0-pthread")
SLOW = (  # for ./baton test --slow
    "clang-19", "libclang-rt-19-dev", "llvm-19", "qemu-user",
    "g++-aarch64-linux-gnu", "g++-riscv64-linux-gnu",  # artifacts for other machines, run by qemu-user
)


def missing(more=()):
    """Those of PACKAGES and `more` that are not installed. Empty without dpkg: CMake then reports what is missing."""
    if not shutil.which("dpkg-query"):
        return []
    answer = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *PACKAGES, *more],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    installed = {line.split()[0] for line in answer.splitlines() if line.endswith(" installed")}
    return [name for name in (*PACKAGES, *more) if name not in installed]


def install(steps, packages):
    """Installs `packages` with apt-get, as root or through sudo."""
    by_hand = ["apt-get", "install", "--no-install-recommends", *packages]
    prefix = _as_root(by_hand)
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300"]

    steps.run([*prefix, "dpkg", "--configure", "-a"])  # an earlier call may have been interrupted
    # Continue when a package list cannot be fetched: the packages may be known already, and apt-get reports it if not.
    update_status, update_output = steps.run([*apt, "-o", "APT::Update::Error-Mode=any", "update"])
    command = [*apt, "install", "--no-install-recommends", "--fix-broken", *packages]
    status, output = steps.run(command)
    if status != 0:
        if update_status != 0:
            output = update_output + output
        if re.search(r"^sudo:", output, re.M):
            raise Failure("sudo did not let us install the Debian packages", command=command,
                          seen=next(line for line in output.splitlines() if line.startswith("sudo:")),
                          todo="run the same command in a terminal, where sudo can ask; or as root: " + " ".join(by_hand))
        raise explain("cannot install the Debian packages", command, output,
                      "connect this machine to its package mirror (see /etc/apt), then run the same command again",
                      f"run this by hand and see what apt says: {' '.join(by_hand)}")


def _as_root(by_hand):
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo"):
        return ["sudo"] if sys.stdin.isatty() else ["sudo", "-n"]
    raise Failure("packages are missing, and only root can install them (there is no sudo here)",
                  seen="not installed: " + " ".join(by_hand[3:]),
                  todo="as root: apt-get update && " + " ".join(by_hand) + "\n           then run the same command again")

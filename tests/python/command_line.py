"""The program as tests call it."""
import os
import subprocess

QUICK = ["--repeat", "4", "--max-seconds", "1", "--no-peaks", "--threads", "1"]  # of `profile`


def baton(folder, *args, code=0):
    """What `baton ARGS` prints in `folder`: on standard output, or on standard error where it is to end with another code."""
    done = subprocess.run([os.environ["BATON_PROGRAM"], *args], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr

"""Calls the C++ compiler of this machine: $CXX or $CC, else g++, gcc, clang++, clang, c++ or cc."""
import functools
import os
import shutil
import subprocess


def get_cc():
    """The compiler's path, or None."""
    named = [os.environ[each] for each in ("CXX", "CC") if os.environ.get(each)]
    return next(filter(None, map(shutil.which, [*named, "g++", "gcc", "clang++", "clang", "c++", "cc"])), None)


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"Compilation error:\n{done.stdout}{done.stderr}\nCommand line: {' '.join(command)}")


def _compile(flags, output, objects, options, cc):
    cc = cc or get_cc()
    if cc is None:
        raise ValueError("no C++ compiler was found: install g++, or set CXX")
    objects = [objects] if isinstance(objects, str) else list(objects)
    _run([cc, *flags, "-o", output, *objects, *(options or [])])


def create_shared(output, objects, options=None, cc=None):
    """Links object or source files (a str or a list) into the shared library `output`. RuntimeError with the compiler's messages."""
    _compile(["-shared", "-fPIC"], output, objects, options, cc)


def create_executable(output, objects, options=None, cc=None):
    """Links object or source files into the program `output`."""
    _compile([], output, objects, options, cc)


def create_staticlib(output, inputs, ar=None):
    """Puts object files into the archive `output`, with `ar`, or $AR."""
    ar = ar or os.environ.get("AR", "ar")
    if os.path.exists(output):
        os.remove(output)
    _run([ar, "qcs", output, *([inputs] if isinstance(inputs, str) else inputs)])


def get_target_by_dump_machine(compiler):
    """A function that returns the triple `compiler` makes code for, or None where it does not say."""
    def triple():
        if not compiler:
            return None
        found = subprocess.run([compiler, "-dumpmachine"], capture_output=True, text=True, check=False)
        return found.stdout.strip() or None if found.returncode == 0 else None

    return triple


def cross_compiler(compile_func, options=None, output_format=None, get_target_triple=None, add_files=None):
    """A function as create_shared() that uses another compiler: its path, or a function of its own.

    options, add_files: added to every call; output_format: what outputs end in; get_target_triple: as of get_target_by_dump_machine.
    """
    cc = None if callable(compile_func) else compile_func
    compile_with = compile_func if callable(compile_func) else create_shared

    @functools.wraps(compile_with)
    def compiled(outputs, objects, options=None):
        given = [*base_options, *(options or [])]
        objects = [objects] if isinstance(objects, str) else list(objects)
        compile_with(outputs, [*objects, *(add_files or [])], options=given, **({"cc": cc} if cc else {}))

    base_options = list(options or [])
    compiled.output_format = output_format or "so"
    compiled.get_target_triple = get_target_triple or get_target_by_dump_machine(cc)
    return compiled


create_shared.output_format = "so"
create_shared.get_target_triple = get_target_by_dump_machine(get_cc())
create_staticlib.output_format = "a"

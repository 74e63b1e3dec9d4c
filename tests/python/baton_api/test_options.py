"""An option is declared once, in C++: Python's keyword arguments are those of the table, and `--help` shows the same defaults."""
import inspect
import os
import re
import subprocess

import pytest

import baton
from baton._load import core

FUNCTIONS = {"measure": baton.measure, "profile": baton.profile, "compare": baton.compare, "train": baton.train, "predict": baton.predict,
             "probe": baton.probe, "map": baton.map}


def program(*words):
    return subprocess.run([os.environ["BATON_PROGRAM"], *words], capture_output=True, text=True, check=False)


def table(name):
    return {keyword: default for keyword, default, _ in getattr(core, f"{name}_options")()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_keywords_are_the_table(name):
    parameters, options = inspect.signature(FUNCTIONS[name]).parameters, table(name)
    assert set(options) <= set(parameters)
    for keyword, default in options.items():
        given = parameters[keyword]
        if given.kind is inspect.Parameter.KEYWORD_ONLY and given.default is not None:
            assert given.default == default
        elif keyword != "targets":  # what Python takes in another form has no default, or none that is a value
            assert given.default in (None, inspect.Parameter.empty), keyword
        assert re.search(rf"^ {{4}}(\w+, )*{keyword}(, \w+)* : ", FUNCTIONS[name].__doc__, re.M), keyword


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"compare"}))
def test_defaults_are_those_of_the_command_line(name):
    shown = dict(re.findall(r"^  --([a-z-]+) .*=(\S+)$", program(name, "--help").stdout, re.M))
    compared = {option: table(name).get(option.replace("-", "_")) for option in shown}
    compared = {option: default for option, default in compared.items() if default is not None}
    assert compared and all(type(default)(shown[option]) == default for option, default in compared.items())


@pytest.mark.parametrize("call, words", [
    (lambda: baton.measure(patterns=-1), ("measure", "--patterns", "-1")),
    (lambda: baton.measure(wait=-1.0), ("measure", "--wait=-1.0")),
    (lambda: baton.measure("mlp", caches=["warm"]), ("measure", "mlp", "--cache", "warm")),
    (lambda: baton.measure("mlp", threads="1,x"), ("measure", "mlp", "--threads", "1,x")),
    (lambda: baton.train("m.db", rounds=0), ("train", "--store", "m.db", "--rounds", "0")),
    (lambda: baton.map(baton.relay.testing.mlp.get_workload(batch_size=1)[0], targets=["llvm", "dnnl"], for_device="zen5"),
     ("map", "mlp", "--targets", "llvm,dnnl", "--for-device", "zen5")),
])
def test_errors_are_those_of_the_command_line(call, words):
    with pytest.raises(baton.error.UsageError) as raised:
        call()
    said = program(*words).stderr.split("\n")[0].partition(": ")[2]
    names = {"cache": "caches", "for-device": "for_device", "no-measure": "measure=False"}
    assert str(raised.value) == re.sub(r"--([a-z-]+)", lambda option: names.get(option[1], option[1]), said)


def test_unknown_and_wrong_arguments():
    with pytest.raises(TypeError, match=r"measure\(\) got an unexpected keyword argument 'retry_faild'; did you mean 'retry_failed'"):
        baton.measure(retry_faild=True)
    with pytest.raises(TypeError, match="patterns: an int is expected, not str"):
        baton.measure(patterns="many")
    with pytest.raises(TypeError, match="inside: True or False is expected, not str"):
        baton.measure(inside="no")
    with pytest.raises(TypeError, match="JSON has no set"):
        baton.measure(design={"models": {"mlp"}})
    with pytest.raises(baton.error.UsageError, match='there is no "model" in the design; did you mean "models"'):
        baton.measure(design={"model": ["mlp"]})

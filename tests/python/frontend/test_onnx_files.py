"""Files of the wheel `onnx` that others exported, with the data beside them, and its networks beside ONNX Runtime (bench/onnx/run_files.py)."""
import glob
import importlib.util
import os

import onnx
import pytest

DATA = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
EACH = 6  # one of so many exported files is in the plain suite, the rest is slow
REFUSED = {  # by name, for what they are made of
    **dict.fromkeys(["test_gradient_of_add", "test_gradient_of_add_and_mul"], "training"),
    **dict.fromkeys(["test_strnorm_model_" + name for name in (
        "monday_casesensintive_lower", "monday_casesensintive_nochangecase", "monday_casesensintive_upper", "monday_empty_output",
        "monday_insensintive_upper_twodim", "nostopwords_nochangecase")], "texts"),
}


@pytest.fixture(scope="module", name="run_files")
def _run_files():
    path = os.path.join(os.environ["BATON_ROOT"], "bench", "onnx", "run_files.py")
    spec = importlib.util.spec_from_file_location("run_files", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def folders(*names):
    found = sorted(each for name in names for each in glob.glob(os.path.join(DATA, name, "*")) if os.path.isdir(each))
    return [each for each in found if os.path.basename(each) not in REFUSED]


def check(run_files, chosen):
    wrong = []
    for folder in chosen:
        data = [sorted(glob.glob(os.path.join(folder, "test_data_set_0", f"{kind}_*.pb"))) for kind in ("input", "output")]
        if not run_files.with_data(os.path.join(folder, "model.onnx"), *data):
            wrong.append(os.path.basename(folder))
    assert chosen and not wrong  # it has printed why


def test_small_files_give_their_data(run_files):
    check(run_files, [each for each in folders("simple") if "expand" not in each])


def test_some_files_of_pytorch_give_their_data(run_files):
    check(run_files, folders("pytorch-converted", "pytorch-operator")[::EACH])


@pytest.mark.slow
def test_all_files_give_their_data(run_files):
    check(run_files, folders("simple", "pytorch-converted", "pytorch-operator"))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_no_inference_on_numbers_is_refused(name):
    from baton import relay

    with pytest.raises(Exception, match=r"no rule for|is of type string|preview\.training"):
        relay.frontend.from_onnx(os.path.join(DATA, "simple", name, "model.onnx"))


@pytest.mark.peers
@pytest.mark.parametrize("path", sorted(glob.glob(os.path.join(DATA, "light", "*.onnx"))), ids=os.path.basename)
def test_networks_give_what_onnxruntime_does(run_files, path):
    assert run_files.compare(path, {}, False)

"""tools/check_layers finds operators that are spread over files, and folders that may use each other."""
from test_check_layers import check

TABLE = """
| folder | what | may use |
|---|---|---|
| `src/baton/ops/` | . | standard library |
| `src/baton/ops/nn/` | . | ops |
"""

BLOCK = "const OpDef& op_nn_relu() {\n}\n"
LIST = {"baton/ops/ops.def": "BATON_OP(op_nn_relu)\n"}


def test_an_operator_in_one_file_is_right(tmp_path):
    status, output = check(tmp_path, {**LIST, "baton/ops/nn/relu.cc": f"struct ReluAttrs {{\n}};\n{BLOCK}"}, TABLE)
    assert status == 0, output
    assert "0 scattered operators" in output


def test_a_header_that_one_file_includes_is_found(tmp_path):
    status, output = check(tmp_path, {
        **LIST,
        "baton/ops/nn/relu.cc": f'#include "baton/ops/nn/relu_compute.h"\n{BLOCK}',
        "baton/ops/nn/relu_compute.h": "#pragma once\n",
        "baton/ops/nn/relu_compute.cc": '#include "baton/ops/nn/relu_compute.h"\n',
    }, TABLE)
    assert status == 1
    assert "src/baton/ops/nn/relu_compute.h: only nn/relu.cc includes it" in output


def test_a_header_of_two_operators_is_shared(tmp_path):
    status, output = check(tmp_path, {
        "baton/ops/ops.def": "BATON_OP(op_nn_relu)\nBATON_OP(op_nn_elu)\n",
        "baton/ops/nn/relu.h": "#pragma once\nstruct ReluAttrs {\n};\n",
        "baton/ops/nn/relu.cc": f'#include "baton/ops/nn/relu.h"\nReluAttrs relu;\n{BLOCK}',
        "baton/ops/nn/elu.cc": '#include "baton/ops/nn/relu.h"\nReluAttrs elu;\nconst OpDef& op_nn_elu() {\n}\n',
    }, TABLE)
    assert status == 0, output


def test_attributes_that_one_file_uses_are_found(tmp_path):
    status, output = check(tmp_path, {
        "baton/ops/ops.def": "BATON_OP(op_nn_relu)\nBATON_OP(op_nn_elu)\n",
        "baton/ops/nn/relu.h": "#pragma once\n\ntemplate <int kAxes>\nstruct ReluAttrs {\n};\n"
                               "using Relu2DAttrs = ReluAttrs<2>;\n",
        "baton/ops/nn/relu.cc": f'#include "baton/ops/nn/relu.h"\nRelu2DAttrs relu;\n{BLOCK}',
        "baton/ops/nn/elu.cc": '#include "baton/ops/nn/relu.h"\nconst OpDef& op_nn_elu() {\n}\n',
    }, TABLE)
    assert status == 1
    assert "src/baton/ops/nn/relu.h:4: only nn/relu.cc uses ReluAttrs" in output


def test_blocks_and_the_list_of_operators_agree(tmp_path):
    status, output = check(tmp_path, {
        "baton/ops/ops.def": "BATON_OP(op_nn_relu)\nBATON_OP(op_nn_elu)\n",
        "baton/ops/nn/relu.cc": f"{BLOCK}const OpDef& op_nn_selu() {{\n}}\n",
        "baton/ops/nn/again.cc": BLOCK,
    }, TABLE)
    assert status == 1
    assert "src/baton/ops/ops.def:2: no file has the block of op_nn_elu" in output
    assert "src/baton/ops/nn/relu.cc:3: op_nn_selu is not in ops.def" in output
    assert "op_nn_relu has a block in nn/again.cc already" in output


def test_folders_that_may_use_each_other_are_found(tmp_path):
    table = TABLE.replace("standard library", "ops/nn")
    status, output = check(tmp_path, {}, table)
    assert status == 1
    assert "a circle of folders: baton/ops may use baton/ops/nn, and baton/ops/nn may use baton/ops" in output

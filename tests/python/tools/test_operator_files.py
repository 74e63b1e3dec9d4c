"""tools/check_layers finds operators that are spread over files, and folders that may use each other."""
import pytest
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


def in_folder(tmp_path, folder, code, others=None):
    table = TABLE + "".join(f"| `src/baton/{each}/` | . | standard library |\n" for each in {folder, "schedule"})
    files = {**LIST, "baton/ops/nn/relu.cc": BLOCK, f"baton/{folder}/pass.cc": code, **(others or {})}
    return check(tmp_path, files, table)


def in_a_pass(tmp_path, code):
    return in_folder(tmp_path, "transform", code)


def test_a_pass_may_build_an_operator_and_match_what_it_is_about(tmp_path):
    status, output = in_a_pass(tmp_path, 'auto x = call_op(f(a) ? "nn.relu" : other, {a, b});  // not name == "nn.relu"\n'
                                         'if (call_of(args[0], "nn.relu")) retire("relu of relu");\n')
    assert status == 0, output


def test_tables_and_chains_of_names_in_passes_are_found(tmp_path):
    for code in ('static const Table rules = {{"nn.relu", &Rewriter::same}};',
                 'if (call->op()->name == "nn.relu") return x;',
                 'if (call->op()->name == op_names::kRelu) return x;',
                 'static const Table rules = {{op_names::kRelu, same}};',
                 'return call_op(name == "nn.relu" ? a : b, {x});'):
        status, output = in_a_pass(tmp_path, f"\n{code}\n")
        assert status == 1 and "src/baton/transform/pass.cc:2: asks for" in output, code


@pytest.mark.parametrize("folder", ["predict", "profile/report", "campaign", "codegen"])
def test_names_where_all_operators_are_meant_are_found(tmp_path, folder):
    status, output = in_folder(tmp_path, folder, 'const char* kNames[] = {"nn.relu"};\n')
    assert status == 1 and f'src/baton/{folder}/pass.cc:1: asks for "nn.relu" by name' in output
    status, output = in_folder(tmp_path, folder, 'Expr made = call("nn.relu", {x});\n')
    assert status == 0, output


@pytest.mark.parametrize("folder", ["codegen/dnnl", "codegen/openblas", "driver"])
def test_names_of_single_operators_are_right_where_these_are_meant(tmp_path, folder):
    status, output = in_folder(tmp_path, folder, 'const char* kNames[] = {"nn.relu"};\n')
    assert status == 0, output


def test_words_that_are_also_operators_are_compared_with_no_operator(tmp_path):
    files = {"baton/ops/ops.def": "BATON_OP(op_nn_relu)\nBATON_OP(op_split)\n",
             "baton/ops/split.cc": "const OpDef& op_split() {\n}\n"}
    status, output = in_folder(tmp_path, "profile", 'if (name == "split") return "split";\n', files)
    assert status == 0, output
    status, output = in_folder(tmp_path, "profile", 'if (call->op()->name == "split") return x;\n', files)
    assert status == 1 and 'asks for "split" by name' in output


def test_names_of_schedule_templates_are_found(tmp_path):
    schedule = {"baton/schedule/conv_rows.cc": '      .name = "conv_rows",\n'}
    status, output = in_folder(tmp_path, "predict", 'if (kernel.template_name == "conv_rows") return x;\n', schedule)
    assert status == 1 and 'src/baton/predict/pass.cc:1: asks for template "conv_rows" by name' in output
    status, output = in_folder(tmp_path, "predict", "// conv_rows: \"conv_rows\"\n", schedule)
    assert status == 0, output


def test_a_pass_that_matches_many_operators_is_found(tmp_path):
    names = [f"nn.relu{i}" for i in range(4)]
    functions = [f"op_{name.replace('.', '_')}" for name in names]
    files = {"baton/ops/ops.def": "".join(f"BATON_OP({function})\n" for function in functions),
             "baton/ops/nn/relu.cc": "".join(f"const OpDef& {function}() {{\n}}\n" for function in functions),
             "baton/transform/pass.cc": "".join(f'if (is_call(x, "{name}")) return y;\n' for name in names)}
    status, output = check(tmp_path, files, TABLE + "| `src/baton/transform/` | . | standard library |\n")
    assert status == 1
    assert 'src/baton/transform/pass.cc: matches "nn.relu0", "nn.relu1"' in output


def test_folders_that_may_use_each_other_are_found(tmp_path):
    table = TABLE.replace("standard library", "ops/nn")
    status, output = check(tmp_path, {}, table)
    assert status == 1
    assert "a circle of folders: baton/ops may use baton/ops/nn, and baton/ops/nn may use baton/ops" in output

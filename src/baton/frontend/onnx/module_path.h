#pragma once
// Where a node of an ONNX file is in the program that was exported: its module and its line of Python. Pure
// functions of what exporters write into a node's metadata, and of its name.
#include <string>
#include <string_view>
#include <vector>

#include "baton/frontend/onnx/model_file.h"
#include "baton/ir/origin.h"

namespace baton::onnx {

/// "layer1/0/conv1"; empty: not known. From the first of these that says it: `pkg.torch.onnx.name_scopes`,
/// `namespace`, `pkg.torch.onnx.class_hierarchy`, a name such as `/layer1/layer1.0/conv1/Conv`; else
/// `around`, the path of the subgraphs and functions that hold the node ("If_3/then_branch/").
std::string module_path(const NodeFile& node, std::string_view around);

/// The innermost line of `pkg.torch.onnx.stack_trace`, `pkg.jax2onnx.jax_traceback` or
/// `pkg.jax2onnx.stacktrace` that is in no installed package; else none.
SourceLine source_line(const NodeFile& node);

/// The items of a list of texts as Python writes it: "['', 'layer1']". Empty for what is none.
std::vector<std::string> python_texts(std::string_view list);

}  // namespace baton::onnx

#include "baton/frontend/onnx/quantized_regions.h"

#include <algorithm>

#include "baton/ir/inspect.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/types/infer_type.h"

namespace baton::onnx {

namespace {

bool is_quantized(const IRModule& module) {
  bool found = false;
  post_order(Expr(module->find("main")),
             [&](const Expr& node) { found = found || call_of(node, "qnn.dequantize") != nullptr; });
  return found;
}

}  // namespace

IRModule with_integer_regions(const IRModule& module, const BuildContext& context) {
  if (!is_quantized(module)) return module;
  const Pass pass = sequential({make_pass("FakeQuantizationToInteger"), make_pass("InferType")});
  return infer_types((*pass)(module, context));
}

std::vector<std::string> nodes_left_in_float(const IRModule& module) {
  std::vector<std::string> names;
  post_order(Expr(module->find("main")), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (!call || !call->op() || call->op()->name.starts_with("qnn.")) return;
    if (std::ranges::none_of(call->args(), [](const Expr& arg) { return call_of(arg, "qnn.dequantize"); }))
      return;
    for (const Origin* each : call->origins().origins())
      if (std::ranges::find(names, each->source_name()) == names.end()) names.push_back(each->source_name());
  });
  return names;
}

}  // namespace baton::onnx

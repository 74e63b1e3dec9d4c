#include "baton/codegen/dnnl/patterns.h"

#include "baton/codegen/dnnl/gelu.h"
#include "baton/codegen/dnnl/layer_norm.h"
#include "baton/codegen/dnnl/lower.h"
#include "baton/codegen/dnnl/quantized.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op_names.h"

namespace baton {
namespace {

constexpr int kMostCalls = 4;  // from the root of a layer's composite down to its convolution or product

/// The calls from `root` down to the first `anchor`, through additions only; empty when there is none.
std::vector<const CallNode*> path_to(const Expr& root, const std::string& anchor, int most = kMostCalls) {
  const auto* call = as<CallNode>(root);
  if (!call || !call->op() || most == 0) return {};
  const std::string& name = call->op()->name;
  if (name == anchor) return {call};
  if (most < kMostCalls && name != "add" && name != "nn.bias_add") return {};
  for (const Expr& arg : call->args()) {
    std::vector<const CallNode*> path = path_to(arg, anchor, most - 1);
    if (path.empty()) continue;
    path.insert(path.begin(), call);
    return path;
  }
  return {};
}

bool adds_bias(const CallNode& add, const CallNode& layer) {
  if (add.op()->name == "nn.bias_add") return true;
  if (add.op()->name != "add") return false;
  const TensorTypeNode* out = static_type_of(Expr(&layer));
  const Expr& other = add.args()[add.args()[0].get() == &layer ? 1 : 0];
  const TensorTypeNode* bias = static_type_of(other);
  if (!out || !bias || !out->is_static() || !bias->is_static()) return false;
  int64_t most = 1;
  for (const int64_t extent : bias->extents()) most *= extent;
  const std::vector<int64_t> extents = out->extents();
  const std::string layout = layer.op()->name == op_names::kDense ? "" : text_attr(layer, "data_layout");
  const size_t channels = layout.find('C') == std::string::npos ? extents.size() - 1 : layout.find('C');
  return most == extents[channels];
}

/// Accepts a layer with these operators after it when all of them are computed by oneDNN.
DFCheck accepts_layer(const std::string& anchor, bool biased) {
  return [=](const Expr& root) {
    const std::vector<const CallNode*> path = path_to(root, anchor);
    if (path.empty()) return false;
    for (const CallNode* call : path)
      if (!dnnl_refusal(*call).empty()) return false;
    return !biased || (path.size() >= 2 && adds_bias(*path[path.size() - 2], *path.back()));
  };
}

DFPattern biased(const DFPattern& layer) {
  const DFPattern bias = wildcard();
  return is_op("nn.bias_add")->call({layer, bias}) | is_op("add")->call({layer, bias});
}

struct Activation {
  const char* op;
  const char* suffix;
};
constexpr Activation kActivations[] = {
    {"nn.relu", "relu"}, {"tanh", "tanh"}, {"sigmoid", "sigmoid"}, {"clip", "clip"}};

void add_layer(PatternTable& table, const std::string& op) {
  const std::string name = "dnnl." + op.substr(op.find('.') + 1);
  const auto layer = [&] { return is_op(op)->call({wildcard(), wildcard()}); };
  table.push_back({name + "_bias_sum_relu",
                   is_op("nn.relu")->call({is_op("add")->call({biased(layer()), wildcard()})}),
                   accepts_layer(op, true)});
  table.push_back(
      {name + "_bias_sum", is_op("add")->call({biased(layer()), wildcard()}), accepts_layer(op, true)});
  for (const Activation& each : kActivations)
    table.push_back(
        {name + "_bias_" + each.suffix, is_op(each.op)->call({biased(layer())}), accepts_layer(op, true)});
  table.push_back({name + "_bias", biased(layer()), accepts_layer(op, true)});
  for (const Activation& each : kActivations)
    table.push_back({name + "_" + each.suffix, is_op(each.op)->call({layer()}), accepts_layer(op, false)});
}

}  // namespace

PatternTable dnnl_patterns() {
  PatternTable table = dnnl_quantized_layers();
  const DFPattern dense = is_op(op_names::kDense)->call({wildcard(), wildcard()});
  CompositePattern after_dense = dnnl_gelu(biased(dense));
  after_dense.name = "dnnl.dense_bias_gelu";
  table.push_back(std::move(after_dense));
  table.push_back(dnnl_gelu(wildcard()));
  table.push_back(dnnl_layer_norm());
  for (const char* op :
       {op_names::kConv2D, "nn.conv1d", "nn.conv3d", "nn.conv2d_transpose", op_names::kDense})
    add_layer(table, op);
  return table;
}

}  // namespace baton

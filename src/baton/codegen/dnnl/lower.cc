#include "baton/codegen/dnnl/lower.h"

#include <map>

#include "baton/byoc/pattern_rewrite.h"
#include "baton/codegen/dnnl/gelu.h"
#include "baton/codegen/dnnl/layer_norm.h"
#include "baton/codegen/dnnl/operators.h"
#include "baton/codegen/dnnl/quantized.h"
#include "baton/codegen/dnnl/region_writer.h"
#include "baton/ir/inspect.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"

namespace baton {

using namespace dnnl_blob;

namespace {

/// Visits the nodes of a region, operands first; not those inside of composites, whose calls are lowered as
/// one.
void for_each_node(const Expr& body, FunctionRef<void(const Expr&)> visit) {
  post_order(body, visit, [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
}

void count_uses(RegionWriter& writer, const Expr& body) {
  for_each_node(body, [&](const Expr& node) {
    if (const auto* call = as<CallNode>(node))
      for (const Expr& arg : call->args()) writer.add_use(arg);
    if (const auto* tuple = as<TupleNode>(node))
      for (const Expr& field : tuple->fields()) writer.add_use(field);
    if (const auto* item = as<TupleGetItemNode>(node)) writer.add_use(item->tuple());
  });
  writer.add_use(body);
}

View lower_composite(RegionWriter& writer, const std::string& name, const CallNode& call) {
  if (name == "dnnl.gelu") return writer.activation(Algorithm::kGelu, 0, 0, call.args()[0]);
  if (name == "dnnl.layer_norm") return lower_layer_norm(writer, call);
  if (name.starts_with("dnnl.qnn.")) return lower_quantized_layer(writer, call);
  refuse("is no operator");
}

/// Defines the value of a call. The reason of a refusal begins with what is called.
void lower_call(RegionWriter& writer, const CallNode& call) {
  const auto* composite = as<FunctionNode>(call.callee());
  const std::string name = call.op()   ? call.op()->name
                           : composite ? text_attr(*composite, "Composite")
                                       : "a function";
  try {
    if (call.op()) return lower_operator(writer, call);
    const View value = lower_composite(writer, name, call);
    writer.define(call, {value});
    writer.set_owner(value, call);
  } catch (const NotSupported& error) {
    throw NotSupported("`" + name + "` " + error.what());
  }
}

/// The origins of a call, those inside of a composite included.
OriginSet all_origins(const CallNode& call) {
  OriginSet all = call.origins();
  if (const auto* composite = as<FunctionNode>(call.callee()))
    post_order(composite->body(), [&](const Expr& inner) {
      if (as<CallNode>(inner)) all = all.merge(inner->origins());
    });
  return all;
}

void lower_node(RegionWriter& writer, const Expr& node) {
  const auto* call = as<CallNode>(node);
  if (!call) return writer.define_value(node);
  const std::map<int64_t, size_t> before = writer.sizes_of_steps();
  lower_call(writer, *call);
  writer.add_origins(all_origins(*call), before);
}

}  // namespace

DnnlRegion lower_for_dnnl(const FunctionNode& function, const std::string& symbol) {
  const Function plain = make_function(function.params(), function.body(), function.ret_type(), {},
                                       NodeInfo(OriginSet::none(), {}, function.checked_type()));
  Expr marked(plain);
  PatternTable composites = dnnl_quantized_layers();
  composites.push_back(dnnl_gelu(wildcard()));
  composites.push_back(dnnl_layer_norm());
  for (const CompositePattern& each : composites)
    marked =
        dataflow_partition(each.pattern, marked, {{"Composite", each.name}}, each.check, CutTypes::kGiven);
  const auto* region = as<FunctionNode>(marked);
  RegionWriter writer(symbol);
  for (const Var& param : region->params()) writer.define_inputs(param, "parameter `" + param->name() + "`");
  count_uses(writer, region->body());
  for_each_node(region->body(), [&](const Expr& node) { lower_node(writer, node); });
  const std::vector<View>& results = writer.values_of(region->body());
  for (size_t i = 0; i < results.size(); ++i) writer.add_output(results[i], static_cast<int64_t>(i));
  return writer.finish();
}

DnnlRegion lower_call_for_dnnl(const CallNode& call) {
  RegionWriter writer("call");
  for (const Expr& arg : call.args()) {
    const auto* type = as_type<TensorTypeNode>(type_of(arg));
    if (as<ConstantNode>(arg) && type && element_type(type->dtype()))
      writer.define_value(arg);
    else
      writer.define_inputs(arg, "`" + call.op()->name + "`");
  }
  lower_call(writer, call);
  return writer.finish();
}

std::string dnnl_refusal(const CallNode& call) {
  try {
    lower_call_for_dnnl(call);
  } catch (const NotSupported& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> dnnl_operators() {
  std::vector<std::string> names;
  for (const auto& [name, op] : operators()) names.push_back(name);
  return names;
}

}  // namespace baton

#include "baton/transform/quantize/partition_conversions.h"

#include <algorithm>

#include "baton/ir/build.h"
#include "baton/ir/functions.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"
#include "baton/support/pointer_map.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

const NodeInfo kNoOrigin(OriginSet::none());

bool is_value(const Expr& node) {
  return node->kind() == ExprKind::kVar || node->kind() == ExprKind::kCall ||
         node->kind() == ExprKind::kTuple || node->kind() == ExprKind::kTupleGetItem;
}

bool is_conversion(const OpDef& op) {
  const auto* arithmetic = op.rules.get<Arithmetic>();
  return op.rules.get<NumberConversion>() ||
         (arithmetic && (*arithmetic == Arithmetic::kProduct || *arithmetic == Arithmetic::kQuotient));
}

/// Which of the three functions computes what.
class Parts {
 public:
  Parts(const Function& main, const std::vector<DType>& quantized) : quantized_(quantized) {
    post_order(main->body(), [&](const Expr& node) {
      if (is_value(node))
        values_.push_back(node);
      else if (node->kind() != ExprKind::kConstant && node->kind() != ExprKind::kOp)
        throw NotSupported(
            "partition_conversions: main is not a graph of calls of operators and tuples alone");
    });
    for (const Expr& node : values_)
      if (belongs_before(node)) before_.insert(node.get());
    find_after();
  }

  bool is_before(const Expr& node) const { return before_.contains(node.get()); }
  bool is_after(const Expr& node) const { return after_.contains(node.get()); }
  bool is_middle(const Expr& node) const { return is_value(node) && !is_before(node) && !is_after(node); }
  bool is_quantized(const Expr& node) const {
    bool all = true;
    visit_types(node->checked_type(), [&](const Type& part) {
      const auto* tensor = as_type<TensorTypeNode>(part);
      all = all && (!tensor || std::ranges::find(quantized_, tensor->dtype()) != quantized_.end());
    });
    return all;
  }
  const std::vector<Expr>& values() const { return values_; }

  /// The values on one side of a border that the other one reads; with `body`, if that is one.
  template <class Side, class Reader>
  std::vector<Expr> border(const Expr& body, Side side, Reader reader) const {
    PointerSet read;
    for (const Expr& node : values_)
      if (reader(node)) for_each_child(*node, [&](const Expr& child) { read.insert(child.get()); });
    std::vector<Expr> result;
    for (const Expr& node : values_)
      if (side(node) && (read.contains(node.get()) || node == body)) result.push_back(node);
    return result;
  }

 private:
  /// Numbers that depend on no integers, and the integers that they become.
  bool belongs_before(const Expr& node) const {
    bool before = true, from_numbers = node->kind() == ExprKind::kCall;
    for_each_child(*node, [&](const Expr& child) {
      if (!is_value(child)) return;
      before = before && is_before(child);
      from_numbers = from_numbers && !is_quantized(child);
    });
    return before && (node->kind() == ExprKind::kVar || from_numbers || !is_quantized(node));
  }

  /// Numbers that no integers depend on.
  void find_after() {
    PointerSet kept;  // read by what is not after
    for (auto at = values_.rbegin(); at != values_.rend(); ++at) {
      const Expr& node = *at;
      if (!is_before(node) && !is_quantized(node) && !kept.contains(node.get()))
        after_.insert(node.get());
      else
        for_each_child(*node, [&](const Expr& child) { kept.insert(child.get()); });
    }
  }

  const std::vector<DType>& quantized_;
  std::vector<Expr> values_;
  PointerSet before_, after_;
};

/// A function over values of the program as its parameters.
class Cut final : public Rewriter {
 public:
  void takes(const Expr& value, Expr instead) { map(value, std::move(instead)); }
};

Expr tuple_of(std::vector<Expr> fields) { return make_tuple(std::move(fields), kNoOrigin); }

Type type_of_all(const std::vector<Expr>& values) {
  if (values.size() == 1) return values[0]->checked_type();
  std::vector<Type> types;
  for (const Expr& value : values) types.push_back(value->checked_type());
  return tuple_type(std::move(types));
}

Function middle_function(const std::vector<Expr>& inputs, const std::vector<Expr>& outputs) {
  Cut cut;
  std::vector<Var> params;
  for (const Expr& input : inputs) {
    params.push_back(
        make_var("quantized_input_" + std::to_string(params.size()), input->checked_type(), kNoOrigin));
    cut.takes(input, Expr(params.back()));
  }
  std::vector<Expr> results;
  for (const Expr& output : outputs) results.push_back(cut.run(output));
  const Expr body = results.size() == 1 ? results[0] : tuple_of(std::move(results));
  return make_function(std::move(params), body, {}, {}, kNoOrigin);
}

Function last_function(const std::vector<Expr>& outputs, const Expr& body) {
  Cut cut;
  const Var param = make_var("quantized_outputs", type_of_all(outputs), kNoOrigin);
  for (size_t i = 0; i < outputs.size(); ++i)
    cut.takes(outputs[i], outputs.size() == 1
                              ? Expr(param)
                              : make_tuple_get_item(Expr(param), static_cast<int>(i), kNoOrigin));
  return make_function({param}, cut.run(body), {}, {}, kNoOrigin);
}

/// main in three lets: the calls of the three functions.
Function calling_function(IRModuleNode& module, const Function& main, size_t inputs) {
  std::vector<Var> params;
  std::vector<Expr> args;
  for (const Var& param : main->params()) {
    params.push_back(make_var(param->name(), param->checked_type(), NodeInfo(param->origins())));
    args.emplace_back(params.back());
  }
  const Var given = make_var("quantized_inputs", {}, kNoOrigin),
            made = make_var("quantized_outputs", {}, kNoOrigin),
            last = make_var("dequantized_outputs", {}, kNoOrigin);
  std::vector<Expr> items;
  for (size_t i = 0; i < inputs; ++i)
    items.push_back(make_tuple_get_item(Expr(given), static_cast<int>(i), kNoOrigin));
  const auto call = [&](const char* name, std::vector<Expr> with) {
    return Expr(make_call(Expr(module.global_var(name)), std::move(with), {}, kNoOrigin));
  };
  Expr body = make_let(last, call("dequantize_outputs", {Expr(made)}), Expr(last), kNoOrigin);
  body = make_let(made, call("quantized_main", std::move(items)), body, kNoOrigin);
  body = make_let(given, call("quantize_inputs", std::move(args)), body, kNoOrigin);
  return make_function(std::move(params), body, {}, main->attrs(), main->info());
}

std::string obstacle(const Parts& parts) {
  for (const Expr& node : parts.values()) {
    const auto* call = as<CallNode>(node);
    const std::string what = call && call->op() ? call->op()->name : "a value";
    if (parts.is_middle(node) && !parts.is_quantized(node))
      return what + " computes in " + type_text(node->checked_type()) + " between integers";
    if (call && !parts.is_middle(node) && !(call->op() && is_conversion(*call->op())))
      return what + (parts.is_before(node) ? " before" : " after") + " the integers is no conversion";
  }
  return {};
}

}  // namespace

PartitionedConversions partition_conversions(const IRModule& given, const std::vector<DType>& quantized) {
  const IRModule module = infer_types(given->copy());
  const Function main = module->find("main");
  if (!main || module->functions().size() != 1)
    throw UsageError("partition_conversions: the module must have a function main and no other");
  const Expr& body = main->body();
  const Parts parts(main, quantized);
  const auto before = [&](const Expr& node) { return parts.is_before(node); };
  const auto after = [&](const Expr& node) { return parts.is_after(node); };
  const auto not_before = [&](const Expr& node) { return !parts.is_before(node); };
  const auto not_after = [&](const Expr& node) { return !parts.is_after(node); };
  const std::vector<Expr> inputs = parts.border(body, before, not_before);
  const std::vector<Expr> outputs = parts.border(body, not_after, after);
  if (outputs.empty()) throw UsageError("partition_conversions: main does not depend on its inputs");
  PartitionedConversions result{module->copy(), obstacle(parts)};
  result.module->set("quantize_inputs", make_function(main->params(), tuple_of(inputs), {}, {}, kNoOrigin));
  result.module->set("quantized_main", middle_function(inputs, outputs));
  result.module->set("dequantize_outputs", last_function(outputs, body));
  result.module->set("main", calling_function(*result.module, main, inputs.size()));
  result.module = infer_types(result.module);
  return result;
}

}  // namespace baton

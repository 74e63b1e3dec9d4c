#include "baton/driver/partition_for.h"

#include <algorithm>

#include "baton/ir/build.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/support/error.h"

namespace baton {
namespace {

IRModule run(IRModule module, const BuildContext& context,
             const std::vector<std::pair<const char*, PassArgs>>& passes) {
  for (const auto& [name, args] : passes) module = (*make_pass(name, args))(module, context);
  return module;
}

/// A call as a function of its operands.
Function alone(const CallNode& call) {
  std::vector<Var> params;
  std::vector<Expr> args;
  for (const Expr& arg : call.args()) {
    if (arg->kind() == ExprKind::kConstant) {
      args.push_back(arg);
      continue;
    }
    const NodeInfo info(OriginSet::none(), {}, arg->checked_type());
    params.push_back(make_var("p" + std::to_string(params.size()), arg->checked_type(), info));
    args.push_back(Expr(params.back()));
  }
  const Call body = make_call(call.callee(), std::move(args), call.attrs(), call.info());
  return make_function(params, Expr(body), call.checked_type(), {{"Primitive", 1}}, call.info());
}

/// Collects answers for the operators of calls.
class Answers {
 public:
  Answers(const OriginTable& table, const Backend& backend, const DeviceSheet* sheet)
      : table_(table), backend_(backend), sheet_(sheet), operators_(table.size()) {}

  void taken(const CallNode& call, const std::string& how) {
    for_each(call, [&](TakenOperator& each) {
      each.met = each.taken = true;
      each.how = how;
    });
  }
  /// A call outside of regions.
  void left(const CallNode& call) {
    const auto rule = std::ranges::find(backend_.operators, call.op()->name, &OperatorRule::op);
    std::string why;
    if (rule != backend_.operators.end())
      why = rule->refuses(call);
    else if (!backend_.operators.empty())
      why = "no operator or composite of " + backend_.name + " is `" + call.op()->name + "`";
    else if (backend_.takes && sheet_)
      why = backend_.takes(*alone(call), *sheet_);
    const bool compiles = why.empty() && backend_.operators.empty() && backend_.compile;
    if (compiles) return taken(call, "");
    if (why.empty()) why = "its region was given up";
    for_each(call, [&](TakenOperator& each) {
      each.met = true;
      if (!each.taken) each.how = why;
    });
  }
  std::vector<TakenOperator> result() { return std::move(operators_); }

 private:
  template <class Body>
  void for_each(const CallNode& call, Body&& body) {
    for (const Origin* origin : call.origins().origins())
      if (const auto id = table_.find(origin)) body(operators_[index(*id)]);
  }

  const OriginTable& table_;
  const Backend& backend_;
  const DeviceSheet* sheet_;
  std::vector<TakenOperator> operators_;
};

}  // namespace

IRModule prepared_for_regions(const IRModule& module, const std::string& backend,
                              const BuildContext& context) {
  const IRModule simple = run(module, context,
                              {{"InferType", {}},
                               {"SimplifyInference", {}},
                               {"FoldConstant", {}},
                               {"FoldScaleAxis", {}},
                               {"FoldConstant", {}},
                               {"InferType", {}}});
  if (!has_pattern_table(backend)) return simple;
  return run(simple, context, {{"MergeComposite", {{"pattern_table", backend}}}, {"InferType", {}}});
}

IRModule partition_for(const IRModule& module, const std::string& backend, const BuildContext& context) {
  return run(prepared_for_regions(module, backend, context), context,
             {{"AnnotateTarget", {{"targets", AttrValue(AttrList{AttrValue(backend)})}}},
              {"MergeCompilerRegions", {}},
              {"PartitionGraph", {}},
              {"InferType", {}}});
}

std::vector<TakenOperator> taken_operators(const IRModule& module, const Backend& backend,
                                           const BuildContext& context) {
  const DeviceSheet* sheet = backend.kind.empty() ? &context.host() : context.sheet_of(backend.kind);
  const IRModule split = partition_for(module, backend.name, context);
  Answers answers(module->origins(), backend, sheet);
  const auto is_operator = [](const Expr& node) {
    const auto* call = as<CallNode>(node);
    return call && call->op() ? call : nullptr;
  };
  for (const auto& [name, function] : split->functions()) {
    const bool region = text_attr(*function, "Compiler") == backend.name;
    post_order(function->body(), [&](const Expr& node) {
      if (const CallNode* call = is_operator(node)) region ? answers.taken(*call, "") : answers.left(*call);
      // Composites are functions, whose bodies are visited too: with their names, behind.
      const auto* call = as<CallNode>(node);
      const auto* composite = call ? as<FunctionNode>(call->callee()) : nullptr;
      const std::string label = composite ? text_attr(*composite, "Composite") : "";
      if (!region || label.empty()) return;
      post_order(composite->body(), [&](const Expr& inner) {
        if (const CallNode* each = is_operator(inner)) answers.taken(*each, "in the composite " + label);
      });
    });
  }
  return answers.result();
}

}  // namespace baton

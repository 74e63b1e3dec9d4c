#pragma once
// Programs over several devices, for tests.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/ir/attr_objects.h"
#include "baton/ir/build.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/base/tensor_rule.h"

namespace baton {

inline BuildOptions on(const std::vector<std::string>& targets) {
  initialize();
  BuildOptions options;
  options.context = host_context();
  std::vector<TargetRef> parsed;
  for (const std::string& target : targets) parsed.push_back(Target::parse(target));
  set_targets(options.context, std::move(parsed));
  return options;
}

inline std::vector<NDArray> outputs_of(Executor& executor) {
  for (size_t i = 0; i < executor.num_inputs(); ++i) {
    const PlanEntry& entry = executor.input_entry(i);
    EXPECT_TRUE(
        executor.set_input(i, parameter_value(executor.input_node(i).name, entry.shape, entry.dtype)).ok());
  }
  const Status status = executor.run();
  EXPECT_TRUE(status.ok()) << status.message;
  std::vector<NDArray> outputs;
  for (size_t i = 0; i < executor.num_outputs(); ++i) outputs.push_back(executor.output(i).copy());
  return outputs;
}

inline std::vector<NDArray> outputs_of(const BuildResult& built) { return outputs_of(*make_executor(built)); }

/// Inputs through it with devices side by side have the results of the plain executor, bit by bit.
inline void expect_same_side_by_side(const BuildResult& built) {
  const std::vector<NDArray> wanted = outputs_of(built);
  const auto executor = make_queue_executor(built);
  size_t finished = 0;
  for (size_t i = 0; i < 2 * executor->instances(); ++i) {
    if (!executor->next() || i + 1 == 2 * executor->instances()) {
      const Result<Executor*> done = executor->finish();
      ASSERT_TRUE(done.ok()) << done.status().message;
      for (size_t k = 0; k < wanted.size(); ++k)
        EXPECT_TRUE((*done)->output(k).equal_bytes(wanted[k])) << "output " << k;
      ++finished;
    }
    Executor& next = *executor->next();
    for (size_t k = 0; k < next.num_inputs(); ++k) {
      const PlanEntry& entry = next.input_entry(k);
      ASSERT_TRUE(next.set_input(k, parameter_value(next.input_node(k).name, entry.shape, entry.dtype)).ok());
    }
    ASSERT_TRUE(executor->start().ok());
  }
  EXPECT_GE(finished, executor->instances());
}

inline std::vector<const PlanNode*> copies_of(const BuildResult& built) {
  std::vector<const PlanNode*> copies;
  for (const PlanNode& node : built.plan.graph->nodes)
    if (node.kind == PlanNode::Kind::kCopy) copies.push_back(&node);
  return copies;
}

/// How many kernels of that backend the program has.
inline int kernels_on(const BuildResult& built, const std::string& backend) {
  return static_cast<int>(std::count_if(
      built.plan.graph->nodes.begin(), built.plan.graph->nodes.end(),
      [&](const PlanNode& node) { return node.kind == PlanNode::Kind::kKernel && node.backend == backend; }));
}

/// Every operator of the source is in a node, in a constant, or retired.
inline void expect_conserved(const BuildResult& built) {
  for (const OperatorRecord& record : built.origins->operators)
    EXPECT_TRUE(!record.nodes.empty() || !record.folded_into.empty() || !record.retired_by.empty())
        << record.op;
}

/// The tensor rule's values for all parameters of `main` but `data`.
inline NamedArrays weights_by_rule(const IRModule& module) {
  NamedArrays weights;
  for (const Var& param : module->find("main")->params()) {
    const auto* type = as_type<TensorTypeNode>(param->checked_type());
    if (param->name() != "data")
      weights.emplace_back(param->name(), parameter_value(param->name(), type->extents(), type->dtype()));
  }
  return weights;
}

/// Says of values of `main`, wherever they are read, on which device they are computed. What one on_device
/// gives is in one place, so every reader gets its own.
class Scatter final : public Rewriter {
 public:
  /// The device of an operator's result or a parameter; 0: nothing is said.
  using Choose = std::function<int(const Expr& value)>;
  explicit Scatter(Choose choose) : choose_(std::move(choose)) {}

  static IRModule over(const IRModule& module, Choose choose) {
    const IRModule scattered = module->copy();
    scattered->set("main", as_ref<FunctionNode>(Scatter(std::move(choose)).run(Expr(module->find("main")))));
    return scattered;
  }

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    std::vector<Expr> read;
    if (const auto* tuple = as<TupleNode>(rebuilt)) {
      for (const Expr& field : tuple->fields()) read.push_back(placed(field));
      return make_tuple(std::move(read), original->with_type({}));
    }
    const auto* call = as<CallNode>(rebuilt);
    if (!call || !call->op()) return rebuilt;
    for (const Expr& arg : call->args()) read.push_back(placed(arg));
    return make_call(call->callee(), std::move(read), call->attrs(), original->with_type({}));
  }

  Expr placed(const Expr& value) {
    Expr whole = value;  // the parts of a tuple are where it is
    while (const auto* item = as<TupleGetItemNode>(whole)) whole = item->tuple();
    if (whole->kind() != ExprKind::kCall && whole->kind() != ExprKind::kVar) return value;
    const auto [at, fresh] = devices_.try_emplace(whole.get());
    if (fresh) at->second = choose_(whole);
    if (at->second == 0) return value;
    return call_op("on_device", {value}, {{"virtual_device", virtual_device_attr({at->second, 0, {}, {}})}});
  }

  Choose choose_;
  std::map<const ExprNode*, int> devices_;
};

inline bool is_straight(const IRModule& module) {
  bool straight = module->functions().size() == 1;
  post_order(module->find("main")->body(), [&](const Expr& node) {
    straight &= node->kind() != ExprKind::kFunction && node->kind() != ExprKind::kIf &&
                node->kind() != ExprKind::kLet;
  });
  return straight;
}

}  // namespace baton

// The default pipeline over whole models: which kernels come out, in which order, compared with TVM 0.11.1.
#include "baton/driver/pipeline.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/evaluate/evaluator.h"
#include "baton/driver/plan/kernel_names.h"
#include "baton/frontend/workloads/networks.h"
#include "baton/ir/op.h"
#include "baton/ir/structural.h"
#include "baton/ir/visit.h"

#include "driver/pass_tree.h"
#include "text/reference.h"
#include "transform/transform_test.h"

namespace baton {
namespace {

/// The primitive functions that are called, in the order they run.
std::vector<const FunctionNode*> kernel_functions(const IRModule& module) {
  std::vector<const FunctionNode*> functions;
  post_order(
      module->find("main")->body(),
      [&](const Expr& node) {
        const auto* call = as<CallNode>(node);
        if (const auto* function = call ? as<FunctionNode>(call->callee()) : nullptr)
          functions.push_back(function);
      },
      [](const Expr& node) {
        return node->kind() != ExprKind::kFunction || !as<FunctionNode>(node)->is_primitive();
      });
  return functions;
}

/// Their kernels' names; equal functions share a kernel.
std::vector<std::string> kernels(const IRModule& module) {
  std::vector<std::string> names;
  std::map<uint64_t, std::string> by_hash;
  UniqueNames unique;
  for (const FunctionNode* function : kernel_functions(module)) {
    std::string& known = by_hash[structural_hash(Expr(function))];
    if (known.empty()) known = unique.make(kernel_name("default", *function));
    names.push_back(function->attr("relay.reshape_only") ? "__nop" : known);
  }
  return names;
}

/// Packed weights by their shape alone: which kernels come out does not depend on their values, and VGG has a
/// hundred million.
class PackingEvaluator final : public Evaluator {
 public:
  std::vector<NDArray> evaluate(const CallNode& call, const BuildContext& context) override {
    const std::string& op = call.op()->name;
    if (op != "layout_transform" && op != "nn.contrib_conv2d_winograd_weight_transform")
      return evaluator_->evaluate(call, context);
    const auto* type = as_type<TensorTypeNode>(call.checked_type());
    return {NDArray::zeros(type->extents(), type->dtype())};
  }

 private:
  std::shared_ptr<Evaluator> evaluator_ = make_evaluator();
};

IRModule optimized(const std::string& model, int opt_level,
                   std::shared_ptr<PassInstrument> watcher = nullptr) {
  const auto* workload = workloads::find_workload(model);
  BATON_CHECK(workload, model);
  const PassContextRef context = test_context(opt_level);
  context->evaluator = std::make_shared<PackingEvaluator>();
  const IRModule module = bind_model((*named_pass("InferType"))(workload->make(), host_context()));
  if (watcher) context->instruments.push_back(std::move(watcher));
  const InstrumentScope scope(context);
  DeviceSheet sheet;
  sheet.float_lanes = 16;
  BuildContext under;
  under.passes = context;
  under.sheets = {sheet};
  return optimize(module, under);
}

class Pipeline : public testing::TestWithParam<std::pair<const char*, int>> {
 protected:
  void SetUp() override { typed_module("def @main(%x: int32) { %x }"); }  // registers operators and passes
};

TEST_P(Pipeline, MakesTheKernelsOfTvm) {
  const auto [model, opt_level] = GetParam();
  const std::string id = std::string("build/") + model + "/O" + std::to_string(opt_level);
  for (const auto& each : text::reference("build.jsonl.gz")) {
    if (each["id"] != id) continue;
    const auto recorder = std::make_shared<PassTreeRecorder>();
    EXPECT_EQ(kernels(optimized(model, opt_level, recorder)),
              each["func_names"].get<std::vector<std::string>>());
    EXPECT_EQ(pass_tree_text(recorder->tree()), pass_tree_text(before_kernels(reference_pass_tree(each))));
    return;
  }
  FAIL() << "no reference " << id;
}

/// The same by their operators, with one name for all ways to convolve in blocks, and one for dense layers: a
/// long weight for few rows of data is not packed.
std::vector<std::string> operators(const IRModule& module) {
  std::vector<std::string> names;
  for (const FunctionNode* function : kernel_functions(module)) {
    std::string name = "tvmgen_default_fused";
    post_order(function->body(), [&](const Expr& node) {
      const auto* call = as<CallNode>(node);
      if (!call || !call->op()) return;
      static const std::map<std::string, std::string> one_name = {
          {"nn.contrib_conv2d_winograd_without_weight_transform", "nn.contrib_conv2d_NCHWc"},
          {"nn.dense", "nn.contrib_dense_pack"}};
      const auto known = one_name.find(call->op()->name);
      name += "_" + (known == one_name.end() ? call->op()->name : known->second);
    });
    std::ranges::replace(name, '.', '_');
    names.push_back(function->attr("relay.reshape_only") ? "__nop" : name);
  }
  return names;
}

/// Kernel names without their numbers.
std::vector<std::string> without_numbers(std::vector<std::string> names) {
  for (std::string& name : names) {
    const size_t number = name.find_last_not_of("0123456789");
    if (number + 1 < name.size() && name[number] == '_') name.resize(number);
  }
  return names;
}

class PipelineWithOurLayouts : public Pipeline {};

TEST_P(PipelineWithOurLayouts, FusesWhatTvmFuses) {
  const auto [model, opt_level] = GetParam();
  const std::string id = std::string("build/") + model + "/O" + std::to_string(opt_level);
  for (const auto& each : text::reference("build.jsonl.gz")) {
    if (each["id"] != id) continue;
    const auto recorder = std::make_shared<PassTreeRecorder>();
    EXPECT_EQ(operators(optimized(model, opt_level, recorder)),
              without_numbers(each["func_names"].get<std::vector<std::string>>()));
    EXPECT_EQ(pass_tree_text(recorder->tree()), pass_tree_text(before_kernels(reference_pass_tree(each))));
    return;
  }
  FAIL() << "no reference " << id;
}

INSTANTIATE_TEST_SUITE_P(Models, PipelineWithOurLayouts,
                         testing::Values(std::pair{"mlp", 3}, std::pair{"vgg11", 3},
                                         std::pair{"mobilenet", 3}, std::pair{"resnet18", 3}));

INSTANTIATE_TEST_SUITE_P(Models, Pipeline,
                         testing::Values(std::pair{"mlp", 0}, std::pair{"mlp", 1}, std::pair{"mlp", 2},
                                         std::pair{"vgg11", 0}, std::pair{"vgg11", 1}, std::pair{"vgg11", 2},
                                         std::pair{"mobilenet", 0}, std::pair{"mobilenet", 1},
                                         std::pair{"mobilenet", 2}, std::pair{"resnet18", 0},
                                         std::pair{"resnet18", 1}, std::pair{"resnet18", 2}));

}  // namespace
}  // namespace baton

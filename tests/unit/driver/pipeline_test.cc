// The default pipeline over whole models: which kernels come out, in which order, compared with TVM 0.11.1.
#include "baton/driver/pipeline.h"

#include <gtest/gtest.h>

#include <map>

#include "baton/codegen/evaluator.h"
#include "baton/driver/kernel_names.h"
#include "baton/frontend/workloads/networks.h"
#include "baton/ir/structural.h"
#include "baton/ir/visit.h"
#include "text/reference.h"
#include "transform/loop_evaluator.h"
#include "transform/transform_test.h"

namespace baton {
namespace {

/// The calls of primitive functions in the order they run, under the names of the kernels that TVM gives.
std::vector<std::string> kernels(const IRModule& module) {
  std::vector<std::string> names;
  std::map<uint64_t, std::string> by_hash;
  UniqueNames unique;
  post_order(module->find("main")->body(),
             [&](const Expr& node) {
               const auto* call = as<CallNode>(node);
               const auto* function = call ? as<FunctionNode>(call->callee()) : nullptr;
               if (!function) return;
               std::string& known = by_hash[structural_hash(call->callee())];
               if (known.empty()) known = unique.make(kernel_name("default", *function));
               names.push_back(function->attr("relay.reshape_only") ? "__nop" : known);
             },
             [](const Expr& node) { return node->kind() != ExprKind::kFunction || !as<FunctionNode>(node)->is_primitive(); });
  return names;
}

IRModule optimized(const std::string& model, int opt_level) {
  const auto* workload = workloads::find_workload(model);
  BATON_CHECK(workload, model);
  const PassContextRef context = test_context(opt_level);
  context->evaluator = make_evaluator();  // the loops of the test's own evaluator know few operators, and take a minute
  const PassContextScope scope(context);
  Machine machine;
  machine.float_lanes = 16;
  return optimize(bind_model((*named_pass("InferType"))(workload->make())), machine);
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
    EXPECT_EQ(kernels(optimized(model, opt_level)), each["func_names"].get<std::vector<std::string>>());
    return;
  }
  FAIL() << "no reference " << id;
}

/// Kernels by what they compute: without numbers, and with one name for all ways to convolve in blocks.
std::vector<std::string> kinds(std::vector<std::string> names) {
  for (std::string& name : names) {
    const std::string winograd = "conv2d_winograd_without_weight_transform";
    if (const size_t at = name.find(winograd); at != std::string::npos) name.replace(at, winograd.size(), "conv2d_NCHWc");
    const size_t number = name.find_last_not_of("0123456789");
    if (number + 1 < name.size() && name[number] == '_') name.resize(number);
    if (name.size() > 60) name.resize(60);  // longer ones end in a hash of the whole name, which says conv2d_winograd...
  }
  return names;
}

class PipelineWithOurLayouts : public Pipeline {};

TEST_P(PipelineWithOurLayouts, FusesWhatTvmFuses) {
  const auto [model, opt_level] = GetParam();
  const std::string id = std::string("build/") + model + "/O" + std::to_string(opt_level);
  for (const auto& each : text::reference("build.jsonl.gz")) {
    if (each["id"] != id) continue;
    EXPECT_EQ(kinds(kernels(optimized(model, opt_level))), kinds(each["func_names"].get<std::vector<std::string>>()));
    return;
  }
  FAIL() << "no reference " << id;
}

INSTANTIATE_TEST_SUITE_P(Models, PipelineWithOurLayouts,
                         testing::Values(std::pair{"mlp", 3}, std::pair{"vgg11", 3}, std::pair{"mobilenet", 3},
                                         std::pair{"resnet18", 3}));

INSTANTIATE_TEST_SUITE_P(Models, Pipeline,
                         testing::Values(std::pair{"mlp", 0}, std::pair{"mlp", 1}, std::pair{"mlp", 2},
                                         std::pair{"vgg11", 0}, std::pair{"vgg11", 1}, std::pair{"vgg11", 2},
                                         std::pair{"mobilenet", 0}, std::pair{"mobilenet", 1}, std::pair{"mobilenet", 2},
                                         std::pair{"resnet18", 0}, std::pair{"resnet18", 1},
                                         std::pair{"resnet18", 2}));

}  // namespace
}  // namespace baton

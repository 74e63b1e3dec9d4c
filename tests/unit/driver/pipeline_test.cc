// The default pipeline over whole models: which kernels come out, in which order, compared with TVM 0.11.1.
#include "baton/driver/pipeline.h"

#include <gtest/gtest.h>

#include <map>

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
  std::map<std::string, int> uses;
  post_order(module->find("main")->body(),
             [&](const Expr& node) {
               const auto* call = as<CallNode>(node);
               const auto* function = call ? as<FunctionNode>(call->callee()) : nullptr;
               if (!function) return;
               std::string name = "tvmgen_default_fused";
               post_order(function->body(), [&](const Expr& inner) {
                 const auto* op = as<CallNode>(inner);
                 if (op && op->op()) name += "_" + op->op()->name;
               });
               for (char& c : name)
                 if (c == '.') c = '_';
               std::string& known = by_hash[structural_hash(call->callee())];
               if (known.empty()) {
                 const int count = uses[name]++;
                 known = count == 0 ? name : name + "_" + std::to_string(count);
               }
               names.push_back(function->attr("relay.reshape_only") ? "__nop" : known);
             },
             [](const Expr& node) { return node->kind() != ExprKind::kFunction || !as<FunctionNode>(node)->is_primitive(); });
  return names;
}

IRModule optimized(const std::string& model, int opt_level) {
  const auto* workload = workloads::find_workload(model);
  BATON_CHECK(workload, model);
  const PassContextScope scope(test_context(opt_level));
  Machine machine;
  machine.float_lanes = 16;
  return optimize(bind_model((*make_pass("InferType"))(workload->make())), machine);
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

INSTANTIATE_TEST_SUITE_P(Models, Pipeline,
                         testing::Values(std::pair{"mlp", 0}, std::pair{"mlp", 1}, std::pair{"mlp", 2}, std::pair{"mlp", 3},
                                         std::pair{"vgg11", 0}, std::pair{"vgg11", 1}, std::pair{"vgg11", 2},
                                         std::pair{"mobilenet", 0}, std::pair{"mobilenet", 1}, std::pair{"mobilenet", 2},
                                         std::pair{"mobilenet", 3}, std::pair{"resnet18", 0}, std::pair{"resnet18", 1},
                                         std::pair{"resnet18", 2}));

}  // namespace
}  // namespace baton

#pragma once
// A small built network, with invented times.
#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/profile/report/report.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton::test {

inline constexpr const char* kNet = R"(#[version = "0.0.5"]
def @main(%data: Tensor[(2, 32), float32], %weight: Tensor[(16, 32), float32], %bias: Tensor[(16), float32]) {
  %0 = nn.dense(%data, %weight, units=16);
  %1 = nn.bias_add(%0, %bias);
  %2 = nn.relu(%1);
  %3 = nn.dropout(%2);
  %4 = exp(%bias);
  %5 = add(%3.0, %4);
  nn.softmax(%5)
}
)";

struct Built {
  test::Folder folder;
  KernelCache cache{folder.path()};
  BuildResult build;
  std::unique_ptr<Executor> executor;

  Built() {
    initialize();
    const IRModule module = infer_types(parse_module(kNet, "net.relay"));
    BuildOptions options{.context = host_context()};
    options.context.cache = &cache;
    options.context.passes->opt_level = 3;
    for (const char* name : {"weight", "bias"}) {
      for (const Var& param : module->find("main")->params())
        if (param->name() == name) {
          const auto* type = as_type<TensorTypeNode>(param->annotation());
          options.params.emplace_back(name, parameter_value(name, type->extents(), type->dtype()));
        }
    }
    build = baton::build(module, options);
    executor = make_executor(build);
    executor->set_threads(1);
    const PlanEntry& entry = executor->input_entry(0);
    EXPECT_TRUE(executor->set_input(0, tensor_value("data", entry.shape, entry.dtype)).ok());
  }
};

/// Invented times: 10 us and 30 us for the two kernels, 41 us for the whole run.
inline FusedTimes made_up(const Plan& plan) {
  FusedTimes times;
  for (uint32_t i = 0; i < plan.nodes.size(); ++i)
    if (!plan.nodes[i].func_name.empty() && plan.nodes[i].func_name != "__nop") times.nodes.push_back(i);
  for (size_t i = 0; i < times.nodes.size(); ++i)
    times.node_us.push_back({10.0 + 20 * i, 9.0 + 20 * i, 12.0 + 20 * i});
  times.plain_us = {41, 40, 43};
  times.profiled_us = {41.5, 41, 44};
  times.load_before = 0.25;
  return times;
}

}  // namespace baton::test

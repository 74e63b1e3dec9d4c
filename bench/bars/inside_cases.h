#pragma once
// The kernels that bars of inside times are measured on, and how two measurements of one are compared.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/ir/build.h"
#include "baton/pass/rewriter.h"
#include "baton/profile/inside/inside.h"
#include "baton/profile/inside/sampling.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton::bars {

struct Case {
  const char* name;
  int opt_level;
  bool balanced;  ///< its parallel loops divide evenly among two threads
  std::string text;
};

inline std::string packed_conv(const std::string& epilogue) {
  return "def @main(%data: Tensor[(1, 4, 56, 56, 16), float32], %weight: Tensor[(4, 4, 3, 3, 16, 16), "
         "float32], "
         "%bias: Tensor[(1, 4, 1, 1, 16), float32]) {\n"
         "  %0 = nn.contrib_conv2d_NCHWc(%data, %weight, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, "
         "3], "
         "data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i16o\", out_layout=\"NCHW16c\");\n"
         "  %1 = add(%0, %bias);\n  nn.relu(" +
         epilogue + ")\n}\n";
}

/// Those of the issue.
inline const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"conv 3x3 + bias + relu, direct", 1, true, packed_conv("%1")},
      {"conv 1x1 + bias + add + relu", 1, true,
       "def @main(%data: Tensor[(1, 4, 56, 56, 16), float32], %weight: Tensor[(16, 4, 1, 1, 16, 16), "
       "float32], "
       "%bias: Tensor[(1, 16, 1, 1, 16), float32], %residual: Tensor[(1, 16, 56, 56, 16), float32]) {\n"
       "  %0 = nn.contrib_conv2d_NCHWc(%data, %weight, channels=256, kernel_size=[1, 1], "
       "data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i16o\", out_layout=\"NCHW16c\");\n"
       "  %1 = add(%0, %bias);\n  %2 = add(%1, %residual);\n  nn.relu(%2)\n}\n"},
      {"dense + bias + gelu", 3, true,
       "def @main(%data: Tensor[(128, 768), float32], %weight: Tensor[(3072, 768), float32], %bias: "
       "Tensor[(3072), float32]) {\n"
       "  %0 = nn.dense(%data, %weight, units=3072);\n  %1 = add(%0, %bias);\n  %2 = multiply(%1, "
       "0.707107f);\n"
       "  %3 = erf(%2);\n  %4 = add(%3, 1f);\n  %5 = multiply(%1, 0.5f);\n  multiply(%5, %4)\n}\n"},
      {"softmax 256x1024", 3, false,
       "def @main(%data: Tensor[(256, 1024), float32]) {\n  nn.softmax(%data)\n}\n"},
      {"layer_norm 256x1024", 3, false,
       "def @main(%data: Tensor[(256, 1024), float32], %gamma: Tensor[(1024), float32], %beta: "
       "Tensor[(1024), float32]) {\n"
       "  nn.layer_norm(%data, %gamma, %beta)\n}\n"},
      {"depthwise 3x3 + bn + relu6", 3, false,
       "def @main(%data: Tensor[(1, 144, 56, 56), float32], %weight: Tensor[(144, 1, 3, 3), float32], "
       "%gamma: Tensor[(144), float32], %beta: Tensor[(144), float32], %mean: Tensor[(144), float32], %var: "
       "Tensor[(144), float32]) {\n"
       "  %0 = nn.conv2d(%data, %weight, padding=[1, 1, 1, 1], groups=144, channels=144, kernel_size=[3, "
       "3]);\n"
       "  %1 = nn.batch_norm(%0, %gamma, %beta, %mean, %var);\n  %2 = %1.0;\n  clip(%2, a_min=0f, "
       "a_max=6f)\n}\n"},
      {"conv 3x3 + bias + relu, Winograd", 3, false,
       "def @main(%data: Tensor[(1, 64, 56, 56), float32], %weight: Tensor[(64, 64, 3, 3), float32], "
       "%bias: Tensor[(64, 1, 1), float32]) {\n"
       "  %0 = nn.conv2d(%data, %weight, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3]);\n"
       "  %1 = add(%0, %bias);\n  nn.relu(%1)\n}\n"},
  };
  return all;
}

inline IRModule module_of(const std::string& text) {
  return infer_types(parse_module("#[version = \"0.0.5\"]\n" + text));
}

inline void require(const Status& status) {
  if (!status.ok()) throw Error(status.message);
}

/// A model of one of those kernels, or of some; beside them what packs their inputs.
struct Built {
  BuildResult build;
  std::unique_ptr<Executor> executor;

  Built(const IRModule& module, int opt_level) {
    BuildOptions options{.context = host_context()};
    options.context.passes->opt_level = opt_level;
    const Function main = module->find("main");
    for (size_t i = 1; i < main->params().size() && opt_level >= 3; ++i) {
      const auto* type = as_type<TensorTypeNode>(main->params()[i]->checked_type());
      options.params.emplace_back(main->params()[i]->name(),
                                  parameter_value(main->params()[i]->name(), type->extents(), type->dtype()));
    }
    build = baton::build(module, options);
    executor = make_executor(build);
    executor->set_threads(1);
    for (size_t i = 0; i < executor->num_inputs(); ++i) {
      const PlanEntry& entry = executor->input_entry(i);
      require(executor->set_input(i, tensor_value(executor->input_node(i).name, entry.shape, entry.dtype)));
    }
  }

  std::map<std::string, InsideTimes> inside(double ms, int threads = 1) {
    InsideOptions options(host_context());
    options.ms_per_kernel = ms;
    options.threads = threads;
    return measure_inside(build, *executor, options);
  }
};

/// What a kernel's stages have of its time: parts of one stage added up.
using Stages = std::vector<std::pair<std::string, double>>;
inline Stages stages_of(const InsideTimes& times) {
  Stages stages;
  double fused = 0;  // ablation stands before the rest of its stage
  for (const InsidePart& part : times.parts) {
    fused += part.share;
    if (part.method == InsideMethod::kAblation) continue;
    stages.emplace_back(part.stage, fused);
    fused = 0;
  }
  return stages;
}

/// The same by sampling the kernel that ships, for so many seconds; none where it cannot be done.
inline Stages sampled_stages(Built& built, const std::string& func_name, double seconds) {
  const auto& nodes = built.executor->plan().nodes;
  const auto node =
      std::find_if(nodes.begin(), nodes.end(), [&](const PlanNode& n) { return n.func_name == func_name; });
  const auto kernel = std::find_if(built.build.kernels.begin(), built.build.kernels.end(),
                                   [&](const BuiltKernel& k) { return k.func_name == func_name; });
  require(built.executor->run());
  SampleOptions options(host_context());
  options.hz = 2000;
  options.seconds = seconds;
  const ThreadScope one(1);
  const auto counts =
      sample_kernel(kernel->request, *kernel->kernel, *built.build.host_code().library,
                    built.executor->node_args(static_cast<uint32_t>(node - nodes.begin())), options);
  if (!counts.ok()) {
    std::printf("      no sampling: %s\n", counts.status().message.c_str());
    return {};
  }
  Stages stages;
  double elsewhere = 0;
  for (const SampledStage& stage : counts->stages) {
    if (stage.stage.empty()) elsewhere += counts->share(stage);
    if (stage.stage.empty() || stage.samples == 0) continue;
    std::string text;
    for (const HeldStage& held : stage.holds) text += held.stage + ", ";
    stages.emplace_back(text + stage.stage, counts->share(stage));
  }
  if (!stages.empty()) stages.back().second += elsewhere;
  return stages;
}

/// The largest difference between two measurements of a kernel, of its time: stage by stage. What one of them
/// did not mark
/// ("in_xf, relu": in_xf was too short) is joined with what it was billed to.
inline double difference(const Stages& a, const Stages& b) {
  std::map<std::string, std::string> joined;  // stage -> what stands for it
  const auto find = [&](std::string name) {
    while (joined.count(name) && joined[name] != name) name = joined[name];
    return name;
  };
  const auto names_in = [](const std::string& text) {
    std::vector<std::string> names;
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find(", ", at), text.size());
      names.push_back(text.substr(at, end - at));
      at = end + 2;
    }
    return names;
  };
  std::map<std::string, int> seen;
  for (const Stages* side : {&a, &b})
    for (const auto& [text, share] : *side) {
      const auto names = names_in(text);
      for (const std::string& name : names)
        seen[name] |= side == &a ? 1 : 2, joined[find(name)] = find(names.back());
    }
  const std::string result = names_in(a.back().first).back();
  for (const auto& [name, sides] : seen)
    if (sides != 3) joined[find(name)] = find(result);
  std::map<std::string, double> left;
  for (const auto& [text, share] : a) left[find(names_in(text).back())] += share;
  for (const auto& [text, share] : b) left[find(names_in(text).back())] -= share;
  double most = 0;
  for (const auto& [name, by] : left) most = std::max(most, std::abs(by));
  return most;
}

}  // namespace baton::bars

// Bars of sampling: what it costs a whole model, and how near it comes to markers, the other way to time
// stages. Prints `bar, measured, ok` and exits with 1 when one does not hold. One thread; a quiet machine,
// please.
#include "baton/profile/inside/sampling.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/load_model.h"
#include "baton/profile/inside/inside.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "bars/bar.h"

namespace baton {
namespace {

template <class T>
T require(Result<T> result) {
  if (!result.ok()) throw Error(result.status().message);
  return std::move(*result);
}

std::unique_ptr<Executor> executor_of(const BuildResult& built) {
  std::unique_ptr<Executor> executor = make_executor(built);
  executor->set_threads(1);
  for (size_t i = 0; i < executor->num_inputs(); ++i) {
    const PlanEntry& entry = executor->input_entry(i);
    const Status status =
        executor->set_input(i, tensor_value(executor->input_node(i).name, entry.shape, entry.dtype));
    if (!status.ok()) throw Error(status.message);
  }
  return executor;
}

void costs(const char* name) {
  const LoadedModel model = load_model(name);
  BuildOptions options{.context = host_context()};
  options.params = load_params(model, "");
  options.context.passes->opt_level = 3;
  const BuildResult built = build(model.module, options);
  SampleOptions sampling(host_context());
  sampling.seconds = 5;
  const ModelSamples samples = require(sample_model(built, *executor_of(built), sampling));
  bars::report((std::string(name) + ": what sampling at 1 kHz adds to a run").c_str(), 3,
               samples.overhead * 100, "%");
  bars::report_least((std::string(name) + ": samples in kernels").c_str(), 97,
                     100.0 * static_cast<double>(samples.in_kernels) /
                         static_cast<double>(samples.in_kernels + samples.outside),
                     "%");
}

double by_marks(const InsideTimes& times, const std::string& stage) {
  double share = 0;
  for (const InsidePart& part : times.parts)
    if (part.stage == stage) share += part.share;
  return share;
}

// The largest distance between both ways, over the stages that have marks of their own.
void agrees(const char* what, const std::string& text, double most) {
  const IRModule module = infer_types(parse_module("#[version = \"0.0.5\"]\ndef @main(" + text));
  BuildOptions options{.context = host_context()};
  options.context.passes->opt_level = 3;
  const Function main = module->find("main");
  for (size_t i = 1; i < main->params().size(); ++i) {
    const auto* type = as_type<TensorTypeNode>(main->params()[i]->checked_type());
    options.params.emplace_back(main->params()[i]->name(),
                                parameter_value(main->params()[i]->name(), type->extents(), type->dtype()));
  }
  const BuildResult built = build(module, options);
  const auto executor = executor_of(built);
  InsideOptions inside(host_context());
  inside.ms_per_kernel = 1500;
  const ThreadScope one(1);
  for (const auto& [name, times] : measure_inside(built, *executor, inside)) {
    if (times.parts.size() < 2 || times.plain_us < 100) continue;
    const Plan& plan = executor->plan();
    for (uint32_t node = 0; node < plan.nodes.size(); ++node) {
      if (plan.nodes[node].func_name != name) continue;
      for (const BuiltKernel& kernel : built.kernels) {
        if (kernel.func_name != name) continue;
        (void)executor->run_range(0, node + 1);
        SampleOptions sampling(host_context());
        sampling.seconds = 3;
        const SampleCounts counts = require(sample_kernel(
            kernel.request, *kernel.kernel, *built.host_code().library, executor->node_args(node), sampling));
        double worst = 0;
        for (const SampledStage& stage : counts.stages) {
          const double marked = by_marks(times, stage.stage);
          if (stage.block < 0 || marked <= 0) continue;
          std::printf("  %-12s markers %5.1f %%  sampling %5.1f %%\n", stage.stage.c_str(), marked * 100,
                      counts.share(stage) * 100);
          worst = std::max(worst, std::abs(marked - counts.share(stage)) * 100);
        }
        bars::report(what, most, worst, "points");
      }
    }
  }
}

}  // namespace
}  // namespace baton

int main() {
  try {
    baton::initialize();
    for (const char* name : {"resnet-18", "mobilenet"}) baton::costs(name);
    baton::agrees("conv + bias + relu 64->64@56 s2, direct: markers - sampling",
                  "%x: Tensor[(1, 64, 112, 112), float32], %w: Tensor[(64, 64, 3, 3), float32], %b: "
                  "Tensor[(64, 1, 1), float32]) {\n"
                  "  nn.relu(add(nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], channels=64, "
                  "kernel_size=[3, 3]), %b))\n}\n",
                  2);
    baton::agrees(
        "conv + bias + relu 64->64@56, Winograd: markers - sampling",
        "%x: Tensor[(1, 64, 56, 56), float32], %w: Tensor[(64, 64, 3, 3), float32], %b: Tensor[(64, 1, 1), "
        "float32]) {\n"
        "  nn.relu(add(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3]), %b))\n}\n",
        2);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return baton::bars::all_hold ? 0 : 1;
}

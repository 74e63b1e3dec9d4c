// Bars of inside times: stages that sum up to the kernel, a known cost found by ablation, profiling that costs nothing.
// Prints `bar, measured, ok` and exits with 1 when one does not hold. One thread; a quiet machine, please.
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "baton/driver/initialize.h"
#include "baton/driver/load_model.h"
#include "baton/pass/rewriter.h"
#include "baton/profile/report.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/transform/build.h"
#include "baton/transform/infer_type.h"

#include "bars/bar.h"

namespace baton {
namespace {

void require(const Status& status) {
  if (!status.ok()) throw Error(status.message);
}

std::unique_ptr<Executor> executor_of(const BuildResult& built) {
  std::unique_ptr<Executor> executor = make_executor(built);
  executor->set_threads(1);
  for (size_t i = 0; i < executor->num_inputs(); ++i) {
    const PlanEntry& entry = executor->input_entry(i);
    require(executor->set_input(i, tensor_value(executor->input_node(i).name, entry.shape, entry.dtype)));
  }
  return executor;
}

// conv2d 3x3 + bias + `epilogue` + relu, 64 -> 64 channels at 56 x 56.
IRModule convolution(bool packed, const std::string& epilogue) {
  const std::string text =
      packed ? "def @main(%data: Tensor[(1, 4, 56, 56, 16), float32], %weight: Tensor[(4, 4, 3, 3, 16, 16), float32], "
               "%bias: Tensor[(1, 4, 1, 1, 16), float32]) {\n"
               "  %0 = nn.contrib_conv2d_NCHWc(%data, %weight, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3], "
               "data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i16o\", out_layout=\"NCHW16c\");\n"
             : "def @main(%data: Tensor[(1, 64, 56, 56), float32], %weight: Tensor[(64, 64, 3, 3), float32], "
               "%bias: Tensor[(64, 1, 1), float32]) {\n"
               "  %0 = nn.conv2d(%data, %weight, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3]);\n";
  return infer_types(parse_module("#[version = \"0.0.5\"]\n" + text + "  %1 = add(%0, %bias);\n  nn.relu(" + epilogue + ")\n}\n"));
}

// negative(x)  ->  v = v * v - 0.5, `length` times: multiply-adds that all stand for the one operator that was written.
class Dial final : public Rewriter {
 public:
  explicit Dial(int length) : length_(length) {}

 private:
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    if (!call || call->op()->name != "negative") return rebuilt;
    Expr value = call->args()[0];
    const Expr half = constant(NDArray::of<float>({}, std::vector<float>{0.5f}, DType::float_(32)));
    for (int i = 0; i < length_; ++i) value = call_op("subtract", {call_op("multiply", {value, value}), half});
    return value;
  }
  int length_;
};

// The only kernel of `module` with a convolution, split.
InsideTimes inside_of(const IRModule& module, int opt_level, double ms) {
  BuildOptions options;
  options.opt_level = opt_level;
  if (opt_level >= 3) {
    const Function main = module->find("main");
    for (size_t i = 1; i < main->params().size(); ++i) {
      const auto* type = as_type<TensorTypeNode>(main->params()[i]->checked_type());
      options.params.emplace_back(main->params()[i]->name(),
                                  parameter_value(main->params()[i]->name(), type->extents(), type->dtype()));
    }
  }
  const BuildResult built = build(module, options);
  const auto executor = executor_of(built);
  InsideOptions inside;
  inside.ms_per_kernel = ms;
  for (const auto& [name, times] : measure_inside(built, *executor, inside))
    if (name.find("conv2d") != std::string::npos) return times;
  throw Error("no kernel with a convolution was built");
}

void stages_sum_up() {
  const InsideTimes direct = inside_of(convolution(true, "%1"), 1, 1000);
  bars::report("conv + bias + relu 64->64@56, direct: sum of the stages", 97, 103, direct.stage_sum * 100, "%");
  const InsideTimes winograd = inside_of(convolution(false, "%1"), 3, 1000);
  bars::report("conv + bias + relu 64->64@56, Winograd: sum of the stages", 97, 103, winograd.stage_sum * 100, "%");
}

double share_of_stage(const InsideTimes& times, const std::string& stage) {
  double share = 0;
  for (const InsidePart& part : times.parts)
    if (part.stage == stage && part.method == InsideMethod::kMarkers) share += part.share;
  return share;
}

double share_of_chain(const InsideTimes& times) {
  for (const InsidePart& part : times.parts)
    if (part.method == InsideMethod::kAblation && part.blocks.size() > 1) return part.share;
  return 0;
}

void known_cost() {
  constexpr int kStep = 8, kSteps = 8;
  // A multiply-add of the convolution itself is the yardstick: 9 x 64 of them make one result.
  const InsideTimes plain = inside_of(convolution(true, "%1"), 1, 1000);
  const double known_us = share_of_stage(plain, "conv2d") * plain.plain_us * kStep / (9 * 64);
  std::vector<double> x, y;
  for (int n = 1; n <= kSteps; ++n) {
    const IRModule module = convolution(true, "negative(%1)");
    module->set("main", as_ref<FunctionNode>(Dial(n * kStep).run(module->find("main"))));
    const InsideTimes times = inside_of(infer_types(module), 1, 1000);
    x.push_back(n);
    y.push_back(share_of_chain(times) * times.plain_us);
    std::printf("  chain of %2d multiply-adds: %7.2f us of %7.1f (noise %.2f %%, stages sum to %.1f %%)\n", n * kStep, y.back(),
                times.plain_us, times.noise * 100, times.stage_sum * 100);
  }
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / kSteps, mean_y = std::accumulate(y.begin(), y.end(), 0.0) / kSteps;
  double xy = 0, xx = 0, yy = 0;
  for (int i = 0; i < kSteps; ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  std::printf("  slope %.2f us per %d multiply-adds, known %.2f us\n", xy / xx, kStep, known_us);
  bars::report("ablation of a chain of multiply-adds: found / known cost", 0.85, 1.15, xy / xx / known_us, "x");
  bars::report("ablation of a chain of multiply-adds: R^2", 0.98, 1, xy * xy / (xx * yy), "");
}

void profiling_costs_nothing(const char* name) {
  const LoadedModel model = load_model(name);
  BuildOptions options;
  options.params = load_params(model, "");
  options.opt_level = 3;
  const BuildResult built = build(model.module, options);
  const auto executor = executor_of(built);
  MeasureOptions measure;
  measure.min_seconds = 6;
  const FusedTimes fused = measure_fused(*executor, measure);
  const ProfileReport report = make_report(built, executor->plan(), fused, {});
  const std::string what = std::string(name) + ": ";
  bars::report((what + "kernel-level profiling on / off").c_str(), 1.01, report.overhead(), "x");
  bars::report((what + "sum of rows / plain end to end").c_str(), 98, 102, report.sum_us / report.end_to_end_us * 100, "%");
}

}  // namespace
}  // namespace baton

int main() {
  try {
    baton::initialize();
    baton::stages_sum_up();
    baton::known_cost();
    for (const char* name : {"resnet-18", "vgg-11", "mobilenet"}) baton::profiling_costs_nothing(name);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return baton::bars::all_hold ? 0 : 1;
}

// Bars of inside times, on the kernels of inside_cases.h: stages that sum up to the kernel, the same again
// and in another process, threads that are accounted for, a known cost found by ablation, profiling that
// costs nothing. Prints `bar, measured, ok` and exits with 1 when one does not hold. A quiet machine, please.
// `inside NAME` measures the kernels with that in their names only; `--quick` takes a quarter of the time.
#include <cstdio>
#include <cstring>
#include <numeric>

#include "baton/driver/initialize.h"
#include "baton/profile/report/report.h"

#include "bars/bar.h"
#include "bars/inside_cases.h"

namespace baton::bars {
namespace {

double ms = 600;
constexpr int kRepeats = 3;

using Times = std::map<std::string, InsideTimes>;

bool is_sampled(const InsideTimes& times) {
  for (const InsidePart& part : times.parts)
    if (part.method == InsideMethod::kSampling) return true;
  return false;
}

void print(const std::string& kernel, const InsideTimes& times) {
  std::printf("  %s: %.1f us, stages sum to %.1f %%, marks cost %.1f %%, noise %.2f %%\n", kernel.c_str(),
              times.plain_us, times.stage_sum * 100, times.overhead * 100, times.noise * 100);
  for (const InsidePart& part : times.parts)
    std::printf("      %-28s %6.2f %%  %s%s\n", part.stage.c_str(), part.share * 100,
                method_name(part.method),
                part.below_noise ? " < noise"
                : part.rest      ? " (rest)"
                                 : "");
  for (const std::string& note : notes_of(times)) std::printf("      %s\n", note.c_str());
}

double largest_difference(const Times& a, const Times& b) {
  double most = 0;
  for (const auto& [name, times] : a)
    most = std::max(most, difference(stages_of(times), stages_of(b.at(name))));
  return most;
}

/// Markers against sampling, where there are stages to compare.
void against_sampling(const Case& one, Built& built, const Times& measured) {
  for (const auto& [kernel, times] : measured) {
    const Stages marked = stages_of(times);
    if (marked.size() < 2 || is_sampled(times)) continue;
    const Stages sampled = sampled_stages(built, kernel, 10 * ms / 1e3);
    if (sampled.empty()) continue;
    for (const auto& [stage, share] : sampled)
      std::printf("      sampled %-20s %6.2f %%\n", stage.c_str(), share * 100);
    const bool coarse = times.plain_us >= 200 && times.visit_us >= 1;
    report((std::string(one.name) + ": markers against sampling").c_str(), coarse ? 2 : 5,
           difference(marked, sampled) * 100, "points");
  }
}

/// What another process measures: one line per kernel and stage, written by `inside --shares NAME`.
Times in_fresh_process(const Case& which) {
  const std::string command = "/proc/self/exe";
  std::string line = "exec " + command;
  std::FILE* out = nullptr;
  char self[512];
  const ssize_t length = readlink(command.c_str(), self, sizeof self - 1);
  if (length <= 0) throw Error("cannot find this program");
  line = "'" + std::string(self, static_cast<size_t>(length)) + "' --shares '" + which.name + "' " +
         std::to_string(ms);
  out = popen(line.c_str(), "r");
  if (!out) throw Error("cannot start this program again");
  Times all;
  char text[1000], kernel[300], stage[300];
  double share = 0;
  while (std::fgets(text, sizeof text, out))
    if (std::sscanf(text, "%299[^|]|%299[^|]|%lf", kernel, stage, &share) == 3)
      all[kernel].parts.push_back({{}, false, stage, share, InsideMethod::kMarkers, false});
  if (pclose(out) != 0 || all.empty()) throw Error("this program failed in another process");
  return all;
}

int write_shares(const char* name) {
  for (const Case& one : cases()) {
    if (std::strcmp(one.name, name) != 0) continue;
    Built built(module_of(one.text), one.opt_level);
    for (const auto& [kernel, times] : built.inside(ms))
      for (const auto& [stage, share] : stages_of(times))
        std::printf("%s|%s|%.9f\n", kernel.c_str(), stage.empty() ? "-" : stage.c_str(), share);
    return 0;
  }
  return 1;
}

void measure(const Case& one) {
  Built built(module_of(one.text), one.opt_level);
  const std::string what = std::string(one.name) + ": ";
  Times first = built.inside(ms);
  double sum = 1;
  bool sampled = false;
  for (auto& [kernel, times] : first) {
    print(kernel, times);
    if (std::abs(times.stage_sum - 1) > std::abs(sum - 1)) sum = times.stage_sum;
    sampled |= is_sampled(times);
    for (InsidePart& part : times.parts)
      if (part.stage.empty()) part.stage = "-";
  }
  report((what + "sum of the stages" + (sampled ? " (sampled)" : "")).c_str(), 97, 103, sum * 100, "%");
  double again = 0;
  Times next_times;
  for (int i = 1; i < kRepeats; ++i) {
    Times& next = next_times = built.inside(ms);
    for (auto& [kernel, times] : next)
      for (InsidePart& part : times.parts)
        if (part.stage.empty()) part.stage = "-";
    again = std::max(again, largest_difference(first, next));
  }
  report((what + "measured again").c_str(), 1.5, again * 100, "points");
  against_sampling(one, built, next_times);
  report((what + "in a fresh process").c_str(), 3, largest_difference(first, in_fresh_process(one)) * 100,
         "points");
  double busy = 0;
  for (const auto& [kernel, times] : built.inside(ms, 2)) {
    if (kernel.find("layout_transform") != std::string::npos) continue;
    busy = times.utilisation();
    for (const StageLoad& load : times.loads)
      std::printf("      2 threads: %-20s %6.2f %% of them\n", load.stage.c_str(),
                  load.busy_us / times.busy_us() * 100);
  }
  if (one.balanced)
    report((what + "threads' sum / (2 x wall)").c_str(), 95, 105, busy * 100, "%");
  else
    std::printf("  %sthreads' sum / (2 x wall) %.1f %%\n", what.c_str(), busy * 100);
}

// negative(x)  ->  v = v * v - 0.5, `length` times: multiply-adds that all stand for the one operator that
// was written.
class Dial final : public Rewriter {
 public:
  explicit Dial(int length) : length_(length) {}

 private:
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    if (!call || call->op()->name != "negative") return rebuilt;
    Expr value = call->args()[0];
    const Expr half = constant(NDArray::of<float>({}, std::vector<float>{0.5f}, DType::float_(32)));
    for (int i = 0; i < length_; ++i)
      value = call_op("subtract", {call_op("multiply", {value, value}), half});
    return value;
  }
  int length_;
};

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

/// A multiply-add of the convolution is the yardstick, that of the same kernel in the same rounds: 9 x 64 of
/// them make one result. So neither another build nor another moment of the clock has a say.
void known_cost() {
  constexpr int kStep = 8, kSteps = 8, kPerResult = 9 * 64;
  std::vector<double> x, y;
  for (int n = 1; n <= kSteps; ++n) {
    const IRModule module = module_of(packed_conv("negative(%1)"));
    module->set("main", as_ref<FunctionNode>(Dial(n * kStep).run(module->find("main"))));
    Built built(infer_types(module), 1);
    for (const auto& [name, times] : built.inside(2 * ms)) {
      if (name.find("conv2d") == std::string::npos) continue;
      x.push_back(n * kStep);
      y.push_back(share_of_chain(times) / share_of_stage(times, "conv2d") * kPerResult);
      std::printf(
          "  chain of %2d multiply-adds: found %6.2f of them in %7.1f us (noise %.2f %%, stages sum to %.1f "
          "%%)\n",
          n * kStep, y.back(), times.plain_us, times.noise * 100, times.stage_sum * 100);
    }
  }
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / kSteps,
               mean_y = std::accumulate(y.begin(), y.end(), 0.0) / kSteps;
  double xy = 0, xx = 0, yy = 0;
  for (int i = 0; i < kSteps; ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  report("ablation of a chain of multiply-adds: found / known cost", 0.9, 1.1, xy / xx, "x");
  report_least("ablation of a chain of multiply-adds: R^2", 0.98, xy * xy / (xx * yy), "");
}

int run(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--shares") == 0) {
    ms = std::atof(argv[3]);
    return write_shares(argv[2]);
  }
  const char* only = "";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0)
      ms /= 4;
    else
      only = argv[i];
  }
  for (const Case& one : cases())
    if (std::strstr(one.name, only)) measure(one);
  if (std::strstr("chain", only)) known_cost();
  return all_hold ? 0 : 1;
}

}  // namespace
}  // namespace baton::bars

int main(int argc, char** argv) {
  try {
    baton::initialize();
    return baton::bars::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

// Bars of kernel-level profiling: what a clock around every kernel costs, that the rows are the whole, how
// long a report takes beyond the runs, how large tables of origins are, and how many operators a report
// finds. Prints `bar, measured, ok` and exits with 1 when one does not hold. Quiet machine, please.
// `profile_levels MODEL...` looks at those networks only.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include <unistd.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/driver/load_model.h"
#include "baton/frontend/workloads/networks.h"
#include "baton/profile/report/profile.h"
#include "baton/profile/report/unfused.h"
#include "baton/profile/write/report_json.h"
#include "baton/profile/write/table.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

#include "bars/bar.h"
#include "bars/empty_chain.h"

namespace baton {
namespace {

void require(const Status& status) {
  if (!status.ok()) throw Error(status.message);
}

/// The median and where it lies with 95 % probability (order statistics; no shape is assumed).
struct Estimate {
  double median, low, high;
};
Estimate estimate(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const auto at = [&](double rank) { return values[static_cast<size_t>(std::clamp(rank, 0.0, n - 1))]; };
  const double reach = 0.98 * std::sqrt(n);
  return {median(values), at(std::floor(n / 2 - reach)), at(std::ceil(n / 2 + reach))};
}

void per_node() {
  const auto plan = Plan::parse(bars::chain());
  require(plan.status());
  auto created =
      Executor::create(*plan, KernelLibrary::from_functions({{"nothing", bars::do_nothing}}, nullptr), {});
  require(created.status());
  Executor& executor = **created;
  executor.set_threads(1);
  // Pairs of ten runs each, one kind after the other in both orders.
  std::vector<double> extra;
  for (int i = 0; i < 60; ++i) {
    double ns[2];
    for (int k = 0; k < 2; ++k) {
      const bool on = (k + i) % 2 == 1;
      const int64_t start = thread_cpu_ns();
      if (on)
        require(executor.run_profiled(10).status());
      else
        for (int r = 0; r < 10; ++r) require(executor.run());
      ns[on] = static_cast<double>(thread_cpu_ns() - start) / 10;
    }
    extra.push_back((ns[1] - ns[0]) / bars::kNodes);
  }
  const Estimate found = estimate(extra);
  std::printf("  10,000 empty kernels, profiling on - off: %.1f ns per node, 95 %% interval %.1f .. %.1f\n",
              found.median, found.low, found.high);
  bars::report("profiling, per node of 10,000 empty kernels", 100, found.median, "ns");
}

struct Model {
  LoadedModel loaded;
  BuildResult built;
  std::unique_ptr<Executor> executor;

  explicit Model(const std::string& name) : loaded(load_model(name)) {
    BuildOptions options{.context = host_context()};
    options.params = load_params(loaded, "");
    options.context.passes->opt_level = 3;
    built = build(loaded.module, options);
    executor = make_executor(built);
    executor->set_threads(1);
    for (size_t i = 0; i < executor->num_inputs(); ++i) {
      const PlanEntry& entry = executor->input_entry(i);
      require(executor->set_input(i, tensor_value(executor->input_node(i).name, entry.shape, entry.dtype)));
    }
  }
};

void on_against_off(const std::string& name, Model& model) {
  MeasureOptions options;
  options.min_seconds = 8;
  const FusedTimes times = measure_fused(*model.executor, options);
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(times.plain_us.size(), times.profiled_us.size()); ++i)
    ratios.push_back(times.profiled_us[i] / times.plain_us[i]);
  const Estimate found = estimate(ratios);
  const ProfileReport report = make_report(model.built, model.executor->plan(), times, {});
  std::printf("  %s: on / off %.4fx, 95 %% interval %.4f .. %.4f, %zu pairs; runs vary by %.1f %%\n",
              name.c_str(), found.median, found.low, found.high, ratios.size(), report.cv * 100);
  for (const std::string& note : report.notes) std::printf("  note: %s\n", note.c_str());
  bars::report((name + ": profiling on / off, median of the pairs").c_str(), 1.0025, found.median, "x");
  bars::report((name + ": sum of rows / plain end to end").c_str(), 99, 101,
               report.sum_us / report.end_to_end_us * 100, "%");
}

void report_takes(const std::string& name, Model& model) {
  ProfileOptions options;
  options.context = host_context();
  options.inside = options.unfused = false;
  options.measure.min_seconds = 1;
  (void)profile(model.built, *model.executor, options);  // the machine's peaks, once a day
  const int64_t start = monotonic_ns();
  const ProfileReport report = profile(model.built, *model.executor, options);
  std::ostringstream table;
  write_table(table, report);
  const std::string json = to_json(report).dump();
  const double all = seconds_since(start);
  double runs = 3 * report.end_to_end_us;  // to warm up
  for (const auto* times : {&report.plain_us, &report.profiled_us})
    for (double us : *times) runs += us;
  std::printf("  %s: %.3f s, of which runs %.3f s; JSON of %zu kB\n", name.c_str(), all, runs * 1e-6,
              json.size() / 1000);
  bars::report((name + ": a report beyond its runs").c_str(), 0.3, all - runs * 1e-6, "s");
}

void unfused_takes(const std::string& name, Model& model) {
  (void)build_unfused(model.built, *model.executor, {});  // fills the kernel cache
  const int64_t start = monotonic_ns();
  (void)build_unfused(model.built, *model.executor, {});
  std::printf("  %s: taken apart and built again from the kernel cache in %.3f s\n", name.c_str(),
              seconds_since(start));
}

void origin_table(const std::string& name, const Model& model) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("baton-bar-" + std::to_string(getpid()) + ".baton"))
          .string();
  write_artifact(model.built, path);
  const auto artifact = Artifact::open(path);
  require(artifact.status());
  double all = 0;
  for (const std::string& section : (*artifact)->names())
    if (section != section::kParams) all += static_cast<double>((*artifact)->bytes(section).size());
  const auto origins = static_cast<double>((*artifact)->bytes(section::kOrigins).size());
  std::filesystem::remove(path);
  bars::report((name + ": table of origins, of the artifact less weights").c_str(), 5, origins / all * 100,
               "%");
}

/// Operators of the source, and how many of them the report accounts for with a kernel or a reason.
void found_operators(const std::string& name, Model& model) {
  MeasureOptions once;
  once.min_runs = 1;
  once.min_seconds = 0;
  const ProfileReport report =
      make_report(model.built, model.executor->plan(), measure_fused(*model.executor, once), {});
  size_t timed = 0, folded = 0, retired = 0;
  for (const OperatorRow& row : report.operators) {
    if (!row.nodes.empty())
      ++timed;
    else if (!row.folded_into.empty())
      ++folded;
    else
      retired += !row.retired_why.empty();
  }
  std::printf("  %s: %zu operators: %zu in kernels, %zu folded, %zu retired with a reason\n", name.c_str(),
              report.operators.size(), timed, folded, retired);
  bars::report(
      (name + ": operators of the source found in the report").c_str(), 100, 100,
      static_cast<double>(timed + folded + retired) / static_cast<double>(report.operators.size()) * 100,
      "%");
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  try {
    baton::initialize();
    std::vector<std::string> names(argv + 1, argv + argc);
    const bool all = names.empty();
    if (all) {
      baton::per_node();
      for (const auto& workload : baton::workloads::all_workloads()) names.emplace_back(workload.name);
    }
    for (const std::string& name : names) {
      baton::Model model(name);
      baton::found_operators(name, model);
      baton::origin_table(name, model);
      if (all && name != "resnet-18" && name != "mobilenet") continue;
      baton::on_against_off(name, model);
      baton::report_takes(name, model);
      baton::unfused_takes(name, model);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return baton::bars::all_hold ? 0 : 1;
}

#include "baton/profile/compare/compare.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>

#include "baton/driver/cut/cut_choice.h"
#include "baton/driver/cut/cut_graph.h"
#include "baton/profile/measure/budget.h"
#include "baton/profile/measure/significance.h"
#include "baton/profile/report/another_executor.h"
#include "baton/profile/report/comparison.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"
#include "baton/support/require.h"

namespace baton {
namespace {

// Seconds for one program: more do not make it more certain.
constexpr double kMost = 1;
// Programs that take longer to load (a driver compiles them then) stay where they are in all rounds.
constexpr double kQuickNs = 5e7;
constexpr const char* kTooFewRounds = "fewer than three rounds were measured: --max-seconds gives more time";

/// A sum of times that were measured in the same rounds.
struct SummedTime {
  double us = 0;
  std::vector<double> rounds_us;
  std::string under_load;
  bool any = false, complete = true;

  void add(const Estimate& part) {
    us += part.us;
    if (under_load.empty()) under_load = part.under_load;
    if (!any)
      rounds_us = part.rounds_us;
    else if (rounds_us.size() == part.rounds_us.size())
      std::transform(rounds_us.begin(), rounds_us.end(), part.rounds_us.begin(), rounds_us.begin(),
                     std::plus<>());
    else
      complete = false;  // a round was disturbed for one part only
    any = true;
    if (!complete) rounds_us.clear();
  }
  void add(const SummedTime& part) {
    if (!part.any) return;
    Estimate whole;
    whole.us = part.us;
    whole.rounds_us = part.rounds_us;
    whole.under_load = part.under_load;
    add(whole);
  }
};

/// One program that is measured.
struct Subject {
  BuildResult built;
  std::unique_ptr<Executor> executor;

  bool quick_to_load = true;

  Subject(BuildResult result, int threads) : built(std::move(result)) {
    const int64_t start = monotonic_ns();
    executor = make_executor(built);
    quick_to_load = static_cast<double>(monotonic_ns() - start) < kQuickNs;
    executor->set_threads(threads);
    set_model_inputs(*executor, {});
  }
  MeasuredModel measured() const {
    if (!quick_to_load) return {executor.get(), {}};
    return {executor.get(), [this] { return another_executor(built, *executor); }};
  }
};

std::vector<NDArray> results_of(Executor& executor) {
  require(executor.run());
  std::vector<NDArray> results;
  for (size_t i = 0; i < executor.num_outputs(); ++i) results.push_back(executor.output(i).copy());
  return results;
}

class Comparer {
 public:
  Comparer(const ProfileReport& report, const IRModule& source, const BuildResult& base,
           const std::vector<ComparedBackend>& backends, const CompareOptions& options)
      : report_(report),
        base_(base),
        backends_(backends),
        options_(options),
        graph_(cut_source(source, options.build.context)),
        budget_(options.max_seconds) {
    options_.build.context.progress = {};
    const BackendRef host = backend_of_kind(options.build.context.host().kind);
    host_ = {host, Target::parse(host->kind), options.build.context.host().device_type};
  }

  Comparison run() {
    comparison_.base = backends_.front().name();
    for (size_t i = 1; i < backends_.size(); ++i) comparison_.others.push_back(backends_[i].name());
    list_functions();
    std::vector<size_t> order(comparison_.functions.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return weight_[i]; });
    for (size_t i = 0; i < order.size(); ++i) {
      ComparedFunction& function = comparison_.functions[order[i]];
      show("comparing functions", static_cast<int>(i), static_cast<int>(order.size()));
      if (!comparison_.partial.empty() || budget_.spent()) {
        function.why = comparison_.partial.empty() ? "the time for measuring was over" : comparison_.partial;
        skip(function, function.why);
        continue;
      }
      try {
        compare(function, order.size() - i);
      } catch (const Interrupted&) {
        comparison_.partial = "interrupted";
        function.why = comparison_.partial;
        skip(function, function.why);
      }
    }
    judge();
    return std::move(comparison_);
  }

 private:
  void show(const std::string& phase, int done, int total) const {
    if (options_.progress) options_.progress({phase, done, total, budget_.left()});
  }

  /// The distinct kernels of the base, in execution order.
  void list_functions() {
    std::map<std::string, size_t> known;
    for (const KernelRow& row : report_.kernels) {
      const PlanNode& node = base_.plan.graph->nodes[row.node];
      if (node.kind != PlanNode::Kind::kKernel) continue;
      const auto [at, fresh] = known.emplace(node.func_name, comparison_.functions.size());
      if (fresh) {
        ComparedFunction& function = comparison_.functions.emplace_back();
        function.node = row.node;
        function.func_name = node.func_name;
        function.backend = node.backend.empty() ? host_.name() : node.backend;
        function.title = row.title;
        function.origins = node.origins;
        function.made_for = node.made_for;
        weight_.push_back(0);
      }
      comparison_.functions[at->second].nodes.push_back(row.node);
      weight_[at->second] += row.median_us;
    }
  }

  void skip(ComparedFunction& function, const std::string& why) const {
    function.others.clear();
    for (const std::string& backend : comparison_.others)
      function.others.push_back({.backend = backend, .why = why});
  }

  /// `left`: how many functions share the time that is left, this one included.
  void compare(ComparedFunction& function, size_t left) {
    std::vector<std::unique_ptr<Subject>> subjects;  // the base's kernel, layouts or null, others or null
    {
      const Budget::Pause compiling(&budget_);
      subjects.push_back(
          std::make_unique<Subject>(build_alone(base_, function.node, options_.build), options_.threads));
      build_others(function, subjects);
    }
    options_.build.context.stop_if_asked();
    std::vector<MeasuredModel> models;
    for (const auto& subject : subjects)
      if (subject) models.push_back(subject->measured());
    const auto count = static_cast<double>(models.size());
    MeasureOptions measure;
    measure.rounds = options_.rounds;
    measure.min_runs = 2 * options_.rounds;
    measure.max_seconds = std::min(budget_.left() / static_cast<double>(left), kMost * count);
    measure.min_seconds = measure.max_seconds / count / 2;
    measure.interrupt = options_.build.context.interrupt;
    measure.system = options_.system;
    measure.exchange = [](int) { return std::nullopt; };
    const std::vector<FusedTimes> times = measure_in_turns(models, measure);
    set_times(function, subjects, times);
    if (times.front().interrupted) comparison_.partial = "interrupted";
  }

  /// What computes the function in the base: beside regions that is the host's backend.
  const ComparedBackend& own(const ComparedFunction& function) const {
    return backends_.front().regions_only() && function.backend == host_.name() ? host_ : backends_.front();
  }

  /// Appends the changes of layout and one program per other backend; null where there is none.
  void build_others(ComparedFunction& function, std::vector<std::unique_ptr<Subject>>& subjects) {
    subjects.resize(1 + backends_.size());
    if (function.origins.empty()) {
      function.why = "the compiler added it: " + base_.plan.graph->nodes[function.node].reason;
      return;
    }
    const ComparedBackend& from = own(function);
    std::optional<Cut> cut;
    std::vector<NDArray> expected;
    try {
      const CutPlan plan{&base_.plan, &base_.optimized->origins()};
      const auto wanted = operators_of_nodes(plan, {static_cast<int>(function.node)});
      cut = cut_out(graph_, choose_steps(graph_, wanted, [&] { return plan; }));
      // The same operators by the base, in the layouts of the source program.
      Subject same(build_offloaded(*cut, from, from, options_.build), options_.threads);
      expected = results_of(*same.executor);
      std::vector<std::string> unknown;
      auto layouts = build_layout_changes(base_, function.node, *cut, from, options_.build, unknown);
      if (layouts) subjects[1] = std::make_unique<Subject>(std::move(*layouts), options_.threads);
      for (const std::string& name : unknown)
        comparison_.notes.push_back("node " + std::to_string(function.node) + ": the layout of %" + name +
                                    " is not known, so its change is not counted");
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      function.why = "its operators are no program of their own: " + first_line(error.what());
      return;
    }
    for (size_t i = 1; i < backends_.size(); ++i) {
      OffloadRow& row = function.others.emplace_back(OffloadRow{.backend = backends_[i].name()});
      subjects[1 + i] = offloaded(*cut, from, backends_[i], expected, row);
    }
  }

  std::unique_ptr<Subject> offloaded(const Cut& cut, const ComparedBackend& from, const ComparedBackend& to,
                                     const std::vector<NDArray>& expected, OffloadRow& row) const {
    try {
      auto subject =
          std::make_unique<Subject>(build_offloaded(cut, from, to, options_.build), options_.threads);
      const std::vector<NDArray> got = results_of(*subject->executor);
      for (size_t i = 0; i < expected.size() && row.why.empty(); ++i)
        row.why = difference_of(expected[i], got[i], row.largest_difference);
      if (row.why.empty()) return subject;
      row.verdict = OffloadVerdict::kWrong;
    } catch (const NotSupported& error) {
      row.verdict = OffloadVerdict::kNotTaken;
      row.why = first_line(error.what());
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {  // also of code generators in Python
      row.verdict = OffloadVerdict::kNotMeasured;
      row.why = first_line(error.what());
    }
    return nullptr;
  }

  /// The last line of a Python traceback, which is the error.
  static std::string first_line(const std::string& text) {
    if (!text.starts_with("Traceback")) return text.substr(0, text.find('\n'));
    const size_t end = text.find_last_not_of('\n');
    return text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end));
  }

  /// The parts of a program's time.
  struct Parts {
    SummedTime kernels, copies, layouts;
    uint32_t count = 0;
    double copied_bytes = 0;
  };
  static Parts parts_of(const Subject& subject, const FusedTimes& times) {
    Parts parts;
    const Plan& plan = subject.executor->plan();
    for (size_t i = 0; i < times.nodes.size() && i < times.node_times.size(); ++i) {
      const PlanNode& node = plan.nodes[times.nodes[i]];
      const Estimate& time = times.node_times[i];
      if (node.kind == PlanNode::Kind::kCopy) {
        parts.copies.add(time);
        parts.copied_bytes += static_cast<double>(plan.entries[node.first_entry].bytes());
      } else if (node.origins.empty() && !node.made_for.empty()) {
        parts.layouts.add(time);
      } else {
        parts.kernels.add(time);
        ++parts.count;
      }
    }
    return parts;
  }

  void set_times(ComparedFunction& function, const std::vector<std::unique_ptr<Subject>>& subjects,
                 const std::vector<FusedTimes>& times) {
    size_t next = 0;
    SummedTime own;
    function.core_ns = times[next].plain.core_ns;
    for (const Estimate& part : times[next++].node_times) own.add(part);
    function.own_us = own.us;
    function.rounds_us = own.rounds_us;
    function.under_load = own.under_load;
    SummedTime around;
    if (subjects[1])
      for (const Estimate& part : times[next++].node_times) around.add(part);
    for (size_t i = 2; i < subjects.size(); ++i) {
      if (!subjects[i]) continue;
      OffloadRow& row = function.others[i - 2];
      const FusedTimes& measured = times[next++];
      const Parts parts = parts_of(*subjects[i], measured);
      SummedTime total, layouts = parts.layouts;
      layouts.add(around);
      for (const SummedTime& part : {parts.kernels, parts.copies, layouts}) total.add(part);
      row.kernels_us = parts.kernels.us;
      row.copies_us = parts.copies.us;
      row.layouts_us = layouts.us;
      row.total_us = total.us;
      row.run_us = measured.plain.us;
      row.rounds_us = total.rounds_us;
      row.copied_bytes = parts.copied_bytes;
      row.kernels = parts.count;
      row.verdict = OffloadVerdict::kWithinNoise;
    }
  }

  /// The verdicts, over all functions and backends: among many rows some differ by chance.
  void judge() {
    std::vector<std::pair<OffloadRow*, Compared>> all;
    for (ComparedFunction& function : comparison_.functions)
      for (OffloadRow& row : function.others) {
        if (row.verdict != OffloadVerdict::kWithinNoise) continue;
        Compared compared{function.own_us, row.total_us};
        if (!function.rounds_us.empty() && !row.rounds_us.empty()) {
          const DifferenceInterval interval = rounds_difference(
              function.rounds_us, row.rounds_us, function.rounds_us.size() == row.rounds_us.size());
          compared.interval = row.interval_us = interval.half;
          compared.degrees = interval.degrees;
        }
        if (!compared.interval) {
          row.verdict = OffloadVerdict::kUnreliable;
          row.why = kTooFewRounds;
          continue;
        }
        all.emplace_back(&row, compared);
      }
    std::vector<Compared*> rows;
    for (auto& [row, compared] : all) rows.push_back(&compared);
    mark_significant(rows);
    for (const auto& [row, compared] : all)
      if (compared.differs())
        row->verdict = compared.delta() < 0 ? OffloadVerdict::kFaster : OffloadVerdict::kSlower;
  }

  const ProfileReport& report_;
  const BuildResult& base_;
  const std::vector<ComparedBackend>& backends_;
  CompareOptions options_;
  ComparedBackend host_;
  CutGraph graph_;
  Budget budget_;
  Comparison comparison_;
  std::vector<double> weight_;  // of each function: its time in the model, all calls
};

}  // namespace

Comparison compare(const ProfileReport& report, const IRModule& source, const BuildResult& base,
                   const std::vector<ComparedBackend>& backends, const CompareOptions& options) {
  return Comparer(report, source, base, backends, options).run();
}

ProfileReport run_compare(const IRModule& source, const BuildResult& base,
                          const std::vector<ComparedBackend>& backends, const ProfileCommand& command,
                          const BuildOptions& how, const NamedArrays& inputs, const MeasuringBegins& begins) {
  constexpr double kForProfile = 0.3;  // of the time for measuring
  ProfileCommand first = command;
  first.options.inside = first.options.unfused = false;
  first.options.max_seconds *= kForProfile;
  ProfileReport report = run_profile(base, first, inputs, begins);
  if (!report.partial.empty()) return report;
  CompareOptions options{.build = how};
  options.build.context.interrupt = command.options.context.interrupt;
  options.threads = command.threads;
  options.max_seconds = command.options.max_seconds * (1 - kForProfile);
  options.progress = command.options.progress;
  report.comparison = compare(report, source, base, backends, options);
  return report;
}

}  // namespace baton

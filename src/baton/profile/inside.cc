#include "baton/profile/inside.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "baton/runtime/marks.h"
#include "baton/runtime/thread_pool.h"
#include "baton/runtime/timers.h"
#include "baton/support/error.h"

namespace baton {

namespace {

// A stage that one visit of takes less than this many empty intervals is not worth its own marks (docs/design/0004).
constexpr double kMinIntervals = 3;
constexpr size_t kMinRounds = 15, kMaxRounds = 4000;
// How often a kernel whose stages do not sum up is measured again.
constexpr int kAttempts = 4;

using Libraries = std::vector<std::shared_ptr<const KernelLibrary>>;

// One build of a kernel, loaded.
struct Variant {
  KernelRequest request;
  KernelRef kernel;
  KernelFunction function = nullptr;
};

// All variants of one kernel: plain, twin, marked, doubled, then one per ablated operator. A kernel of one operator has
// only the first.
struct Subject : InsideSubject {
  const BuiltKernel* built = nullptr;
  uint32_t node = 0;
  std::vector<Variant> variants;
  std::set<std::string> merged;
};
enum : size_t { kPlain, kTwin, kMarked, kDoubled, kFirstAblated };

// The shipped kernel's own template and parameters: every variant differs from it in one thing only.
KernelRequest request_of(const BuiltKernel& built) {
  KernelRequest request = built.request;
  request.template_name = built.kernel->template_name;
  request.params = built.kernel->params;
  return request;
}

template <class Change>
void add_variant(Subject& subject, Change change) {
  subject.variants.push_back({request_of(*subject.built), nullptr, nullptr});
  change(subject.variants.back().request.variant);
}

// Compiles and loads what is not loaded yet, all kernels' variants at once.
void compile_variants(const std::vector<Subject*>& subjects, const CompileOptions& options, Libraries& loaded) {
  std::vector<KernelRequest> requests;
  std::vector<Variant*> targets;
  for (Subject* subject : subjects) {
    for (Variant& variant : subject->variants) {
      if (variant.function) continue;
      requests.push_back(variant.request);
      targets.push_back(&variant);
    }
  }
  if (requests.empty()) return;
  const std::vector<KernelRef> kernels = compile_kernels(requests, options);
  NamedKernels named;
  for (size_t i = 0; i < kernels.size(); ++i) {
    targets[i]->kernel = kernels[i];
    named.emplace_back("v" + std::to_string(i), kernels[i]);
  }
  loaded.push_back(load_library(named, requests, options));
  for (size_t i = 0; i < kernels.size(); ++i) {
    targets[i]->function = loaded.back()->find(named[i].first);
    BATON_CHECK(targets[i]->function, "no function " + named[i].first);
  }
}

double us_of(uint64_t ticks) { return static_cast<double>(ticks) * ns_per_tick() / 1e3; }

// One call, microseconds; and what its marks collected.
double timed_call(const Subject& subject, size_t variant, std::span<void*> args, MarkTable* marks = nullptr) {
  if (marks) reset_marks();
  const uint64_t before = fenced_ticks();
  const int code = subject.variants[variant].function(args.data());
  const double us = us_of(fenced_ticks() - before);
  if (code) throw Error(subject.built->func_name + " failed with code " + std::to_string(code) + " while it was measured");
  if (marks) *marks = collect_marks();
  return us;
}

InsideRound one_round(const Subject& subject, std::span<void*> args) {
  InsideRound round;
  round.plain_us = timed_call(subject, kPlain, args);
  if (subject.variants.size() == 1) return round;
  round.twin_us = timed_call(subject, kTwin, args);
  MarkTable marks;
  round.marked_us = timed_call(subject, kMarked, args, &marks);
  for (const MarkSite& site : subject.marks) {
    round.site_us.push_back(us_of(marks[site.id].ticks));
    round.visits.push_back(static_cast<double>(marks[site.id].visits));
  }
  timed_call(subject, kDoubled, args, &marks);
  const MarkSlot& empty = marks[kCalibrationSlot];
  if (empty.visits > 0) round.empty_us = us_of(empty.ticks) / static_cast<double>(empty.visits);
  for (size_t i = kFirstAblated; i < subject.variants.size(); ++i) round.ablated_us.push_back(timed_call(subject, i, args));
  return round;
}

// All variants in turn, again and again, in the same memory.
std::vector<InsideRound> rounds(const Subject& subject, std::span<void*> args, double budget_ms, const std::atomic<bool>* interrupt) {
  std::vector<InsideRound> all;
  one_round(subject, args);  // warms caches, pages and branch predictors
  const int64_t start = monotonic_ns();
  while (all.size() < kMinRounds || (static_cast<double>(monotonic_ns() - start) < budget_ms * 1e6 && all.size() < kMaxRounds)) {
    if (interrupt && *interrupt) throw Interrupted("interrupted while measuring; nothing was written");
    all.push_back(one_round(subject, args));
  }
  return all;
}

// Builds the marked variants anew, without the stages that are merged.
void mark_again(Subject& subject, const CompileOptions& options, Libraries& loaded) {
  for (size_t variant : {kMarked, kDoubled}) {
    subject.variants[variant].request.variant.merged = subject.merged;
    subject.variants[variant].function = nullptr;
  }
  compile_variants({&subject}, options, loaded);
  subject.marks = subject.variants[kMarked].kernel->marks;
}

// The names of stages that one visit of takes too little to be marked.
std::set<std::string> too_short(const Subject& subject, const std::vector<InsideRound>& rounds) {
  std::set<std::string> names;
  for (size_t i = 0; i < subject.marks.size(); ++i)
    if (!is_root(subject, subject.marks[i]) && us_per_visit(rounds, i) < kMinIntervals * empty_interval_us(rounds))
      names.insert(subject.marks[i].name);
  return names;
}

// The name of the stage whose marks disturb most for what they tell: the one of the shortest visits. "" when none is left.
std::string shortest(const Subject& subject, const std::vector<InsideRound>& rounds) {
  std::string name;
  double least = 1e300;
  for (size_t i = 0; i < subject.marks.size(); ++i) {
    const double us = us_per_visit(rounds, i);
    if (is_root(subject, subject.marks[i]) || us >= least) continue;
    least = us;
    name = subject.marks[i].name;
  }
  return name;
}

InsideTimes measure_one(Subject& subject, std::span<void*> args, const InsideOptions& options, Libraries& loaded) {
  const auto* interrupt = options.compile.interrupt;
  if (subject.variants.size() == 1) return split_inside(subject, rounds(subject, args, options.ms_per_kernel / 10, interrupt));
  subject.merged = too_short(subject, rounds(subject, args, options.ms_per_kernel / 4, interrupt));
  if (!subject.merged.empty()) mark_again(subject, options.compile, loaded);
  auto measured = rounds(subject, args, options.ms_per_kernel, interrupt);
  InsideTimes times = split_inside(subject, measured);
  // Either the machine was disturbed, or the marks change what they measure: with fewer of them less is told, but what is
  // told is true. So measure again, and every other time without the shortest stage.
  for (int attempt = 0; attempt < kAttempts && !times.trusted(); ++attempt) {
    const std::string drop = attempt % 2 ? shortest(subject, measured) : "";
    if (!drop.empty()) {
      subject.merged.insert(drop);
      mark_again(subject, options.compile, loaded);
    }
    measured = rounds(subject, args, options.ms_per_kernel, interrupt);
    InsideTimes again = split_inside(subject, measured);
    if (std::abs(again.stage_sum - 1) < std::abs(times.stage_sum - 1)) times = std::move(again);
  }
  return times;
}

std::vector<std::unique_ptr<Subject>> subjects_of(const BuildResult& built, const Plan& plan) {
  std::vector<std::unique_ptr<Subject>> subjects;
  for (const BuiltKernel& kernel : built.kernels) {
    const auto at =
        std::find_if(plan.nodes.begin(), plan.nodes.end(), [&](const PlanNode& n) { return n.func_name == kernel.func_name; });
    if (at == plan.nodes.end()) continue;
    auto subject = std::make_unique<Subject>();
    subject->built = &kernel;
    subject->node = static_cast<uint32_t>(at - plan.nodes.begin());
    subject->blocks = kernel_blocks(*kernel.function);
    add_variant(*subject, [](KernelVariant&) {});
    if (subject->blocks.size() > 1) {
      add_variant(*subject, [](KernelVariant& v) { v.twin = 1; });
      add_variant(*subject, [](KernelVariant& v) { v.marked = true; });
      add_variant(*subject, [](KernelVariant& v) { v.marked = v.doubled = true; });
    }
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

}  // namespace

std::map<std::string, InsideTimes> measure_inside(const BuildResult& built, Executor& executor, const InsideOptions& options) {
  const std::vector<std::unique_ptr<Subject>> subjects = subjects_of(built, executor.plan());
  std::vector<Subject*> all;
  for (const auto& subject : subjects) all.push_back(subject.get());
  Libraries loaded;
  compile_variants(all, options.compile, loaded);
  // What is in registers shows in the marked build: it has no site of its own there.
  for (Subject* subject : all) {
    if (subject->variants.size() == 1) continue;
    subject->marks = subject->variants[kMarked].kernel->marks;
    subject->ablated = ablatable(*subject);
    for (const std::vector<int>& blocks : subject->ablated)
      add_variant(*subject, [&](KernelVariant& v) { v.ablated.insert(blocks.begin(), blocks.end()); });
  }
  compile_variants(all, options.compile, loaded);

  std::map<std::string, InsideTimes> result;
  const ThreadScope one_thread(1);
  int done = 0;
  for (Subject* subject : all) {
    if (options.progress) options.progress(done++, static_cast<int>(all.size()));
    // Earlier kernels give this one real inputs: their memory may have been used for something else since.
    const Status status = executor.run_range(0, subject->node + 1);
    if (!status.ok()) throw Error(status.message);
    result[subject->built->func_name] = measure_one(*subject, executor.node_args(subject->node), options, loaded);
  }
  if (options.progress) options.progress(done, static_cast<int>(all.size()));
  return result;
}

}  // namespace baton

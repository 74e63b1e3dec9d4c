#include "baton/profile/inside.h"

#include <algorithm>
#include <array>
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
constexpr int kMinRounds = 12;
// The repetitions that noise is judged by: each holds the minima of its own rounds.
constexpr int kRepeats = 3;

// One build of a kernel, loaded.
struct Variant {
  KernelRequest request;
  KernelRef kernel;
  KernelFunction function = nullptr;
};

// What is measured of one variant: the lowest time, and the slots of its fastest runs.
struct Sample {
  double best_us = 1e300;
  std::array<double, kMarkSlots> slot_us{}, visits{};
};

// All variants of one kernel.
struct Subject {
  const BuiltKernel* built = nullptr;
  uint32_t node = 0;
  std::vector<KernelBlock> blocks;
  std::vector<Variant> variants;  // plain, twin, marked, doubled, then one per ablated block
  std::vector<int> ablated;       // the block of each variant from kFirstAblated on
  std::set<std::string> merged;
};
enum : size_t { kPlain, kTwin, kMarked, kDoubled, kFirstAblated };

void compile_variants(std::vector<Subject*> subjects, const CompileOptions& options,
                      std::vector<std::shared_ptr<const KernelLibrary>>& loaded) {
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

// All variants in turn, again and again, in the same memory. A time is the lowest of all rounds; slots are means over
// the fastest tenth of a variant's runs, which is nearly as quiet as the fastest one and less ragged.
std::vector<Sample> rounds(const Subject& subject, std::span<void*> args, double budget_ms, const std::atomic<bool>* interrupt) {
  struct Marked {
    double us;
    MarkTable table;
  };
  std::vector<Sample> samples(subject.variants.size());
  std::vector<std::vector<Marked>> marked(subject.variants.size());
  const double us_per_tick = ns_per_tick() / 1e3;
  const int64_t start = monotonic_ns();
  for (int round = 0; round < kMinRounds || static_cast<double>(monotonic_ns() - start) < budget_ms * 1e6; ++round) {
    if (interrupt && *interrupt) throw Interrupted("interrupted while measuring; nothing was written");
    for (size_t i = 0; i < subject.variants.size(); ++i) {
      const bool marks = subject.variants[i].request.variant.marked;
      if (marks) reset_marks();
      const uint64_t before = fenced_ticks();
      const int code = subject.variants[i].function(args.data());
      const double us = static_cast<double>(fenced_ticks() - before) * us_per_tick;
      if (code) throw Error(subject.built->func_name + " failed with code " + std::to_string(code) + " while it was measured");
      samples[i].best_us = std::min(samples[i].best_us, us);
      if (marks) marked[i].push_back({us, collect_marks()});
    }
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    auto& runs = marked[i];
    if (runs.empty()) continue;
    std::sort(runs.begin(), runs.end(), [](const Marked& a, const Marked& b) { return a.us < b.us; });
    const size_t used = std::min(runs.size(), std::max<size_t>(3, runs.size() / 10));
    for (size_t r = 0; r < used; ++r) {
      for (int slot = 0; slot < kMarkSlots; ++slot) {
        samples[i].slot_us[slot] += static_cast<double>(runs[r].table[slot].ticks) * us_per_tick / static_cast<double>(used);
        samples[i].visits[slot] += static_cast<double>(runs[r].table[slot].visits) / static_cast<double>(used);
      }
    }
  }
  return samples;
}

double empty_interval_us(const Sample& doubled) {
  const double visits = doubled.visits[kCalibrationSlot];
  return visits > 0 ? doubled.slot_us[kCalibrationSlot] / visits : 0;
}

// A stage's own time: its slot less the marks in it.
double net_us(const Sample& marked, int id, double empty_us) { return marked.slot_us[id] - marked.visits[id] * empty_us; }

// The site that the last block's value is stored in: the kernel's outermost loop. It is never merged.
bool is_root(const Subject& subject, const MarkSite& site) {
  return site.block == static_cast<int>(subject.blocks.size()) - 1 || site.block < 0;
}

std::set<std::string> too_short(const Subject& subject, const std::vector<Sample>& samples) {
  std::set<std::string> names;
  const double empty_us = empty_interval_us(samples[kDoubled]);
  for (const MarkSite& site : subject.variants[kMarked].kernel->marks) {
    const double visits = samples[kMarked].visits[site.id];
    if (is_root(subject, site) || visits == 0) continue;
    if (net_us(samples[kMarked], site.id, empty_us) / visits < kMinIntervals * empty_us) names.insert(site.name);
  }
  return names;
}

// Blocks without a stage of their own: they live in the registers of the stage that consumes them. The block that
// owns the stage is ablated too when it shares it with others.
std::vector<int> register_fused(const Subject& subject, const std::vector<MarkSite>& sites) {
  std::set<int> with_stage;
  for (const MarkSite& site : sites) with_stage.insert(site.block);
  std::vector<int> fused;
  for (int block = 0; block < static_cast<int>(subject.blocks.size()); ++block)
    if (!with_stage.count(block)) fused.push_back(block);
  const int last = static_cast<int>(subject.blocks.size()) - 1;
  if (!fused.empty() || (subject.blocks.size() > 1 && with_stage.count(last))) {
    if (std::find(fused.begin(), fused.end(), last) == fused.end()) fused.push_back(last);
  }
  return fused;
}

// The stage that holds a register-fused block: that of its nearest consumer which has one.
const MarkSite* stage_of(const Subject& subject, const std::vector<MarkSite>& sites, int block) {
  for (int at = block; at >= 0;) {
    const MarkSite* own = nullptr;
    for (const MarkSite& site : sites)
      if (site.block == at) own = &site;  // the last stage of the block: where its value is made
    if (own) return own;
    int consumer = -1;
    for (int next = at + 1; next < static_cast<int>(subject.blocks.size()) && consumer < 0; ++next)
      for (int producer : subject.blocks[next].producers)
        if (producer == at) consumer = next;
    at = consumer;
  }
  return nullptr;
}

// Ablation must keep shapes: an operator whose first input has the result's shape can be left out.
bool can_ablate(const KernelBlock& block) {
  if (block.call->args().empty()) return false;
  const auto inputs = flat_types(block.call->args()[0]->checked_type());
  const auto outputs = flat_types(block.call->checked_type());
  return inputs.size() == 1 && outputs.size() == 1 && inputs[0]->shape() == outputs[0]->shape() &&
         inputs[0]->dtype() == outputs[0]->dtype();
}

InsideTimes whole(double plain_us) {
  InsideTimes times;
  times.plain_us = plain_us;
  times.parts.push_back({0, "", 1.0, InsideMethod::kWhole, false});
  return times;
}

KernelRequest request_of(const BuiltKernel& built) {
  // The shipped kernel's own template and parameters: every variant differs from it in one thing only.
  KernelRequest request = built.request;
  request.template_name = built.kernel->template_name;
  request.params = built.kernel->params;
  return request;
}

// The stages' shares, then each stage's split by ablation.
InsideTimes combine(const Subject& subject, const std::vector<std::vector<Sample>>& repeats) {
  InsideTimes times;
  const auto& sites = subject.variants[kMarked].kernel->marks;
  auto over_repeats = [&](auto&& value) {
    std::vector<double> values;
    for (const auto& samples : repeats) values.push_back(value(samples));
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  auto best = [&](size_t variant) {
    double us = 1e300;
    for (const auto& samples : repeats) us = std::min(us, samples[variant].best_us);
    return us;
  };
  times.plain_us = best(kPlain);
  times.overhead = best(kMarked) / times.plain_us - 1;
  times.marker_ns = over_repeats([](const auto& s) { return empty_interval_us(s[kDoubled]) * 1e3; });
  times.merged.assign(subject.merged.begin(), subject.merged.end());
  // Two equal builds differ by noise; so do repeats of one comparison.
  for (const auto& samples : repeats)
    times.noise = std::max(times.noise, std::abs(samples[kTwin].best_us - samples[kPlain].best_us) / samples[kPlain].best_us);

  std::map<int, double> share;  // of a site, by id
  times.stage_sum = 0;
  for (const MarkSite& site : sites) {
    share[site.id] = over_repeats([&](const auto& samples) {
      return net_us(samples[kMarked], site.id, empty_interval_us(samples[kDoubled])) / samples[kPlain].best_us;
    });
    times.stage_sum += share[site.id];
  }
  std::map<int, double> left = share;                // what ablation has not explained, by site
  std::map<int, std::vector<InsidePart>> fused;      // by site
  for (size_t i = 0; i < subject.ablated.size(); ++i) {
    const int block = subject.ablated[i];
    const MarkSite* site = stage_of(subject, sites, block);
    if (!site) continue;
    InsidePart part{block, site->stage, 0, InsideMethod::kAblation, false};
    const double cost = over_repeats([&](const auto& samples) {
      return (samples[kPlain].best_us - samples[kFirstAblated + i].best_us) / samples[kPlain].best_us;
    });
    part.below_noise = cost <= times.noise || cost <= 0;
    if (!part.below_noise) part.share = std::min(cost, std::max(0.0, left[site->id]));
    left[site->id] -= part.share;
    fused[site->id].push_back(part);
  }
  for (const MarkSite& site : sites) {
    const bool split = fused.count(site.id) > 0;
    if (split) times.parts.insert(times.parts.end(), fused[site.id].begin(), fused[site.id].end());
    times.parts.push_back({split ? -1 : site.block, site.stage, left[site.id], InsideMethod::kMarkers, false});
  }
  return times;
}

}  // namespace

const char* method_name(InsideMethod method) {
  switch (method) {
    case InsideMethod::kWhole: return "whole";
    case InsideMethod::kMarkers: return "markers";
    case InsideMethod::kAblation: return "ablation";
  }
  return "";
}

std::map<std::string, InsideTimes> measure_inside(const BuildResult& built, Executor& executor, const InsideOptions& options) {
  std::map<std::string, InsideTimes> result;
  std::vector<std::unique_ptr<Subject>> subjects;
  for (const BuiltKernel& kernel : built.kernels) {
    const auto& nodes = executor.plan().nodes;
    const auto at = std::find_if(nodes.begin(), nodes.end(), [&](const PlanNode& n) { return n.func_name == kernel.func_name; });
    if (at == nodes.end()) continue;
    auto subject = std::make_unique<Subject>();
    subject->built = &kernel;
    subject->node = static_cast<uint32_t>(at - nodes.begin());
    subject->blocks = kernel_blocks(*kernel.function);
    const KernelRequest plain = request_of(kernel);
    auto add = [&](auto&& change) {
      subject->variants.push_back({plain, nullptr, nullptr});
      change(subject->variants.back().request.variant);
    };
    add([](KernelVariant&) {});
    if (subject->blocks.size() > 1) {
      add([](KernelVariant& v) { v.twin = 1; });
      add([](KernelVariant& v) { v.marked = true; });
      add([](KernelVariant& v) { v.marked = v.doubled = true; });
    }
    subjects.push_back(std::move(subject));
  }

  std::vector<std::shared_ptr<const KernelLibrary>> loaded;
  auto all = [&] {
    std::vector<Subject*> list;
    for (const auto& subject : subjects) list.push_back(subject.get());
    return list;
  };
  compile_variants(all(), options.compile, loaded);
  // What is in registers shows in the marked build: it has no site of its own there.
  for (const auto& subject : subjects) {
    if (subject->blocks.size() < 2) continue;
    for (int block : register_fused(*subject, subject->variants[kMarked].kernel->marks)) {
      if (!can_ablate(subject->blocks[block])) continue;
      subject->ablated.push_back(block);
      subject->variants.push_back({request_of(*subject->built), nullptr, nullptr});
      subject->variants.back().request.variant.ablated = {block};
    }
  }
  compile_variants(all(), options.compile, loaded);

  const ThreadScope threads(executor.threads());
  int done = 0;
  for (const auto& subject : subjects) {
    if (options.progress) options.progress(done++, static_cast<int>(subjects.size()));
    // Earlier kernels give this one real inputs: their memory may have been used for something else since.
    const Status status = executor.run_range(0, subject->node + 1);
    if (!status.ok()) throw Error(status.message);
    const std::span<void*> args = executor.node_args(subject->node);
    const auto* interrupt = options.compile.interrupt;
    if (subject->blocks.size() < 2) {
      result[subject->built->func_name] = whole(rounds(*subject, args, options.ms_per_kernel / 10, interrupt)[kPlain].best_us);
      continue;
    }
    const auto first = rounds(*subject, args, options.ms_per_kernel / 4, interrupt);
    subject->merged = too_short(*subject, first);
    if (!subject->merged.empty()) {
      for (size_t variant : {kMarked, kDoubled}) {
        subject->variants[variant].request.variant.merged = subject->merged;
        subject->variants[variant].function = nullptr;
      }
      compile_variants({subject.get()}, options.compile, loaded);
    }
    std::vector<std::vector<Sample>> repeats;
    for (int i = 0; i < kRepeats; ++i) repeats.push_back(rounds(*subject, args, options.ms_per_kernel / 4, interrupt));
    result[subject->built->func_name] = combine(*subject, repeats);
  }
  if (options.progress) options.progress(done, static_cast<int>(subjects.size()));
  return result;
}

}  // namespace baton

// Bars of the passes that hand parts of a program to other compilers: time per operator on chains and on graphs with
// branches, and how it grows. Prints `bar, measured, ok` and exits with 1 when one does not hold. CPU time, minimum
// over bursts.
//
// TVM 0.11.1 on a chain of 12,000 calls: AnnotateTarget 7.4 s, MergeCompilerRegions 38.9 s; a tenth of that is the bar.
//
//   byoc [BURSTS]              all bars
//   byoc run SHAPE LENGTH      all stages once, for profilers; SHAPE counts from 0
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "baton/byoc/pattern_table.h"
#include "baton/byoc/target_rules.h"
#include "baton/driver/initialize.h"
#include "baton/runtime/timers.h"

#include "bars/bar.h"

namespace baton {
namespace {

int bursts = 5;

using Step = std::function<Expr(const Expr& at, const Expr& x, int i)>;

IRModule program(int length, const Step& step) {
  const Var x = var("x", scalar_type(DType::float_(32)));
  Expr at = Expr(x);
  for (int i = 0; i < length; ++i) at = step(at, Expr(x), i);
  const IRModule module = make_module();
  module->set("main", function({x}, at));
  return (*make_pass("InferType"))(module);
}

struct Stage {
  const char* pass;
  PassArgs args;
};
const Stage kStages[] = {{"MergeComposite", {{"pattern_table", "bar"}}},
                         {"AnnotateTarget", {{"targets", "bar"}}},
                         {"MergeCompilerRegions", {}},
                         {"PartitionGraph", {}}};

/// Milliseconds of each stage, one after the other.
std::vector<double> stages(int length, const Step& step) {
  const IRModule start = program(length, step);
  std::vector<double> best(std::size(kStages), 1e300);
  for (int burst = 0; burst < bursts; ++burst) {
    IRModule module = start;
    for (size_t i = 0; i < best.size(); ++i) {
      const Pass pass = make_pass(kStages[i].pass, kStages[i].args);
      const int64_t begin = thread_cpu_ns();
      module = (*pass)(module);
      best[i] = std::min(best[i], static_cast<double>(thread_cpu_ns() - begin) / 1e6);
    }
  }
  return best;
}

Expr on(const char* op, std::vector<Expr> args) { return Expr(call(op, std::move(args))); }

const struct Shape {
  const char* name;
  Step step;
  int calls;  // in a step
} kShapes[] = {{"a chain", [](const Expr& at, const Expr&, int) { return on("tanh", {at}); }, 1},
               {"taking turns", [](const Expr& at, const Expr&, int i) { return on(i % 2 ? "tanh" : "abs", {at}); }, 1},
               {"residual",
                [](const Expr& at, const Expr&, int) {
                  return on("add", {at, on("abs", {on("tanh", {at})})});
                },
                3},
               {"composites",
                [](const Expr& at, const Expr& x, int) {
                  return on("exp", {on("add", {at, x})});
                },
                2}};

void all_bars() {
  const Step &chain = kShapes[0].step, &turns = kShapes[1].step;
  const auto on_chain = stages(12'000, chain), on_turns = stages(12'000, turns), few = stages(1'200, turns);
  bars::report("AnnotateTarget, a chain of 12,000", 740, on_chain[1], "ms");
  bars::report("MergeCompilerRegions, a chain of 12,000", 3890, on_chain[2], "ms");
  bars::report("AnnotateTarget, 12,000 calls taking turns", 740, on_turns[1], "ms");
  bars::report("MergeCompilerRegions, 12,000 calls taking turns", 3890, on_turns[2], "ms");
  bars::report("PartitionGraph, 1,200 calls, 600 regions", 1200, few[3], "ms");
  for (const Shape& shape : kShapes) {
    const auto small = stages(10'000, shape.step), large = stages(100'000, shape.step);
    for (size_t i = 0; i < large.size(); ++i) {
      const std::string what = std::string(kStages[i].pass) + ", " + shape.name;
      std::printf("%-62s %28.3f us per call\n", what.c_str(), large[i] * 1000 / (100'000 * shape.calls));
      bars::report((what + ", growth exponent").c_str(), 1.25, std::log10(large[i] / small[i]), "");
    }
  }
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  baton::initialize();
  for (const char* op : {"tanh", "add"})
    baton::register_target_rule(op, "bar", [](const baton::Expr&) { return true; });
  const auto any = [] { return baton::wildcard(); };
  baton::register_pattern_table(
      "bar", {{"bar.add_exp", baton::is_op("exp")->call({baton::is_op("add")->call({any(), any()})}), {}}});
  if (argc > 3) {
    baton::bursts = 1;
    const auto& shape = baton::kShapes[std::atoi(argv[2])];
    const auto times = baton::stages(std::atoi(argv[3]), shape.step);
    for (size_t i = 0; i < times.size(); ++i) std::printf("%-22s %9.2f ms\n", baton::kStages[i].pass, times[i]);
    return 0;
  }
  if (argc > 1) baton::bursts = std::atoi(argv[1]);
  baton::all_bars();
  return baton::bars::all_hold ? 0 : 1;
}

// Bars of the passes: how long each takes per node, beside TVM 0.11.1 where a figure stands, how that grows
// with the program, what folding the constants of ResNet-18 takes, and what origins cost. Prints `bar,
// measured, ok` and exits with 1 when one does not hold. CPU time, minimum over bursts; each pass and size in
// a process of its own.
//
//   passes [BURSTS]                    all bars
//   passes each|fold|origins [BURSTS]  only those of the single passes, of constant folding, of origins
//   passes one PASS NODES [BURSTS]     one pass and size; of one burst for profilers
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <malloc.h>

#include "baton/byoc/pattern_table.h"
#include "baton/byoc/target_rules.h"
#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/load_model.h"
#include "baton/driver/pipeline.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/pass/pass.h"
#include "baton/pass/pass_list.h"
#include "baton/pass/trace.h"
#include "baton/support/base/environment.h"
#include "baton/support/error.h"
#include "baton/support/node_pool.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"

#include "bars/bar.h"
#include "bars/measure.h"

namespace baton {
namespace {

using bars::alone;
using bars::cpu_ns;
using bars::report;

// ---- Programs of `nodes` operators

std::string header(const std::string& params) {
  return "#[version = \"0.0.5\"]\ndef @main(" + params + ") {\n";
}

/// Convolutions with what stands around them, weights of their own each.
std::string network(int nodes) {
  std::string params = "%data: Tensor[(1, 8, 14, 14), float32]";
  for (int layer = 0; layer < (nodes + 5) / 6; ++layer) {
    const std::string n = std::to_string(layer);
    params += ", %w" + n + ": Tensor[(8, 8, 3, 3), float32]";
    for (const char* vector : {"g", "b", "m", "v"})
      params += std::string(", %") + vector + n + ": Tensor[(8), float32]";
  }
  std::string text = header(params);
  std::string last = "%data";
  int line = 0;
  const auto emit = [&](const std::string& value) {
    const std::string name = "%" + std::to_string(line++);
    text += "  " + name + " = " + value + ";\n";
    return name;
  };
  while (line + 6 < nodes) {
    const std::string n = std::to_string(line / 6);
    const std::string conv =
        emit("nn.conv2d(" + last + ", %w" + n + ", padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3])");
    const std::string norm =
        emit("nn.batch_norm(" + conv + ", %g" + n + ", %b" + n + ", %m" + n + ", %v" + n + ")");
    const std::string relu = emit("nn.relu(" + norm + ".0)");
    const std::string bias = emit("nn.bias_add(" + relu + ", %b" + n + ")");
    const std::string drop = emit("nn.dropout(" + bias + ", rate=0.5f)");
    last = emit("add(" + drop + ".0, " + last + ")");
  }
  return text + "  tanh(" + last + ")\n}\n";
}

/// A chain that one compiler after another could take.
std::string chain(int nodes) {
  std::string text = header("%x: Tensor[(1, 16), float32], %y: Tensor[(1, 16), float32]");
  std::string last = "%x";
  for (int i = 0; i < nodes; ++i) {
    const std::string name = "%" + std::to_string(i);
    text += "  " + name + " = " + (i % 2 ? "nn.relu(" + last + ")" : "add(" + last + ", %y)") + ";\n";
    last = name;
  }
  return text + "  tanh(" + last + ")\n}\n";
}

/// A chain of which every other operator adds what five operators on constants make.
std::string constants(int nodes) {
  std::string text = header("%x: float32");
  std::string last = "%x";
  for (int i = 0; i + 6 <= nodes; i += 6) {
    std::string value = "1f";
    for (int k = 0; k < 6; ++k) {
      const std::string name = "%" + std::to_string(i + k);
      text += "  " + name + " = add(" + (k == 5 ? last : value) + ", " +
              (k == 5 ? value : std::to_string(i) + "f") + ");\n";
      value = name;
    }
    last = value;
  }
  return text + "  negative(" + last + ")\n}\n";
}

/// What has a gradient.
std::string smooth(int nodes) {
  std::string text = header("%x: Tensor[(2, 4), float32], %y: Tensor[(2, 4), float32]");
  std::string last = "%x";
  for (int i = 0; i < nodes; ++i) {
    const std::string name = "%" + std::to_string(i);
    text += "  " + name + " = " +
            (i % 3 == 0   ? "tanh(" + last + ")"
             : i % 3 == 1 ? "multiply(" + last + ", %y)"
                          : "add(" + last + ", %x)") +
            ";\n";
    last = name;
  }
  return text + "  nn.relu(" + last + ")\n}\n";
}

// ---- Passes

/// How a pass is measured.
struct Subject {
  std::string call;  ///< with arguments
  std::string (*program)(int) = network;
  std::string before = "InferType";  ///< passes that prepare the program
  double tvm_s = 0;                  ///< CPU seconds of TVM 0.11.1 on `nodes` nodes; 0: no figure
  int nodes = 12'000;
};

/// By name; all others are measured as they are, on the network.
std::map<std::string, Subject> subjects() {
  std::map<std::string, Subject> all;
  for (const std::string& name : pass_names()) all[name].call = name;
  all["InferType"] = {"InferType", network, "", 0.57};
  all["SimplifyInference"].tvm_s = 0.62;
  all["FuseOps"].tvm_s = 1.39;
  all["ConvertLayout"] = {"ConvertLayout(desired_layouts=[[\"nn.conv2d\", [\"NHWC\", \"default\"]]])",
                          network, "InferType", 1.84};
  all["FoldConstant"] = {"FoldConstant", constants, "InferType", 5.7, 1'200};
  // Every second operator of the chain goes to another compiler.
  for (const char* op : {"add", "nn.conv2d"})
    register_target_rule(op, "bench", [](const Expr&) { return true; });
  register_pattern_table(
      "bench",
      {{"bench.add_relu", is_op("nn.relu")->call({is_op("add")->call({wildcard(), wildcard()})}), {}}});
  const std::string annotate = "AnnotateTarget(targets=[\"bench\"])";
  all["AnnotateTarget"] = {annotate, chain, "InferType", 7.4};
  all["MergeCompilerRegions"] = {"MergeCompilerRegions", chain, annotate, 38.9};
  all["PartitionGraph"] = {"PartitionGraph", chain, annotate + ",MergeCompilerRegions", 12.4, 1'200};
  all["MergeComposite"] = {"MergeComposite(pattern_table=\"bench\")", chain};
  for (const char* name :
       {"MarkCompilerFunctionsAsExtern", "OutlineCompilerFunctionsWithExistingGlobalSymbols"})
    all[name] = {name, chain, annotate + ",MergeCompilerRegions,PartitionGraph", 0, 1'200};
  all.erase("InlineCompilerFunctionsBoundTo");  // works on the functions that it is given the names of
  for (const char* name : {"FirstOrderGradient", "Gradient", "to_cps", "un_cps"}) all[name].program = smooth;
  all["ChangeBatch"].call = "ChangeBatch(data=[[\"data\", 0]], batch_size=2)";
  all["FreezeShapes"].call = "FreezeShapes(shapes=[[\"data\", [1, 8, 14, 14]]])";
  all["recast"].call = "recast(dtype=\"int8\", out_dtype=\"int32\")";
  all.erase("quantize");  // the four passes that begin with Quantize, and it needs constants
  all["AnnotateUsedMemory"].before = "InferType,ToANormalForm";
  all["un_cps"].before = "InferType,to_cps,InferType";
  all["SplitArgs"].call = "SplitArgs(max_function_args=8)";
  return all;
}

IRModule prepared(const Subject& subject, int nodes) {
  IRModule module = parse_module(subject.program(nodes));
  if (subject.before.empty()) return module;
  for (const Pass& pass : parse_passes(subject.before)) module = (*pass)(module, host_context());
  return module;
}

/// The least CPU time of `bursts` runs. The first also takes fresh memory from the system, which a session
/// does once.
double pass_ns(const Subject& subject, int nodes, int bursts) {
  const auto context = std::make_shared<PassContext>();
  context->opt_level = 4;
  const BuildContext under = host_context().with_passes(context);
  const InstrumentScope scope(under.passes);
  const IRModule module = prepared(subject, nodes);
  const std::vector<Pass> passes = parse_passes(subject.call);
  double least = 1e300;
  try {
    for (int burst = 0; burst < bursts; ++burst)
      least = std::min(least, cpu_ns([&] {
                         IRModule result = module;
                         for (const Pass& pass : passes) result = (*pass)(result, under);
                       }));
  } catch (const Error& error) {  // a bar that is missed
    std::fprintf(stderr, "%s: %s\n", subject.call.c_str(), error.what());
    return 1e300;
  }
  return least;
}

/// The slope of log(time) over log(nodes), by least squares.
double growth_exponent(const std::map<int, double>& ns) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [nodes, time] : ns) {
    const double at = std::log(nodes), value = std::log(time);
    n += 1, x += at, y += value, xx += at * at, xy += at * value;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

void measure_passes(int bursts) {
  for (const auto& [name, subject] : subjects()) {
    std::map<int, double> ns;
    for (const int nodes : {1'000, 3'000, subject.nodes, 12'000, 30'000, 100'000})
      if (!ns.count(nodes)) ns[nodes] = alone([&] { return pass_ns(subject, nodes, bursts); });
    const double least = ns[subject.nodes];
    const std::string size = ", " + std::to_string(subject.nodes) + " nodes";
    if (subject.tvm_s > 0)
      report((name + size + ": s, TVM / 10").c_str(), subject.tvm_s / 10, least * 1e-9, "s");
    else
      report((name + size + ": per node").c_str(), 2, least / subject.nodes * 1e-3, "us");
    report((name + ", 1,000 to 100,000 nodes: exponent").c_str(), 1.1, growth_exponent(ns), "");
    // Where the program outgrows the caches, for information: the same between the two largest decades only.
    std::printf("%-62s %35.3f\n", "  from 12,000 on",
                std::log(ns[100'000] / ns[12'000]) / std::log(100. / 12));
  }
}

// ---- ResNet-18

IRModule bound_resnet() {
  const LoadedModel model = load_model("resnet-18");
  return bind_params(model.module, load_params(model, ""));
}

// All FoldConstants of the pipeline, in a fresh process with an empty kernel cache.
void measure_folding(int bursts) {
  double best = 1e300;
  for (int burst = 0; burst < bursts; ++burst) {
    const std::string cache =
        (std::filesystem::temp_directory_path() / ("baton-bar-" + std::to_string(getpid()))).string();
    Environment changed = *environment();
    changed.cache_dir = cache;
    set_environment(changed);
    best = std::min(best, alone([] {
                      const IRModule module = bound_resnet();
                      const auto trace = std::make_shared<PassTrace>();
                      const auto context = std::make_shared<PassContext>();
                      context->opt_level = 3;
                      context->instruments = {trace};
                      const BuildContext under = host_context().with_passes(context);
                      const InstrumentScope scope(under.passes);
                      optimize(module, under);
                      double seconds = 0;
                      for (const PassStep& step : trace->steps())
                        if (step.pass == "FoldConstant") seconds += step.seconds;
                      return seconds;
                    }));
    std::filesystem::remove_all(cache);
  }
  report("FoldConstant in a build of resnet-18 at opt 3, nothing cached", 0.15, best, "s");
}

// ---- What origins cost

/// Time or memory of the whole pipeline over a network, with origins or with none.
double pipeline_cost(const IRModule& source, bool origins, bool memory) {
  IRModule module = source;
  if (!origins) {
    const OriginScope none(OriginSet::none());
    PrintOptions options;
    options.types = options.spans = false;
    module = parse_module(print(*source, options));
  }
  const auto context = std::make_shared<PassContext>();
  context->opt_level = 3;
  const BuildContext under = host_context().with_passes(context);
  const InstrumentScope scope(under.passes);
  // Passes up to fusion; constants, which origins have nothing to do with, stay out of it.
  const std::vector<Pass> passes = parse_passes(
      "InferType,SimplifyInference,EliminateCommonSubexpr,SimplifyExpr,CanonicalizeCast,CanonicalizeOps,"
      "FuseOps,InferType");
  const auto used = [] {
    return static_cast<double>(mallinfo2().uordblks) + static_cast<double>(node_pool::balance());
  };
  const double before = used();
  std::vector<IRModule> kept{module};  // as a debugger keeps them: every stage
  const double ns = cpu_ns([&] {
    for (const Pass& pass : passes) kept.push_back(module = (*pass)(module, under));
  });
  return memory ? used() - before : ns;
}

void measure_origins(int bursts) {
  const std::string text = network(12'000);
  double with = 1e300, without = 1e300;
  const auto run = [&](bool origins, bool memory) {
    return alone([&] { return pipeline_cost(parse_module(text), origins, memory); });
  };
  for (int burst = 0; burst < 4 * bursts; ++burst) {
    with = std::min(with, run(true, false));
    without = std::min(without, run(false, false));
  }
  report("origins: time of the pipeline, 12,000 nodes, more than without", 3, (with / without - 1) * 100,
         "%");
  report("origins: memory of all its stages, more than without", 10,
         (run(true, true) / run(false, true) - 1) * 100, "%");
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  using namespace baton;
  initialize();
  const std::string only = argc > 1 ? argv[1] : "";
  if (argc > 3 && only == "one") {
    const auto all = subjects();
    const auto at = all.find(argv[2]);
    if (at == all.end()) return 2;
    std::printf(
        "%.3f ms\n",
        pass_ns(at->second, std::atoi(argv[3]), argc > 4 ? std::max(1, std::atoi(argv[4])) : 1) * 1e-6);
    return 0;
  }
  const bool some = only == "each" || only == "fold" || only == "origins";
  const char* count = some ? (argc > 2 ? argv[2] : nullptr) : argv[1];
  const int bursts = count ? std::atoi(count) : 3;
  if (bursts < 1) {
    std::fprintf(stderr, "usage: passes [each | fold | origins] [BURSTS]; seen: %s\n", count);
    return 2;
  }
  if (!some || only == "each") measure_passes(bursts);
  if (!some || only == "fold") measure_folding(bursts);
  if (!some || only == "origins") measure_origins(bursts);
  return bars::all_hold ? 0 : 1;
}

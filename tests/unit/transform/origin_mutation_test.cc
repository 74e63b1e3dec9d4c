// Breaks the handling of origins while a pass runs, and expects the verifier to notice: nodes made by the
// pass (i) stand for nothing, (ii) all stand for one operator, or (iii) what the pass drops is not retired.
// For every registered pass, over the modules of tests/reference that it changes.
#include <iostream>
#include <set>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/origin_fault.h"
#include "baton/ir/visit.h"
#include "baton/pass/origin_verifier.h"
#include "baton/support/pointer_map.h"
#include "baton/text/parser.h"

#include "transform/golden_case.h"

namespace baton::golden {
namespace {

enum class Fault { kNone, kDrop, kSwap, kForgetToRetire };

OriginFault::Replace replacement(Fault fault, const IRModule& module) {
  if (fault == Fault::kDrop) return [](const OriginSet&) { return OriginSet::none(); };
  if (fault != Fault::kSwap) return {};
  const OriginSet first = OriginSet::of(Ref<const Origin>(&module->origins().at(OriginId(0))));
  return [first](const OriginSet& origins) { return origins.origins().empty() ? origins : first; };
}

// Hands the fault in only while the pass itself and those inside it run, not while the verifier looks.
struct Outcome {
  IRModule module;
  std::string complaint;
};

Outcome run(const Pass& pass, const IRModule& module, const PassContextRef& context, Fault fault) {
  const BuildContext under = host_context().with_passes(context);
  const InstrumentScope scope(under.passes);
  try {
    const OriginFault injected(replacement(fault, module), fault == Fault::kForgetToRetire);
    return {(*pass)(module, under), ""};
  } catch (const InternalError& error) {
    return {{}, error.what()};
  }
}

// What the pass made: operators and functions that were not there before and carry an origin, and whether it
// retired.
struct Work {
  int nodes = 0;
  bool retired = false;
};

Work work_of(const IRModule& before, const IRModule& after) {
  PointerSet old;
  for (const auto& [name, function] : before->functions())
    post_order(Expr(function), [&](const Expr& node) { old.insert(node.get()); });
  Work work;
  for (const auto& [name, function] : after->functions()) {
    post_order(Expr(function), [&](const Expr& node) {
      const auto* call = as<CallNode>(node);
      const auto* inner = as<FunctionNode>(node);
      if (!(call && call->op()) && !(inner && inner->is_primitive())) return;
      if (!old.contains(node.get()) && !node->origins().origins().empty()) ++work.nodes;
    });
  }
  work.retired = after->origins().all_retired().size() > before->origins().all_retired().size();
  return work;
}

struct Tally {
  int changed = 0, drops = 0, drops_caught = 0, swaps_caught = 0, retires = 0, retires_caught = 0;
};

class OriginMutations : public ::testing::Test {
 protected:
  void SetUp() override { initialize(); }

  // Runs the last step of a case clean and broken.
  static void score(const IRModule& input, const Json& which, Tally& tally) {
    const std::string id = which["id"].get<std::string>();
    const TargetRules rules(which);
    const auto& steps = which["steps"];
    IRModule module = input;
    const PassContextRef context = pass_context(which);
    for (size_t i = 0; i + 1 < steps.size(); ++i) {
      const BuildContext under = host_context().with_passes(context);
      const InstrumentScope scope(under.passes);
      module = (*make_pass(steps[i][0].get<std::string>(), pass_args(steps[i][1])))(module, under);
    }
    if (module->origins().size() < 2) return;
    const Pass pass = make_pass(steps.back()[0].get<std::string>(), pass_args(steps.back()[1]));
    const Outcome clean = run(pass, module, context, Fault::kNone);
    if (!clean.complaint.empty()) return;  // the pass itself is wrong here: that is for PassGoldens to say
    const Work work = work_of(module, clean.module);
    if (work.nodes > 0) {
      ++tally.changed;
      ++tally.drops;
      const bool caught = !run(pass, module, context, Fault::kDrop).complaint.empty();
      EXPECT_TRUE(caught) << id << ": nodes without origins went through";
      tally.drops_caught += caught;
      tally.swaps_caught += !run(pass, module, context, Fault::kSwap).complaint.empty();
    }
    if (work.retired) {
      ++tally.retires;
      const bool caught = !run(pass, module, context, Fault::kForgetToRetire).complaint.empty();
      EXPECT_TRUE(caught) << id << ": lost operators went through";
      tally.retires_caught += caught;
    }
  }
};

// None of the programs here is changed by these: AnnotateMemoryScope has nothing to say about any target that
// code is made for; AnnotateUsedMemory and MarkCompilerFunctionsAsExtern change functions that are no
// kernels; BatchingOps runs three passes that are here by name, at level 4 only; BindConstantArguments,
// Conv2dToSparse2, NarrowWeights and ScalarConstants take constants (the tests of Bfloat16 run the verifier,
// and golden files run with broken origins); Legalize is for processors that multiply int8.
const std::set<std::string> kNotReached = {
    "AnnotateMemoryScope",   "AnnotateUsedMemory", "BatchingOps",
    "BindConstantArguments", "Conv2dToSparse2",    "NarrowWeights",
    "ScalarConstants",       "Legalize",           "MarkCompilerFunctionsAsExtern"};

// What the reference lacks: programs of which a pass drops something.
struct Program {
  const char* passes;  // before the last one InferType runs
  const char* text;
  const char* args = "{}";
};
constexpr Program kMutated[] = {
    {"DeadCodeElimination", "def @main(%x: Tensor[(3), float32]) { let %a = exp(%x); tanh(%x) }"},
    {"ToGraphNormalForm", "def @main(%x: Tensor[(3), float32]) { let %a = exp(%x); tanh(%x) }"},
    {"RemoveUnusedFunctions",
     "def @main(%x: Tensor[(3), float32]) { tanh(%x) } def @g(%x: Tensor[(3), float32]) { exp(%x) }"},
    {"SimplifyInference", "def @main(%x: Tensor[(2, 3), float32]) { %0 = nn.dropout(tanh(%x)); %0.0 }"},
    {"AlterOpLayout",
     "def @main(%x: Tensor[(1, 16, 8, 8), float32], %w: Tensor[(16, 16, 3, 3), float32]) { "
     "nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3])) }"},
    {"BackwardFoldScaleAxis",
     "def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], %s: Tensor[(4, 1, 1), "
     "float32]) { "
     "%0 = nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3], padding=[0, 0, 0, 0]); multiply(%0, %s) }"},
    {"ForwardFoldScaleAxis",
     "def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], %s: Tensor[(4, 1, 1), "
     "float32]) { "
     "%0 = multiply(%x, %s); nn.conv2d(%0, %w, channels=4, kernel_size=[3, 3], padding=[0, 0, 0, 0]) }"},
    {"CanonicalizeCast",
     "def @main(%x: Tensor[(2, 8), int8]) { %0 = cast(%x, dtype=\"int32\"); %1 = exp(cast(%0, "
     "dtype=\"float32\")); "
     "(%1, abs(%0), negative(%0)) }"},
    {"CombineParallelBatchMatmul",
     "def @main(%x: Tensor[(1, 2, 4), float32], %a: Tensor[(1, 3, 4), float32], %b: Tensor[(1, 3, 4), "
     "float32], "
     "%c: Tensor[(1, 3, 4), float32]) { (nn.batch_matmul(%x, %a, transpose_b=True), nn.batch_matmul(%x, %b, "
     "transpose_b=True), "
     "nn.batch_matmul(%x, %c, transpose_b=True)) }"},
    {"PlanDevices",
     "def @main(%x: Tensor[(3), float32]) { "
     "tanh(on_device(exp(%x), virtual_device=VirtualDevice(device_type=2, virtual_device_id=0))) }",
     R"({"targets": ["llvm", "cuda"]})"},
    {"PlanDevices",
     "def @main(%x: Tensor[(3), float32]) { "
     "tanh(on_device(exp(%x), virtual_device=VirtualDevice(device_type=1, virtual_device_id=0))) }"},
    {"recast",
     "def @main(%x: Tensor[(2, 8), float32], %w: Tensor[(4, 8), float32]) { tanh(nn.dense(%x, %w, units=4)) "
     "}",
     R"({"dtype": "int8", "out_dtype": "int32", "ops": ["nn.dense"]})"},
    {"DenseToSparse",
     "def @main(%x: Tensor[(2, 8), float32], %w: Tensor[(4, 8), float32]) { tanh(nn.dense(%x, %w, units=4)) "
     "}",
     R"({"weight_name": ["w"], "weight_shape": [[[3], [3], [5]]]})"},
    {"Conv2dToSparse",
     "def @main(%x: Tensor[(1, 8, 8, 8), float32], %w: Tensor[(8, 8, 1, 1), float32]) { "
     "tanh(nn.conv2d(%x, %w, channels=8, kernel_size=[1, 1], padding=[0, 0, 0, 0])) }",
     R"({"weight_name": ["w"], "weight_shape": [[[3], [3], [9]]], "layout": "NCHW", "kernel_size": 1})"},
    {"SimplifyFCTranspose",
     "def @main(%x: Tensor[(2, 8), float32], %w: Tensor[(8, 4), float32]) { tanh(nn.dense(%x, transpose(%w, "
     "axes=[1, 0]), units=4)) }",
     R"({"target_weight_name": ["w"]})"},
    {"QuantizePartition",
     "def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) { "
     "tanh(nn.relu(nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3], padding=[0, 0, 0, 0]))) }"},
    {"QuantizeAnnotate",
     "def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) { "
     "nn.relu(nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3], padding=[0, 0, 0, 0])) }",
     R"({"skip_conv_layers": []})"},
    {"QuantizeCalibrate",
     "def @main(%x: Tensor[(4), float32], %s: float32, %l: float32, %m: float32) { "
     "tanh(relay.op.annotation.simulated_quantize(%x, %s, %l, %m)) }"},
    {"QuantizeRealize",
     "def @main(%x: Tensor[(4), float32]) { nn.relu(relay.op.annotation.simulated_quantize(%x, 0.5f, -127f, "
     "127f)) }"},
    {"Gradient",
     "def @main(%x: Tensor[(3), float32]) { if (less(sum(%x), 0f)) { tanh(exp(%x)) } else { exp(%x) } }"},
    {"FirstOrderGradient", "def @main(%x: Tensor[(3), float32]) { tanh(exp(%x)) }"},
    {"FuseCells",
     "def @main(%x: Tensor[(1, 4), float32], %w: Tensor[(8, 4), float32]) { "
     "%0 = fn (%p: Tensor[(1, 4), float32], %q: Tensor[(8, 4), float32], Primitive=1) { "
     "nn.dense(%p, %q, units=8) }; "
     "%2 = fn (%r: Tensor[(1, 8), float32], Primitive=1) { "
     "%1 = split(%r, indices_or_sections=2, axis=1); multiply(tanh(%1.0), %1.1) }; %2(%0(%x, %w)) }"},
    {"LazyGradientInit", "def @main(%x: Tensor[(3), float32]) { add(tanh(%x), %x) }"},
    {"SplitArgs",
     "def @main(%a: Tensor[(1, 4), float32], %b: Tensor[(1, 4), float32], %c: Tensor[(1, 4), float32]) { "
     "tanh(concatenate((%a, %b, %c))) }",
     R"({"max_function_args": 2})"},
    {"EtaExpand",
     "def @f(%x: int32) -> int32 { abs(%x) } def @main(%x: int32) -> int32 { add(@f(%x), abs(@f(%x))) }",
     R"({"expand_global_var": true})"},
    {"ChangeBatch", "def @main(%x: Tensor[(1, 3), float32]) { tanh(exp(%x)) }",
     R"({"data": [["x", 0]], "batch_size": 4})"},
    {"FreezeShapes", "def @main(%x: Tensor[(?, 3), float32]) { tanh(exp(%x)) }",
     R"({"shapes": [["x", [4, 3]]]})"},
    {"FlexibleShapeDispatch", "def @main(%x: Tensor[(?, 3), float32]) { tanh(exp(%x)) }",
     R"({"buckets": [1, 4]})"},
    {"LambdaLift",
     "def @main(%x: Tensor[(3), float32]) { let %f = fn (%y: Tensor[(3), float32]) { add(exp(%y), %x) }; "
     "tanh(%f(%x)) }"},
    {"ManifestLifetimes",
     "def @main(%x: Tensor[(3), float32]) { let %a = exp(%x); let %b = %a; let %c = tanh(%b); %c }"},
    {"PartialEvaluate",
     "def @main(%x: Tensor[(3), float32]) { let %f = fn (%y: Tensor[(3), float32]) { if (True) { exp(%y) } "
     "else { abs(%y) } }; "
     "tanh(%f(%x)) }"},
    {"Defunctionalization",
     "def @apply(%f: fn (float32) -> float32, %x: float32) -> float32 { tanh(%f(%x)) } "
     "def @main(%x: float32) -> float32 { add(@apply(fn (%y: float32) -> float32 { exp(%y) }, %x), fn (%z: "
     "float32) -> float32 { %x }(abs(%x))) }"},
    {"InlineCompilerFunctionsBoundTo",
     "def @main(%x: Tensor[(3), float32]) { exp(@f(%x)) } "
     "def @f(%y: Tensor[(3), float32], Compiler=\"c\") -> Tensor[(3), float32] { tanh(%y) } "
     "def @g(%y: Tensor[(3), float32], Compiler=\"c\") -> Tensor[(3), float32] { abs(%y) }",
     R"({"global_vars": ["f", "g"]})"},
    {"MergeCompilerRegions",
     "def @main(%x: Tensor[(3), float32]) { %0 = annotation.compiler_begin(%x, compiler=\"c\"); %1 = "
     "tanh(%0); "
     "%2 = annotation.compiler_end(%1, compiler=\"c\"); %3 = annotation.compiler_begin(%2, compiler=\"c\"); "
     "%4 = exp(%3); "
     "annotation.compiler_end(%4, compiler=\"c\") }"},
    {"PartitionGraph",
     "def @main(%x: Tensor[(3), float32]) { %0 = annotation.compiler_begin(%x, compiler=\"c\"); %1 = "
     "tanh(%0); "
     "annotation.compiler_end(%1, compiler=\"c\") }"},
};

Json step(const std::string& pass, const char* args = "{}") { return Json::array({pass, Json::parse(args)}); }

TEST_F(OriginMutations, EveryPassThatForgetsOriginsIsCaught) {
  constexpr int kEnough = 12;  // changed modules per pass
  PassCases cases;
  std::map<std::string, Tally> tallies;
  for (const std::string& pass : pass_names()) tallies[pass];
  const auto try_score = [&](const IRModule& input, const Json& which, Tally& tally) {
    try {
      score(input, which, tally);
    } catch (const Error&) {  // the case needs what this program lacks
    }
  };
  for (const Program& program : kMutated) {
    const Json which = {{"id", program.text},
                        {"steps", Json::array({step("InferType"), step(program.passes, program.args)})}};
    try_score(parse_module("#[version = \"0.0.5\"]\n" + std::string(program.text)), which,
              tallies[program.passes]);
  }
  for (const auto& one : cases.cases()) {
    const std::string pass = one["steps"].back()[0].get<std::string>();
    if (!tallies.count(pass) || !one["changed"].get<bool>() ||
        one["module"].get<std::string>().starts_with("model:"))
      continue;
    std::string why;
    bool ready = true;
    for (const auto& step : one["steps"]) ready = ready && tallies.count(step[0].get<std::string>());
    const IRModule input = ready ? cases.input(one, why) : IRModule();
    if (!input) continue;
    if (tallies[pass].changed < kEnough) try_score(input, one, tallies[pass]);
    // Passes that the reference has no cases for, and InferType on what has no types yet.
    if (pass == "FuseOps" && tallies["LabelOps"].changed < kEnough) {
      Json label = one;
      label["steps"].push_back(step("LabelOps"));
      try_score(input, label, tallies["LabelOps"]);
      label["steps"] = Json::array({step("InferType")});
      try_score(cases.untyped_input(one), label, tallies["InferType"]);
    }
  }
  for (const auto& [pass, tally] : tallies) {
    std::cout << pass << ": dropped origins noticed " << tally.drops_caught << " of " << tally.drops
              << ", swapped ones " << tally.swaps_caught << " of " << tally.drops
              << ", forgotten retirements " << tally.retires_caught << " of " << tally.retires << "\n";
    EXPECT_TRUE(tally.drops_caught + tally.retires_caught > 0 || kNotReached.count(pass))
        << pass << " changes no module";
    EXPECT_EQ(tally.drops > 0, tally.swaps_caught > 0) << pass;
  }
}

}  // namespace
}  // namespace baton::golden

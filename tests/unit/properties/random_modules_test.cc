// What must hold for every pass and every program: the type of main stays, its value stays, origins are
// conserved (the verifier), and what nodes stand for agrees with the flow of data in the source.
//
// BATON_RANDOM_SEED=S: only the program of that seed, shown. BATON_RANDOM_PROGRAMS=N: the slow test with N
// programs; BATON_RANDOM_FIRST=M: from program M on.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "baton/byoc/pattern_table.h"
#include "baton/byoc/target_rules.h"
#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/analysis/well_formed.h"
#include "baton/ir/structural.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/pass.h"
#include "baton/pass/pass_list.h"
#include "baton/pass/rewriter.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/support/log.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"

#include "properties/attribution.h"
#include "properties/module_value.h"
#include "properties/random_module.h"

namespace baton::properties {
namespace {

IRModule infer(const IRModule& module) { return (*make_pass("InferType"))(module, host_context()); }

// Parameters called c... become constants.
IRModule bind_weights(const IRModule& module) {
  const Function main = module->find("main");
  std::unordered_map<const ExprNode*, Expr> values;
  std::vector<Var> left;
  for (const Var& param : main->params()) {
    if (param->name()[0] != 'c') {
      left.push_back(param);
      continue;
    }
    const auto* type = as_type<TensorTypeNode>(param->annotation());
    values.emplace(param.get(),
                   Expr(make_constant(parameter_value(param->name(), type->extents(), type->dtype()),
                                      NodeInfo(OriginSet::none()))));
  }
  const IRModule bound = module->copy();
  bound->set("main", make_function(left, substitute(main->body(), values), {}, main->attrs(),
                                   NodeInfo(main->origins(), main->span())));
  return infer(bound);
}

// By pass: the arguments it needs, and what does not apply to it.
const std::map<std::string, PassArgs>& arguments() {
  static const std::map<std::string, PassArgs> all = {
      {"ConvertLayout",
       {{"desired_layouts", AttrList{AttrList{std::string("nn.conv2d"),
                                              AttrList{std::string("NHWC"), std::string("default")}}}}}},
      {"SplitArgs", {{"max_function_args", int64_t{4}}}},
      {"AnnotateTarget", {{"targets", AttrList{std::string("random")}}}},
      {"ToMixedPrecision", {{"missing_op_mode", int64_t{2}}}},
      {"MergeComposite", {{"pattern_table", std::string("random")}}},
      {"Conv2dToSparse2",
       {{"layout", std::string("NCHW")},
        {"kernel_size", int64_t{1}},
        {"blocksize", std::vector<int64_t>{1, 1}},
        {"sparsity_threshold", int64_t{0}}}},
      {"EtaExpand", {{"expand_constructor", true}, {"expand_global_var", true}}},
      {"MarkCompilerFunctionsAsExtern", {{"compiler_filter", std::string("random")}}},
      {"OutlineCompilerFunctionsWithExistingGlobalSymbols", {{"compiler_filter", std::string("random")}}},
      {"SimplifyFCTranspose", {{"target_weight_name", AttrList{std::string("fc_w")}}}},
      {"QuantizePartition", {{"skip_conv_layers", std::vector<int64_t>{}}}},
  };
  return all;
}
PassArgs arguments_of(const std::string& pass, const IRModule& module) {
  if (pass == "InlineCompilerFunctionsBoundTo") {  // those that PartitionGraph made
    AttrList names;
    for (const auto& [name, function] : module->functions())
      if (name.starts_with("tvmgen_")) names.emplace_back(name);
    return {{"global_vars", names}};
  }
  const auto known = arguments().find(pass);
  return known == arguments().end() ? PassArgs() : known->second;
}
// They change types by their nature.
const std::set<std::string> kChangesTypes = {"FirstOrderGradient", "LazyGradientInit", "ToMixedPrecision",
                                             "Gradient", "to_cps"};
// They replace parameters by others, of the value of which only the type changes here.
const std::set<std::string> kChangesParams = {"SimplifyFCTranspose"};
// They need names in the module, or open axes, or round values as calibration says.
const std::set<std::string> kNotAlone = {
    "ChangeBatch", "Conv2dToSparse",   "DenseToSparse",     "FlexibleShapeDispatch", "FreezeShapes",
    "recast",      "QuantizeAnnotate", "QuantizeCalibrate", "QuantizeRealize",       "quantize"};
// They put several values in one tensor.
const std::set<std::string> kStacks = {"BatchingOps", "CombineParallelBatchMatmul", "CombineParallelConv2D",
                                       "CombineParallelDense"};
// A scale in front of a convolution goes into its weights.
const std::set<std::string> kMovesForward = {"FoldScaleAxis", "ForwardFoldScaleAxis"};
// What must have run for them to find something.
const std::map<std::string, std::string> kAfter = {
    {"AnnotateSpans", "ToBasicBlockNormalForm"},  // text of a value that is shared by a branch and what is
                                                  // around it cannot be read
    {"AnnotateUsedMemory", "ToANormalForm"},
    {"DefuseOps", "FuseOps"},
    {"MergeCompilerRegions", "AnnotateTarget(targets=[\"random\"])"},
    {"PartitionGraph", "AnnotateTarget(targets=[\"random\"]),MergeCompilerRegions"},
    {"OutlineCompilerFunctionsWithExistingGlobalSymbols",
     "AnnotateTarget(targets=[\"random\"]),MergeCompilerRegions,PartitionGraph"},
    {"InlineCompilerFunctionsBoundTo",
     "AnnotateTarget(targets=[\"random\"]),MergeCompilerRegions,PartitionGraph"},
    {"un_cps", "to_cps"},
    {"MarkCompilerFunctionsAsExtern",
     "AnnotateTarget(targets=[\"random\"]),MergeCompilerRegions,PartitionGraph"},
};
// They approximate.
const std::map<std::string, double> kTolerance = {{"FastMath", 3e-2}};
// Integers instead of real numbers: each rounding may be a quantum off, which is 0.02 in all results that are
// quantised, and at most two are in a row (a product, then the result). The accumulators' scales are exact
// products.
const std::set<std::string> kQuantises = {"FakeQuantizationToInteger", "qnn.CanonicalizeOps", "qnn.Legalize"};
constexpr double kTwoQuanta = 0.041;
// Nothing is left to do: types are there already, no target here has memories to name, weights are too small
// to be worth storing in bfloat16, and PartitionGraph outlines itself.
const std::set<std::string> kNothingToDo = {"AnnotateMemoryScope", "InferType", "NarrowWeights",
                                            "OutlineCompilerFunctionsWithExistingGlobalSymbols"};
// In continuation passing style every operator leads to the continuation, so all that leads to one result
// seems to lead to all.
const std::set<std::string> kContinues = {"un_cps"};
// By pass: what a program must not have, as text. Graphs have no order for effects; regions of other
// compilers are not kept apart where one of them lies in a closure that is handed on; gradients are of
// floats, and of data types without tensors.
const std::multimap<std::string, std::string> kNotFor = {
    {"ToGraphNormalForm", "ref_write("},
    {"PartitionGraph", "fn ("},
    {"InlineCompilerFunctionsBoundTo", "fn ("},
    {"MarkCompilerFunctionsAsExtern", "fn ("},
    {"OutlineCompilerFunctionsWithExistingGlobalSymbols", "fn ("},
    {"FirstOrderGradient", "int8"},
    {"Gradient", "int8"},
    {"Gradient", "type Choice"},
    {"LazyGradientInit", "type Choice"},
    {"ToMixedPrecision", "= Taken;"},  // a constructor that is bound has no type there
};

bool is_for(const std::string& pass, const std::string& program) {
  const auto [first, last] = kNotFor.equal_range(pass);
  return std::none_of(first, last,
                      [&](const auto& entry) { return program.find(entry.second) != std::string::npos; });
}
// They only write where a node stands in the text, which structural equality leaves out.
const std::set<std::string> kSpans = {"AnnotateSpans", "CapturePostDfsIndexInSpans"};

double tolerance(const std::string& pass, bool quantised) {
  const auto known = kTolerance.find(pass);
  const double own = known == kTolerance.end() ? 2e-4 : known->second;
  return quantised && kQuantises.contains(pass) ? kTwoQuanta : own;
}

bool changed(const std::string& pass, const IRModule& before, const IRModule& after) {
  if (kSpans.contains(pass)) return before->find("main") != after->find("main");
  return !structural_equal(*before, *after);
}

// Why the module is not well-formed, or "". A variable that two functions bind is a fault, too.
std::string form_fault(const IRModuleNode& module) {
  const std::vector<FormFault> faults = form_faults(module);
  if (!faults.empty()) return faults.front().text;
  std::map<const ExprNode*, std::string> bound;
  for (const auto& [name, function] : module.functions())
    for (const Var& var : bound_vars(Expr(function)))
      if (const auto [at, fresh] = bound.try_emplace(var.get(), name); !fresh)
        return "@" + at->second + " and @" + name + " both bind %" + var->name();
  return "";
}

struct Tally {
  int runs = 0, changed = 0, compared = 0;
};

class RandomModules : public ::testing::Test {
 protected:
  void SetUp() override {
    initialize();
    old_sink_ = set_log_sink([](const std::string&) {});  // why convolutions stay dense
    // A compiler that takes some operators, and what it builds as one.
    for (const char* op : {"nn.conv2d", "nn.relu", "add", "multiply", "nn.dense"})
      register_target_rule(op, "random", [](const Expr&) { return true; });
    const auto any = [] { return wildcard(); };
    register_pattern_table(
        "random",
        {{"random.conv_relu", is_op("nn.relu")->call({is_op("nn.conv2d")->call({any(), any()})}), {}},
         {"random.dense", is_op("nn.dense")->call({any(), any()}), {}}});
    context_ = std::make_shared<PassContext>();
    context_->opt_level = 4;
    context_->instruments = {std::make_shared<OriginVerifier>()};
  }

  void TearDown() override {
    set_log_sink(old_sink_);
    for (const char* op : {"nn.conv2d", "nn.relu", "add", "multiply", "nn.dense"})
      reset_target_rule(op, "random");
  }

  void check(uint64_t seed, bool show) {
    const std::string text = random_module(seed);
    if (show) std::cout << text;
    const IRModule module = bind_weights(infer(parse_module(text, "seed " + std::to_string(seed))));
    const bool quantised = text.find("qnn.") != std::string::npos;
    interpreter_.forget();
    const std::vector<NDArray> expected = value_of_main(interpreter_, module);
    const Type type = module->find("main")->checked_type();
    for (const std::string& pass : pass_names()) {
      if (kNotAlone.contains(pass) || !is_for(pass, text)) continue;
      SCOPED_TRACE(pass + ", BATON_RANDOM_SEED=" + std::to_string(seed));
      Tally& tally = tallies_[pass];
      ++tally.runs;
      try {
        BuildContext under = host_context().with_passes(context_);
        const InstrumentScope scope(context_);
        // Few lanes, and instructions for int8 where something depends on them.
        under.targets = {Target::parse(pass == "Legalize" ? "llvm -mcpu=cascadelake" : "llvm")};
        const auto after = kAfter.find(pass);
        IRModule given = module;
        if (after != kAfter.end())
          for (const Pass& first : parse_passes(after->second)) given = (*first)(given, under);
        const IRModule result = infer((*make_pass(pass, arguments_of(pass, given)))(given, under));
        tally.changed += changed(pass, given, result);
        if (kChangesTypes.contains(pass)) continue;
        EXPECT_TRUE(kChangesParams.contains(pass) || same_type(type, result->find("main")->checked_type()))
            << type_text(result->find("main")->checked_type());
        EXPECT_EQ(kStacks.contains(pass) || kContinues.contains(pass)
                      ? ""
                      : misattribution(module, result, kMovesForward.contains(pass)),
                  "");
        EXPECT_EQ(form_fault(*result), "");
        EXPECT_LE(difference(expected, value_of_main(interpreter_, result)), tolerance(pass, quantised));
        ++tally.compared;
      } catch (const NotSupported& error) {  // an operator without compute, a closure
        if (show) std::cout << pass << ": " << error.what() << "\n";
      } catch (const std::exception& error) {
        // MergeCompilerRegions, like TVM's, does not look through branches; PartitionGraph refuses what comes
        // of it.
        if (std::string_view(error.what()).find("is computed from its own results outside of it") !=
            std::string_view::npos)
          continue;
        if (++failures_ < 20) ADD_FAILURE() << error.what();
      }
    }
  }

  void check_all(int programs, bool show_all = false) {
    const char* first = std::getenv("BATON_RANDOM_FIRST");
    for (int i = first ? std::atoi(first) : 0; i < programs && (show_all || !HasFailure()); ++i)
      check(static_cast<uint64_t>(i), false);
    int runs = 0, compared = 0;
    for (const auto& [pass, tally] : tallies_) runs += tally.runs, compared += tally.compared;
    EXPECT_GE(compared, runs * 8 / 10) << "most programs must be comparable";
  }

  // That a pass keeps what it does not touch says nothing.
  void expect_work() const {
    for (const auto& [pass, tally] : tallies_)
      EXPECT_TRUE(kNothingToDo.contains(pass) || tally.changed * 100 >= tally.runs)
          << pass << " changes only " << tally.changed << " of " << tally.runs
          << " programs; random_module must give it more to do";
  }

  LogSink old_sink_;
  PassContextRef context_;
  run::Interpreter interpreter_;
  std::map<std::string, Tally> tallies_;
  int failures_ = 0;
};

TEST_F(RandomModules, EveryPassKeepsTypeValueAndOrigins) {
  if (const char* seed = std::getenv("BATON_RANDOM_SEED"))
    return check(std::strtoull(seed, nullptr, 10), true);
  check_all(60);
}

TEST_F(RandomModules, SlowTenThousandPrograms) {
  const char* programs = std::getenv("BATON_RANDOM_PROGRAMS");
  check_all(programs ? std::atoi(programs) : 10'000, programs != nullptr);
  if (!HasFailure()) expect_work();
  for (const auto& [pass, tally] : tallies_)
    std::cout << pass << ": " << tally.runs << " programs, " << tally.changed << " changed, "
              << tally.compared << " values compared\n";
}

}  // namespace
}  // namespace baton::properties

// What must hold for every pass and every program: the type of main stays, its value stays, origins are conserved (the
// verifier), and what nodes stand for agrees with the flow of data in the source.
//
// BATON_RANDOM_SEED=S: only the program of that seed, shown.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

#include "baton/byoc/pattern_table.h"
#include "baton/byoc/target_rules.h"
#include "baton/driver/initialize.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/pass.h"
#include "baton/pass/pass_list.h"
#include "baton/pass/rewriter.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "properties/attribution.h"
#include "properties/module_value.h"
#include "properties/random_module.h"

namespace baton::properties {
namespace {

IRModule infer(const IRModule& module) { return (*make_pass("InferType"))(module); }

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
    values.emplace(param.get(), Expr(make_constant(parameter_value(param->name(), type->extents(), type->dtype()), NodeInfo(OriginSet::none()))));
  }
  const IRModule bound = module->copy();
  bound->set("main", make_function(left, substitute(main->body(), values), {}, main->attrs(), NodeInfo(main->origins(), main->span())));
  return infer(bound);
}


// By pass: the arguments it needs, and what does not apply to it.
const std::map<std::string, PassArgs>& arguments() {
  static const std::map<std::string, PassArgs> all = {
      {"ConvertLayout", {{"desired_layouts", AttrList{AttrList{std::string("nn.conv2d"), AttrList{std::string("NHWC"), std::string("default")}}}}}},
      {"SplitArgs", {{"max_function_args", int64_t{2}}}},
      {"AnnotateTarget", {{"targets", AttrList{std::string("random")}}}},
      {"ToMixedPrecision", {{"missing_op_mode", int64_t{2}}}},
      {"MergeComposite", {{"pattern_table", std::string("random")}}},
  };
  return all;
}
// They change types by their nature.
const std::set<std::string> kChangesTypes = {"FirstOrderGradient", "LazyGradientInit", "ToMixedPrecision", "Gradient", "to_cps"};
// They need names in the module, undo what only another pass makes, or round values as calibration says.
const std::set<std::string> kNotAlone = {"ChangeBatch", "Conv2dToSparse", "DenseToSparse", "InlineCompilerFunctionsBoundTo", "SimplifyFCTranspose", "recast", "un_cps",
                                         "QuantizeAnnotate", "QuantizeCalibrate", "QuantizePartition", "QuantizeRealize", "quantize"};
// They put several values in one tensor.
const std::set<std::string> kStacks = {"BatchingOps", "CombineParallelBatchMatmul", "CombineParallelConv2D", "CombineParallelDense"};
// A scale in front of a convolution goes into its weights.
const std::set<std::string> kMovesForward = {"FoldScaleAxis", "ForwardFoldScaleAxis"};
// What must have run for them to find something.
const std::map<std::string, std::string> kAfter = {
    {"AnnotateSpans", "ToBasicBlockNormalForm"},  // text of a value that is shared by a branch and what is around it cannot be read
    {"AnnotateUsedMemory", "ToANormalForm"},
    {"DefuseOps", "FuseOps"},
    {"MergeCompilerRegions", "AnnotateTarget(targets=[\"random\"])"},
    {"PartitionGraph", "AnnotateTarget(targets=[\"random\"]),MergeCompilerRegions"},
    {"OutlineCompilerFunctionsWithExistingGlobalSymbols", "AnnotateTarget(targets=[\"random\"]),MergeCompilerRegions,PartitionGraph"},
    {"MarkCompilerFunctionsAsExtern", "AnnotateTarget(targets=[\"random\"]),MergeCompilerRegions,PartitionGraph"},
};
// They approximate.
const std::map<std::string, double> kTolerance = {{"FastMath", 3e-2}};

struct Tally {
  int runs = 0, changed = 0, compared = 0;
};

class RandomModules : public ::testing::Test {
 protected:
  void SetUp() override {
    initialize();
    // A compiler that takes some operators, and what it builds as one.
    for (const char* op : {"nn.conv2d", "nn.relu", "add", "multiply", "nn.dense"}) register_target_rule(op, "random", [](const Expr&) { return true; });
    const auto any = [] { return wildcard(); };
    register_pattern_table("random", {{"random.conv_relu", is_op("nn.relu")->call({is_op("nn.conv2d")->call({any(), any()})}), {}},
                                      {"random.dense", is_op("nn.dense")->call({any(), any()}), {}}});
    context_ = std::make_shared<PassContext>();
    context_->opt_level = 4;
    context_->instruments = {std::make_shared<OriginVerifier>()};
  }

  void TearDown() override {
    for (const char* op : {"nn.conv2d", "nn.relu", "add", "multiply", "nn.dense"}) reset_target_rule(op, "random");
  }

  void check(uint64_t seed, bool show) {
    const std::string text = random_module(seed);
    if (show) std::cout << text;
    const IRModule module = bind_weights(infer(parse_module(text, "seed " + std::to_string(seed))));
    const std::vector<NDArray> expected = evaluator_.run(module);
    const Type type = module->find("main")->checked_type();
    for (const std::string& pass : pass_names()) {
      if (kNotAlone.contains(pass)) continue;
      SCOPED_TRACE(pass + ", BATON_RANDOM_SEED=" + std::to_string(seed));
      Tally& tally = tallies_[pass];
      ++tally.runs;
      try {
        const auto args = arguments().find(pass);
        const PassContextScope scope(context_);
        const auto after = kAfter.find(pass);
        IRModule given = module;
        if (after != kAfter.end())
          for (const Pass& first : parse_passes(after->second)) given = (*first)(given);
        const IRModule result = infer((*make_pass(pass, args == arguments().end() ? PassArgs() : args->second))(given));
        tally.changed += result->find("main") != given->find("main") || result->functions().size() != given->functions().size();
        if (kChangesTypes.contains(pass)) continue;
        EXPECT_TRUE(same_type(type, result->find("main")->checked_type())) << type_text(result->find("main")->checked_type());
        EXPECT_EQ(kStacks.contains(pass) ? "" : misattribution(module, result, kMovesForward.contains(pass)), "");
        const auto tolerance = kTolerance.find(pass);
        EXPECT_LE(difference(expected, evaluator_.run(result)), tolerance == kTolerance.end() ? 2e-4 : tolerance->second);
        ++tally.compared;
      } catch (const NotSupported& error) {  // an operator without compute, a closure
        if (show) std::cout << pass << ": " << error.what() << "\n";
      } catch (const std::exception& error) {
        // MergeCompilerRegions, like TVM's, does not look through branches; PartitionGraph refuses what comes of it.
        if (std::string_view(error.what()).find("is computed from its own results outside of it") != std::string_view::npos) continue;
        if (++failures_ < 20) ADD_FAILURE() << error.what();
      }
    }
  }

  void check_all(int programs) {
    for (int i = 0; i < programs && !HasFailure(); ++i) check(static_cast<uint64_t>(i), false);
    int runs = 0, compared = 0;
    for (const auto& [pass, tally] : tallies_) runs += tally.runs, compared += tally.compared;
    EXPECT_GE(compared, runs * 8 / 10) << "most programs must be comparable";
  }

  PassContextRef context_;
  ModuleEvaluator evaluator_;
  std::map<std::string, Tally> tallies_;
  int failures_ = 0;
};

TEST_F(RandomModules, EveryPassKeepsTypeValueAndOrigins) {
  if (const char* seed = std::getenv("BATON_RANDOM_SEED")) return check(std::strtoull(seed, nullptr, 10), true);
  check_all(60);
}

TEST_F(RandomModules, SlowTenThousandPrograms) {
  check_all(10'000);
  for (const auto& [pass, tally] : tallies_)
    std::cout << pass << ": " << tally.runs << " programs, " << tally.changed << " changed, " << tally.compared << " values compared\n";
}

}  // namespace
}  // namespace baton::properties

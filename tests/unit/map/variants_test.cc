// Layers of the processor in other layouts and by other algorithms; parts of groups; local search.
#include <gmock/gmock.h>

#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/load_model.h"
#include "baton/driver/mapping/mapping.h"
#include "baton/ir/structural.h"
#include "baton/ir/visit.h"
#include "baton/map/frontier.h"
#include "baton/map/local_search.h"
#include "baton/map/model/piece_prices.h"
#include "baton/map/model/subject.h"
#include "baton/profile/compare/compare.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "map/random_problem.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

BuildOptions host_build() {
  initialize();
  BuildOptions options;
  options.context = host_context().at_level(3);
  return options;
}

IRModule bound(const std::string& name) {
  initialize();
  const LoadedModel loaded = load_model(name);
  return bind_params(infer_types(loaded.module->copy()), load_params(loaded, ""));
}

std::vector<LayerVariant> all(const IRModule& module, LayerVariant variant) {
  return std::vector<LayerVariant>(module->origins().size(), variant);
}

IRModule laid(const IRModule& module, const std::vector<LayerVariant>& variants,
              const BuildContext& context) {
  return apply_mapping(module, std::vector<std::string>(module->origins().size(), "llvm"), variants, "llvm",
                       context);
}

std::multiset<uint64_t> kernels_of(const IRModule& module, const BuildOptions& options) {
  std::multiset<uint64_t> hashes;
  for (const PlannedNode& node : plan_build(module, options).plan.nodes)
    if (node.function) hashes.insert(structural_hash(Expr(node.function)));
  return hashes;
}

TEST(LayerVariants, HaveNames) {
  for (const LayerVariant each : kLayerVariants) EXPECT_EQ(parse_variant(variant_name(each)), each);
  EXPECT_EQ(parse_variant(""), LayerVariant::kByCost);
  EXPECT_FALSE(parse_variant("fast"));
}

TEST(LayerVariants, AreWhatABuildComputes) {
  const BuildOptions options = host_build();
  const IRModule module = bound("resnet-18");
  for (const LayerVariant asked : kLayerVariants) {
    const MapSubject subject(laid(module, all(module, asked), options.context), options, 1, /*code=*/false);
    std::map<LayerVariant, int> count;
    for (const LayerVariant each : subject.variants(module->origins().size())) ++count[each];
    EXPECT_GE(count[asked], asked == LayerVariant::kWinograd ? 10 : 20) << variant_name(asked);
    EXPECT_EQ(count[LayerVariant::kPlain] > 0,
              asked != LayerVariant::kBlocked && count[LayerVariant::kPlain] > 0);
    if (asked == LayerVariant::kPlain) {
      EXPECT_EQ(count[LayerVariant::kBlocked] + count[LayerVariant::kWinograd], 0);
    }
    if (asked == LayerVariant::kBlocked) {
      EXPECT_EQ(count[LayerVariant::kWinograd], 0);
    }
  }
}

// A build leaves layouts that were chosen before, so that what was measured is what is built.
TEST(LayerVariants, OfTheBuildsOwnChoiceGiveTheSameKernels) {
  const BuildOptions options = host_build();
  for (const std::string model : {"resnet-18", "squeezenet-1.1", "mobilenet", "mlp"}) {
    const IRModule module = bound(model);
    const MapSubject own(module, options, 1, /*code=*/false);
    const IRModule again = laid(module, own.variants(module->origins().size()), options.context);
    EXPECT_EQ(kernels_of(again, options), kernels_of(module, options)) << model;
  }
}

constexpr const char* kTwoEqual = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 32, 28, 28), float32], %w: Tensor[(32, 32, 3, 3), float32], %v: Tensor[(32, 32, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3]);
  %1 = nn.relu(%0);
  nn.conv2d(%1, %v, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3])
})";

IRModule two_equal() { return infer_types(parse_module(kTwoEqual)->copy()); }

TEST(LayerVariants, AreOfEachLayerByItself) {
  const BuildOptions options = host_build();
  const IRModule module = two_equal();
  std::vector<LayerVariant> variants = all(module, LayerVariant::kByCost);
  variants[0] = LayerVariant::kPlain;
  variants[2] = LayerVariant::kWinograd;
  const MapSubject subject(laid(module, variants, options.context), options, 1, /*code=*/false);
  EXPECT_EQ(subject.variants(3), variants);
  const IRModule split = laid(module, variants, options.context);
  const auto results = [&](const IRModule& each) {
    return MapSubject(each, options, 1, /*code=*/true).results();
  };
  double largest = 0;
  EXPECT_EQ(difference_of(results(module)[0], results(split)[0], largest), "");
}

TEST(LayerVariants, AreWrittenIntoTheMappingAndRefusedWhereTheyCannotBe) {
  const BuildOptions options = host_build();
  const IRModule module = two_equal();
  Mapping mapping;
  mapping.program = program_hash(module);
  for (uint32_t id = 0; id < 3; ++id)
    mapping.operators.push_back(
        {.id = id, .label = "op", .backend = "llvm", .variant = id == 2 ? "plain" : ""});
  const Mapping read = mapping_of(Json::parse(mapping_json(mapping)), "m.json");
  EXPECT_EQ(read, mapping);
  EXPECT_NO_THROW(apply_mapping(module, mapping, options.context));
  const auto refused = [&](auto&& change, const std::string& what, int level = 3) {
    Mapping bad = mapping;
    change(bad);
    try {
      apply_mapping(module, mapping_of(Json::parse(mapping_json(bad)), "m.json"),
                    options.context.at_level(level));
      ADD_FAILURE() << "accepted: " << what;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(what));
    }
  };
  refused([](Mapping& m) { m.operators[2].variant = "fast"; }, "there are plain, blocked and winograd");
  refused([](Mapping& m) { m.operators[2].backend = "dnnl"; }, "only llvm has variants");
  refused([](Mapping&) {}, "use opt level 3", 2);
  const IRModule strided = infer_types(parse_module(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 32, 28, 28), float32], %w: Tensor[(32, 32, 3, 3), float32]) {
  nn.conv2d(%x, %w, strides=[2, 2], channels=32, kernel_size=[3, 3])
})")
                                           ->copy());
  Mapping other;
  other.program = program_hash(strided);
  other.operators.push_back({.id = 0, .label = "%0 nn.conv2d", .backend = "llvm", .variant = "winograd"});
  try {
    apply_mapping(strided, other, options.context);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("can only be computed in the variant blocked"));
  }
}

TEST(PiecePrices, AreOfOperatorsAlone) {
  const BuildOptions options = host_build();
  const IRModule module = two_equal();
  PiecePrices prices(module, {.build = options, .host = "llvm", .threads = 1, .prices = {}, .seconds = 0.01});
  const auto conv = prices.price("llvm", {0}), relu = prices.price("llvm", {1}),
             both = prices.price("llvm", {0, 1});
  ASSERT_TRUE(conv && relu && both);
  EXPECT_GT(*conv, *relu);
  EXPECT_GT(*both, *relu);
  EXPECT_EQ(prices.measured(), 3);
  EXPECT_EQ(prices.price("llvm", {2}), conv);  // the same program: not measured again
  EXPECT_EQ(prices.measured(), 3);
  EXPECT_FALSE(prices.price("llvm", {0, 2}));  // what is between them would run in between
  EXPECT_FALSE(prices.price("sim_npu", {0}));  // of integers only
  PiecePrices asked(module,
                    {.build = options, .host = "llvm", .threads = 1, .prices = {}, .measures = false});
  EXPECT_FALSE(asked.price("llvm", {1}));
}

TEST(LocalSearch, NeverMakesItWorseAndIsReproducible) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const MappingProblem problem =
        testing::random_problem(seed, {.nodes = 10, .devices = 3, .tree = seed % 2 == 0, .transfer = 0.2});
    const auto start = search_frontier(problem, {});
    ASSERT_TRUE(start);
    const MappingCost kernels = [&](const MappingSolution& each) {
      double us = 0;
      for (const int c : each.chosen) us += problem.candidates[static_cast<size_t>(c)].us;
      return us;
    };
    const MappingSolution a = improved(problem, *start, kernels, {}),
                          b = improved(problem, *start, kernels, {});
    EXPECT_LE(a.us, kernels(*start) + 1e-9);
    EXPECT_EQ(a.chosen, b.chosen);
    EXPECT_NEAR(a.us, kernels(a), 1e-9);
    EXPECT_TRUE(price(problem, a.chosen));
  }
}

}  // namespace
}  // namespace baton

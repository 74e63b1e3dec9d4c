// Regions of random programs: merging never closes a cycle and leaves nothing that could be merged; what is
// cut out and put back is the program again.
#include "baton/byoc/regions.h"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "baton/byoc/annotation.h"
#include "baton/byoc/external.h"
#include "baton/byoc/target_rules.h"
#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/op.h"
#include "baton/ir/structural.h"
#include "baton/ir/visit.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"

namespace baton {
namespace {

const std::map<std::string, std::vector<const char*>> kRules = {{"a", {"tanh", "add"}},
                                                                {"b", {"exp", "multiply"}}};

class ByocRegions : public ::testing::Test {
 protected:
  void SetUp() override {
    initialize();
    for (const auto& [compiler, ops] : kRules)
      for (const char* op : ops) register_target_rule(op, compiler, [](const Expr&) { return true; });
    context->instruments.push_back(std::make_shared<OriginVerifier>());
    context->enter_instruments();
  }
  void TearDown() override {
    context->exit_instruments();
    for (const auto& [compiler, ops] : kRules)
      for (const char* op : ops) reset_target_rule(op, compiler);
  }
  IRModule run(const IRModule& module, const char* pass, const PassArgs& args = {}) const {
    return (*make_pass(pass, args))(module, host_context().with_passes(context));
  }
  static std::string shown(const IRModule& module) {
    PrintOptions options;
    options.version = options.types = options.spans = false;
    options.metadata = PrintOptions::Metadata::kNone;
    return print(*module, options);
  }
  IRModule annotated(const IRModule& module) const {
    return run(module, "AnnotateTarget", {{"targets", AttrList{"a", "b"}}});
  }

  // Values of `size` operators, each of earlier ones; what nobody uses is the result.
  IRModule random_program(int size, std::mt19937& random) const {
    const Var x = var("x", tensor_type(std::vector<int64_t>{2}, DType::float_(32)));
    std::vector<Expr> values{Expr(x)};
    std::set<size_t> unused;
    const auto any = [&] {
      const size_t back =
          std::uniform_int_distribution<size_t>(0, std::min<size_t>(values.size() - 1, 6))(random);
      unused.erase(values.size() - 1 - back);
      return values[values.size() - 1 - back];
    };
    for (int i = 0; i < size; ++i) {
      const int op = std::uniform_int_distribution<int>(0, 7)(random);
      const char* const unary[] = {"tanh", "exp", "abs"};
      const char* const binary[] = {"add", "multiply", "subtract"};
      Expr value;
      if (op < 3)
        value = Expr(call(unary[op], {any()}));
      else if (op < 6)
        value = Expr(call(binary[op - 3], {any(), any()}));
      else if (op == 6)
        value = get_item(tuple({any(), any()}), 0);
      else
        value = Expr(call("concatenate", {tuple({any(), any()})}));
      if (op == 7) value = Expr(call("strided_slice", {value}, parse_attributes_of("strided_slice")));
      unused.insert(values.size());
      values.push_back(value);
    }
    std::vector<Expr> results;
    for (size_t at : unused) results.push_back(values[at]);
    const IRModule module = make_module();
    module->set("main", function({x}, results.size() == 1 ? results[0] : tuple(results)));
    return run(module, "InferType");
  }
  static Attrs parse_attributes_of(const char* op) {
    return make_attrs(*find_op(op)->attrs,
                      {{"begin", AttrList{0}}, {"end", AttrList{2}}, {"strides", AttrList{1}}});
  }

  std::shared_ptr<PassContext> context = std::make_shared<PassContext>();
};

struct RegionGraph {
  std::map<uint32_t, std::set<uint32_t>> before;  // by region
  std::map<uint32_t, std::string> compiler;

  explicit RegionGraph(const Expr& root) {
    Regions regions(root);
    for (const CallNode* end : regions.ends()) {
      const uint32_t region = regions.of(end);
      compiler[region] = regions[region].compiler;
      for (const CallNode* begin : regions[region].begins) {
        const uint32_t parent = regions.of(begin->args()[0]);
        if (parent != Regions::kNone && parent != region) before[region].insert(parent);
      }
    }
  }
  bool reaches(uint32_t from, uint32_t to, bool skip_direct) const {
    std::set<uint32_t> seen;
    std::vector<uint32_t> todo;
    const auto next = [&](uint32_t at, bool skip) {
      const auto found = before.find(at);
      if (found == before.end()) return;
      for (uint32_t each : found->second)
        if (!(skip && each == to)) todo.push_back(each);
    };
    next(from, skip_direct);
    while (!todo.empty()) {
      const uint32_t at = todo.back();
      todo.pop_back();
      if (at == to) return true;
      if (seen.insert(at).second) next(at, false);
    }
    return false;
  }
};

// Items of tuples that are made on the spot.
class ItemFolder final : public Rewriter {
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* item = as<TupleGetItemNode>(rebuilt);
    const auto* tuple = item ? as<TupleNode>(item->tuple()) : nullptr;
    return tuple ? tuple->fields()[static_cast<size_t>(item->index())] : rebuilt;
  }
};

TEST_F(ByocRegions, RandomProgramsMergeAsFarAsTheyCan) {
  std::mt19937 random(7);
  for (int i = 0; i < 150; ++i) {
    const IRModule module = random_program(5 + i / 3, random);
    const IRModule merged = run(annotated(module), "MergeCompilerRegions");
    const RegionGraph graph{Expr(merged->find("main"))};
    for (const auto& [region, parents] : graph.before) {
      ASSERT_FALSE(graph.reaches(region, region, false)) << "a cycle\n" << shown(module);
      for (uint32_t parent : parents) {
        ASSERT_TRUE(graph.compiler.at(parent) != graph.compiler.at(region) ||
                    graph.reaches(region, parent, true))
            << "two regions could be one\n"
            << shown(module) << shown(merged);
      }
    }
    for (const bool merge : {false, true}) {
      const IRModule cut = run(merge ? merged : annotated(module), "PartitionGraph");
      AttrList names;
      for (const auto& [name, function] : cut->functions())
        if (function->attr("Compiler")) names.push_back(name);
      const IRModule whole = run(cut, "InlineCompilerFunctionsBoundTo", {{"global_vars", names}});
      const Expr was = ItemFolder().run(Expr(module->find("main"))),
                 is = ItemFolder().run(Expr(whole->find("main")));
      ASSERT_TRUE(structural_equal(was, is)) << shown(module) << shown(cut) << shown(whole);
    }
  }
}

// Seen in TVM 0.11.1 (apache/tvm#15211): merging both pairs makes two regions that wait for each other.
TEST_F(ByocRegions, TwoPairsThatWouldWaitForEachOther) {
  IRModule module = run(
      parse_module("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), float32], %y: Tensor[(2), float32]) {\n"
                   "  %0 = tanh(%x);\n  %1 = tanh(%y);\n"
                   "  (add(%0, abs(%1)), add(%1, abs(%0)))\n}"),
      "InferType");
  module = run(run(annotated(module), "MergeCompilerRegions"), "PartitionGraph");
  // One pair became one, the other did not; the tuple at the end passes through one more.
  EXPECT_EQ(module->functions().size(), 5u) << shown(module);
}

TEST_F(ByocRegions, MarksOfEarlierRunsStay) {
  IRModule module =
      run(parse_module("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), float32]) { exp(tanh(abs(%x))) }"),
          "InferType");
  const std::string together = shown(annotated(module));
  module = run(run(module, "AnnotateTarget", {{"targets", "a"}}), "AnnotateTarget", {{"targets", "b"}});
  EXPECT_EQ(shown(module), together);
}

TEST_F(ByocRegions, ArgumentsPartlyInARegionAreRefused) {
  const IRModule module =
      run(parse_module("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), float32]) {\n"
                       "  %0 = annotation.compiler_begin(%x, compiler=\"a\");\n"
                       "  %1 = add(%0, %x);\n  annotation.compiler_end(%1, compiler=\"a\")\n}"),
          "InferType");
  EXPECT_THROW(run(module, "PartitionGraph"), UsageError);
}

TEST_F(ByocRegions, RegionsThatNeedEachOtherAreRefused) {
  const IRModule module =
      run(parse_module("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), float32]) {\n"
                       "  %0 = annotation.compiler_begin(%x, compiler=\"a\");\n"
                       "  %1 = tanh(%0);\n  %2 = annotation.compiler_end(%1, compiler=\"a\");\n"
                       "  %3 = exp(%2);\n  %4 = annotation.compiler_begin(%3, compiler=\"a\");\n"
                       "  %5 = add(%1, %4);\n  annotation.compiler_end(%5, compiler=\"a\")\n}"),
          "InferType");
  EXPECT_THROW(run(module, "PartitionGraph"), UsageError);
}

TEST_F(ByocRegions, ACompilersOwnPassSeesEachRegion) {
  int seen = 0;
  set_region_optimizer("a", [&](const IRModule& region, const BuildContext&) {
    ++seen;
    const IRModule changed = region->copy();
    const Function main = region->find("main");
    changed->set("main", function(main->params(), Expr(call("sigmoid", {Expr(main->params()[0])}))));
    return changed;
  });
  const IRModule module =
      run(parse_module("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), float32]) { exp(tanh(abs(%x))) }"),
          "InferType");
  const std::string text = shown(run(annotated(module), "PartitionGraph"));
  set_region_optimizer("a", {});
  EXPECT_EQ(seen, 1);
  EXPECT_NE(text.find("sigmoid"), std::string::npos);
  EXPECT_EQ(text.find("tanh"), std::string::npos);
}

TEST_F(ByocRegions, RulesOfOneLevelAreRefused) {
  EXPECT_THROW(register_target_rule("tanh", "a", [](const Expr&) { return false; }), UsageError);
  register_target_rule("tanh", "a", [](const Expr&) { return false; }, 11);
  register_target_rule("tanh", "a", [](const Expr&) { return true; }, 9);  // of no effect
  const OpDef& op = *find_op("tanh");
  EXPECT_FALSE((*find_target_rule(op, "a"))(Expr()));
  EXPECT_THROW(register_target_rule("no.such", "a", [](const Expr&) { return true; }), UsageError);
}

}  // namespace
}  // namespace baton

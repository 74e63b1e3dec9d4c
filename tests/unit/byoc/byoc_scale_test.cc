// Programs that are long: the passes of byoc/ are linear, on a stack of 8 MB.
#include <functional>

#include <gtest/gtest.h>

#include "baton/byoc/pattern_table.h"
#include "baton/byoc/target_rules.h"
#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/op.h"
#include "baton/pass/pass.h"

#include "small_stack.h"

namespace baton {
namespace {

class ByocScale : public ::testing::Test {
 protected:
  void SetUp() override {
    initialize();
    for (const char* op : {"tanh", "add"}) register_target_rule(op, "long", [](const Expr&) { return true; });
    register_pattern_table(
        "long", {{"long.add_exp", is_op("exp")->call({is_op("add")->call({wildcard(), wildcard()})}), {}}});
  }
  void TearDown() override {
    for (const char* op : {"tanh", "add"}) reset_target_rule(op, "long");
  }

  using Body = std::function<Expr(Expr at, const Expr& x, int i)>;
  static IRModule program(int length, const Body& body) {
    const Var x = var("x", scalar_type(DType::float_(32)));
    Expr at = Expr(x);
    for (int i = 0; i < length; ++i) at = body(at, Expr(x), i);
    const IRModule module = make_module();
    module->set("main", function({x}, at));
    return (*make_pass("InferType"))(module, host_context());
  }

  /// Functions for other compilers that come out.
  static size_t regions(int length, const Body& body) {
    IRModule module = program(length, body);
    const std::pair<const char*, PassArgs> steps[] = {{"MergeComposite", {{"pattern_table", "long"}}},
                                                      {"AnnotateTarget", {{"targets", "long"}}},
                                                      {"MergeCompilerRegions", {}},
                                                      {"PartitionGraph", {}}};
    for (const auto& [pass, args] : steps) module = (*make_pass(pass, args))(module, host_context());
    return module->functions().size() - 1;
  }
};

Expr chain(Expr at, const Expr&, int) { return call("tanh", {at}); }
Expr taking_turns(Expr at, const Expr&, int i) { return call(i % 2 ? "tanh" : "abs", {at}); }
Expr residual(Expr at, const Expr&, int) { return call("add", {at, call("abs", {call("tanh", {at})})}); }
Expr tied_to_the_start(Expr at, const Expr& x, int i) {
  return call("add", {x, call(i % 3 ? "abs" : "tanh", {at})});
}
Expr composites(Expr at, const Expr& x, int) { return call("exp", {call("add", {at, x})}); }

TEST_F(ByocScale, LongProgramsOfAllShapes) {
  constexpr int kLength = 2'000;
  on_8_mb_stack([] {
    EXPECT_EQ(regions(kLength, chain), 1u);
    EXPECT_EQ(regions(kLength, taking_turns), static_cast<size_t>(kLength / 2));
    EXPECT_EQ(regions(kLength, residual), static_cast<size_t>(kLength + 1));
    EXPECT_EQ(regions(kLength, composites), 1u);
    EXPECT_GT(regions(kLength, tied_to_the_start), static_cast<size_t>(kLength / 2));
  });
}

TEST_F(ByocScale, SlowAMillionCalls) {
  on_8_mb_stack([] { EXPECT_EQ(regions(1'000'000, chain), 1u); });
  on_8_mb_stack([] { EXPECT_EQ(regions(1'000'000, taking_turns), 500'000u); });
}

}  // namespace
}  // namespace baton

#include "baton/ir/structural.h"

#include <algorithm>
#include <chrono>
#include <set>

#include <gtest/gtest.h>

#include "baton/ir/op.h"
#include "baton/ops/register.h"

namespace baton {
namespace {

class Structural : public ::testing::Test {
 protected:
  Structural() { register_all_ops(); }
  const DType f32 = DType::float_(32);
  const Type row = tensor_type(std::vector<int64_t>{1, 4}, f32);

  Expr relu(Expr x) { return call("nn.relu", {std::move(x)}); }
  Function unary(const std::string& name, FunctionAttrs attrs = {}) {
    const Var x = var(name, row);
    return function({x}, relu(Expr(x)), {}, std::move(attrs));
  }
};

TEST_F(Structural, NamesAndOriginsTakeNoPart) {
  EXPECT_TRUE(structural_equal(Expr(unary("x")), Expr(unary("y"))));
  EXPECT_EQ(structural_hash(Expr(unary("x"))), structural_hash(Expr(unary("y"))));
}

TEST_F(Structural, AnnotationsCount) {
  const Var x = var("x", row), y = var("x", tensor_type(std::vector<int64_t>{1, 5}, f32));
  const Function a = function({x}, relu(x)), b = function({y}, relu(y));
  EXPECT_FALSE(structural_equal(Expr(a), Expr(b)));
  EXPECT_NE(structural_hash(Expr(a)), structural_hash(Expr(b)));
}

TEST_F(Structural, FunctionAttributesAreASet) {
  const Function a = unary("x", {{"Primitive", 1}, {"Compiler", "dnnl"}});
  const Function b = unary("x", {{"Compiler", "dnnl"}, {"Primitive", 1}});
  const Function c = unary("x", {{"Compiler", "dnnl"}, {"Primitive", 0}});
  EXPECT_TRUE(structural_equal(Expr(a), Expr(b)));
  EXPECT_EQ(structural_hash(Expr(a)), structural_hash(Expr(b)));
  EXPECT_FALSE(structural_equal(Expr(a), Expr(c)));
  EXPECT_NE(structural_hash(Expr(a)), structural_hash(Expr(c)));
}

TEST_F(Structural, SharingIsHashed) {
  const Var x = var("x", row);
  const Expr shared = relu(x);
  const Function once = function({x}, call("maximum", {shared, shared}));
  const Function twice = function({x}, call("maximum", {relu(x), relu(x)}));
  EXPECT_FALSE(structural_equal(Expr(once), Expr(twice)));
  EXPECT_NE(structural_hash(Expr(once)), structural_hash(Expr(twice)));
  // Which of two equal nodes is used again counts, too.
  const auto again = [&](int which) {
    const Expr twins[] = {relu(x), relu(x)};
    return function({x}, tuple({relu(twins[0]), twins[1], twins[which]}));
  };
  EXPECT_NE(structural_hash(Expr(again(0))), structural_hash(Expr(again(1))));
}

TEST_F(Structural, AProjectionMayBeSharedOrRepeated) {
  const Var x = var("x", row);
  const Expr pair = tuple({relu(x), x}), item = get_item(pair, 0);
  const Function shared = function({x}, call("maximum", {item, item}));
  const Function repeated = function({x}, call("maximum", {get_item(pair, 0), get_item(pair, 0)}));
  const Function apart =
      function({x}, call("maximum", {get_item(tuple({relu(x), x}), 0), get_item(pair, 0)}));
  EXPECT_TRUE(structural_equal(Expr(shared), Expr(repeated)));
  EXPECT_EQ(structural_hash(Expr(shared)), structural_hash(Expr(repeated)));
  EXPECT_FALSE(structural_equal(Expr(shared), Expr(apart)));
  EXPECT_NE(structural_hash(Expr(shared)), structural_hash(Expr(apart)));
}

TEST_F(Structural, TheHashTellsAllGraphsOfFourAdditionsApart) {
  // Node i adds two of x and the nodes before it: 576 graphs, many of them equal.
  const Var x = var("x", row);
  std::vector<Expr> classes;
  std::set<uint64_t> hashes;
  for (int code = 0; code < 2 * 2 * 3 * 3 * 4 * 4; ++code) {
    std::vector<Expr> values = {x};
    for (int left = code, i = 1; i <= 4; ++i) {
      const int a = left % i, b = left / i % i;
      left /= i * i;
      values.push_back(call("add", {values[a], values[b]}));
    }
    const Expr graph(function({x}, values.back()));
    const auto known = std::find_if(classes.begin(), classes.end(),
                                    [&](const Expr& each) { return structural_equal(each, graph); });
    if (known == classes.end()) {
      classes.push_back(graph);
      EXPECT_TRUE(hashes.insert(structural_hash(graph)).second) << code;
    } else {
      EXPECT_EQ(structural_hash(*known), structural_hash(graph)) << code;
    }
  }
  EXPECT_GT(classes.size(), 100u);
}

TEST_F(Structural, FreeVariablesEqualThemselvesUnlessMapped) {
  const Var x = var("x", row), y = var("x", row);
  EXPECT_TRUE(structural_equal(relu(x), relu(x)));
  EXPECT_FALSE(structural_equal(relu(x), relu(y)));
  EXPECT_TRUE(structural_equal(relu(x), relu(y), true));
  const Expr both = tuple({x, y}), same = tuple({x, x});
  EXPECT_FALSE(structural_equal(both, same, true));
  EXPECT_FALSE(structural_equal(same, both, true));
}

TEST_F(Structural, ABoundVariableIsNotAFreeOne) {
  const Var x = var("x", row), y = var("y", row);
  EXPECT_FALSE(structural_equal(Expr(function({x}, relu(x))), Expr(function({y}, relu(x)))));
  EXPECT_FALSE(structural_equal(Expr(function({x}, relu(x))), Expr(function({y}, relu(x))), true));
}

TEST_F(Structural, ConstantsByBytes) {
  const Expr one = scalar(1, f32), again = scalar(1, f32), two = scalar(2, f32),
             wide = scalar(1, DType::float_(64));
  EXPECT_TRUE(structural_equal(one, again));
  EXPECT_EQ(structural_hash(one), structural_hash(again));
  EXPECT_FALSE(structural_equal(one, two));
  EXPECT_NE(structural_hash(one), structural_hash(two));
  EXPECT_FALSE(structural_equal(one, wide));
}

TEST_F(Structural, LetsBind) {
  const auto program = [&](const char* name, bool use) {
    const Var x = var("x", row), t = var(name);
    return Expr(function({x}, let(t, relu(x), use ? relu(t) : relu(x))));
  };
  EXPECT_TRUE(structural_equal(program("t", true), program("u", true)));
  EXPECT_EQ(structural_hash(program("t", true)), structural_hash(program("u", true)));
  EXPECT_FALSE(structural_equal(program("t", true), program("t", false)));
  EXPECT_NE(structural_hash(program("t", true)), structural_hash(program("t", false)));
}

TEST_F(Structural, SharingIsPartOfTheStructure) {
  const Var x = var("x", row);
  const Expr shared = relu(x);
  EXPECT_FALSE(structural_equal(tuple({shared, shared}), tuple({relu(x), relu(x)})));
  EXPECT_FALSE(structural_equal(tuple({relu(x), relu(x)}), tuple({shared, shared})));
}

TEST_F(Structural, IfsAndTuplesAndIndices) {
  const Var c = var("c", scalar_type(DType::bool_())), x = var("x", row);
  EXPECT_FALSE(structural_equal(if_else(c, relu(x), x), if_else(c, x, relu(x))));
  const Expr t = tuple({x, c});
  EXPECT_FALSE(structural_equal(get_item(t, 0), get_item(t, 1)));
  EXPECT_NE(structural_hash(get_item(t, 0)), structural_hash(get_item(t, 1)));
}

// The hash names kernels in the on-disk cache: it must not change from run to run or machine to machine.
TEST_F(Structural, HashIsStable) {
  EXPECT_EQ(structural_hash(Expr(unary("x"))), structural_hash(Expr(unary("other"))));
}

TEST_F(Structural, AMillionCallsAndSharedLadders) {
  const auto chain = [&] {
    const Var x = var("x", row);
    Expr at = x;
    for (int i = 0; i < 1'000'000; ++i) at = relu(at);
    return Expr(function({x}, at));
  };
  const Expr a = chain(), b = chain();
  EXPECT_TRUE(structural_equal(a, b));
  EXPECT_EQ(structural_hash(a), structural_hash(b));
  // 2^200 paths, 200 nodes.
  const auto ladder = [&] {
    const Var x = var("x", row);
    Expr at = x;
    for (int i = 0; i < 200; ++i) at = tuple({at, at});
    return Expr(function({x}, at));
  };
  EXPECT_TRUE(structural_equal(ladder(), ladder()));
  EXPECT_EQ(structural_hash(ladder()), structural_hash(ladder()));
}

TEST_F(Structural, ModulesByName) {
  const IRModule a = make_module(), b = make_module();
  a->set("main", unary("x"));
  b->set("main", unary("y"));
  EXPECT_TRUE(structural_equal(*a, *b));
  EXPECT_EQ(structural_hash(*a), structural_hash(*b));
  b->set("other", unary("y"));
  EXPECT_FALSE(structural_equal(*a, *b));
}

}  // namespace
}  // namespace baton

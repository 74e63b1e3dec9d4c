#include "baton/ir/visit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/ir/variables.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<const ExprNode*> children(const Expr& node) {
  std::vector<const ExprNode*> all;
  for (size_t i = 0; const Expr* each = child(*node, i); ++i) all.push_back(each->get());
  EXPECT_EQ(child(*node, all.size() + 1), nullptr);
  return all;
}

std::vector<const ExprNode*> with_bound_vars(const Expr& node) {
  std::vector<const ExprNode*> all;
  for_each_child(*node, [&](const Expr& each) { all.push_back(each.get()); });
  return all;
}

class Visit : public ::testing::Test {
 protected:
  const Var x = var("x"), y = var("y"), z = var("z");
  const Expr a = Expr(scalar(1, DType::float_(32))), b = Expr(scalar(2, DType::float_(32))),
             c = Expr(scalar(3, DType::float_(32)));
};

TEST_F(Visit, LeavesHaveNoChildren) {
  for (const Expr& leaf : {Expr(x), a, Expr(make_global_var("f"))}) {
    EXPECT_TRUE(is_leaf(leaf->kind()));
    EXPECT_THAT(children(leaf), IsEmpty());
  }
  EXPECT_FALSE(is_leaf(tuple({})->kind()));
  EXPECT_THAT(children(tuple({})), IsEmpty());
}

TEST_F(Visit, ChildrenStandInEvaluationOrder) {
  EXPECT_THAT(children(tuple({a, b, a})), ElementsAre(a.get(), b.get(), a.get()));
  EXPECT_THAT(children(get_item(a, 0)), ElementsAre(a.get()));
  EXPECT_THAT(
      children(Expr(make_call(Expr(x), ExprList(std::vector<Expr>{a, b}), {}, NodeInfo(OriginSet::none())))),
      ElementsAre(x.get(), a.get(), b.get()));
  EXPECT_THAT(children(if_else(a, b, c)), ElementsAre(a.get(), b.get(), c.get()));
  EXPECT_THAT(children(ref_create(a)), ElementsAre(a.get()));
  EXPECT_THAT(children(ref_read(a)), ElementsAre(a.get()));
  EXPECT_THAT(children(ref_write(a, b)), ElementsAre(a.get(), b.get()));
}

TEST_F(Visit, VariablesThatANodeBindsAreNotAmongItsChildren) {
  const Expr lambda(function({x, y}, a)),
      binding = let(x, a, b),
      cases = match(a, {{var_pattern(x), b}, {tuple_pattern({var_pattern(y), var_pattern(z)}), c}});
  EXPECT_THAT(children(lambda), ElementsAre(a.get()));
  EXPECT_THAT(with_bound_vars(lambda), ElementsAre(x.get(), y.get(), a.get()));
  EXPECT_THAT(children(binding), ElementsAre(a.get(), b.get()));
  EXPECT_THAT(with_bound_vars(binding), ElementsAre(x.get(), a.get(), b.get()));
  EXPECT_THAT(children(cases), ElementsAre(a.get(), b.get(), c.get()));
  EXPECT_THAT(with_bound_vars(cases), ElementsAre(a.get(), x.get(), b.get(), y.get(), z.get(), c.get()));
}

TEST_F(Visit, TypeOfFallsBackToTheAnnotation) {
  const Type annotated = tensor_type(std::vector<int64_t>{3}, DType::float_(32)),
             inferred = tensor_type(std::vector<int64_t>{4}, DType::float_(32));
  EXPECT_FALSE(type_of(Expr(x)));
  EXPECT_FALSE(type_of(tuple({a})));
  EXPECT_TRUE(same_type(type_of(Expr(var("v", annotated))), annotated));
  const Var both = make_var("v", annotated, NodeInfo(OriginSet::none(), {}, inferred));
  EXPECT_TRUE(same_type(type_of(Expr(both)), inferred));
  EXPECT_TRUE(same_type(type_of(*both), inferred));
}

}  // namespace
}  // namespace baton

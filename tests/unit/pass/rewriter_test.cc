#include "baton/pass/rewriter.h"

#include <gtest/gtest.h>

#include "baton/ir/op.h"
#include "baton/ir/structural.h"

#include "pass/programs.h"

namespace baton {
namespace {

class Nothing final : public Rewriter {};

// relu(relu(x)) -> relu(x)
class MergeRelus final : public Rewriter {
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    if (!is_call(rebuilt, "nn.relu")) return rebuilt;
    const Expr& inner = as<CallNode>(rebuilt)->args()[0];
    return is_call(inner, "nn.relu") ? Expr(call("nn.relu", {as<CallNode>(inner)->args()[0]})) : rebuilt;
  }
};

TEST(Rewriter, KeepsWhatDoesNotChange) {
  const IRModule module = relu_chain(5);
  const Expr main = module->find("main");
  EXPECT_EQ(Nothing().run(main), main);
}

TEST(Rewriter, NewNodesStandForWhatIsRewritten) {
  const IRModule module = relu_chain(2);
  const Function main = module->find("main");
  const Function merged = as_ref<FunctionNode>(MergeRelus().run(Expr(main)));
  EXPECT_TRUE(structural_equal(Expr(merged), Expr(relu_chain(1)->find("main"))));
  EXPECT_EQ(merged->body()->origins(), main->body()->origins());
}

TEST(Rewriter, AMillionCalls) {
  const IRModule module = relu_chain(1'000'000);
  const Expr merged = MergeRelus().run(Expr(module->find("main")));
  EXPECT_TRUE(structural_equal(merged, Expr(relu_chain(1)->find("main"))));
}

TEST(Rewriter, DoesNotEnterPrimitiveFunctions) {
  const IRModule module = relu_chain(2);
  const Expr primitive = with_attr(module->find("main"), "Primitive", 1);
  EXPECT_EQ(MergeRelus().run(primitive), primitive);
  const Expr other = with_attr(module->find("main"), "Compiler", "dnnl");
  EXPECT_EQ(MergeRelus().run(other), other);
}

// let t = relu(x); relu(t)  ->  relu(relu(x)), a value is seen before the body it is used in.
class InlineLets final : public Rewriter {
  void let_value(const LetNode& let, const Expr& value) override { map(Expr(let.var()), value); }
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* let = as<LetNode>(rebuilt);
    return let ? let->body() : rebuilt;
  }
};

TEST(Rewriter, LetsCanBeInlinedAMillionDeep) {
  const Type row = tensor_type(std::vector<int64_t>{1, 4}, DType::float_(32));
  register_all_ops();
  const Var x = var("x", row);
  constexpr int kDepth = 1'000'000;
  std::vector<Var> vars;
  for (int i = 0; i < kDepth; ++i) vars.push_back(var("t"));
  Expr body = vars.back();
  for (int i = kDepth - 1; i >= 0; --i)
    body = let(vars[i], call("nn.relu", {i ? Expr(vars[i - 1]) : Expr(x)}), body);
  const Expr inlined = InlineLets().run(Expr(function({x}, body)));
  EXPECT_TRUE(structural_equal(inlined, Expr(relu_chain(kDepth)->find("main"))));
}

class RenameVars final : public Rewriter {
  Var rewrite_var(const Var& old) override { return var(old->name() + "_new", old->annotation()); }
};

TEST(Rewriter, BindersFollowTheirUses) {
  const Function main = relu_chain(1)->find("main");
  const Function renamed = as_ref<FunctionNode>(RenameVars().run(Expr(main)));
  EXPECT_EQ(renamed->params()[0]->name(), "x_new");
  EXPECT_TRUE(structural_equal(Expr(renamed), Expr(main)));
}

TEST(Rewriter, Substitute) {
  const Function main = relu_chain(1)->find("main");
  const Var y = var("y", main->params()[0]->annotation());
  const Expr body = substitute(main->body(), {{main->params()[0].get(), Expr(y)}});
  EXPECT_EQ(as<CallNode>(body)->args()[0], Expr(y));
  EXPECT_EQ(body->origins(), main->body()->origins());
}

}  // namespace
}  // namespace baton

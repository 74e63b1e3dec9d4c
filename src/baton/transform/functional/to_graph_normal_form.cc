// Replaces let variables by their values; sharing is preserved:
//   let v = exp(x); add(v, v)  ->  add(e, e), e = exp(x)
// A recursive function keeps its let: let f = fn ..f.. ; f. Unused values are removed.

#include <algorithm>

#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

class LetRemover final : public Rewriter {
 public:
  explicit LetRemover(const Expr& root) {
    std::unordered_map<const ExprNode*, Expr> values;
    post_order(root, [&](const Expr& node) {
      if (const auto* let = as<LetNode>(node)) values.emplace(let->var().get(), let->value());
    });
    // Liveness: a let's value is needed only where its variable is used.
    std::vector<Expr> todo = {root};
    while (!todo.empty()) {
      const Expr node = todo.back();
      todo.pop_back();
      if (!used_.insert(node.get())) continue;
      if (const auto* let = as<LetNode>(node)) {
        todo.push_back(let->body());
        continue;
      }
      if (const auto value = values.find(node.get()); value != values.end()) todo.push_back(value->second);
      for_each_child(*node, [&](const Expr& child) { todo.push_back(child); });
    }
  }

 private:
  void let_value(const LetNode& let, const Expr& value) override {
    const Expr var(let.var());
    if (!used_.contains(var.get()))
      post_order(let.value(), [](const Expr& node) { retire(node->origins(), "the value is not used"); });
    const auto* function = as<FunctionNode>(value);
    map(var, function && calls_itself(value, var) ? let_of(let, value) : value);
  }

  static bool calls_itself(const Expr& value, const Expr& var) {
    const std::vector<Var> free = free_vars(value);
    return std::find(free.begin(), free.end(), as_ref<VarNode>(var)) != free.end();
  }

  static Expr let_of(const LetNode& let, const Expr& value) {
    return make_let(let.var(), value, Expr(let.var()),
                    NodeInfo(let.origins(), let.span(), value->checked_type()));
  }

  // `rebuilt` is a let over rewritten parts; only its body remains.
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* let = as<LetNode>(rebuilt);
    return let ? let->body() : rebuilt;
  }

  PointerSet used_;
};

}  // namespace

Pass to_graph_normal_form() {
  return function_pass(
      {1, "ToGraphNormalForm", {}},
      [](const Function& function, const IRModule&, const PassContext&) {
        return as_ref<FunctionNode>(LetRemover(Expr(function)).run(Expr(function)));
      },
      /*may_retire=*/true);
}

}  // namespace baton

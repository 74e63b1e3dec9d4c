#include "baton/transform/merge_origins.h"

#include "baton/ir/build.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

using Sets = PointerMap<std::vector<OriginSet>>;

void collect(const Expr& expr, const Expr& twin, Sets& sets) {
  std::vector<std::pair<const ExprNode*, const ExprNode*>> todo{{expr.get(), twin.get()}};
  PointerSet seen;
  std::vector<const ExprNode*> children;
  while (!todo.empty()) {
    const auto [node, other] = todo.back();
    todo.pop_back();
    if (!seen.insert(other)) continue;
    BATON_CHECK(node->kind() == other->kind(), "programs that are to be merged are not equal");
    if (!other->origins().empty()) sets[node].push_back(other->origins());
    children.clear();
    for_each_child(*node, [&](const Expr& child) { children.push_back(child.get()); });
    size_t at = 0;
    for_each_child(*other, [&](const Expr& child) { todo.emplace_back(children.at(at++), child.get()); });
  }
}

class Merger final : public Rewriter {
 public:
  explicit Merger(Sets& sets) : sets_(sets) {}

 private:
  bool enter(const Expr&) override { return true; }
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    std::vector<OriginSet>* more = sets_.find(original.get());
    if (!more) return rebuilt;
    more->push_back(original->origins());
    const OriginSet all = OriginSet::merge_all(*more);
    const auto* function = as<FunctionNode>(rebuilt);
    if (!function) return with_origins(rebuilt, all);
    return make_function(function->params(), function->body(), function->ret_type(), function->attrs(),
                         NodeInfo(all, function->span(), function->checked_type()), function->type_params());
  }

  Sets& sets_;
};

}  // namespace

Expr merge_origins(const Expr& expr, const std::vector<Expr>& equal) {
  Sets sets;
  for (const Expr& twin : equal) collect(expr, twin, sets);
  return sets.empty() ? expr : Merger(sets).run(expr);
}

}  // namespace baton

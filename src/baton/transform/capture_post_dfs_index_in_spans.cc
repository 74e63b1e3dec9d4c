// Spans that encode a node's position in its function: source "index"; the line is the node's post-order
// index, the column the index of its post-dominator, the nearest node on every path from it to the function's
// result (-1 when there is none). The value of a let flows to its variable, and from there to the uses.

#include <algorithm>

#include "baton/ir/adt.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/transform/spans.h"

namespace baton {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// The nodes of a function in order, and their post-dominators.
class Dominators {
 public:
  explicit Dominators(const Expr& root) {
    number(root);
    find_users();
    place_.resize(nodes_.size());
    for (auto node = static_cast<uint32_t>(nodes_.size()); node-- > 0;) place(node);
  }

  const std::vector<const ExprNode*>& nodes() const { return nodes_; }
  uint32_t of(uint32_t node) const { return place_[node].parent; }

 private:
  // A node of the dominator tree. `jump` links to a higher ancestor, so that common ancestors are found in
  // logarithmic time.
  struct Place {
    uint32_t parent = kNone, jump = kNone, depth = 0;
  };

  void number(const Expr& root) {
    std::vector<std::pair<const ExprNode*, bool>> stack{{root.get(), false}};
    PointerSet opened;
    std::vector<const ExprNode*> children;
    while (!stack.empty()) {
      const auto [node, close] = stack.back();
      stack.pop_back();
      if (close) {
        numbers_.insert(node, static_cast<uint32_t>(nodes_.size()));
        nodes_.push_back(node);
        continue;
      }
      if (!opened.insert(node)) continue;
      stack.emplace_back(node, true);
      children.clear();
      if (const auto* let = as<LetNode>(node)) {
        children = {let->value().get(), let->var().get(), let->body().get()};
      } else {
        for_each_child(*node, [&](const Expr& child) { children.push_back(child.get()); });
      }
      for (auto child = children.rbegin(); child != children.rend(); ++child)
        stack.emplace_back(*child, false);
    }
  }

  void find_users() {
    users_.resize(nodes_.size());
    const auto goes_to = [&](const Expr& value, const ExprNode* user) {
      users_[*numbers_.find(value.get())].push_back(*numbers_.find(user));
    };
    for (const ExprNode* node : nodes_) {
      if (const auto* let = as<LetNode>(node)) {
        goes_to(let->value(), let->var().get());
        goes_to(let->body(), node);
      } else if (const auto* function = as<FunctionNode>(node)) {
        goes_to(function->body(), node);
      } else if (const auto* match = as<MatchNode>(node)) {
        goes_to(match->data(), node);
        for (const Clause& clause : match->clauses()) {
          for (const Var& var : pattern_vars(clause.pattern)) goes_to(match->data(), var.get());
          goes_to(clause.body, node);
        }
      } else {
        for_each_child(*node, [&](const Expr& child) { goes_to(child, node); });
      }
    }
  }

  // Users of a node come after it, except for a function's own name in its value.
  void place(uint32_t node) {
    uint32_t common = kNone;
    bool first = true;
    for (const uint32_t user : users_[node]) {
      if (user <= node) continue;
      common = first ? user : common_ancestor(common, user);
      first = false;
    }
    Place& place = place_[node];
    place.parent = common;
    if (common == kNone) return;
    const Place& above = place_[common];
    place.depth = above.depth + 1;
    const uint32_t over = above.jump;
    const bool merges =
        over != kNone && place_[over].jump != kNone &&
        above.depth - place_[over].depth == place_[over].depth - place_[place_[over].jump].depth;
    place.jump = merges ? place_[over].jump : common;
  }

  uint32_t common_ancestor(uint32_t a, uint32_t b) const {
    if (a == kNone || b == kNone) return kNone;
    if (place_[a].depth < place_[b].depth) std::swap(a, b);
    while (place_[a].depth > place_[b].depth) {
      const uint32_t jump = place_[a].jump;
      a = jump != kNone && place_[jump].depth >= place_[b].depth ? jump : place_[a].parent;
    }
    while (a != b) {
      if (place_[a].parent == kNone) return kNone;  // different trees
      const bool leap = place_[a].jump != place_[b].jump;
      a = leap ? place_[a].jump : place_[a].parent;
      b = leap ? place_[b].jump : place_[b].parent;
    }
    return a;
  }

  std::vector<const ExprNode*> nodes_;
  PointerMap<uint32_t> numbers_;
  std::vector<std::vector<uint32_t>> users_;
  std::vector<Place> place_;
};

}  // namespace

Pass capture_post_dfs_index_in_spans() {
  return function_pass({0, "CapturePostDfsIndexInSpans", {}},
                       [](const Function& function, const IRModule&, const PassContext&) {
                         const auto source = make_ref<Source>("index", "");
                         const Dominators dominators{Expr(function)};
                         PointerMap<Span> spans;
                         for (uint32_t i = 0; i < dominators.nodes().size(); ++i) {
                           const ExprNode* node = dominators.nodes()[i];
                           if (node->kind() == ExprKind::kOp || node->kind() == ExprKind::kConstructor)
                             continue;
                           // The line of a valid span is not 0; the displayed line may be.
                           Span span{source, i + 1, 1, i + 1, 1};
                           span.show_at(i, dominators.of(i));
                           spans.insert(node, span);
                         }
                         return as_ref<FunctionNode>(SpanWriter(spans).run(Expr(function)));
                       });
}

}  // namespace baton

// Two calls of one operator with equal attributes and equal arguments become one, which stands for the
// origins of both:
//   exp(x) + exp(x)  ->  e + e, e = exp(x)
// The same for items of one tuple. Constants are equal when their values are.

#include <algorithm>
#include <unordered_map>

#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/hash.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/build.h"

namespace baton {

namespace {

/// Numbers expressions so that equal ones have equal numbers, children first.
class Numbering {
 public:
  explicit Numbering(const Expr& root) {
    post_order(
        root, [&](const Expr& node) { number(node); },
        [](const Expr& node) { return !as<FunctionNode>(node) || !as<FunctionNode>(node)->is_primitive(); });
  }

  /// The first node (in post-order) that is equal to `node`, and the origins of all such.
  struct Class {
    Expr first;
    std::vector<OriginSet> origins;  ///< of each
    size_t size() const { return origins.size(); }
    OriginSet all_origins() const { return OriginSet::merge_all(origins); }
  };
  const Class& of(const Expr& node) const { return classes_[*numbers_.find(node.get())]; }
  bool knows(const Expr& node) const { return numbers_.contains(node.get()); }

 private:
  void number(const Expr& node) {
    const std::optional<uint64_t> key = key_of(node);
    if (key) {
      for (size_t candidate : by_key_[*key]) {
        if (!same(*classes_[candidate].first, *node)) continue;
        classes_[candidate].origins.push_back(node->origins());
        numbers_.insert(node.get(), candidate);
        return;
      }
      by_key_[*key].push_back(classes_.size());
    }
    numbers_.insert(node.get(), classes_.size());
    classes_.push_back({node, {node->origins()}});
  }

  size_t number_of(const Expr& node) const { return *numbers_.find(node.get()); }

  // Nothing for what is equal only to itself.
  std::optional<uint64_t> key_of(const Expr& node) const {
    Hasher hash(static_cast<uint64_t>(node->kind()));
    if (const auto* constant = as<ConstantNode>(node)) {
      const NDArray& value = constant->value();
      for (int64_t extent : value.shape()) hash.add(static_cast<uint64_t>(extent));
      hash.add(std::hash<DType>()(value.dtype()));
      hash.add_bytes(value.data(), std::min<size_t>(value.bytes(), 256));
      return hash.value();
    }
    if (const auto* item = as<TupleGetItemNode>(node)) {
      hash.add(number_of(item->tuple()));
      hash.add(static_cast<uint64_t>(item->index()));
      return hash.value();
    }
    const auto* call = as<CallNode>(node);
    const OpDef* op = call ? call->op() : nullptr;
    if (!op || op->stateful || call->args().empty()) return std::nullopt;
    hash.add_text(op->name);
    hash.add(attrs_hash(call->attrs()));
    for (const Expr& arg : call->args()) hash.add(number_of(arg));
    return hash.value();
  }

  bool same(const ExprNode& a, const ExprNode& b) const {
    if (a.kind() != b.kind()) return false;
    if (const auto* constant = as<ConstantNode>(&a)) {
      const NDArray &x = constant->value(), &y = as<ConstantNode>(&b)->value();
      return x.same_as(y) || x.equal_bytes(y);
    }
    if (const auto* item = as<TupleGetItemNode>(&a)) {
      const auto* other = as<TupleGetItemNode>(&b);
      return item->index() == other->index() && number_of(item->tuple()) == number_of(other->tuple());
    }
    const auto *x = as<CallNode>(&a), *y = as<CallNode>(&b);
    if (x->op() != y->op() || x->args().size() != y->args().size() || !same_attrs(x->attrs(), y->attrs()))
      return false;
    for (size_t i = 0; i < x->args().size(); ++i)
      if (number_of(x->args()[i]) != number_of(y->args()[i])) return false;
    return true;
  }

  std::vector<Class> classes_;
  PointerMap<size_t> numbers_;
  std::unordered_map<uint64_t, std::vector<size_t>> by_key_;
};

class Eliminator final : public Rewriter {
 public:
  explicit Eliminator(const Expr& root) : numbering_(root) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (original->kind() != ExprKind::kCall && original->kind() != ExprKind::kTupleGetItem) return rebuilt;
    if (!numbering_.knows(original)) return rebuilt;
    const Numbering::Class& equal = numbering_.of(original);
    if (equal.size() == 1) return rebuilt;
    if (equal.first != original) return mapped(equal.first);
    return with_origins(rebuilt, equal.all_origins());
  }

  Numbering numbering_;
};

}  // namespace

Pass eliminate_common_subexpr() {
  return function_pass({3, "EliminateCommonSubexpr", {"InferType"}},
                       [](const Function& function, const IRModule&, const PassContext&) {
                         return as_ref<FunctionNode>(Eliminator(function).run(function));
                       });
}

}  // namespace baton

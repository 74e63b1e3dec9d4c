// Two calls of one operator with equal attributes and equal arguments become one, which stands for the
// origins of both:
//   exp(x) + exp(x)  ->  e + e, e = exp(x)
// The same for items of one tuple. Scalar constants are equal when their values are; other constants are
// equal to themselves only.
#include "baton/transform/simplify/eliminate_common_subexpr.h"

#include <optional>

#include "baton/ir/build.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/hash.h"
#include "baton/support/pointer_map.h"

namespace baton {

namespace {

using Skip = std::function<bool(const Expr&)>;

/// Numbers expressions so that equal ones have equal numbers, children first.
class Numbering {
 public:
  Numbering(const Expr& root, const Skip& skip) : skip_(skip) {
    post_order(
        root, [&](const Expr& node) { number(node); },
        [](const Expr& node) { return !as<FunctionNode>(node) || !as<FunctionNode>(node)->is_primitive(); });
  }

  /// The first node (in post-order) that is equal to `node`, and the origins of all such.
  struct Class {
    Expr first;
    uint64_t key;
    std::vector<OriginSet> others;  ///< what its equals stand for
    OriginSet all_origins() const {
      std::vector<OriginSet> all = others;
      all.push_back(first->origins());
      return OriginSet::merge_all(all);
    }
  };
  const Class& of(const Expr& node) const { return classes_[*numbers_.find(node.get())]; }
  bool knows(const Expr& node) const { return numbers_.contains(node.get()); }

 private:
  void number(const Expr& node) {
    const std::optional<uint64_t> key = key_of(node);
    const uint32_t known = key ? add(*key, *node) : kNone;
    numbers_.insert(node.get(), known == kNone ? static_cast<uint32_t>(classes_.size()) : known);
    if (known == kNone)
      classes_.push_back({node, key.value_or(0), {}});
    else
      classes_[known].others.push_back(node->origins());
  }

  // The class of `node`, or kNone and the number of the next class is entered under `key`.
  uint32_t add(uint64_t key, const ExprNode& node) {
    if (2 * entered_ >= slots_.size()) grow();
    size_t at = key & (slots_.size() - 1);
    for (; slots_[at] != kNone; at = (at + 1) & (slots_.size() - 1))
      if (classes_[slots_[at]].key == key && same(*classes_[slots_[at]].first, node)) return slots_[at];
    slots_[at] = static_cast<uint32_t>(classes_.size());
    ++entered_;
    return kNone;
  }
  void grow() {
    std::vector<uint32_t> old(slots_.empty() ? 64 : 2 * slots_.size(), kNone);
    old.swap(slots_);
    for (uint32_t number : old) {
      if (number == kNone) continue;
      size_t at = classes_[number].key & (slots_.size() - 1);
      while (slots_[at] != kNone) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = number;
    }
  }

  uint32_t number_of(const Expr& node) const { return *numbers_.find(node.get()); }

  // Nothing for what is equal only to itself.
  std::optional<uint64_t> key_of(const Expr& node) const {
    Hasher hash(static_cast<uint64_t>(node->kind()));
    if (const auto* constant = as<ConstantNode>(node)) {
      if (!constant->is_scalar()) return std::nullopt;
      hash.add(std::hash<DType>()(constant->value().dtype()));
      hash.add_bytes(constant->value().data(), constant->value().bytes());
      return hash.value();
    }
    const bool merges = node->kind() == ExprKind::kTupleGetItem || node->kind() == ExprKind::kCall;
    if (!merges || (skip_ && skip_(node))) return std::nullopt;
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
      return constant->value().equal_bytes(as<ConstantNode>(&b)->value());
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

  const Skip& skip_;
  std::vector<Class> classes_;
  PointerMap<uint32_t> numbers_;
  std::vector<uint32_t> slots_;  // a hash table of the classes that have a key
  size_t entered_ = 0;
  static constexpr uint32_t kNone = UINT32_MAX;
};

class Eliminator final : public Rewriter {
 public:
  Eliminator(const Expr& root, const Skip& skip) : numbering_(root, skip) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (original->kind() != ExprKind::kCall && original->kind() != ExprKind::kTupleGetItem) return rebuilt;
    if (!numbering_.knows(original)) return rebuilt;
    const Numbering::Class& equal = numbering_.of(original);
    if (equal.others.empty()) return rebuilt;
    if (equal.first != original) return mapped(equal.first);
    return with_origins(rebuilt, equal.all_origins());
  }

  Numbering numbering_;
};

}  // namespace

Pass eliminate_common_subexpr_but(Skip skip) {
  return function_pass(
      {3, "EliminateCommonSubexpr", {"InferType"}},
      [skip = std::move(skip)](const Function& function, const IRModule&, const PassContext&) {
        return as_ref<FunctionNode>(Eliminator(function, skip).run(function));
      });
}

Pass eliminate_common_subexpr() { return eliminate_common_subexpr_but({}); }

}  // namespace baton

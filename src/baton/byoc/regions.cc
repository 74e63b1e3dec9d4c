#include "baton/byoc/regions.h"

#include <utility>

#include "baton/byoc/annotation.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"

namespace baton {

Regions::Regions(const Expr& root) {
  post_order(root, [this](const Expr& expr) { visit(expr); });
}

Regions::Index Regions::find(Index region) {
  while (parent_[region] != region) region = parent_[region] = parent_[parent_[region]];
  return region;
}

void Regions::visit(const Expr& expr) {
  if (const CallNode* begin = as_compiler_begin(expr)) {
    const auto index = static_cast<Index>(regions_.size());
    regions_.push_back({index, compiler_of(*begin), {begin}, {}});
    parent_.push_back(index);
    members_.push_back(1);
    index_.insert(expr.get(), index);
  } else if (const CallNode* end = as_compiler_end(expr)) {
    const Index region = of(end->args()[0]);
    if (region == kNone) {
      throw UsageError("annotation.compiler_end(compiler=\"" + compiler_of(*end) + "\")" +
                       (expr->span() ? " at " + expr->span().text() : "") +
                       " ends no region: no value before it came through an annotation.compiler_begin");
    }
    regions_[region].ends.push_back(end);
    ends_.push_back(end);
    index_.insert(expr.get(), region);
  } else if (const auto* call = as<CallNode>(expr)) {
    join(expr, call->args());
  } else if (const auto* tuple = as<TupleNode>(expr)) {
    join(expr, tuple->fields());
  } else if (const auto* item = as<TupleGetItemNode>(expr)) {
    join(expr, {item->tuple()});
  } else if (const auto* cell = as<RefCreateNode>(expr)) {
    join(expr, {cell->value()});
  } else if (const auto* read = as<RefReadNode>(expr)) {
    join(expr, {read->ref()});
  } else if (const auto* write = as<RefWriteNode>(expr)) {
    join(expr, {write->ref(), write->value()});
  }
}

// `expr` is computed from `values`: those not behind a compiler_end join its region.
void Regions::join(const Expr& expr, const std::vector<Expr>& values) {
  Index region = kNone;
  const Expr* outside = nullptr;
  for (const Expr& value : values) {
    if (as_compiler_end(value)) continue;
    const Index other = of(value);
    if (other == kNone) {
      outside = &value;
    } else if (region == kNone) {
      region = other;
    } else if (region != other) {
      merge(other, region);
      region = find(region);
    }
  }
  if (region == kNone) return;
  if (outside) {
    const auto* call = as<CallNode>(expr);
    throw UsageError("an argument of " +
                     (call && call->op() ? "`" + call->op()->name + "`" : std::string("a call or tuple")) +
                     (expr->span() ? " at " + expr->span().text() : "") +
                     " is in no region, but another is in one for `" + regions_[region].compiler +
                     "`: put an annotation.compiler_begin before each");
  }
  index_.insert(expr.get(), region);
}

// Union by size, so that `find` stays fast; id, compiler and order of annotations are those of `into`
// regardless.
void Regions::merge(Index from, Index into) {
  Region &a = regions_[into], &b = regions_[from];
  a.begins.splice(a.begins.end(), b.begins);
  a.ends.splice(a.ends.end(), b.ends);
  if (members_[from] > members_[into]) {
    std::swap(regions_[from], regions_[into]);
    std::swap(from, into);
  }
  parent_[from] = into;
  members_[into] += members_[from];
}

}  // namespace baton

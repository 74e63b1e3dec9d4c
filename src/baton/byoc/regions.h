#pragma once
// The regions of an annotated function: nodes between compiler_begin and compiler_end, connected by values
// that cross no annotation.
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// All regions of one expression. Indices stay valid after merging; `find` returns the current
/// representative.
class Regions {
 public:
  using Index = uint32_t;
  static constexpr Index kNone = UINT32_MAX;

  struct Region {
    /// The post-order number of the first compiler_begin of the region's first value.
    uint32_t id = 0;
    std::string compiler;
    std::list<const CallNode*> begins, ends;  ///< in the order in which they were added
  };

  /// UsageError for a call with operands both behind a compiler_begin and outside any region.
  explicit Regions(const Expr& root);

  /// The region of `expr`: one that begins or ends with it, or that computes it. kNone outside all.
  Index of(const Expr& expr) { return of(expr.get()); }
  Index of(const ExprNode* expr) {
    const Index* at = index_.find(expr);
    return at ? find(*at) : kNone;
  }
  Index find(Index region);
  const Region& operator[](Index region) const { return regions_[region]; }
  size_t size() const { return regions_.size(); }  ///< the number of indices
  /// All compiler_ends, in post-order.
  const std::vector<const CallNode*>& ends() const { return ends_; }
  /// Merges `from` into `into`, which keeps its id. Both must be representatives.
  void merge(Index from, Index into);

 private:
  void visit(const Expr& expr);
  void join(const Expr& expr, const std::vector<Expr>& values);

  std::vector<Region> regions_;
  std::vector<Index> parent_;
  std::vector<uint32_t> members_;
  PointerMap<Index> index_;
  std::vector<const CallNode*> ends_;
};

}  // namespace baton

#pragma once
// Keeping a module's origin table right over a pass: ids stay, retired origins are entered with pass and
// reason.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// Ids of a table's origins by object: dense over serial numbers, so that a lookup costs a few instructions.
class OriginIds {
 public:
  explicit OriginIds(const OriginTable& table);
  /// Nothing when `origin` never entered the table.
  std::optional<uint32_t> find(const Origin* origin) const {
    const uint64_t at = origin->serial() - first_;
    if (at < ids_.size() && ids_[at] != kNone && &table_.at(OriginId(ids_[at])) == origin) return ids_[at];
    return find_slowly(origin);
  }
  size_t size() const { return table_.size(); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  std::optional<uint32_t> find_slowly(const Origin* origin) const;
  const OriginTable& table_;
  uint64_t first_ = 0;
  std::vector<uint32_t> ids_;
};

/// After pass `pass` turned `before` into `result`: the result's table begins with that of `before` (a pass
/// may have built its module anew), and origins that `log` names and that no node carries any more are
/// retired.
void enter_in_ledger(const IRModuleNode& before, IRModuleNode& result, const RetireLog& log,
                     const std::string& pass);

}  // namespace baton

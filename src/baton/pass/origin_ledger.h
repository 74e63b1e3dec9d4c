#pragma once
// Maintains a module's origin table across a pass: ids are stable; retired origins are recorded with pass and
// reason.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// Maps a table's origins to ids: a dense array indexed by serial number, so that a lookup takes a few
/// instructions.
class OriginIds {
 public:
  explicit OriginIds(const OriginTable& table);
  /// Nullopt when `origin` was never entered in the table.
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

/// Updates the table of `result` after pass `pass` ran on `before`: the table starts with the entries of
/// `before` (the pass may have built a new module), and origins in `log` that no node carries any more are
/// retired.
void enter_in_ledger(const IRModuleNode& before, IRModuleNode& result, const RetireLog& log,
                     const std::string& pass);

}  // namespace baton

#pragma once
// What the user demands of a mapping, and whether it can be kept.
#include <cstdint>
#include <string>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// Operators that a backend has to compute, or must not.
struct MapRule {
  std::string text;  ///< as the user gave it: "--pin %3,%5=dnnl"
  std::string backend;
  std::vector<uint32_t> operators;  ///< ids, ascending
  bool forbids = false;
};

/// Throws UsageError, naming the operator and both rules, for one that is pinned to two backends, pinned and
/// forbidden, or forbidden everywhere; and for a rule of a backend that is not among `backends`.
void check_rules(const std::vector<MapRule>& rules, const std::vector<std::string>& backends,
                 const OriginTable& table);

}  // namespace baton

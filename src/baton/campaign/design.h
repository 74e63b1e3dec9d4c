#pragma once
// What a campaign measures, as a plain value with a JSON form (docs/design/0038).
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "baton/farm/job/worker.h"
#include "baton/support/json.h"

namespace baton {

/// Variations of a family: numbers first .. first + count - 1.
struct FamilyDesign {
  std::string family;
  int count = 40;
  int64_t first = 0;
  friend bool operator==(const FamilyDesign&, const FamilyDesign&) = default;
};

struct Design {
  std::vector<std::string> models;      ///< workloads and .relay files, whole
  std::vector<FamilyDesign> families;   ///< random variations, whole
  int patterns = 0;                     ///< operators and fused functions, from the families' distribution
  std::vector<int64_t> transfer_bytes;  ///< copies between the processor and each other device
  std::vector<std::string> backends{"llvm"};
  std::vector<int> threads{1};
  int opt_level = 3;  ///< of the builds
  std::vector<CacheState> caches{CacheState::kHot};
  bool inside = false;  ///< the parts of kernels, too
  uint64_t seed = 0;    ///< of what is drawn, and of the order
  int visits = 2;       ///< of a configuration whose samples vary too much
  /// Where the predictor is uncertain: patterns with an operator of this name are chosen so many times more
  /// often than others.
  std::map<std::string, double> uncertainty;
  Protocol protocol;
};

/// Throws UsageError for what is unknown, missing or out of range, suggesting the nearest name, and for a
/// discarded value.
Design design_from_json(const Json& json);
Json design_json(const Design& design);
/// Throws UsageError when there is nothing to measure, or a number is out of range.
void check_design(const Design& design);

/// "resnet,vgg", "all": `count` variations of each. UsageError for an unknown family.
std::vector<FamilyDesign> families_named(const std::string& list, int count);

}  // namespace baton

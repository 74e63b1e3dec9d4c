#pragma once
// The iteration order of TVM's maps, visible in printed function attributes.
#include <cstddef>
#include <string_view>
#include <vector>

namespace baton::text {

/// The indices of `keys` (given in insertion order) in the iteration order of a TVM 0.11.1 map. Up to 4 keys
/// keep their order; more are in an open hash table.
std::vector<size_t> map_order(const std::vector<std::string_view>& keys);

}  // namespace baton::text

#pragma once
// The order in which TVM's maps give their entries: text shows it in the attributes of functions.
#include <cstddef>
#include <string_view>
#include <vector>

namespace baton::text {

/// The positions of `keys` (as they were put in) in the order in which TVM 0.11.1 walks over a map of them.
/// Up to 4 stay as they are; more lie in an open hash table.
std::vector<size_t> map_order(const std::vector<std::string_view>& keys);

}  // namespace baton::text

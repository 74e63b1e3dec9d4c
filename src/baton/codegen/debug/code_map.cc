#include "baton/codegen/debug/code_map.h"

#include <algorithm>

namespace baton {

const CodeRange* CodeMap::find(const std::string& symbol, uint32_t offset) const {
  for (const CodeFunction& function : functions) {
    if (function.symbol != symbol) continue;
    const auto behind =
        std::upper_bound(function.ranges.begin(), function.ranges.end(), offset,
                         [](uint32_t at, const CodeRange& range) { return at < range.begin; });
    return behind == function.ranges.begin() || offset >= std::prev(behind)->end ? nullptr
                                                                                 : &*std::prev(behind);
  }
  return nullptr;
}

}  // namespace baton

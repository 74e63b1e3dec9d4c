#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "baton/ir/attrs.h"

namespace baton {

struct PadAttrs {
  std::vector<std::vector<int64_t>> pad_width = {};  ///< (before, after) for each axis
  std::string pad_mode = "constant";                 ///< "constant", "edge" or "reflect"
};

template <>
const AttrSchema& attr_schema<PadAttrs>();

}  // namespace baton

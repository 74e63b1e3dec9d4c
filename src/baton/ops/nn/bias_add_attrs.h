#pragma once
#include <cstdint>

#include "baton/ir/attrs.h"

namespace baton {

struct BiasAddAttrs {
  int64_t axis = 1;  ///< negative counts from the back
};

template <>
const AttrSchema& attr_schema<BiasAddAttrs>();

}  // namespace baton

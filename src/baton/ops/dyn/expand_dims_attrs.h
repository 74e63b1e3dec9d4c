#pragma once
#include <cstdint>

#include "baton/ir/attrs.h"

namespace baton {

struct DynExpandDimsAttrs {
  int64_t num_newaxis = 1;
};

template <>
const AttrSchema& attr_schema<DynExpandDimsAttrs>();

}  // namespace baton

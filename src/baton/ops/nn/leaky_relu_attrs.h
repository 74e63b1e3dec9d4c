#pragma once
#include "baton/ir/attrs.h"

namespace baton {

struct LeakyReluAttrs {
  double alpha = 0.25;
};

template <>
const AttrSchema& attr_schema<LeakyReluAttrs>();

}  // namespace baton

#pragma once
// Attributes of relay.op.annotation.simulated_quantize.
#include <cstdint>
#include <string>

#include "baton/ir/attrs.h"

namespace baton {

struct QuantizeAnnotationAttrs {
  int64_t axis = -1;
  int64_t kind = 1;  ///< what is rounded: 1 an input, 2 a weight, 3 an activation
  bool sign = true;
  std::string rounding = "round";
};

template <>
const AttrSchema& attr_schema<QuantizeAnnotationAttrs>();

}  // namespace baton

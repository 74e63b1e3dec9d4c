#pragma once
// Attributes of normalisations and of dropout. Names, order and defaults are Relay's.
#include <cstdint>

#include "baton/ir/attrs.h"

namespace baton {

struct BatchNormAttrs {
  int64_t axis = 1;  ///< the axis of the channels
  double epsilon = 1e-5;
  bool center = true;  ///< add beta
  bool scale = true;   ///< multiply by gamma
};

struct DropoutAttrs {
  double rate = 0.5;
};

template <>
const AttrSchema& attr_schema<BatchNormAttrs>();
template <>
const AttrSchema& attr_schema<DropoutAttrs>();

}  // namespace baton

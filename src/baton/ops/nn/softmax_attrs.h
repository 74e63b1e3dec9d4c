#pragma once
#include <cstdint>

#include "baton/ir/attrs.h"

namespace baton {

/// nn.softmax, nn.fast_softmax and nn.log_softmax.
struct SoftmaxAttrs {
  int64_t axis = -1;  ///< negative counts from the back
};

template <>
const AttrSchema& attr_schema<SoftmaxAttrs>();

}  // namespace baton

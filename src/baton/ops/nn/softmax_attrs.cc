#include "baton/ops/nn/softmax_attrs.h"

namespace baton {

template <>
const AttrSchema& attr_schema<SoftmaxAttrs>() {
  static const AttrSchema schema = make_schema<SoftmaxAttrs>(
      "relay.attrs.SoftmaxAttrs",
      {{"axis", &SoftmaxAttrs::axis, "the axis that sums to one; negative counts from the back"}});
  return schema;
}

}  // namespace baton

#include "baton/ops/nn/upsampling_attrs.h"

namespace baton {

template <>
const AttrSchema& attr_schema<UpSamplingAttrs>() {
  using A = UpSamplingAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.UpSamplingAttrs",
                     {{"scale_h", &A::scale_h, "factor of the height", kNoDefault},
                      {"scale_w", &A::scale_w, "factor of the width", kNoDefault},
                      {"layout", &A::layout, "the layout of data and result"},
                      {"method", &A::method, "how values between elements are found"},
                      {"align_corners", &A::align_corners, "whether the corner elements keep their values"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<UpSampling3DAttrs>() {
  using A = UpSampling3DAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.UpSampling3DAttrs", {{"scale_d", &A::scale_d, "factor of the depth", kNoDefault},
                                        {"scale_h", &A::scale_h, "factor of the height", kNoDefault},
                                        {"scale_w", &A::scale_w, "factor of the width", kNoDefault},
                                        {"layout", &A::layout, "the layout of data and result"},
                                        {"method", &A::method, "how values between elements are found"},
                                        {"coordinate_transformation_mode", &A::coordinate_transformation_mode,
                                         "how positions of the result map to the data"}});
  return schema;
}

}  // namespace baton
